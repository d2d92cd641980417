-- Rebuild an HNSW index from the vectors marked as indexed and up to `most` waiting vectors; the caller has locked
-- it. Return the number of vectors that entered. Meanwhile readers use the old index, and writers continue: their
-- changes are compared at the end, and only this comparison delays writers. All rows are compared at once, by
-- hashing, despite the planner's estimates for a table without statistics: other plans compare each row with each
-- other row.
CREATE FUNCTION pgmnemo._hnsw_rebuild(tenant uuid, generation smallint, most bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = on
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
    fresh constant name := pgmnemo._hnsw_create_table(tenant, generation);
    entered bigint;
BEGIN
    EXECUTE format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '
                   'SELECT v.lesson_id, v.number, v.project_id, v.embedding FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND v.indexed UNION ALL '
                   '(SELECT v.lesson_id, v.number, v.project_id, v.embedding FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND NOT v.indexed LIMIT $3)', fresh)
      USING tenant, generation, most;
    PERFORM pgmnemo._hnsw_build(fresh);
    PERFORM pgmnemo._touch_tenant(tenant);
    EXECUTE format('UPDATE pgmnemo.lesson_vector v SET indexed = true FROM pgmnemo.%I g '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND NOT v.indexed AND v.lesson_id = g.lesson_id '
                   'AND v.number = g.number AND v.project_id = g.project_id '
                   'AND v.embedding OPERATOR(@extschema:vector@.=) g.embedding', fresh)
      USING tenant, generation;
    GET DIAGNOSTICS entered = ROW_COUNT;
    EXECUTE format('DELETE FROM pgmnemo.%I g WHERE NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND v.indexed AND v.lesson_id = g.lesson_id '
                   'AND v.number = g.number AND v.project_id = g.project_id '
                   'AND v.embedding OPERATOR(@extschema:vector@.=) g.embedding)', fresh)
      USING tenant, generation;
    RETURN entered;
END
$$;
