CREATE FUNCTION pgmnemo.similar_pairs(
    tenant       uuid,
    project_id   uuid    DEFAULT NULL,
    least_cosine float8  DEFAULT 0.95,
    least_words  float8  DEFAULT 0.8,
    after        bigint  DEFAULT 0,
    most         integer DEFAULT 100,
    caller       pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (first_id bigint, second_id bigint, first_key text, second_key text, cosine float8, words float8,
               next_after bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    scope pgmnemo.scope;
    ids bigint[];
    last bigint;
    serving smallint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_most(most, 1000);
    PERFORM pgmnemo._check_similarity(least_cosine, least_words);
    scope := pgmnemo._listed_scope(tenant, similar_pairs.project_id, (pgmnemo._settings()).gate_strict, NULL, NULL,
                                   NULL, false);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(after, 0)
                    AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._recallable(l, scope)
                  ORDER BY l.id LIMIT most);
    last := ids[cardinality(ids)];
    serving := pgmnemo._generation(tenant);
    RETURN QUERY
    SELECT o.id, n.id, o.external_id, n.external_id, c.cosine, w.words, last
      FROM (SELECT v.older, v.newer FROM pgmnemo._similar_by_vectors(scope, ids, least_cosine) v
            UNION
            SELECT w.older, w.newer FROM pgmnemo._similar_by_words(scope, ids, least_words) w) p
     CROSS JOIN LATERAL (
            SELECT l.id, l.external_id, l.lexemes FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id = p.older AND pgmnemo._recallable(l, scope) OFFSET 0) o
     CROSS JOIN LATERAL (
            SELECT l.id, l.external_id, l.lexemes FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id = p.newer OFFSET 0) n
     CROSS JOIN LATERAL (SELECT pgmnemo._word_overlap(o.lexemes, n.lexemes)) AS w (words)
     CROSS JOIN LATERAL (
            SELECT max(pgmnemo._cosine(a.embedding, b.embedding)) AS cosine
              FROM pgmnemo.lesson_vector a
              JOIN pgmnemo.lesson_vector b ON b.tenant_id = tenant AND b.lesson_id = n.id AND b.generation = serving
                                   AND b.number = 0
             WHERE a.tenant_id = tenant AND a.lesson_id = o.id AND a.generation = serving AND a.number = 0) c
     WHERE c.cosine >= least_cosine OR w.words >= least_words
     ORDER BY n.id, o.id;
    IF NOT FOUND AND last IS NOT NULL THEN
        RETURN QUERY SELECT NULL::bigint, NULL::bigint, NULL, NULL, NULL::float8, NULL::float8, last;
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.similar_pairs IS 'lessons that say nearly the same, for whoever merges them; nothing is changed. Looks at the next lessons in order of id (after; at most so many, 1 to 1,000) that a recall could answer with, and pairs each with older ones of the project, or with NULL of the tenant: cosine of the lessons as a whole at least least_cosine, or words, lexemes that both have / lexemes that either has, at least least_words (0.5 to 1; NULL: not by this; lessons of more than 2,000 different lexemes are not compared so). first_id is the older, so each pair comes once. Call again with after => next_after until no row comes; a row without ids says that these lessons had no pair. cosine is NULL where one of them has no vector; vectors are kept at half precision, so ask for 0.999 where they should be equal. Not found: beyond the 50 nearest of one lesson by vector, and the 50 that share most of its rarest lexemes; by words, those of a lesson each of whose lexemes is in more than 2,000 others. A call compares each of its lessons with every vector in scope: 100 lessons of 10,000 take about a second. tenant NULL: the session''s';
