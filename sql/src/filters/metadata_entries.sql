-- Return the entries of a lesson's metadata: one per scalar, list elements under the path of the list. Metadata too
-- deep or too large have the entry 0, which every search includes.
CREATE FUNCTION pgmnemo._metadata_entries(metadata jsonb)
RETURNS SETOF bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 200;    -- entries of one lesson
    deepest constant integer := 16;  -- levels of metadata
    found bigint[];
    whole boolean;
BEGIN
    IF metadata = '{}' THEN
        RETURN;
    ELSIF jsonb_typeof(metadata) = 'object' THEN  -- most are flat, and need no walk
        SELECT array_agg(DISTINCT pgmnemo._metadata_entry('.' || e.key, e.value)),
               bool_and(jsonb_typeof(e.value) NOT IN ('object', 'array'))
          INTO found, whole
          FROM jsonb_each(metadata) e;
        IF whole AND cardinality(found) <= most THEN
            RETURN QUERY SELECT unnest(found);
            RETURN;
        END IF;
    END IF;
    WITH RECURSIVE walk (path, value, depth) AS (
        SELECT ''::text, metadata, 0
         UNION ALL
        SELECT w.path || coalesce('.' || e.key, ''), e.value, w.depth + 1
          FROM walk w
         CROSS JOIN LATERAL (
                SELECT o.key, o.value
                  FROM jsonb_each(CASE jsonb_typeof(w.value) WHEN 'object' THEN w.value ELSE '{}' END) o
                 UNION ALL
                SELECT NULL, a.value
                  FROM jsonb_array_elements(CASE jsonb_typeof(w.value) WHEN 'array' THEN w.value ELSE '[]' END) a) e
         WHERE w.depth < deepest
    ), looked AS (
        SELECT w.* FROM walk w WHERE w.depth > 0 LIMIT 4 * most
    )
    SELECT array_agg(DISTINCT pgmnemo._metadata_entry(s.path, s.value))
               FILTER (WHERE jsonb_typeof(s.value) NOT IN ('object', 'array')),
           count(*) < 4 * most AND coalesce(max(s.depth), 0) < deepest
      INTO found, whole
      FROM looked s;
    IF whole AND coalesce(cardinality(found), 0) <= most THEN
        RETURN QUERY SELECT unnest(found);
    ELSE
        RETURN NEXT 0;
    END IF;
END
$$;
