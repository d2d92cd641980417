-- REPEATABLE READ and SERIALIZABLE show grants as they were when the transaction, or the one whose snapshot it
-- imported, began. A row that somebody has deleted since says so in its xmax; of a revoke that was rolled back before
-- the snapshot that mark may be left, so the last one must have been under way then or have come later.
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
