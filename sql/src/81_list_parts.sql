-- For every lesson in scope that holds one of these terms of the question, and each such term, its part of the
-- lesson's BM25, read from the term's list; in units of 2^-40.
CREATE FUNCTION pgmnemo._list_parts(tenant uuid, first_project uuid, last_project uuid, terms text[], scales float8[],
                                    flat float8, per_token float8)
RETURNS TABLE (lesson_id bigint, part float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, pgmnemo._impact(x.scale, x.frequency, flat, per_token, x.tokens)
      FROM (SELECT t.scale, unnest(p.lesson_ids) AS id, unnest(p.frequencies) AS frequency, unnest(p.token_counts) AS tokens
              FROM unnest(terms, scales) AS t (term, scale)
             CROSS JOIN LATERAL (
                    SELECT p.lesson_ids, p.frequencies, p.token_counts FROM pgmnemo.posting p
                     WHERE p.tenant_id = tenant AND p.lexeme = t.term
                       AND p.project_id BETWEEN first_project AND last_project OFFSET 0) p) x
$$;
