-- Merge the postings of a locked tenant and return by how many their blocks have decreased. After `enough` it starts
-- no further segment and no further lists, which wait for the next call.
CREATE FUNCTION pgmnemo._merge_postings(tenant uuid, enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant bigint := (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
    more boolean := true;
BEGIN
    WHILE more LOOP
        more := pgmnemo._merge_segments(tenant, pgmnemo._segment_size());
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    WHILE NOT more LOOP
        more := NOT pgmnemo._merge_blocks(tenant);
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    RETURN before - (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
END
$$;
