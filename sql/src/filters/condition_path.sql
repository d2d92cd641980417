-- Return a condition on the value at a path of metadata as a predicate of jsonpath. `exists` makes each predicate
-- true or false, never unknown, so that `not` negates it. A list counts as each of its elements.
CREATE FUNCTION pgmnemo._condition_path(item text, path text, operator text, given jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 100;
    sign text := CASE operator WHEN 'gt' THEN '>' WHEN 'gte' THEN '>=' WHEN 'lt' THEN '<' WHEN 'lte' THEN '<=' END;
BEGIN
    IF operator IN ('eq', 'ne') THEN
        RETURN (SELECT format('%sexists(%s ? (%s))', CASE operator WHEN 'ne' THEN '!' END, path,
                              string_agg('@ == ' || pgmnemo._scalar_path(item, f), ' || '))
                  FROM unnest(pgmnemo._value_forms(given)) f);
    ELSIF operator = 'in' THEN
        IF jsonb_typeof(given) <> 'array' OR jsonb_array_length(given) NOT BETWEEN 1 AND most THEN
            PERFORM pgmnemo._filter_error(item || ' in', format('must be a list of 1 to %s values', most),
                                          'Write {"in": ["one", "another"]}.');
        END IF;
        RETURN (SELECT format('exists(%s ? (%s))', path, string_agg('@ == ' || pgmnemo._scalar_path(item, f), ' || '))
                  FROM jsonb_array_elements(given) v CROSS JOIN LATERAL unnest(pgmnemo._value_forms(v)) f);
    ELSIF sign IS NOT NULL THEN
        IF jsonb_typeof(given) NOT IN ('string', 'number') THEN
            PERFORM pgmnemo._filter_error(item || ' ' || operator, 'must be a number or a text',
                                          'Times compare as texts where all are written alike.');
        END IF;
        RETURN format('exists(%s ? (@ %s %s))', path, sign, pgmnemo._scalar_path(item, given));
    ELSIF operator = 'prefix' THEN
        IF jsonb_typeof(given) <> 'string' THEN
            PERFORM pgmnemo._filter_error(item || ' prefix', 'must be a text', 'Write {"prefix": "deploy/"}.');
        END IF;
        RETURN (SELECT format('exists(%s ? (%s))', path, string_agg('@ starts with ' || f::text, ' || '))
                  FROM unnest(pgmnemo._value_forms(given)) f);
    ELSIF operator = 'exists' THEN
        IF jsonb_typeof(given) <> 'boolean' THEN
            PERFORM pgmnemo._filter_error(item || ' exists', 'must be true or false', 'Write {"exists": true}.');
        END IF;
        RETURN CASE WHEN given = 'true' THEN '' ELSE '!' END || format('exists(%s)', path);
    END IF;
    PERFORM pgmnemo._filter_error(item, 'has no operator ' || quote_literal(operator),
                                  'Those are eq, ne, in, gt, gte, lt, lte, prefix and exists.');
    RETURN NULL;
END
$$;
