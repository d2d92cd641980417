-- Two tests, a quick one and a close one, let a question go that names no time. Far from today the
-- calendar of PostgreSQL would end within the intervals; such a moment has none. Each way of naming a time reads
-- what is left, so only the beginning of a question is looked at.
CREATE FUNCTION pgmnemo._times(question text, as_of timestamptz, zone text DEFAULT 'UTC',
                               OUT since timestamptz[], OUT until timestamptz[], OUT share float8)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_characters constant integer := 10000;
    most_intervals  constant integer := 20;
    remaining text := lower(left(question, most_characters) COLLATE "C");
    now timestamp := as_of AT TIME ZONE zone;
    loose_share constant float8 := 0.3;  -- what a loose word counts beside a date
    way record;
    found text[];
    span tsrange;
BEGIN
    since := '{}';
    until := '{}';
    share := 1;
    IF remaining !~ '(19|20)[0-9][0-9]|[0-9]-|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|christmas|halloween|'
                    'valentine|'
                    'new year|ago|back|earlier|yesterday|today|last|past|previous|this |recently|lately|other day|'
                    'on [mtwfs]'
       OR remaining !~ ('[0-9]{4}|\m(january|february|march|april|may|june|july|august|september|october|november|'
                        'december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|christmas|halloween|valentine|new year|'
                        'yesterday|'
                        'today|recently|lately|the other day|on (mon|tues|wednes|thurs|fri|satur|sun)day|'
                        '(last|past|previous|this) \w|(day|week|month|year)s? (ago|back|earlier))')
       OR as_of NOT BETWEEN '1000-01-01 UTC' AND '9999-12-31 UTC' THEN
        RETURN;
    END IF;
    FOR way IN SELECT * FROM pgmnemo._time_patterns() LOOP
        IF way.kind = 'loose' THEN
            EXIT WHEN cardinality(since) > 0;
            share := CASE WHEN way.names = '{day}' THEN loose_share ELSE 1 END;
        END IF;
        FOR found IN SELECT regexp_matches(remaining, way.pattern, 'g') LOOP
            span := pgmnemo._time_span(way.kind, jsonb_object(way.names, found[2:]), now);
            IF NOT isempty(span) AND span IS NOT NULL THEN
                since := since || lower(span) AT TIME ZONE zone;
                until := until || upper(span) AT TIME ZONE zone;
                remaining := replace(remaining, found[1], ' ');
                IF cardinality(since) = most_intervals THEN
                    RETURN;
                END IF;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz, text) IS 'the intervals that an English question names, as of a moment, by the days of a zone: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years, and where nothing else is named "on Tuesday" of the past, "recently", "the other day" (pgmnemo._time_patterns); at most 20, of its first 10,000 characters; both arrays empty if it names none. share: what the times count for, below 1 where they are told loosely';
