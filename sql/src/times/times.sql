-- Return the intervals that a question names. Two tests, a quick and a close test, skip a question without times. Far
-- from today PostgreSQL's calendar would end within the intervals; such a moment has no intervals. Each pattern reads
-- the rest of the question, so only its beginning is looked at.
CREATE FUNCTION pgmnemo._times(question text, as_of timestamptz, zone text DEFAULT 'UTC',
                               OUT since timestamptz[], OUT until timestamptz[], OUT share float8)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_characters constant integer := 10000;
    most_intervals  constant integer := 20;
    -- no Turkish I, and a blank before the first word as before the others
    remaining text := ' ' || lower(lower(left(question, most_characters) COLLATE "C") COLLATE "default");
    now timestamp := as_of AT TIME ZONE zone;
    loose_share constant float8 := 0.3;  -- what a loose word counts beside a date
    far_words constant text :=  -- of Chinese and Japanese
        '[\u5e74\u6708\u65e5\u5929\u5468\u9031\u661f\u793c\u524d\u6628\u4eca\u53bb\u4e0a\u5148\u672c\u8fd9]|'
        '\u304a\u3068\u3068\u3044';
    other_words constant text :=  -- looked for in every question, so without a look at where words begin
        'gestern|heute|vor [^ ]+ [tmwj]|letzte|vorige|vergangen|diese[nrsm]? [wmjqt]|hier|aujourd|il y a|derni|passe|'
        'pass\u00e9|ayer|hoy|hace |pasad|ltim[oa]s|cette |[0-9](\.|er)? [jfmasond]|[0-9] de |'
        ' (im|en|mi|fin|anfang|mitte|ende|d\u00e9but|finales de|principios de) [jfmasoend]|'
        ' (seit|depuis|desde) |'
        || far_words;
    -- what stands between one of these words and its time
    between constant text := '(?:(?:about|around|roughly|at|least|sometime|back|in|the|early|late|mid|beginning|start|'
                             'middle|end|of) )*$';
    other boolean;
    month_named boolean;
    way record;
    found text[];
    span tsrange;
    ahead text;
    beyond text;
BEGIN
    since := '{}';
    until := '{}';
    share := 1;
    IF remaining !~ ('(19|20)[0-9][0-9]|[0-9]-|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|christmas|halloween|'
                    'valentine|'
                    'new year|ago|back|earlier|yesterday|today|last|past|previous|this |recently|lately|other day|'
                    'on [mtwfs]|since | q[1-4]|' || other_words)
       OR as_of NOT BETWEEN '1000-01-01 UTC' AND '9999-12-31 UTC' THEN
        RETURN;
    END IF;
    other := remaining ~ other_words;
    IF other AND remaining ~ '\mhier\M' AND remaining !~ '\m(ich|der|die|das|wir|was|ist|und|wo|wer|nicht)\M'
       AND remaining ~ '\m(que|qui|quoi|qu|quand|quel|quelle|est|les|le|la|je|j|nous|elle)\M' THEN
        remaining := regexp_replace(remaining, '(?<!avant-)\mhier\M', 'yesterday', 'g');  -- in German it is "here"
    END IF;
    IF other AND remaining ~ (far_words || '|'
                    '\m(vorgestern|gestern|heute|avant-hier|aujourd.hui|anteayer|antier|ayer|hoy)\M|'
                    'weekend|week-end|wochenende|fin de semana|\m(seit|depuis|desde)\M|'
                    '\m(vor|hace|il y a) [^ ]+ (tag|woche|monat|jahr|jour|semaine|mois|an|d.a|semana|mes|a.o)|'
                    '\m(letzte|vorige|vergangene|diese)[nrsm]? [^ ]|\mpasad[oa]\M|.ltim[oa]s |'
                    '(jour|semaine|mois|ann.e|an|di) (derni.re?|pass.e?)\M|derni.re?s (jour|semaine|mois|ann)|'
                    '\m(cette|ce|est[ea]) (semaine|mois|ann|semana|mes|a)|'
                    '([0-9](\.|er)? (de )?|\m(im|en|mi|fin|anfang|mitte|ende|d.but|de) )'
                    '(j.n|f.[bv]|m.[iry]|a[bpvgou]|jui|'
                    'jul|jun|ene|sep|o[kc]t|nov|d.[czi])') THEN
        remaining := pgmnemo._times_in_english(remaining);
    END IF;
    IF remaining !~ ('[0-9]{4}|\m(january|february|march|april|may|june|july|august|september|october|november|'
                     'december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|christmas|halloween|valentine|new year|'
                     'yesterday|'
                     'today|recently|lately|the other day|(on|since) (mon|tues|wednes|thurs|fri|satur|sun)day|'
                     '(last|past|previous|this) \w|(in|during|since) q[1-4]|in m[0-9]|'
                     '(day|week|fortnight|month|year)s? (ago|back|earlier))') THEN
        RETURN;
    END IF;
    month_named := remaining ~ 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
    FOR way IN SELECT w.* FROM pgmnemo._time_patterns() w
                WHERE (month_named OR NOT w.months) AND remaining LIKE ANY (w.hints) LOOP
        IF way.kind = 'loose' THEN
            EXIT WHEN cardinality(since) > 0;
            share := CASE WHEN way.names IN ('{day}', '{year}') THEN loose_share ELSE 1 END;
        END IF;
        FOR found IN SELECT regexp_matches(remaining, way.pattern, 'g') LOOP
            span := pgmnemo._time_span(way.kind, jsonb_object(way.names, found[2:]), now);
            IF NOT isempty(span) AND span IS NOT NULL THEN
                ahead := left(remaining, strpos(remaining, found[1]) - 1)
                         || coalesce(substring(found[1] FROM '^(?:since|before|after) '), '');
                beyond := CASE WHEN ahead LIKE ANY ('{%since %,%before %,%after %}')
                               THEN substring(ahead FROM '\m(since|before|after) ' || between) END;
                IF beyond = 'since' THEN
                    span := tsrange(lower(span), greatest(upper(span), now + interval '24 hours'));
                ELSIF beyond IS NULL OR ahead ~ '(?:day|week|weekend|month|year)s? (?:before|after) ' THEN
                    NULL;  -- "the week before" a day is near it
                ELSIF beyond = 'after' THEN
                    span := tsrange(upper(span), greatest(upper(span), now) + interval '24 hours');
                ELSIF lower(span) > '1000-01-01' THEN
                    span := tsrange('1000-01-01', lower(span));
                END IF;
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

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz, text) IS 'the intervals that a question in English, German, French, Spanish, Chinese or Japanese names, as of a moment, by the days of a zone: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years, after "since" all until now, after "before" all ahead of it, after "after" all behind it, and where nothing else is named "on Tuesday" of the past, "recently", "the other day" (pgmnemo._time_patterns); at most 20, of its first 10,000 characters; both arrays empty if it names none. share: what the times count for, below 1 where they are told loosely';
