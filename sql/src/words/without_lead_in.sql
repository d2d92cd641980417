-- Remove the lead-in of a question: a date in brackets, and up to two clauses of three words at most (Ada: Hey, ...;
-- Sorry, once more: ...). Where less than two fifths would remain, the clauses are the question itself.
CREATE FUNCTION pgmnemo._without_lead_in(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rest text := regexp_replace(
        content, '^\s*(?:\[[^\]]*\]\s*)?'
                 '(?:[^[:alnum:]]*[[:alnum:]''\u2019]{1,12}(?:\s+[[:alnum:]''\u2019]{1,12}){0,2}'
                 '\s*[:,.!\u060C\u3001\u3002\uFF01\uFF0C\uFF1A]+\s*){0,2}', '');
BEGIN
    RETURN CASE WHEN 5 * length(rest) >= 2 * length(content) THEN rest ELSE content END;
END
$$;
