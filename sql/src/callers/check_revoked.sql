-- Check that no grant was revoked since the snapshot: REPEATABLE READ and SERIALIZABLE show grants as of the start of
-- the transaction or of its imported snapshot. A row deleted since has an xmax; a revoke that was rolled back before
-- the snapshot may leave an xmax, so the last revoke must also have been under way then or come later.
CREATE FUNCTION pgmnemo._check_revoked(role name, tenant uuid)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.tenant_grant g
                   WHERE g.tenant_id = coalesce(tenant, g.tenant_id) AND g.xmax <> 0
                     AND pg_has_role(role, g.grantee::oid, 'USAGE'))
          AND NOT pg_visible_in_snapshot((SELECT r.last_value::text::xid8 FROM pgmnemo.revocation_seq r),
                                         pg_current_snapshot()) THEN
        RAISE EXCEPTION 'a grant was revoked since this transaction''s snapshot'
        USING ERRCODE = 'serialization_failure', HINT = 'Repeat the transaction.';
    END IF;
END
$$;
