-- Split a posting list into blocks of at most 128 lessons: a block stays in line in its row.
CREATE FUNCTION pgmnemo._posting_blocks(lesson_ids bigint[], frequencies smallint[], token_counts integer[])
RETURNS TABLE (lesson_ids bigint[], frequencies smallint[], token_counts integer[],
               lesson_count integer, token_total bigint,
               max_frequency smallint, min_tokens integer, first_id bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT $1[s:s + 127], $2[s:s + 127], $3[s:s + 127], cardinality($1[s:s + 127]), t.total, f.highest, t.least, $1[s]
      FROM generate_series(1, cardinality($1), 128) s
     CROSS JOIN LATERAL (SELECT max(n) AS highest FROM unnest($2[s:s + 127]) n) f
     CROSS JOIN LATERAL (SELECT sum(n) AS total, min(n) AS least FROM unnest($3[s:s + 127]) n) t
$$;
