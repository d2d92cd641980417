-- Parse and check a filter. A malformed filter is an error and never ignored: a filter with fewer conditions than
-- its writer meant would show, or forget, the wrong lessons.
CREATE FUNCTION pgmnemo._filter(given jsonb)
RETURNS pgmnemo.filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_bytes constant integer := 20000;
    most_values constant integer := 200;  -- each is compared with each value in a list of the metadata
    bytes constant integer := pg_column_size(jsonb_build_array(given));  -- whether or not it came compressed
    f pgmnemo.filter;
    one record;
    conditions jsonb;
    compared bigint;
    contained bigint[];
BEGIN
    IF given IS NULL THEN
        RETURN NULL;
    ELSIF bytes > most_bytes THEN
        PERFORM pgmnemo._filter_error('it', format('has %s bytes, but may have %s', bytes, most_bytes),
                                      'Ask for less at once.');
    ELSIF jsonb_typeof(given) <> 'object' THEN
        PERFORM pgmnemo._filter_error('it', 'must be an object', 'Write {"topic": "kitchen"}.');
    END IF;
    FOR one IN SELECT e.key, e.value FROM jsonb_each(given) e LOOP
        IF one.key = 'projects' THEN
            IF EXISTS (SELECT FROM unnest(pgmnemo._filter_texts(one.key, one.value)) p
                        WHERE NOT pg_input_is_valid(p, 'uuid')) THEN
                PERFORM pgmnemo._filter_error('''projects''', 'must be uuids', 'Name each project by its uuid.');
            END IF;
            f.projects := pgmnemo._filter_texts(one.key, one.value)::uuid[];
        ELSIF one.key = 'role' THEN
            f.roles := pgmnemo._filter_texts(one.key, one.value);
        ELSIF one.key = 'topic' THEN
            f.topics := pgmnemo._filter_texts(one.key, one.value);
        ELSIF one.key = 'topic_prefix' THEN
            IF jsonb_typeof(one.value) <> 'string' OR one.value = '""' THEN
                PERFORM pgmnemo._filter_error('''topic_prefix''', 'must be a text that is not empty',
                                              'Write {"topic_prefix": "deploy/"}.');
            END IF;
            f.topic_prefix := pgmnemo._nfc(one.value #>> '{}');
        ELSIF one.key = 'since' THEN
            f.since := pgmnemo._filter_time(one.key, one.value);
        ELSIF one.key = 'until' THEN
            f.until := pgmnemo._filter_time(one.key, one.value);
        ELSIF one.key = 'metadata' THEN
            conditions := CASE WHEN jsonb_typeof(one.value) = 'object' THEN one.value - 'contains' ELSE one.value END;
            f.contained := CASE WHEN jsonb_typeof(one.value) = 'object' THEN one.value -> 'contains' END;
            IF jsonb_typeof(f.contained) <> 'object' OR f.contained = '{}' THEN
                PERFORM pgmnemo._filter_error('metadata contains', 'must be an object with something in it',
                                              'Write {"contains": {"lang": "de"}}.');
            END IF;
            compared := (SELECT count(*) FROM jsonb_path_query(conditions, 'strict $.**') v
                          WHERE jsonb_typeof(v) NOT IN ('object', 'array'));
            IF compared > most_values THEN
                PERFORM pgmnemo._filter_error('metadata', format('compares %s values, but may compare %s', compared,
                                                                 most_values), 'Ask for less at once.');
            END IF;
            IF f.contained IS NULL OR conditions <> '{}' THEN
                f.matching := pgmnemo._metadata_path(conditions, 0)::jsonpath;
                SELECT array_agg(a.entry), array_agg(a.place) INTO f.entries, f.conditions
                  FROM pgmnemo._filter_entries(conditions) a;
            END IF;
            IF f.contained IS NOT NULL THEN
                contained := ARRAY(SELECT e FROM pgmnemo._metadata_entries(f.contained) e WHERE e <> 0);
                f.entries := f.entries || contained;
                f.conditions := f.conditions || ARRAY(SELECT -n FROM generate_series(1, cardinality(contained)) n);
            END IF;
        ELSE
            PERFORM pgmnemo._filter_error('it', 'has no key ' || quote_literal(one.key),
                                          'Those are projects, role, topic, topic_prefix, since, until and metadata.');
        END IF;
    END LOOP;
    IF f.until <= f.since THEN
        PERFORM pgmnemo._filter_error('''until''', 'must be after ''since''',
                                      'until is the first moment that is left out.');
    END IF;
    RETURN f;
END
$$;

COMMENT ON FUNCTION pgmnemo._filter IS 'a filter: an object of which every key must hold. projects, role, topic: a text or a list, one of which; topic_prefix: how the topic begins; since, until: when it happened (occurred_at, else stored_at), until excluded; metadata: an object of conditions {"path.to.key": value or {"eq": ..., "ne": ..., "in": [...], "gt": ..., "gte": ..., "lt": ..., "lte": ..., "prefix": "...", "exists": true}}, with and: [...], or: [...], not: {...}, and at its top contains: {...} (@>). A list in metadata counts as each of its elements, and a list in it as well, but no deeper; a text of eq, ne, in and prefix meets what was stored in Unicode''s composed form (NFC) and in its decomposed one, a text of the others is compared as it is';
