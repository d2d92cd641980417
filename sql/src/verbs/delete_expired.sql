CREATE FUNCTION pgmnemo.delete_expired(
    tenant uuid,
    before timestamptz DEFAULT NULL,
    most   integer     DEFAULT 10000,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_most(most, 10000);
    IF before > clock_timestamp() THEN
        RAISE EXCEPTION 'before is %, but must not be in the future', before
        USING ERRCODE = 'invalid_parameter_value', HINT = 'pgmnemo.forget_matching forgets what has not expired.';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.expires_at <= coalesce(before, now())
                  ORDER BY l.expires_at LIMIT most);
    PERFORM pgmnemo._inherit_supersessions(tenant, ids, false);
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    PERFORM pgmnemo._leave();
    RETURN cardinality(ids);
END
$$;

COMMENT ON FUNCTION pgmnemo.delete_expired IS 'deletes for good the lessons that had expired at a moment (before; NULL: now), at most so many (1 to 10,000), those first that expired first. Returns how many: call again until it is fewer than most. tenant NULL: the session''s';
