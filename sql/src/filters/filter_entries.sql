-- Return the entries of a document of conditions that pgmnemo.lesson_entry can find: values at a path. `place` is the
-- condition's number: its entries are alternatives.
CREATE FUNCTION pgmnemo._filter_entries(conditions jsonb)
RETURNS TABLE (entry bigint, place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._metadata_entry('.' || ltrim(c.key, '.'), f.value), c.place::integer
      FROM jsonb_each(conditions) WITH ORDINALITY AS c (key, value, place)
     CROSS JOIN LATERAL (
            SELECT c.value WHERE jsonb_typeof(c.value) NOT IN ('object', 'array')
             UNION ALL
            SELECT c.value -> 'eq' WHERE c.value ? 'eq' AND jsonb_typeof(c.value) = 'object'
             UNION ALL
            SELECT i FROM jsonb_array_elements(CASE WHEN jsonb_typeof(c.value) = 'object' AND NOT c.value ? 'eq'
                                                    THEN c.value -> 'in' END) i) AS v (value)
     CROSS JOIN LATERAL unnest(pgmnemo._value_forms(v.value)) AS f (value)
     WHERE c.key NOT IN ('and', 'or', 'not')
$$;
