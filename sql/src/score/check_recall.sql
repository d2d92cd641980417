CREATE FUNCTION pgmnemo._check_recall(k integer, mode text, has_embedding boolean, words text,
                                      as_of timestamptz, floor float8)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_bytes constant integer := 100000;  -- of a question
    has_text constant boolean := words IS NOT NULL;
BEGIN
    IF k IS NULL OR k NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'k is %, but must be from 1 to 10000', coalesce(k::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF mode IS NULL OR mode <> ALL ('{hybrid,vector,keyword}') THEN
        RAISE EXCEPTION 'mode is %, but must be one of hybrid, vector, keyword', quote_nullable(mode)
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF mode = 'vector' AND NOT has_embedding THEN
        RAISE EXCEPTION 'mode vector needs an embedding'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass embedding, or use mode keyword.';
    ELSIF mode = 'keyword' AND NOT has_text THEN
        RAISE EXCEPTION 'mode keyword needs a query_text'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass query_text, or use mode vector.';
    ELSIF NOT has_embedding AND NOT has_text THEN
        RAISE EXCEPTION 'recall needs an embedding, a query_text or both' USING ERRCODE = 'invalid_parameter_value';
    ELSIF octet_length(words) > most_bytes THEN
        RAISE EXCEPTION 'query_text has % bytes, but may have %', octet_length(words), most_bytes
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Ask a shorter question.';
    ELSIF floor IS NOT NULL AND NOT (floor >= 0 AND floor <= 1) THEN
        RAISE EXCEPTION 'floor is %, but must be from 0 to 1', floor
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out to get k lessons, however little they fit.';
    ELSIF NOT isfinite(as_of) THEN
        RAISE EXCEPTION 'as_of is %, but must be finite', as_of USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
