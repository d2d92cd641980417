-- Mark the vectors of a lost HNSW index as waiting for the next index, until a time; return whether no marked vector is
-- left. The caller has locked the tenant's row of hnsw_index. Vectors that another session is changing stay marked.
CREATE FUNCTION pgmnemo._hnsw_unmark(tenant uuid, generation smallint, enough timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    at_once constant integer := 1000;
BEGIN
    LOOP
        WITH chosen AS MATERIALIZED (
            SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed LIMIT at_once
               FOR UPDATE SKIP LOCKED
        )
        UPDATE pgmnemo.lesson_vector v SET indexed = false
          FROM chosen c
         WHERE v.tenant_id = tenant AND v.lesson_id = c.lesson_id AND v.generation = generation
           AND v.number = c.number;
        EXIT WHEN NOT FOUND OR clock_timestamp() > enough;
    END LOOP;
    RETURN NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                        WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
END
$$;
