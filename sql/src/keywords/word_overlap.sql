-- Return the similarity of the words of two texts. It is computed by a difference, because a union may exceed the
-- size of a tsvector.
CREATE FUNCTION pgmnemo._word_overlap(one tsvector, other tsvector)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (length(other) - d.more)::float8 / nullif(length(one) + d.more, 0)
      FROM (SELECT length(ts_delete(other, tsvector_to_array(one))) AS more OFFSET 0) d
$$;

COMMENT ON FUNCTION pgmnemo._word_overlap IS 'lexemes that both have / lexemes that either has, from 0 to 1; NULL where neither has any';
