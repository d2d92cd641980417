-- Return, for every lesson in scope outside the segments and each of the question's terms from `first` to `last` in it,
-- the term's part of the lesson's BM25, read from the term's list; in units of 2^-40.
CREATE FUNCTION pgmnemo._posting_impacts(scope pgmnemo.scope, asked pgmnemo.question, first integer, last integer)
RETURNS TABLE (lesson_id bigint, part float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, pgmnemo._impact(x.scale, x.frequency, x.flat, x.per_token, x.tokens, x.pivot)
      FROM (SELECT a.flat, a.per_token, a.pivot, t.scale, unnest(p.lesson_ids) AS id,
                   unnest(p.frequencies) AS frequency,
                   unnest(p.token_counts) AS tokens
              FROM (SELECT (asked).flat AS flat, (asked).per_token AS per_token, (asked).pivot AS pivot,
                           ((scope).filter).projects AS projects OFFSET 0) a
             CROSS JOIN unnest((asked).terms[first:last], (asked).scales[first:last]) AS t (term, scale)
             CROSS JOIN LATERAL (
                    SELECT p.lesson_ids, p.frequencies, p.token_counts FROM pgmnemo.posting p
                     WHERE p.tenant_id = (scope).tenant AND p.lexeme = t.term AND p.lesson_count > 0
                       AND p.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND (a.projects IS NULL OR p.project_id = ANY (a.projects)) OFFSET 0) p) x
$$;
