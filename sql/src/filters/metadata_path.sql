-- Return a filter's conditions on metadata as one predicate of jsonpath. The keys of a document are paths, with
-- levels joined by dots. A leading dot marks a key named and, or, not or contains, to distinguish it from the
-- operator.
CREATE FUNCTION pgmnemo._metadata_path(given jsonb, depth integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deepest constant integer := 8;
    one record;
    path text;
    parts text[] := '{}';
BEGIN
    IF jsonb_typeof(given) IS DISTINCT FROM 'object' OR given = '{}' THEN
        PERFORM pgmnemo._filter_error('metadata', 'must be an object with a condition in it, at each level',
                                      'Write {"metadata": {"lang": "de", "size": {"gt": 3}}}.');
    ELSIF depth > deepest THEN
        PERFORM pgmnemo._filter_error('metadata', format('nests and, or and not more than %s deep', deepest),
                                      'Write the same conditions flatter.');
    END IF;
    FOR one IN SELECT e.key, e.value, jsonb_typeof(e.value) AS kind FROM jsonb_each(given) e LOOP
        IF one.key IN ('and', 'or') THEN
            IF one.kind <> 'array' OR one.value = '[]' THEN
                PERFORM pgmnemo._filter_error('metadata ' || one.key, 'must be a list of conditions',
                                              format('Write {"%s": [{"lang": "de"}, {"size": {"gt": 3}}]}.', one.key));
            END IF;
            parts := parts || (SELECT '(' || string_agg('(' || pgmnemo._metadata_path(v, depth + 1) || ')',
                                                        CASE one.key WHEN 'and' THEN ' && ' ELSE ' || ' END) || ')'
                                 FROM jsonb_array_elements(one.value) v);
        ELSIF one.key = 'not' THEN
            parts := parts || ('!(' || pgmnemo._metadata_path(one.value, depth + 1) || ')');
        ELSIF one.key = 'contains' THEN
            PERFORM pgmnemo._filter_error('metadata contains', 'stands within and, or or not',
                                          'It holds for all that is asked: write it beside them.');
        ELSIF ltrim(one.key, '.') = '' THEN
            PERFORM pgmnemo._filter_error('metadata', 'has an empty key', 'Name a key, levels joined by dots.');
        ELSE
            path := '$' || (SELECT string_agg('.' || to_json(k)::text, '' ORDER BY n)
                              FROM unnest(string_to_array(ltrim(one.key, '.'), '.')) WITH ORDINALITY AS u (k, n));
            IF one.kind = 'object' AND one.value <> '{}' THEN
                parts := parts || ARRAY(SELECT pgmnemo._condition_path(quote_literal(one.key), path, o.key, o.value)
                                          FROM jsonb_each(one.value) o);
            ELSE
                parts := parts || pgmnemo._condition_path(quote_literal(one.key), path, 'eq', one.value);
            END IF;
        END IF;
    END LOOP;
    RETURN array_to_string(parts, ' && ');
END
$$;
