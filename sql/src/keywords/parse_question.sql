-- Return a question with its BM25 statistics, direction and times. pgmnemo.statistics_scope sets where document
-- frequency counts: in the tenant, in the searched scope, or as the mean of both; the bounds of a term and its number
-- of lessons count over the scope.
CREATE FUNCTION pgmnemo._parse_question(scope pgmnemo.scope, words text, embedding @extschema:vector@.vector,
                                        moment timestamptz, s pgmnemo.settings, windows tstzmultirange DEFAULT NULL)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_windows constant integer := 100;
    most_terms constant integer := 1000;  -- the rarest: each is looked for in every candidate and in its passages
    asked pgmnemo.question;
    inside_part float8 := CASE s.statistics_scope WHEN 'tenant' THEN 0 WHEN 'both' THEN 0.5 ELSE 1 END;
    projects uuid[] := (scope.filter).projects;
    k1 float8 := s.bm25_k1;
    idf_sum float8;
    b float8 := s.bm25_b;
    numbers integer[];
    lexemes text[] := '{}';
    word_count integer;
    idf_unknown float8;
BEGIN
    asked.pivot := s.length_pivot;
    IF NOT pgmnemo._is_blank(words) THEN
        asked.configs := pgmnemo._tenant_configs(scope.tenant);
        SELECT q.lexemes, q.numbers INTO lexemes, numbers FROM pgmnemo._question_words(words, asked.configs) q;
    END IF;
    numbers := pgmnemo._code_numbers(lexemes, numbers);
    word_count := cardinality(lexemes);
    WITH listed AS (
        SELECT p.lexeme, sum(p.lesson_count) AS lessons, sum(p.token_total) AS tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside) AS held,
               sum(p.token_total) FILTER (WHERE i.inside) AS held_tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside AND p.lesson_count > 0) AS listed,
               max(p.max_frequency) FILTER (WHERE i.inside AND p.lesson_count > 0) AS frequency,
               min(p.min_tokens) FILTER (WHERE i.inside AND p.lesson_count > 0) AS shortest
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT p.project_id BETWEEN scope.first_project AND scope.last_project
                       AND (projects IS NULL OR p.project_id = ANY (projects))) AS i (inside)
         WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (lexemes || ''::text)
         GROUP BY p.lexeme
    ), counts AS (
        SELECT coalesce(l.lexeme, c.lexeme) COLLATE "C" AS lexeme,
               (coalesce(l.lessons, 0) + coalesce(c.lessons, 0))::float8 AS lessons,
               (coalesce(l.held, 0) + coalesce(c.held, 0))::bigint AS held,
               (CASE WHEN inside_part < 1 THEN coalesce(l.tokens, 0) + coalesce(c.tokens, 0)
                     ELSE coalesce(l.held_tokens, 0) + coalesce(c.held_tokens, 0) END)::float8 AS tokens,
               coalesce(l.listed, 0) AS listed, l.frequency, l.shortest,
               c.frequency AS segment_frequency, c.shortest AS segment_shortest
          FROM listed l FULL JOIN pgmnemo._segment_counts(scope, lexemes) c ON c.lexeme COLLATE "C" = l.lexeme
    ), everything AS (
        SELECT c.held, c.lessons, k1 * (1 - b) AS flat,
               k1 * b / greatest(c.tokens / nullif(CASE WHEN inside_part < 1 THEN c.lessons ELSE c.held END, 0),
                                 asked.pivot) AS per_token
          FROM counts c WHERE c.lexeme = ''
    ), terms AS (
        SELECT c.*, i.idf, pgmnemo._bm25_unit() * i.idf * (k1 + 1) AS scale
          FROM counts c
         CROSS JOIN everything e
         CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, c.lessons)
                                    + inside_part * pgmnemo._idf(e.held, c.held)) AS i (idf)
         WHERE c.lexeme <> '' AND c.lessons > 0
    )
    SELECT e.held, e.flat, e.per_token, u.idf, coalesce(k.idf_sum, 0) + (cardinality(lexemes) - k.known) * u.idf,
           coalesce(t.found, '{}'), coalesce(t.queries, '{}'), coalesce(t.idfs, '{}'), coalesce(t.scales, '{}'),
           coalesce(t.peaks, '{}'), coalesce(t.postings, '{}'), coalesce(t.listed, '{}'), coalesce(t.tops, '{}')
      INTO asked.held, asked.flat, asked.per_token, idf_unknown, idf_sum,
           asked.terms, asked.queries, asked.idfs, asked.scales, asked.peaks, asked.postings, asked.listed, asked.tops
      FROM everything e
     CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, 0)
                                + inside_part * pgmnemo._idf(e.held, 0)) AS u (idf)
     CROSS JOIN LATERAL (
            SELECT sum(t.idf ORDER BY t.idf, t.lexeme) AS idf_sum, count(*) AS known FROM terms t) k
     CROSS JOIN LATERAL (
            SELECT array_agg(t.lexeme) AS found, array_agg(pgmnemo._lexeme_query(t.lexeme)) AS queries,
                   array_agg(t.idf) AS idfs,
                   array_agg(t.scale) AS scales, array_agg(t.held) AS postings, array_agg(t.listed) AS listed,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.frequency, e.flat, e.per_token, t.shortest,
                                                      asked.pivot) + 1, 0)) AS peaks,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.segment_frequency, e.flat, e.per_token,
                                                      t.segment_shortest, asked.pivot) + 1, 0)) AS tops
              FROM (SELECT * FROM terms WHERE held > 0 ORDER BY idf DESC, lexeme LIMIT most_terms) t) t;
    asked.held := coalesce(asked.held, 0);
    asked.terms := coalesce(asked.terms, '{}');
    asked.direction := @extschema:vector@.l2_normalize(embedding)::@extschema:vector@.halfvec;
    IF windows IS NOT NULL THEN
        IF (SELECT count(*) FROM unnest(windows)) > most_windows THEN
            RAISE EXCEPTION 'windows holds more than % ranges', most_windows
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Name fewer times.';
        END IF;
        SELECT array_agg(coalesce(lower(w), '-infinity')), array_agg(coalesce(upper(w), 'infinity'))
          INTO asked.since, asked.until FROM unnest(windows) w;
        asked.share := 1;
    ELSIF words IS NOT NULL AND s.temporal_weight <> 0 THEN
        SELECT t.since, t.until, t.share INTO asked.since, asked.until, asked.share
          FROM pgmnemo._times(words, moment, pgmnemo._zone(s.time_zone)) t;
    END IF;
    IF numbers IS NOT NULL THEN
        -- several lexemes are forms of one word, of which the rarest counts
        SELECT count(*), sum(w.idf ORDER BY w.idf) INTO word_count, idf_sum
          FROM (SELECT coalesce(max(t.idf), idf_unknown) AS idf
                  FROM unnest(lexemes, numbers) AS n (lexeme, number)
                  LEFT JOIN unnest(asked.terms, asked.idfs) AS t (term, idf) ON t.term = n.lexeme
                 GROUP BY n.number) w;
    END IF;
    asked.reach := (s.bm25_weight + s.passage_terms_weight) * coalesce(idf_sum, 0)
                   + s.passage_terms_weight * s.passage_term_bonus * word_count;
    asked.brevity := pgmnemo._brevity(word_count);
    asked.ideal := pgmnemo._ideal_score(asked, s, word_count);
    RETURN asked;
END
$$;
