-- The lessons in scope that say most of the query's terms, at most `depth`, and the BM25 of those in `also`.
-- The best are looked up one by one from the top, because most of the lessons that hold a term are never shown.
-- Without enable_sort the planner sums up by hashing: it takes a few hundred postings for three, and would sort.
CREATE FUNCTION pgmnemo._keyword_leg(tenant uuid, first_project uuid, last_project uuid, query_text text, depth integer,
                                     also bigint[], s jsonb, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, bm25 float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    query_terms text[] := tsvector_to_array(to_tsvector(pgmnemo._text_config(), query_text));
    whole_tenant boolean := s ->> 'statistics_scope' = 'tenant';
    gate text := s ->> 'gate_strict';
    seen record;
BEGIN
    IF query_text IS NULL THEN
        RETURN QUERY SELECT a.id, 0::float8 FROM unnest(also) AS a (id);
        RETURN;
    END IF;
    SELECT k.* INTO seen
      FROM pgmnemo._keyword_statistics(
               tenant,
               CASE WHEN whole_tenant THEN '00000000-0000-0000-0000-000000000000' ELSE first_project END,
               CASE WHEN whole_tenant THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE last_project END,
               query_terms) k;
    RETURN QUERY
    WITH words AS MATERIALIZED (
        SELECT w.lesson_id, w.bm25
          FROM pgmnemo._keyword_scores(tenant, first_project, last_project, seen.terms, seen.idfs, seen.mean_tokens,
                                       (s ->> 'bm25_k1')::float8, (s ->> 'bm25_b')::float8) w
    ), best AS (
        SELECT w.lesson_id, w.bm25
          FROM (SELECT * FROM words ORDER BY bm25 DESC OFFSET 0) w
         CROSS JOIN LATERAL (
                SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = tenant AND l.id = w.lesson_id
                   AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
         ORDER BY w.bm25 DESC, l.external_id, l.project_id
         LIMIT depth
    )
    SELECT * FROM best
     UNION
    SELECT a.id, coalesce(w.bm25, 0) FROM unnest(also) AS a (id) LEFT JOIN words w ON w.lesson_id = a.id;
END
$$;
