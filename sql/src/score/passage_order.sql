-- Return the sort key of a lesson's best passage: lower is better.
CREATE FUNCTION pgmnemo._passage_order(lexemes tsvector, embedding @extschema:vector@.halfvec, asked pgmnemo.question,
                                       s pgmnemo.settings)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT -(s).passage_cosine_weight * pgmnemo._nearness(pgmnemo._cosine(embedding, (asked).direction), (asked).center)
           - (s).passage_terms_weight * (SELECT t.worth FROM pgmnemo._terms_within(
                lexemes, asked, (s).passage_term_bonus) t)
$$;
