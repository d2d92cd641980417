-- Return whether the vectors of a set of `lessons` lessons are marked as indexed when they are stored, because the
-- tenant's HNSW index is not built yet: then they are written once, and enter the index with all others. Until the
-- end of the transaction no session builds the index, because a build does not wait for writers. If the snapshot may
-- be too old to tell, the vectors wait like others.
CREATE FUNCTION pgmnemo._hnsw_build_pending(tenant uuid, generation smallint, lessons integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lessons < 1000 OR current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.hnsw_index g
      WHERE g.tenant_id = tenant AND g.generation = _hnsw_build_pending.generation AND NOT g.built
        FOR SHARE SKIP LOCKED;
    RETURN FOUND;
END
$$;
