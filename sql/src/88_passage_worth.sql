-- By what the best passage of a lesson is told: the less the better.
CREATE FUNCTION pgmnemo._passage_worth(p pgmnemo.passage, asked pgmnemo.question, w pgmnemo.weights)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT w.passage_cosine_weight * coalesce((p.embedding <#> subvector(asked.direction, 1, p.width)), 0)
           - w.passage_terms_weight * (
                SELECT t.weight FROM pgmnemo._terms_within(
                    p.lexemes, asked.queries, ARRAY(SELECT i.idf + w.passage_term_bonus FROM unnest(asked.idfs) AS i (idf))) t)
$$;
