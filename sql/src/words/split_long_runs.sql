-- Split runs of more than `most` characters without a blank into pieces of 50: the parser of text search takes time
-- that grows with the square of such a run.
CREATE FUNCTION pgmnemo._split_long_runs(words text, most integer)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(CASE WHEN length(m[1]) > most THEN regexp_replace(m[1], '.{50}', '\& ', 'g') ELSE m[1] END
                      || m[2], '' ORDER BY u.place)
      FROM regexp_matches(words, '(\S*)(\s*)', 'g') WITH ORDINALITY AS u (m, place)
$$;
