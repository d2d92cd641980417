\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit
-- How a database that holds 0.4.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py). Lessons gain a column, and
-- what their metadata says is indexed; no row is rewritten.
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- What is new shall be the extension's owner's, whoever upgrades.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(e.extowner), true)
  FROM pg_extension e WHERE e.extname = 'pgmnemo';
-- Who comes from 0.3.1 hears here what a new installation says.
-- halfvec and iterative scans came with pgvector 0.8.0.
DO $$
DECLARE
    given text := (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector');
    numbers integer[] := string_to_array(substring(given FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.');
BEGIN
    IF numbers < '{0,8,0}' THEN
        RAISE EXCEPTION 'pgvector is %, but must be 0.8.0 or later', given
        USING ERRCODE = 'feature_not_supported', HINT = 'Install a later one and run ALTER EXTENSION vector UPDATE.';
    ELSIF numbers < '{0,8,4}' THEN
        RAISE WARNING 'pgvector is %: before 0.8.4 its HNSW indexes can be spoiled, so every scope is read exactly',
              given
        USING HINT = 'Recall is right, but slow beyond some 10,000 lessons a scope, until pgvector is updated.';
    END IF;
END
$$;

-- What has other arguments or another result. All else is replaced in place, so that rights which were granted or
-- revoked on it stay.
DROP FUNCTION pgmnemo.recall, pgmnemo.recall_lessons, pgmnemo.explain, pgmnemo.explain_recall,
    pgmnemo.store, pgmnemo.store_lesson, pgmnemo.forget, pgmnemo.forget_lesson,
    pgmnemo._store, pgmnemo._check_provenance, pgmnemo._passages_differ, pgmnemo._clear_passages,
    pgmnemo._check_recall, pgmnemo._ask, pgmnemo._times, pgmnemo._scope, pgmnemo._tell_hidden,
    pgmnemo._passed, pgmnemo._graph_leg, pgmnemo._graph_proximity;
-- A caller's filter, checked and typed (pgmnemo._filter).
CREATE TYPE pgmnemo.filter AS (
    projects     uuid[],
    roles        text[],
    topics       text[],
    topic_prefix text,
    since        timestamptz,
    until        timestamptz,
    contained    jsonb,
    matching     jsonpath,
    entries      bigint[],
    conditions   integer[]
);

COMMENT ON TYPE pgmnemo.filter IS 'what a filter asks for (pgmnemo._filter; NULL: nothing): one of these projects, roles and topics; how the topic begins; since when and until before when it happened; what the metadata contains and matches; entries: what of that pgmnemo.lesson_entry finds, and for each the number of its condition';
ALTER TYPE pgmnemo.scope ADD ATTRIBUTE moment timestamptz, ADD ATTRIBUTE known_at timestamptz,
    ADD ATTRIBUTE filtered boolean, ADD ATTRIBUTE ids bigint[], ADD ATTRIBUTE filter pgmnemo.filter,
    ADD ATTRIBUTE everything boolean, ADD ATTRIBUTE plain boolean;
ALTER TYPE pgmnemo.question ADD ATTRIBUTE ideal float8, ADD ATTRIBUTE share float8;
ALTER TABLE pgmnemo.lesson ADD COLUMN superseded_at timestamptz;
DROP INDEX pgmnemo.lesson_position, pgmnemo.lesson_edge_target;
-- Finds a lesson's neighbours: the first few of a place without the others.
CREATE INDEX lesson_position ON pgmnemo.lesson (tenant_id, project_id, position, id) WHERE position IS NOT NULL;
-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it. In the order in which the first
-- edges of a lesson are taken.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id, source_id, kind);
-- Finds lessons by topic. An index holds no long one; of those there are few.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE octet_length(topic) <= 500;
-- Finds the lessons whose topic pgmnemo.lesson_topic leaves out.
CREATE INDEX lesson_topic_long ON pgmnemo.lesson (tenant_id) WHERE octet_length(topic) > 500;
-- Finds lessons by when they happened. CASE, where coalesce would do: only of that row-level security knows that it
-- tells nobody what it was given, and lets it search an index.
CREATE INDEX lesson_happened ON pgmnemo.lesson
    (tenant_id, (CASE WHEN occurred_at IS NULL THEN stored_at ELSE occurred_at END));
-- Finds those that have expired.
CREATE INDEX lesson_expiry ON pgmnemo.lesson (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
-- Finds lessons by what their metadata says. A GIN index would not do: no operator of jsonb is leakproof, so row-level
-- security lets none of them search an index.
CREATE TABLE pgmnemo.lesson_entry (
    tenant_id uuid   NOT NULL,
    entry     bigint NOT NULL,
    lesson_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, entry, lesson_id)
);

COMMENT ON TABLE pgmnemo.lesson_entry IS 'the index of pgmnemo.lesson.metadata, kept by triggers on pgmnemo.lesson: never write it';
COMMENT ON COLUMN pgmnemo.lesson_entry.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_entry.entry IS 'a path in the metadata with a value, as pgmnemo._entry makes it; 0: the lesson may hold any';
COMMENT ON COLUMN pgmnemo.lesson_entry.lesson_id IS 'lesson.id that holds it';
-- Two times: of the world, from when on the older lesson no longer holds, and of the memory, when it learned that and
-- when it took it back. Rows are never changed but for the latter.
CREATE TABLE pgmnemo.supersession (
    number      bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id   uuid        NOT NULL,
    old_id      bigint      NOT NULL,
    new_id      bigint,
    valid_from  timestamptz NOT NULL CHECK (isfinite(valid_from)),
    reason      text,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    undone_at   timestamptz,
    PRIMARY KEY (tenant_id, old_id, number),
    FOREIGN KEY (tenant_id, old_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, new_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE SET NULL (new_id),
    CHECK (old_id <> new_id)
);

COMMENT ON TABLE pgmnemo.supersession IS 'which lesson took the place of which, from when on, and when that was learned; written by the verbs';
COMMENT ON COLUMN pgmnemo.supersession.number IS 'orders the rows of one lesson; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.supersession.tenant_id IS 'the tenant of both lessons';
COMMENT ON COLUMN pgmnemo.supersession.old_id IS 'lesson.id that no longer holds; the row goes with it';
COMMENT ON COLUMN pgmnemo.supersession.new_id IS 'lesson.id that holds in its place; NULL: none does, or it is forgotten for good';
COMMENT ON COLUMN pgmnemo.supersession.valid_from IS 'from when on, in the world';
COMMENT ON COLUMN pgmnemo.supersession.reason IS 'why, in the writer''s words';
COMMENT ON COLUMN pgmnemo.supersession.recorded_at IS 'when the memory learned it';
COMMENT ON COLUMN pgmnemo.supersession.undone_at IS 'when it was taken back; NULL: it holds';
-- A lesson has one successor at most, whatever snapshot a writer has.
CREATE UNIQUE INDEX supersession_current ON pgmnemo.supersession (tenant_id, old_id) WHERE undone_at IS NULL;
CREATE INDEX supersession_new ON pgmnemo.supersession (tenant_id, new_id);
-- The transaction of the last pgmnemo.revoke_tenant: a sequence, because its value shows at once, whatever snapshot a
-- reader has (pgmnemo._check_revoked).
CREATE SEQUENCE pgmnemo.revocation_seq;

COMMENT ON SEQUENCE pgmnemo.revocation_seq IS 'number of the transaction that last revoked a grant; in no dump';
-- The text search configuration of a name, which may have its schema in front; NULL where there is none. A number is
-- no name, and what is temporary would be gone before the lessons that were cut by it. Looked up in the catalogue: a
-- cast would be an error where the schema is somebody's own.
CREATE OR REPLACE FUNCTION pgmnemo._config(name text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part constant text := '([a-zA-Z_][a-zA-Z0-9_$]*|"([^"]|"")+")';
    parts text[];
BEGIN
    IF name = 'english' THEN
        RETURN 'pg_catalog.english'::regconfig;
    ELSIF name !~ ('^' || part || '([.]' || part || ')?$') THEN
        RETURN NULL;
    END IF;
    parts := parse_ident(name);
    IF cardinality(parts) = 1 THEN
        parts := 'pg_catalog'::text || parts;
    END IF;
    RETURN (SELECT c.oid::regconfig FROM pg_ts_config c
              JOIN pg_namespace n ON n.oid = c.cfgnamespace
             WHERE n.nspname = parts[1]::name AND c.cfgname = parts[2]::name
               AND n.oid <> pg_my_temp_schema() AND NOT pg_is_other_temp_schema(n.oid));
END
$$;
-- How a question in English names a time: tried in this order, what matched is taken out of the question.
-- `names` says what the groups of the pattern hold; MONTH stands for the group of the months' names. What looks
-- ahead (tonight, next week) and what has two readings (5/8/2023, the winter of 2022) is left out: "on Monday" is read
-- where the question asks of the past. What is loose counts only where nothing else is named.
CREATE OR REPLACE FUNCTION pgmnemo._time_patterns()
RETURNS TABLE (kind text, pattern text, names text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind,
           '\m(' || replace(p.pattern, 'MONTH', '(january|february|march|april|may|june|july|august|september|october|'
                            'november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)') || ')',
           p.names::text[]
      FROM (VALUES
        ('date',    '([0-9]{4})-(0[1-9]|1[0-2])-([0-9][0-9])\M',                            '{year,month,day}'),
        ('date',    '([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? MONTH\M\.?,? ?([0-9]{4})?',      '{day,month,year}'),
        ('date',    'MONTH\.? ([0-9]{1,2})(?:st|nd|rd|th)?\M(?:,? ([0-9]{4})\M)?',         '{month,day,year}'),
        ('date',    'MONTH\.?,? (?:of )?([0-9]{4})\M',                                 '{month,year}'),
        ('date',    '(?:in|of|during|since|by|before|after|until|late|early|mid|last|this|on|week of) MONTH\M(?! i\M)',
                                                                                   '{month}'),
        ('feast',   '(valentine|christmas eve|christmas|halloween|new year''?s eve|new year''?s day)\M(?:''?s? day\M)?'
                    '(?:,? (?:of |in )?([0-9]{4})\M)?',                               '{feast,year}'),
        ('quarter', 'q([1-4])(?: of)? ([0-9]{4})\M',                                   '{quarter,year}'),
        ('quarter', '(first|second|third|fourth) quarter of ([0-9]{4})\M',             '{quarter,year}'),
        ('season',  '(spring|summer|autumn|fall) (?:of |in )?([0-9]{4})\M',            '{season,year}'),
        ('season',  'last (spring|summer|autumn|fall|winter)\M',                   '{season}'),
        ('ago',     '(\w+)(?: of)? (day|week|month|year)s? (?:ago|back|earlier)\M', '{count,unit}'),
        ('near',    '(day before yesterday|yesterday|today|this morning|this afternoon|last night|last weekend)'
                    '\M(?! before| after)', '{day}'),
        ('past',    '(?:last|past|previous)(?: (\w+))? (day|week|month)s?\M(?! of)', '{count,unit}'),
        ('past',    '(?:in|over|during|within) the (?:last|past)(?: (\w+))? (year)s?\M', '{count,unit}'),
        ('span',    '(last|this) (year)\M',                                        '{which,unit}'),
        ('span',    '(this) (week|month)\M',                                       '{which,unit}'),
        ('weekday', '(?:last|this past|past) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M',
                                                                                   '{weekday}'),
        ('date',    '(?:(?:in|of|since|by|before|after|during|until|year) )(19[0-9][0-9])\M', '{year}'),
        ('date',    '(20[0-9][0-9])\M',                                                  '{year}'),
        ('loose',   '(?<=\m(?:did|was|were|had)\M.*)on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M',
                                                                                   '{weekday}'),
        ('loose',   '(recently|lately|the other day)\M',                           '{day}')
      ) AS p (kind, pattern, names)
$$;
-- The interval of one expression, its words by name, counted from `now` in UTC; NULL for a date that does not exist.
-- A date without a year is the latest that is not after `now`; what is told only roughly is as wide as it is vague.
CREATE OR REPLACE FUNCTION pgmnemo._time_span(kind text, said jsonb, now timestamp)
RETURNS tsrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    today timestamp := date_trunc('day', now);
    unit text := said ->> 'unit';
    unit_days float8 := CASE unit WHEN 'day' THEN 1 WHEN 'week' THEN 7 WHEN 'month' THEN 30.4 WHEN 'year' THEN 365 END;
    many float8 := pgmnemo._small_number(said ->> 'count');
    since timestamp;
    slack interval;
BEGIN
    IF kind = 'date' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, pgmnemo._month(said ->> 'month'),
                                      (said ->> 'day')::integer, NULL, now);
    ELSIF kind = 'feast' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, f.month, f.day, NULL, now)
          FROM (VALUES ('valentine', 2, 14), ('halloween', 10, 31), ('christmas eve', 12, 24), ('christmas', 12, 25),
                       ('new years eve', 12, 31), ('new years day', 1, 1)) AS f (name, month, day)
         WHERE f.name = replace(said ->> 'feast', '''', '');
    ELSIF kind = 'season' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, s.month, NULL, 3, now - interval '3 months')  -- ended
          FROM (VALUES ('spring', 3), ('summer', 6), ('autumn', 9), ('fall', 9), ('winter', 12)) AS s (name, month)
         WHERE s.name = said ->> 'season';
    ELSIF kind = 'quarter' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, 3 * q.place::integer - 2, NULL, 3, now)
          FROM unnest('{first,second,third,fourth}'::text[]) WITH ORDINALITY AS q (name, place)
         WHERE said ->> 'quarter' IN (q.name, q.place::text);
    ELSIF kind = 'ago' THEN
        since := now - many * unit_days * interval '24 hours';
        slack := greatest(0.5, 0.12 * many * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 2 END)
                 * interval '24 hours';
        RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + slack) END;
    ELSIF kind = 'past' THEN
        unit_days := CASE unit WHEN 'month' THEN 31 ELSE unit_days END;
        since := now - (coalesce(many, 1) * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 3 END) * interval '24 hours';
        RETURN tsrange(since, now + interval '24 hours');
    ELSIF kind = 'span' AND said ->> 'which' = 'last' THEN
        RETURN tsrange(date_trunc(unit, now) - ('1 ' || unit)::interval, date_trunc(unit, now));
    ELSIF kind = 'span' THEN
        RETURN tsrange(date_trunc(unit, now), today + interval '1 day');
    ELSIF said ? 'weekday' THEN
        since := today - (1 + (extract(isodow FROM today)::integer + 6
                               - array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3))) % 7)
                         * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
    END IF;
    RETURN CASE said ->> 'day'
        WHEN 'day before yesterday' THEN tsrange(now - interval '60 hours', now - interval '36 hours')
        WHEN 'yesterday' THEN tsrange(now - interval '36 hours', now - interval '12 hours')
        WHEN 'last night' THEN tsrange(today - interval '12 hours', today + interval '12 hours')
        WHEN 'the other day' THEN tsrange(now - interval '7 days', now - interval '12 hours')
        WHEN 'recently' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'lately' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'last weekend' THEN tsrange(date_trunc('week', now) - interval '2 days', date_trunc('week', now))
        ELSE tsrange(today, today + interval '1 day') END;
END
$$;
-- Two tests, a quick one and a close one, let a question go that names no time. Far from today the
-- calendar of PostgreSQL would end within the intervals; such a moment has none. Each way of naming a time reads
-- what is left, so only the beginning of a question is looked at.
CREATE OR REPLACE FUNCTION pgmnemo._times(question text, as_of timestamptz, OUT since timestamptz[], OUT until timestamptz[],
                               OUT share float8)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_characters constant integer := 10000;
    most_intervals  constant integer := 20;
    remaining text := lower(left(question, most_characters));
    now timestamp := as_of AT TIME ZONE 'UTC';
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
                since := since || lower(span) AT TIME ZONE 'UTC';
                until := until || upper(span) AT TIME ZONE 'UTC';
                remaining := replace(remaining, found[1], ' ');
                IF cardinality(since) = most_intervals THEN
                    RETURN;
                END IF;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz) IS 'the intervals that an English question names, as of a moment and in UTC: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years, and where nothing else is named "on Tuesday" of the past, "recently", "the other day" (pgmnemo._time_patterns); at most 20, of its first 10,000 characters; both arrays empty if it names none. share: what the times count for, below 1 where they are told loosely';
-- The first text in C order that begins otherwise, as near as the encoding lets one say; NULL: there is none. What is
-- taken too far is sieved by whoever asks.
CREATE OR REPLACE FUNCTION pgmnemo._after_prefix(prefix text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unicode constant boolean := getdatabaseencoding() = 'UTF8';
    head text := prefix;
    code integer;
BEGIN
    WHILE head <> '' LOOP
        code := ascii(right(head, 1));
        head := left(head, -1);
        IF code = 55295 AND unicode THEN
            RETURN head || chr(57344);  -- what lies between are no characters
        ELSIF code < 127 OR (unicode AND code < 1114111) THEN
            RETURN head || chr(code + 1);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
-- What pgmnemo.lesson_entry can find of a document of conditions: values that must stand at a path. `place` tells one
-- condition's alternatives from another's.
CREATE OR REPLACE FUNCTION pgmnemo._asked_entries(conditions jsonb)
RETURNS TABLE (entry bigint, place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._entry('.' || ltrim(c.key, '.'), v.value), c.place::integer
      FROM jsonb_each(conditions) WITH ORDINALITY AS c (key, value, place)
     CROSS JOIN LATERAL (
            SELECT c.value WHERE jsonb_typeof(c.value) NOT IN ('object', 'array')
             UNION ALL
            SELECT c.value -> 'eq' WHERE c.value ? 'eq' AND jsonb_typeof(c.value) = 'object'
             UNION ALL
            SELECT i FROM jsonb_array_elements(CASE WHEN jsonb_typeof(c.value) = 'object' AND NOT c.value ? 'eq'
                                                    THEN c.value -> 'in' END) i) AS v (value)
     WHERE c.key NOT IN ('and', 'or', 'not')
$$;
-- Whether a lesson held at a moment by what was known at another time: stored by then, and not known to be superseded.
CREATE OR REPLACE FUNCTION pgmnemo._believed(l pgmnemo.lesson, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (l).stored_at <= known_at
       AND NOT EXISTS (SELECT FROM pgmnemo._links_known((l).tenant_id, (l).id, NULL, known_at) x
                        WHERE x.valid_from <= moment)
$$;
-- One condition on what stands at a path of metadata, as a predicate of jsonpath. `exists` makes each of them true or
-- false, never unknown, so that not means not; a list counts as each of its elements.
CREATE OR REPLACE FUNCTION pgmnemo._condition_path(item text, path text, operator text, given jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 100;
    sign text := CASE operator WHEN 'gt' THEN '>' WHEN 'gte' THEN '>=' WHEN 'lt' THEN '<' WHEN 'lte' THEN '<=' END;
BEGIN
    IF operator = 'eq' THEN
        RETURN format('exists(%s ? (@ == %s))', path, pgmnemo._scalar_path(item, given));
    ELSIF operator = 'ne' THEN
        RETURN format('!exists(%s ? (@ == %s))', path, pgmnemo._scalar_path(item, given));
    ELSIF operator = 'in' THEN
        IF jsonb_typeof(given) <> 'array' OR jsonb_array_length(given) NOT BETWEEN 1 AND most THEN
            PERFORM pgmnemo._filter_error(item || ' in', format('must be a list of 1 to %s values', most),
                                          'Write {"in": ["one", "another"]}.');
        END IF;
        RETURN (SELECT format('exists(%s ? (%s))', path, string_agg('@ == ' || pgmnemo._scalar_path(item, v), ' || '))
                  FROM jsonb_array_elements(given) v);
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
        RETURN format('exists(%s ? (@ starts with %s))', path, given);
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
-- The entries of one lesson's metadata: of each scalar, those in lists under the path of the list. One that is too
-- deep or too large has the entry 0, which every search asks for as well.
CREATE OR REPLACE FUNCTION pgmnemo._entries(metadata jsonb)
RETURNS SETOF bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 200;    -- entries of one lesson
    deepest constant integer := 16;  -- levels of metadata
    found bigint[];
    whole boolean;
BEGIN
    IF metadata = '{}' THEN
        RETURN;
    ELSIF jsonb_typeof(metadata) = 'object' THEN  -- most are flat, and need no walk
        SELECT array_agg(DISTINCT pgmnemo._entry('.' || e.key, e.value)),
               bool_and(jsonb_typeof(e.value) NOT IN ('object', 'array'))
          INTO found, whole
          FROM jsonb_each(metadata) e;
        IF whole AND cardinality(found) <= most THEN
            RETURN QUERY SELECT unnest(found);
            RETURN;
        END IF;
    END IF;
    WITH RECURSIVE walk (path, value, depth) AS (
        SELECT ''::text, metadata, 0
         UNION ALL
        SELECT w.path || coalesce('.' || e.key, ''), e.value, w.depth + 1
          FROM walk w
         CROSS JOIN LATERAL (
                SELECT o.key, o.value
                  FROM jsonb_each(CASE jsonb_typeof(w.value) WHEN 'object' THEN w.value ELSE '{}' END) o
                 UNION ALL
                SELECT NULL, a.value
                  FROM jsonb_array_elements(CASE jsonb_typeof(w.value) WHEN 'array' THEN w.value ELSE '[]' END) a) e
         WHERE w.depth < deepest
    ), looked AS (
        SELECT w.* FROM walk w WHERE w.depth > 0 LIMIT 4 * most
    )
    SELECT array_agg(DISTINCT pgmnemo._entry(s.path, s.value))
               FILTER (WHERE jsonb_typeof(s.value) NOT IN ('object', 'array')),
           count(*) < 4 * most AND coalesce(max(s.depth), 0) < deepest
      INTO found, whole
      FROM looked s;
    IF whole AND coalesce(cardinality(found), 0) <= most THEN
        RETURN QUERY SELECT unnest(found);
    ELSE
        RETURN NEXT 0;
    END IF;
END
$$;
-- Equal numbers have one entry, however they are written (1 and 1.0).
CREATE OR REPLACE FUNCTION pgmnemo._entry(path text, value jsonb)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT jsonb_hash_extended(jsonb_build_array(path, value), 0) $$;

COMMENT ON FUNCTION pgmnemo._entry IS 'what pgmnemo.lesson_entry keeps of one scalar in metadata: a hash of its keys, joined by dots, and of itself';
-- A filter that is malformed is an error, never ignored: one that says less than its writer meant would show, or
-- forget, what it should not.
CREATE OR REPLACE FUNCTION pgmnemo._filter(given jsonb)
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
            f.topic_prefix := one.value #>> '{}';
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
                  FROM pgmnemo._asked_entries(conditions) a;
            END IF;
            IF f.contained IS NOT NULL THEN
                contained := ARRAY(SELECT e FROM pgmnemo._entries(f.contained) e WHERE e <> 0);
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

COMMENT ON FUNCTION pgmnemo._filter IS 'a filter: an object of which every key must hold. projects, role, topic: a text or a list, one of which; topic_prefix: how the topic begins; since, until: when it happened (occurred_at, else stored_at), until excluded; metadata: an object of conditions {"path.to.key": value or {"eq": ..., "ne": ..., "in": [...], "gt": ..., "gte": ..., "lt": ..., "lte": ..., "prefix": "...", "exists": true}}, with and: [...], or: [...], not: {...}, and at its top contains: {...} (@>). A list in metadata counts as each of its elements';
-- How every complaint about a filter is made.
CREATE OR REPLACE FUNCTION pgmnemo._filter_error(item text, problem text, advice text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'filter: % %', left(item, 200), problem
    USING ERRCODE = 'invalid_parameter_value', HINT = advice;
END
$$;
-- A text or a list of texts that a filter gives for one of its keys.
CREATE OR REPLACE FUNCTION pgmnemo._filter_texts(item text, given jsonb)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 1000;
    items jsonb := CASE jsonb_typeof(given) WHEN 'array' THEN given ELSE jsonb_build_array(given) END;
BEGIN
    IF jsonb_array_length(items) NOT BETWEEN 1 AND most
       OR EXISTS (SELECT FROM jsonb_array_elements(items) i WHERE jsonb_typeof(i) <> 'string') THEN
        PERFORM pgmnemo._filter_error(quote_literal(item), format('must be a text or a list of 1 to %s texts', most),
                                      'Leave it out where any will do.');
    END IF;
    RETURN ARRAY(SELECT DISTINCT i FROM jsonb_array_elements_text(items) i);
END
$$;
-- A time that a filter gives: a date, which begins in UTC, or a time of day with its offset; no other reading depends
-- on what the session has set.
CREATE OR REPLACE FUNCTION pgmnemo._filter_time(item text, given jsonb)
RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said text := CASE WHEN jsonb_typeof(given) = 'string' THEN left(given #>> '{}', 100) END;
BEGIN
    said := CASE WHEN said ~ '^[0-9]{4}-[0-9][0-9]-[0-9][0-9]$' THEN said || 'T00:00:00Z'
                 WHEN said ~ ('^[0-9]{4}-[0-9][0-9]-[0-9][0-9][T ][0-9][0-9]:[0-9][0-9](:[0-9][0-9](\.[0-9]+)?)?'
                              '(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$') THEN said END;
    IF said IS NULL OR NOT pg_input_is_valid(said, 'timestamptz') THEN
        PERFORM pgmnemo._filter_error(quote_literal(item), 'must be a date or a time with its offset from UTC',
                                      'Write 2026-05-01, 2026-05-01T09:30:00Z or 2026-05-01T09:30:00+02:00.');
    END IF;
    RETURN said::timestamptz;
END
$$;
-- Whether metadata hold a number that cannot be written out. Each is looked at by itself: the whole must never be
-- made into text.
CREATE OR REPLACE FUNCTION pgmnemo._holds_unprintable(metadata jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (SELECT FROM jsonb_path_query(metadata, 'strict $.** ? (@.type() == "number")') n
                    WHERE pgmnemo._unprintable(n))
$$;
-- Whether a project is one of those that a call looks in: the interval for the index, and of a set its members.
CREATE OR REPLACE FUNCTION pgmnemo._in_scope(project uuid, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT project BETWEEN (scope).first_project AND (scope).last_project
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL
            OR project = ANY (((scope).filter).projects))
$$;
-- Which supersessions were known at a time (NULL: now), of one lesson by another. It fixes no search path, so that it
-- becomes a part of the statement that asks: then each finds its index.
CREATE OR REPLACE FUNCTION pgmnemo._links_known(tenant uuid, old bigint, new bigint, known_at timestamptz)
RETURNS SETOF pgmnemo.supersession
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.* FROM pgmnemo.supersession x
     WHERE x.tenant_id = tenant AND (old IS NULL OR x.old_id = old) AND (new IS NULL OR x.new_id = new)
       AND CASE WHEN known_at IS NULL THEN x.undone_at IS NULL
                ELSE x.recorded_at <= known_at AND (x.undone_at IS NULL OR x.undone_at > known_at) END
$$;
-- What a filter asks of metadata, as one predicate of jsonpath. The keys of a document are paths, levels joined by
-- dots; a dot in front tells a key named and, or, not or contains from the word.
CREATE OR REPLACE FUNCTION pgmnemo._metadata_path(given jsonb, depth integer)
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
-- What a filter and known_at ask of a lesson. It becomes a part of each statement that asks: a call for each row would
-- cost more than what it asks.
CREATE OR REPLACE FUNCTION pgmnemo._passes(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (((scope).filter).roles IS NULL OR l.role = ANY (((scope).filter).roles))
       AND (((scope).filter).topics IS NULL OR l.topic = ANY (((scope).filter).topics))
       AND (((scope).filter).topic_prefix IS NULL OR starts_with(l.topic, ((scope).filter).topic_prefix))
       AND (((scope).filter).since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= ((scope).filter).since)
       AND (((scope).filter).until IS NULL OR coalesce(l.occurred_at, l.stored_at) < ((scope).filter).until)
       AND (((scope).filter).contained IS NULL OR l.metadata @> ((scope).filter).contained)
       AND (((scope).filter).matching IS NULL OR l.metadata @@ ((scope).filter).matching)
       AND ((scope).known_at IS NULL OR pgmnemo._believed(l, (scope).moment, (scope).known_at))
$$;
-- pgmnemo._passes as a call: within a recall's statements, which few calls filter, the whole of it would be made ready
-- for nothing.
CREATE OR REPLACE FUNCTION pgmnemo._passing(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes(l, scope);
END
$$;
-- A scalar as jsonpath writes it.
CREATE OR REPLACE FUNCTION pgmnemo._scalar_path(item text, given jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF jsonb_typeof(given) IN ('object', 'array') THEN
        PERFORM pgmnemo._filter_error(item, 'must be compared with a text, a number, true, false or null',
                                      'What is larger is found by contains.');
    ELSIF jsonb_typeof(given) = 'number' AND pgmnemo._unprintable(given) THEN
        PERFORM pgmnemo._filter_error(item, 'is compared with a number of too many digits',
                                      'Numbers go to 1e308, with at most 400 decimals.');
    END IF;
    RETURN given::text;
END
$$;
-- Whether a number takes few bytes in jsonb, but very many when it is written out: a handful would fill a server's
-- memory and stop pg_dump.
CREATE OR REPLACE FUNCTION pgmnemo._unprintable(number jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT abs(number::numeric) > 1e308 OR scale(number::numeric) > 400 $$;
-- REPEATABLE READ and SERIALIZABLE show grants as they were when the transaction, or the one whose snapshot it
-- imported, began. A row that somebody has deleted since says so in its xmax; of a revoke that was rolled back before
-- the snapshot that mark may be left, so the last one must have been under way then or have come later.
CREATE OR REPLACE FUNCTION pgmnemo._check_revoked(role name, tenant uuid)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.tenant_grant g
                   WHERE g.tenant_id = coalesce(tenant, g.tenant_id) AND g.xmax <> 0
                     AND pg_has_role(role, g.grantee::oid, 'USAGE'))
          AND NOT pg_visible_in_snapshot((SELECT r.last_value::text::xid8 FROM pgmnemo.revocation_seq r),
                                         pg_current_snapshot()) THEN
        RAISE EXCEPTION 'a grant was revoked since this transaction''s snapshot'
        USING ERRCODE = 'serialization_failure', HINT = 'Repeat the transaction.';
    END IF;
END
$$;
-- How every verb begins: only a caller whom a grant reaches gets on, and from here to pgmnemo._leave the policies show
-- the verb, which has its owner's rights, the rows of this tenant alone.
CREATE OR REPLACE FUNCTION pgmnemo._enter(tenant uuid, caller pgmnemo.caller)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role name := pgmnemo._proved(caller);
    free name;
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'tenant is NULL'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Name the tenant by its uuid.';
    ELSIF NOT pgmnemo._reaches(role, tenant) THEN
        RAISE EXCEPTION 'role % has no grant for tenant %', quote_ident(role), quote_literal(tenant)
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'The owner of the extension grants it with pgmnemo.grant_tenant(tenant, role).';
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, tenant);
    END IF;
    SELECT r.rolname INTO free
      FROM pg_roles r WHERE r.rolname IN (role, current_user) AND (r.rolsuper OR r.rolbypassrls)
     ORDER BY r.rolname = role DESC LIMIT 1;
    IF free IS NOT NULL AND coalesce(nullif(current_setting('pgmnemo.bypass_notice', true), ''), 'on') <> 'off' THEN
        RAISE NOTICE 'no row-level security binds role %, % of this call: the verb alone keeps to tenant %',
              quote_ident(free),
              CASE WHEN free = role THEN 'the caller' ELSE 'the extension''s owner and so the one in force' END, tenant
        USING HINT = 'Work as an ordinary role, with an ordinary role as owner; '
                     'SET pgmnemo.bypass_notice = off silences this.';
    END IF;
    PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
END
$$;
-- How the verbs begin for which the tenant may be left open: NULL is the session's.
CREATE OR REPLACE FUNCTION pgmnemo._entered(tenant uuid, caller pgmnemo.caller)
RETURNS uuid
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    named uuid := coalesce(tenant, pgmnemo._session_tenant());
BEGIN
    PERFORM pgmnemo._enter(named, caller);
    RETURN named;
END
$$;
-- As pgmnemo._lock_tenant, for verbs that decide by what stands in several rows: the tenant's row is written as well,
-- so that under REPEATABLE READ whoever took his snapshot before fails rather than decide by what no longer holds.
CREATE OR REPLACE FUNCTION pgmnemo._write_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    UPDATE pgmnemo.tenant t SET tenant_id = t.tenant_id WHERE t.tenant_id = tenant;
END
$$;
-- What becomes of lessons whose successors are about to be forgotten: with `revive` they hold again, else they stay
-- out of recall, and a NOTICE says so. Where a later successor holds, or ended without one, there is nothing to say.
CREATE OR REPLACE FUNCTION pgmnemo._bequeath(tenant uuid, forgotten bigint[], revive boolean)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old bigint[];
BEGIN
    WITH RECURSIVE successor (old_id, id) AS (
        SELECT x.old_id, x.new_id FROM pgmnemo.supersession x
         WHERE x.tenant_id = tenant AND x.new_id = ANY (forgotten) AND x.undone_at IS NULL
           AND x.old_id <> ALL (forgotten)
         UNION
        SELECT s.old_id, x.new_id
          FROM successor s
          JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
          JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = s.id AND x.undone_at IS NULL
         WHERE s.id = ANY (forgotten) OR NOT l.active
    )
    SELECT array_agg(o.old_id) INTO old
      FROM (SELECT s.old_id
              FROM successor s LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
             GROUP BY s.old_id
            HAVING bool_and(s.id IS NOT NULL AND (s.id = ANY (forgotten) OR NOT l.active))) o;
    IF old IS NULL THEN
        RETURN;
    ELSIF revive THEN
        PERFORM pgmnemo._undo_supersede(tenant, old);
    ELSE
        RAISE NOTICE '% out of recall, superseded by what is forgotten',
              CASE cardinality(old) WHEN 1 THEN '1 lesson stays' ELSE cardinality(old) || ' lessons stay' END
        USING HINT = 'revive => true brings them back, and so does pgmnemo.undo_supersede.';
    END IF;
END
$$;
-- What a writer sets to nothing, by name.
CREATE OR REPLACE FUNCTION pgmnemo._check_clear(clear text[], allowed text[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT coalesce(quote_literal(left(c, 100)), 'NULL') FROM unnest(clear) c
                    WHERE (c = ANY (allowed)) IS NOT TRUE LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'clear names %, which cannot be cleared', wrong
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Those are ' || array_to_string(allowed, ', ') || '.';
    END IF;
END
$$;
-- Whoever forgets by a filter must have one.
CREATE OR REPLACE FUNCTION pgmnemo._check_forgetting(filter jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF filter IS NULL OR filter = '{}' THEN
        RAISE EXCEPTION 'filter is %, but must say which lessons to forget', coalesce(filter::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'pgmnemo.forget_all(tenant, project_id) forgets every lesson of a project or a tenant.';
    END IF;
END
$$;
-- A set with a lesson that cannot be stored, or that names one key twice, is refused whole. Unnested in the SELECT
-- list lessons pass by one by one, and none is copied.
CREATE OR REPLACE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most     constant integer := 10000;       -- lessons
    farthest constant integer := 1000000000;  -- position, either way
    wrong record;
BEGIN
    IF cardinality(lessons) > most THEN
        RAISE EXCEPTION 'the set has % lessons, but may have %', cardinality(lessons), most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store it in parts; nothing of the set was stored.';
    END IF;
    SELECT u.ordinal, (u.i).external_id, p.problem INTO wrong
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL pgmnemo._size_problem(
                (u.i).content, (u.i).topic, (u.i).role, (u.i).commit_sha, (u.i).artifact_hash, (u.i).metadata,
                (u.i).passages) AS s (size)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN (u.i).project_id IS NULL OR coalesce((u.i).external_id, '') = '' OR (u.i).content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN octet_length((u.i).external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length((u.i).external_id))
                WHEN s.size IS NOT NULL THEN s.size
                WHEN (u.i).content !~ '\S' THEN 'has no text in its content'
                WHEN pgmnemo._holds_unprintable((u.i).metadata)
                THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
                WHEN (u.i).importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
                WHEN (u.i).position NOT BETWEEN -farthest AND farthest
                THEN format('must have a position from -%s to %s', farthest, farthest)
                WHEN NOT isfinite((u.i).occurred_at) THEN 'must have a finite occurred_at'
                WHEN @extschema:vector@.vector_norm((u.i).embedding) NOT BETWEEN 1e-15 AND 1e15
                THEN 'must have an embedding with a norm from 1e-15 to 1e15'
                ELSE pgmnemo._passages_problem((u.i).passages, (u.i).passage_embeddings) END) AS p (problem)
     WHERE p.problem IS NOT NULL
     LIMIT 1;
    PERFORM pgmnemo._refuse_lesson(wrong.ordinal, wrong.external_id, wrong.problem);
    SELECT (u.i).external_id, (u.i).project_id INTO wrong
      FROM (SELECT unnest(lessons) AS i OFFSET 0) u GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'external_id % stands more than once in the set for project %',
              quote_literal(wrong.external_id), wrong.project_id
        USING ERRCODE = 'unique_violation', HINT = 'Give each key once; nothing of the set was stored.';
    END IF;
END
$$;
-- A moment of the world from which on something holds, and the words that say why.
CREATE OR REPLACE FUNCTION pgmnemo._check_moment(at timestamptz, reason text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT isfinite(at) THEN
        RAISE EXCEPTION 'at is %, but must be finite', at
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for now.';
    ELSIF octet_length(reason) > 10000 THEN
        RAISE EXCEPTION 'reason has % bytes, but may have 10000', octet_length(reason)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store a longer text as a lesson, and name it here.';
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION pgmnemo._check_patch(metadata jsonb, patch jsonb)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF metadata IS NOT NULL AND patch IS NOT NULL THEN
        RAISE EXCEPTION 'metadata and patch are both given'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'metadata replaces what is there, patch is merged into it.';
    ELSIF jsonb_typeof(patch) <> 'object' THEN
        RAISE EXCEPTION 'patch is of type %, but must be an object', jsonb_typeof(patch)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"lang": "de"}.';
    END IF;
END
$$;
-- What pgmnemo.gate_strict does to lessons without provenance when they are written. One that is there already keeps
-- what it has.
CREATE OR REPLACE FUNCTION pgmnemo._check_provenance(tenant uuid, lessons pgmnemo.lesson_input[], clear text[], gate text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bare bigint;
    example text;
BEGIN
    IF gate = 'off' THEN
        RETURN;
    END IF;
    SELECT count(*), min(i.external_id COLLATE "C") INTO bare, example
      FROM unnest(lessons) i
     WHERE i.commit_sha IS NULL AND i.artifact_hash IS NULL
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson l
                        WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
                          AND (l.commit_sha IS NOT NULL AND 'commit_sha' <> ALL (clear)
                               OR l.artifact_hash IS NOT NULL AND 'artifact_hash' <> ALL (clear)));
    IF bare > 0 AND gate = 'enforce' THEN
        RAISE EXCEPTION '% of % lessons have no provenance, % among them',
              bare, cardinality(lessons), quote_literal(example)
        USING ERRCODE = 'check_violation',
              HINT = 'Give commit_sha or artifact_hash, or SET pgmnemo.gate_strict to warn or off; '
                     'nothing of the set was stored.';
    ELSIF bare > 0 THEN
        RAISE WARNING '% of % lessons have no provenance, % among them',
              bare, cardinality(lessons), quote_literal(example);
    END IF;
END
$$;
-- Makes room for _write_passages: takes away what these lessons are given anew, what `clear` names, and the vector of
-- a text that is another one now. Passages of such a text go with it (pgmnemo._lesson_after_update).
CREATE OR REPLACE FUNCTION pgmnemo._clear_passages(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pgmnemo.passage p
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE p.tenant_id = tenant AND p.lesson_id = l.id
       AND CASE WHEN p.number = 0
                THEN i.embedding IS NOT NULL OR 'embedding' = ANY (clear) OR l.content <> i.content
                ELSE i.passages IS NOT NULL OR 'passages' = ANY (clear) END
$$;
-- Those of these lessons that have a vector, their own or a passage's.
CREATE OR REPLACE FUNCTION pgmnemo._embedded(tenant uuid, ids bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                  WHERE EXISTS (SELECT FROM pgmnemo.passage p
                                 WHERE p.tenant_id = tenant AND p.lesson_id = u.id AND p.embedding IS NOT NULL))
$$;
-- A fact as the metadata of its lesson says it, checked.
CREATE OR REPLACE FUNCTION pgmnemo._fact(subject text, relation text, object text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT p.name FROM (VALUES ('subject', subject), ('relation', relation), ('object', object))
                                      AS p (name, said)
                    WHERE p.said !~ '\S' OR octet_length(p.said) > 1000 LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% must have 1 to 1000 bytes and not be blank', wrong
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Name it in a few words; the content of the fact may say more.';
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object('subject', subject, 'relation', relation, 'object', object));
END
$$;
-- The lessons of a project that state such a fact and hold at a moment (NULL: at any); without an object, whatever it
-- is.
CREATE OR REPLACE FUNCTION pgmnemo._facts_held(tenant uuid, project uuid, fact jsonb, at timestamptz)
RETURNS SETOF pgmnemo.lesson
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.*
      FROM (SELECT DISTINCT e.lesson_id FROM pgmnemo.lesson_entry e
             WHERE e.tenant_id = tenant
               AND e.entry IN (pgmnemo._entry('.fact.subject', fact -> 'subject'), 0)) e
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = e.lesson_id OFFSET 0) l
     WHERE l.project_id = project AND l.metadata @> jsonb_build_object('fact', fact) AND l.active
       AND (at IS NULL
            OR coalesce(l.occurred_at, l.stored_at) <= at AND (l.superseded_at IS NULL OR at < l.superseded_at)
               AND (l.expires_at IS NULL OR at < l.expires_at))
$$;
-- Where pgmnemo.forget_project or forget_tenant took all postings and entries out at once, there is nothing left to
-- do.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_after_delete()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(DISTINCT g.id), array_agg(DISTINCT x))
       FROM gone g LEFT JOIN LATERAL unnest(tsvector_to_array(g.lexemes)) x ON true
      WHERE g.active AND EXISTS (SELECT FROM pgmnemo.posting p
                                  WHERE p.tenant_id = g.tenant_id AND p.lexeme = '' AND p.project_id = g.project_id)
      GROUP BY g.tenant_id, g.project_id;
    IF EXISTS (SELECT FROM pgmnemo.lesson_entry e WHERE e.tenant_id = (SELECT g.tenant_id FROM gone g LIMIT 1)) THEN
        DELETE FROM pgmnemo.lesson_entry e
         USING gone g CROSS JOIN LATERAL pgmnemo._entries(g.metadata) AS was (entry)
         WHERE g.metadata <> '{}' AND e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER lesson_after_delete AFTER DELETE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_delete();
-- With its two siblings keeps postings and entries true to lessons, whichever statement wrote them.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id)) FROM written w GROUP BY w.tenant_id;
    INSERT INTO pgmnemo.lesson_entry
    SELECT w.tenant_id, e.entry, w.id FROM written w CROSS JOIN LATERAL pgmnemo._entries(w.metadata) AS e (entry)
     WHERE w.metadata <> '{}';
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
-- A row that stays as its postings know it is left alone; a changed one is taken out as it was and put in as it is.
-- Passages follow their lesson into another project, and go when its text becomes another. The two states are
-- compared as sets: a join would be planned once, for the first statement's row, and take the square of the next's.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_after_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(DISTINCT g.id), array_agg(DISTINCT x))
       FROM (SELECT tenant_id, id, active, project_id, lexemes FROM gone
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes FROM written) g
       LEFT JOIN LATERAL unnest(tsvector_to_array(g.lexemes)) x ON true
      WHERE g.active
      GROUP BY g.tenant_id, g.project_id;
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id))
       FROM (SELECT tenant_id, id, active, project_id, lexemes FROM written
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes FROM gone) w
      WHERE w.active
      GROUP BY w.tenant_id;
    DELETE FROM pgmnemo.lesson_entry e
     USING (SELECT tenant_id, id, metadata FROM gone EXCEPT SELECT tenant_id, id, metadata FROM written) g
     CROSS JOIN LATERAL pgmnemo._entries(g.metadata) AS was (entry)
     WHERE e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    INSERT INTO pgmnemo.lesson_entry
    SELECT w.tenant_id, e.entry, w.id
      FROM (SELECT tenant_id, id, metadata FROM written EXCEPT SELECT tenant_id, id, metadata FROM gone) w
     CROSS JOIN LATERAL pgmnemo._entries(w.metadata) AS e (entry)
     WHERE w.metadata <> '{}';
    DELETE FROM pgmnemo.passage p
     USING (SELECT tenant_id, id, content FROM written EXCEPT SELECT tenant_id, id, content FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id AND p.number > 0;
    UPDATE pgmnemo.passage p SET project_id = w.project_id
      FROM written w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id AND p.project_id <> w.project_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER lesson_after_update AFTER UPDATE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_update();
-- These lessons as they are to stand, beside what they were: of one that is there already what the set leaves out
-- stays, but for what `clear` names. Passages that are given again without their vectors stay with those that they
-- have.
CREATE OR REPLACE FUNCTION pgmnemo._merged(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS TABLE (id bigint, given pgmnemo.lesson_input, was pgmnemo.lesson)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.id,
           ROW(l.project_id, l.external_id, i.content, i.embedding,
               coalesce(i.role, CASE WHEN 'role' <> ALL (clear) THEN l.role END),
               coalesce(i.topic, CASE WHEN 'topic' <> ALL (clear) THEN l.topic END),
               coalesce(i.importance, CASE WHEN 'importance' <> ALL (clear) THEN l.importance END, 3),
               coalesce(i.metadata, CASE WHEN 'metadata' <> ALL (clear) THEN l.metadata END, '{}'),
               coalesce(i.occurred_at, CASE WHEN 'occurred_at' <> ALL (clear) THEN l.occurred_at END),
               coalesce(i.expires_at, CASE WHEN 'expires_at' <> ALL (clear) THEN l.expires_at END),
               coalesce(i.commit_sha, CASE WHEN 'commit_sha' <> ALL (clear) THEN l.commit_sha END),
               coalesce(i.artifact_hash, CASE WHEN 'artifact_hash' <> ALL (clear) THEN l.artifact_hash END),
               coalesce(i.verified_at, CASE WHEN 'verified_at' <> ALL (clear) THEN l.verified_at END),
               CASE WHEN i.passage_embeddings IS NOT NULL OR i.content <> l.content OR i.passages IS DISTINCT FROM
                         ARRAY(SELECT p.content FROM pgmnemo.passage p
                                WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND p.number > 0 ORDER BY p.number)
                    THEN i.passages END,
               i.passage_embeddings,
               coalesce(i.position, CASE WHEN 'position' <> ALL (clear) THEN l.position END))::pgmnemo.lesson_input,
           l
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
$$;
-- Where a project's conversation goes on, and a key for what comes there.
CREATE OR REPLACE FUNCTION pgmnemo._next_turn(tenant uuid, project uuid, prefix text, apart boolean)
RETURNS TABLE (key text, place integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    last constant bigint := 1000000000;
    greatest_yet integer := (SELECT l.position FROM pgmnemo.lesson l
                              WHERE l.tenant_id = tenant AND l.project_id = project AND l.position IS NOT NULL
                              ORDER BY l.position DESC LIMIT 1);
    next bigint := greatest(coalesce(greatest_yet, 0), 0) + 1 + (apart AND greatest_yet IS NOT NULL)::integer::bigint;
    number bigint := next;
BEGIN
    IF prefix IS NULL OR octet_length(prefix) NOT BETWEEN 1 AND 900 THEN
        RAISE EXCEPTION 'prefix has % bytes, but must have 1 to 900', coalesce(octet_length(prefix), 0)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for ''turn''.';
    ELSIF next > last THEN
        RAISE EXCEPTION 'project % has a lesson at position %, and none comes after %', project, greatest_yet, last
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Store that lesson at another position.';
    END IF;
    WHILE EXISTS (SELECT FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.project_id = project
                     AND l.external_id = prefix || '/' || number) LOOP
        number := number + 1;
    END LOOP;
    RETURN QUERY SELECT prefix || '/' || number, next::integer;
END
$$;
-- Whether the set gives a lesson a vector or passages other than those that it has, or takes them away.
CREATE OR REPLACE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given @extschema:vector@.vector, passages text[],
                                         vectors @extschema:vector@.vector[], clear text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (given IS NOT NULL
            AND ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                       WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number = 0)
                <> ARRAY[pgmnemo._narrowed(given)])
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number),
                 ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._narrowed(vectors[n])
                                   FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
        OR (clear && '{embedding,passages}'
            AND EXISTS (SELECT FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = lesson
                           AND CASE WHEN p.number = 0 THEN 'embedding' ELSE 'passages' END = ANY (clear)))
$$;
-- What is wrong with the passages of one lesson; NULL: nothing.
CREATE OR REPLACE FUNCTION pgmnemo._passages_problem(passages text[], vectors @extschema:vector@.vector[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN array_ndims(passages) > 1 OR array_ndims(vectors) > 1
        THEN 'must have passages and passage_embeddings in lists, not in tables'
        WHEN vectors IS NOT NULL AND coalesce(cardinality(passages), -1) <> cardinality(vectors)
        THEN format('has %s passages, but %s passage_embeddings', coalesce(cardinality(passages), 0),
                    cardinality(vectors))
        WHEN (SELECT sum(octet_length(p)) FROM unnest(passages) p) > 20000000
        THEN 'has passages of more than 20,000,000 bytes together'
        WHEN array_position(passages, NULL) IS NOT NULL
        THEN format('has no text in passage %s', array_position(passages, NULL))
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_dims(v) <> 1024)
        THEN 'must have passage_embeddings of 1024 dimensions (pad with zeros)'
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_norm(v) NOT BETWEEN 1e-15 AND 1e15)
        THEN 'must have passage_embeddings with a norm from 1e-15 to 1e15'
    END
$$;
-- How every complaint about a lesson that is to be stored is made.
CREATE OR REPLACE FUNCTION pgmnemo._refuse_lesson(ordinal bigint, external_id text, problem text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'lesson % of the set, %, %',
              ordinal, quote_literal(left(coalesce(external_id, ''), 100)), problem
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
END
$$;
-- What is too long in what a writer gives for one lesson; NULL: nothing. Lengths are read off what came, before
-- anything is made of it, so that what is refused costs little more than to send it. Of passages the whole array
-- counts, which is a little larger; the sum is pgmnemo._passages_problem's.
CREATE OR REPLACE FUNCTION pgmnemo._size_problem(content text, topic text, role text, commit_sha text, artifact_hash text,
                                      metadata jsonb, passages text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN octet_length(content) > 10000000
        THEN format('has a content of %s bytes, but may have 10,000,000', octet_length(content))
        WHEN greatest(octet_length(topic), octet_length(role), octet_length(commit_sha),
                      octet_length(artifact_hash)) > 10000
        THEN 'has a topic, role, commit_sha or artifact_hash of more than 10,000 bytes'
        WHEN pg_column_size(metadata) > 1000000 OR pg_column_size(jsonb_build_array(metadata)) > 1000100
        THEN 'has metadata of more than 1,000,000 bytes'
        WHEN pg_column_size(metadata) > 10000
             AND (SELECT count(*) FROM jsonb_path_query(metadata, 'strict $.**') v) > 10000
        THEN 'has metadata of more than 10,000 values'
        WHEN cardinality(passages) > 1000 THEN format('has %s passages, but may have 1,000', cardinality(passages))
        WHEN pg_column_size(passages) > 20010000 THEN 'has passages of more than 20,000,000 bytes together'
    END
$$;
-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed: writers
-- who all keep to this sequence wait for one another but never in a circle. Only a key that is there already is passed
-- over: an id that is taken, by a sequence that was set back, is an error. What the set leaves out of a lesson that is
-- there stays (pgmnemo._merged), read anew under the lock.
CREATE OR REPLACE FUNCTION pgmnemo._store(tenant uuid, lessons pgmnemo.lesson_input[], clear text[] DEFAULT NULL,
                               only_new boolean DEFAULT false)
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings := pgmnemo._settings();
    gone text[] := coalesce(clear, '{}');
    large uuid[];
    inserted bigint[];
    changed bigint[];
    outcomes text[];
    final pgmnemo.lesson_input[];
    embedded bigint[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    PERFORM pgmnemo._check_clear(clear, '{embedding,passages,role,topic,importance,metadata,occurred_at,expires_at,'
                                        'commit_sha,artifact_hash,verified_at,position}');
    PERFORM pgmnemo._check_provenance(tenant, lessons, gone, s.gate_strict);
    large := pgmnemo._indexed_projects(tenant, lessons, s.exact_scan_limit);
    IF cardinality(large) > 0 AND NOT pgmnemo._claim_graph(tenant) THEN
        large := '{}';
    END IF;

    WITH fresh AS (
        INSERT INTO pgmnemo.lesson (
               tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at, expires_at,
               commit_sha, artifact_hash, verified_at, position)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at,
               i.position
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    PERFORM pgmnemo._write_passages(tenant, inserted, lessons, large);

    IF cardinality(inserted) < cardinality(lessons) THEN
        IF only_new THEN
            RAISE EXCEPTION 'another writer has just taken the key %', quote_literal(lessons[1].external_id)
            USING ERRCODE = 'serialization_failure', HINT = 'Repeat the call.';
        END IF;
        SELECT array_agg(m.id), array_agg(CASE WHEN (m.was).active THEN 'updated' ELSE 'restored' END)
          INTO changed, outcomes
          FROM pgmnemo._merged(tenant, lessons, gone) m
         WHERE m.id <> ALL (inserted)
           AND (((m.was).role, (m.was).topic, (m.was).content, (m.was).importance, (m.was).metadata,
                 (m.was).occurred_at, (m.was).expires_at, (m.was).commit_sha, (m.was).artifact_hash,
                 (m.was).verified_at, (m.was).position, (m.was).active)
                IS DISTINCT FROM
                ((m.given).role, (m.given).topic, (m.given).content, (m.given).importance, (m.given).metadata,
                 (m.given).occurred_at, (m.given).expires_at, (m.given).commit_sha, (m.given).artifact_hash,
                 (m.given).verified_at, (m.given).position, true)
                OR pgmnemo._passages_differ(tenant, m.id, (m.given).embedding, (m.given).passages,
                                            (m.given).passage_embeddings, gone));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        embedded := pgmnemo._embedded(tenant, changed);
        SELECT array_agg(m.given) INTO final
          FROM pgmnemo._merged(tenant, lessons, gone) m WHERE m.id = ANY (changed);
        IF cardinality(final) IS DISTINCT FROM cardinality(changed) THEN  -- another session has deleted one: begin anew
            RETURN QUERY
            SELECT a.project_id, a.external_id, a.lesson_id,
                   CASE WHEN a.lesson_id = ANY (inserted) THEN 'inserted' ELSE a.outcome END
              FROM pgmnemo._store(tenant, lessons, clear) a;
            RETURN;
        END IF;
        PERFORM pgmnemo._clear_passages(tenant, final, gone);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = i.importance, metadata = i.metadata,
               occurred_at = i.occurred_at, expires_at = i.expires_at, commit_sha = i.commit_sha,
               artifact_hash = i.artifact_hash, verified_at = i.verified_at, position = i.position, active = true
          FROM unnest(final) i
         WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._write_passages(tenant, changed, final, large);
        IF 'embedding' <> ALL (gone) AND cardinality(embedded) > 0 THEN
            embedded := ARRAY(SELECT unnest(embedded) EXCEPT SELECT unnest(pgmnemo._embedded(tenant, changed)));
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (embedded) THEN 'unembedded' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
    END IF;

    -- under REPEATABLE READ a lesson is still seen that another session has deleted, beside the new one of its key
    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM ROWS FROM (unnest(lessons)) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position, ordinal)
     CROSS JOIN LATERAL (
            SELECT max(l.id) AS id FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id) l
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;
-- Lets one lesson take the place of another, or with NULL nothing take it, from a moment on; the tenant is locked.
-- What was known before is not overwritten: the row that held is marked as undone, and another one says what holds
-- now.
CREATE OR REPLACE FUNCTION pgmnemo._supersede(tenant uuid, old bigint, new bigint, reason text, at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old = new OR EXISTS (
        WITH RECURSIVE after (id) AS (
            SELECT new
             UNION
            SELECT x.new_id FROM after a
              JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = a.id AND x.undone_at IS NULL
             WHERE x.new_id IS NOT NULL)
        SELECT FROM after a WHERE a.id = old) THEN
        RAISE EXCEPTION 'a lesson cannot supersede itself, nor one that took its place'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'pgmnemo.timeline shows which took the place of which.';
    END IF;
    -- the row first: another session that has changed it meanwhile is met here, in each isolation level
    UPDATE pgmnemo.lesson l SET superseded_at = at WHERE l.tenant_id = tenant AND l.id = old;
    UPDATE pgmnemo.supersession x SET undone_at = clock_timestamp()
     WHERE x.tenant_id = tenant AND x.old_id = old AND x.undone_at IS NULL;
    INSERT INTO pgmnemo.supersession (tenant_id, old_id, new_id, valid_from, reason, recorded_at)
    VALUES (tenant, old, new, at, reason, clock_timestamp());
END
$$;
-- Takes back that these lessons are superseded; the tenant is locked. How many were.
CREATE OR REPLACE FUNCTION pgmnemo._undo_supersede(tenant uuid, old bigint[])
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    undone bigint;
BEGIN
    UPDATE pgmnemo.lesson l SET superseded_at = NULL
     WHERE l.tenant_id = tenant AND l.id = ANY (old) AND l.superseded_at IS NOT NULL;
    GET DIAGNOSTICS undone = ROW_COUNT;
    UPDATE pgmnemo.supersession x SET undone_at = clock_timestamp()
     WHERE x.tenant_id = tenant AND x.old_id = ANY (old) AND x.undone_at IS NULL;
    RETURN undone;
END
$$;
-- Pairs of a lesson of `ids` and an older one in scope that may share the `at_least` part of their lexemes. Lessons so
-- alike lack few of each other's lexemes, so of the rarest ones they share all but as many: the lists of these are
-- read, as far as `read_most` postings for a lesson go, and those who share most are told. Lists of unknown length are
-- joined by hashing.
CREATE OR REPLACE FUNCTION pgmnemo._alike_words(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_mergejoin = off
SET enable_nestloop = off
AS $$
#variable_conflict use_column
DECLARE
    read_most constant integer := 2000;  -- postings for one lesson
    most_size constant integer := 2000;  -- different words of a lesson that is compared by them
    told_most constant integer := 50;    -- older lessons for one
    lessons   bigint[];
    lexemes   text[];
    sizes     integer[];
    known     text[];
    held      bigint[];
BEGIN
    SELECT array_agg(l.id), array_agg(w.lexeme), array_agg(l.size) INTO lessons, lexemes, sizes
      FROM (SELECT l.id, l.lexemes, length(l.lexemes) AS size
              FROM unnest(ids) AS u (id)
             CROSS JOIN LATERAL (SELECT l.id, l.lexemes FROM pgmnemo.lesson l
                                  WHERE l.tenant_id = scope.tenant AND l.id = u.id OFFSET 0) l
             WHERE length(l.lexemes) <= most_size OFFSET 0) l
     CROSS JOIN LATERAL unnest(tsvector_to_array(l.lexemes)) AS w (lexeme);
    SELECT array_agg(c.lexeme), array_agg(c.held) INTO known, held
      FROM (SELECT p.lexeme, sum(p.lesson_count) AS held FROM pgmnemo.posting p
             WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (ARRAY(SELECT DISTINCT unnest(lexemes)))
               AND p.project_id BETWEEN scope.first_project AND scope.last_project
             GROUP BY p.lexeme) c;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH ordered AS MATERIALIZED (
        SELECT w.id, w.lexeme, w.size - ceil(at_least * w.size - 1e-9) AS missing,
               sum(k.held) OVER (PARTITION BY w.id ORDER BY k.held, w.lexeme COLLATE "C"
                                 ROWS UNBOUNDED PRECEDING) AS read
          FROM unnest(lessons, lexemes, sizes) AS w (id, lexeme, size)
          JOIN unnest(known, held) AS k (lexeme, held) ON k.lexeme = w.lexeme
    ), taken AS MATERIALIZED (
        SELECT o.id, o.lexeme, greatest(1, count(*) OVER (PARTITION BY o.id) - o.missing) AS wanted
          FROM ordered o WHERE o.read <= read_most
    ), shared AS (
        SELECT x.older, t.id AS newer, count(*) AS lexemes
          FROM taken t
         CROSS JOIN LATERAL (
                SELECT unnest(p.lesson_ids) AS older FROM pgmnemo.posting p
                 WHERE p.tenant_id = scope.tenant AND p.lexeme = t.lexeme
                   AND p.project_id BETWEEN scope.first_project AND scope.last_project
                   AND p.lesson_ids[1] < t.id OFFSET 0) x
         WHERE x.older < t.id
         GROUP BY x.older, t.id
        HAVING count(*) >= min(t.wanted)
    )
    SELECT r.older, r.newer
      FROM (SELECT s.older, s.newer,
                   row_number() OVER (PARTITION BY s.newer ORDER BY s.lexemes DESC, s.older DESC) AS place
              FROM shared s) r
     WHERE r.place <= told_most;
END
$$;
-- BM25's statistics, the direction and the times of a question. By pgmnemo.statistics_scope a term is as rare as it is
-- in the tenant, in the scope that is searched, or in the mean of both; what bounds a term, and how many lessons hold
-- it, counts over the scope.
CREATE OR REPLACE FUNCTION pgmnemo._ask(scope pgmnemo.scope, words text, embedding @extschema:vector@.vector, moment timestamptz,
                             s pgmnemo.settings, windows tstzmultirange DEFAULT NULL)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_windows constant integer := 100;
    most_terms constant integer := 1000;  -- the rarest: each is looked for in every candidate and in its passages
    asked pgmnemo.question;
    inside_part float8 := CASE s.statistics_scope WHEN 'tenant' THEN 0 WHEN 'both' THEN 0.5 ELSE 1 END;
    projects uuid[] := (scope.filter).projects;
    k1 float8 := s.bm25_k1;
    idf_sum float8;
    b float8 := s.bm25_b;
    lexemes text[] := coalesce(tsvector_to_array(pgmnemo._lexemes(pgmnemo._text_config(), words)), '{}');
BEGIN
    asked.pivot := s.length_pivot;
    WITH counts AS (
        SELECT p.lexeme,
               sum(p.lesson_count)::float8 AS lessons,
               sum(p.token_total) FILTER (WHERE inside_part < 1 OR i.inside)::float8
               / sum(p.lesson_count) FILTER (WHERE inside_part < 1 OR i.inside) AS mean,
               coalesce(sum(p.lesson_count) FILTER (WHERE i.inside), 0)::bigint AS held,
               max(p.max_frequency) FILTER (WHERE i.inside) AS frequency,
               min(p.min_tokens) FILTER (WHERE i.inside) AS shortest
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT p.project_id BETWEEN scope.first_project AND scope.last_project
                       AND (projects IS NULL OR p.project_id = ANY (projects))) AS i (inside)
         WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (lexemes || ''::text)
         GROUP BY p.lexeme
    ), everything AS (
        SELECT c.held, c.lessons, k1 * (1 - b) AS flat, k1 * b / greatest(c.mean, asked.pivot) AS per_token
          FROM counts c WHERE c.lexeme = ''
    ), terms AS (
        SELECT c.lexeme, c.held, c.frequency, c.shortest, i.idf, pgmnemo._unit() * i.idf * (k1 + 1) AS scale
          FROM counts c
         CROSS JOIN everything e
         CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, c.lessons)
                                    + inside_part * pgmnemo._idf(e.held, c.held)) AS i (idf)
         WHERE c.lexeme <> ''
    )
    SELECT e.held, e.flat, e.per_token,
           coalesce(k.idf_sum, 0) + (cardinality(lexemes) - k.known)
                                    * ((1 - inside_part) * pgmnemo._idf(e.lessons, 0)
                                       + inside_part * pgmnemo._idf(e.held, 0)),
           coalesce(t.found, '{}'), coalesce(t.queries, '{}'), coalesce(t.idfs, '{}'), coalesce(t.scales, '{}'),
           coalesce(t.peaks, '{}'), coalesce(t.postings, '{}')
      INTO asked.held, asked.flat, asked.per_token, idf_sum,
           asked.terms, asked.queries, asked.idfs, asked.scales, asked.peaks, asked.postings
      FROM everything e
     CROSS JOIN LATERAL (
            SELECT sum(t.idf) AS idf_sum, count(*) AS known FROM terms t) k
     CROSS JOIN LATERAL (
            SELECT array_agg(t.lexeme) AS found, array_agg(pgmnemo._term(t.lexeme)) AS queries,
                   array_agg(t.idf) AS idfs,
                   array_agg(t.scale) AS scales, array_agg(t.held) AS postings,
                   array_agg(pgmnemo._impact(t.scale, t.frequency, e.flat, e.per_token, t.shortest, asked.pivot)
                             + 1) AS peaks
              FROM (SELECT * FROM terms WHERE held > 0 ORDER BY idf DESC, lexeme LIMIT most_terms) t) t;
    asked.held := coalesce(asked.held, 0);
    asked.terms := coalesce(asked.terms, '{}');
    asked.direction := @extschema:vector@.l2_normalize(embedding)::@extschema:vector@.halfvec;
    IF (SELECT count(*) FROM unnest(windows)) > most_windows THEN
        RAISE EXCEPTION 'windows holds more than % ranges', most_windows
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Name fewer times.';
    ELSIF windows IS NOT NULL THEN
        SELECT array_agg(coalesce(lower(w), '-infinity')), array_agg(coalesce(upper(w), 'infinity'))
          INTO asked.since, asked.until FROM unnest(windows) w;
        asked.share := 1;
    ELSIF words IS NOT NULL AND s.temporal_weight <> 0 THEN
        SELECT t.since, t.until, t.share INTO asked.since, asked.until, asked.share
          FROM pgmnemo._times(words, moment) t;
    END IF;
    asked.ideal := pgmnemo._ideal(asked, s, cardinality(lexemes), idf_sum);
    RETURN asked;
END
$$;
-- The score of a lesson that answers a question well: what makes scores of different questions comparable. Words that
-- no lesson holds count as well, for a question of such words is about something else. One lesson does not hold all
-- words of a long question, and the best of many lessons is nearer by chance: hence the two roots. Their constants
-- were chosen on LoCoMo and BEAM, with MiniLM (benchmarks/floor.py).
CREATE OR REPLACE FUNCTION pgmnemo._ideal(asked pgmnemo.question, s pgmnemo.settings, words integer, idf_sum float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (1 + (s).context_weight)
           * (coalesce((((s).bm25_weight + (s).passage_terms_weight) * idf_sum
                        + (s).passage_terms_weight * (s).passage_term_bonus * words)
                       * least(1, sqrt(4.0::float8 / nullif(words, 0))), 0)
              + CASE WHEN (asked).direction IS NULL THEN 0
                     ELSE ((s).passage_cosine_weight + (s).pair_cosine_weight + (s).cosine_weight)
                          * sqrt(pgmnemo._idf((asked).held, 0) / 5) END
              + CASE WHEN cardinality((asked).since) > 0 THEN (s).temporal_weight * (asked).share ELSE 0 END)
$$;

COMMENT ON FUNCTION pgmnemo._ideal IS 'idf_sum: of all distinct words of the question, those that no lesson holds among them; 0 or more, in units of the score';
-- The `depth` lessons in scope with the highest BM25 (in units of 2^-40), exactly, ties by external id. MaxScore: the
-- lists of the rarest terms are read whole; once the terms that are left cannot lift a lesson that holds none of
-- them to the depth-th score found so far, they matter for those few lessons alone that they could still lift.
-- Without enable_sort the planner sums up by hashing: it takes a few hundred postings for three, and would sort.
CREATE OR REPLACE FUNCTION pgmnemo._keyword_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    at_once        constant bigint := 3000;   -- postings that are read whole without asking for bounds
    many_terms     constant integer := 100;   -- they bound nothing, and each would cost a look at all that are left
    first_lists    constant integer := 4;     -- postings for each place wanted, before the first bound
    least_lists    constant bigint := 1000;   -- postings that are read on at least
    lesson_cost    constant integer := 15;    -- postings that cost as much as reading one lesson
    last           constant integer := cardinality(asked.terms);
    -- of these lessons a filter may leave fewer than are wanted
    looked_at      constant integer := CASE WHEN scope.plain THEN depth ELSE 4 * depth END;
    read integer := 0;
    wanted integer;
    lists bigint := 0;
    more bigint;
    ids bigint[];
    totals float8[];
    rest float8;
    least_of_best float8;
BEGIN
    IF last = 0 THEN
        RETURN;
    ELSIF scope.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT x.lesson_id, x.total FROM pgmnemo._best_sums(scope, asked, scope.ids, NULL, NULL) x
         WHERE x.total > 0 LIMIT depth;
        RETURN;
    END IF;
    IF last > many_terms OR (SELECT sum(n) FROM unnest(asked.postings) n) <= at_once THEN
        read := last;
    ELSE
        LOOP
            read := read + 1;
            lists := lists + asked.postings[read];
            EXIT WHEN lists >= first_lists * depth OR read = last;
        END LOOP;
    END IF;
    SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
      FROM (SELECT u.lesson_id, sum(u.part) AS total FROM pgmnemo._list_parts(scope, asked, 1, read) u
             GROUP BY u.lesson_id) x;
    WHILE read < last LOOP
        rest := (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        least_of_best := (SELECT coalesce(min(x.total) FILTER (WHERE x.place = depth), -1)
                            FROM (SELECT s.total, row_number() OVER (ORDER BY s.total DESC) AS place
                                    FROM pgmnemo._best_sums(scope, asked, ids, totals, looked_at) s) x);
        IF least_of_best <= rest THEN
            -- a lesson without any term read so far could be among the best: read on until none can, or the floor may
            -- have risen
            wanted := read;
            more := 0;
            WHILE rest >= least_of_best AND wanted < last LOOP
                wanted := wanted + 1;
                rest := (SELECT coalesce(sum(p), 0) FROM unnest(asked.peaks[wanted + 1:]) p);
                more := more + asked.postings[wanted];
                EXIT WHEN more >= greatest(lists, least_lists);
            END LOOP;
            SELECT array_agg(x.lesson_id), array_agg(x.total) INTO ids, totals
              FROM (SELECT u.lesson_id, sum(u.total) AS total
                      FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total
                             UNION ALL
                            SELECT * FROM pgmnemo._list_parts(scope, asked, read + 1, wanted)) u
                     GROUP BY u.lesson_id) x;
            read := wanted;
            lists := lists + more;
        ELSE
            SELECT array_agg(h.lesson_id), array_agg(h.total) INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h WHERE h.total + rest >= least_of_best;
            EXIT WHEN lesson_cost * cardinality(ids) <= asked.postings[read + 1];
            SELECT array_agg(h.lesson_id), array_agg(h.total + coalesce(x.part, 0)) INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h
              LEFT JOIN pgmnemo._list_parts(scope, asked, read + 1, read + 1) x ON x.lesson_id = h.lesson_id;
            read := read + 1;
        END IF;
    END LOOP;
    IF read = last THEN
        RETURN QUERY
        SELECT w.lesson_id, w.total
          FROM (SELECT * FROM unnest(ids, totals) AS h (lesson_id, total) ORDER BY h.total DESC OFFSET 0) w
         CROSS JOIN LATERAL (
                SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.id = w.lesson_id AND pgmnemo._recallable(l, scope) OFFSET 0) l
         ORDER BY w.total DESC, l.external_id, l.project_id
         LIMIT depth;
    ELSE
        RETURN QUERY
        SELECT x.lesson_id, x.total FROM pgmnemo._best_sums(scope, asked, ids, totals, NULL) x LIMIT depth;
    END IF;
END
$$;
-- Of a lesson as a whole its BM25 (in units of 2^-40) unless that is known already, and what the question's terms in
-- it are worth where it has no passages: it may be long for good reason, so its length is held against it by half only
-- (pgmnemo._terms_within). Its vector of lexemes is unpacked once: to join it with nothing does that. With weights of
-- 1 the cover density of one term is the number of times that it stands there.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_terms(lexemes tsvector, tokens integer, asked pgmnemo.question, bonus float8,
                                      known float8)
RETURNS TABLE (total float8, worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(known, sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', u.whole, t.query), (asked).flat,
                                               (asked).per_token, tokens, (asked).pivot))
                               FILTER (WHERE known IS NULL), 0),
           coalesce(sum(t.idf + bonus), 0) * sqrt(least(1, (asked).pivot / greatest(max(length(u.whole)), 1)))
      FROM (SELECT lexemes || '' AS whole OFFSET 0) AS u
      JOIN unnest((asked).queries, (asked).scales, (asked).idfs) AS t (query, scale, idf) ON u.whole @@ t.query
$$;
-- For every lesson in scope that holds one of the question's terms from place `first` to `last`, and each such term,
-- its part of the lesson's BM25, read from the term's list; in units of 2^-40.
CREATE OR REPLACE FUNCTION pgmnemo._list_parts(scope pgmnemo.scope, asked pgmnemo.question, first integer, last integer)
RETURNS TABLE (lesson_id bigint, part float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, pgmnemo._impact(x.scale, x.frequency, x.flat, x.per_token, x.tokens, x.pivot)
      FROM (SELECT a.flat, a.per_token, a.pivot, t.scale, unnest(p.lesson_ids) AS id,
                   unnest(p.frequencies) AS frequency,
                   unnest(p.token_counts) AS tokens
              FROM (SELECT (asked).flat AS flat, (asked).per_token AS per_token, (asked).pivot AS pivot,
                           ((scope).filter).projects AS projects OFFSET 0) a
             CROSS JOIN unnest((asked).terms[first:last], (asked).scales[first:last]) AS t (term, scale)
             CROSS JOIN LATERAL (
                    SELECT p.lesson_ids, p.frequencies, p.token_counts FROM pgmnemo.posting p
                     WHERE p.tenant_id = (scope).tenant AND p.lexeme = t.term
                       AND p.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND (a.projects IS NULL OR p.project_id = ANY (a.projects)) OFFSET 0) p) x
$$;
-- How alike the words of two texts are. A difference is taken, for a union may be larger than a tsvector can be.
CREATE OR REPLACE FUNCTION pgmnemo._words_shared(one tsvector, other tsvector)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (length(other) - d.more)::float8 / nullif(length(one) + d.more, 0)
      FROM (SELECT length(ts_delete(other, tsvector_to_array(one))) AS more OFFSET 0) d
$$;

COMMENT ON FUNCTION pgmnemo._words_shared IS 'lexemes that both have / lexemes that either has, from 0 to 1; NULL where neither has any';
-- Pairs of a lesson of `ids` and an older one in scope whose vectors as a whole have at least this cosine. Exact: the
-- scope is read once, and each vector is compared with all of `ids`.
CREATE OR REPLACE FUNCTION pgmnemo._alike_vectors(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    told_most constant integer := 50;  -- older lessons for one
    lessons   bigint[];
    widths    smallint[];
    vectors   @extschema:vector@.halfvec[];
    last      constant bigint := (SELECT max(i) FROM unnest(ids) i);
BEGIN
    SELECT array_agg(p.lesson_id), array_agg(p.width), array_agg(p.embedding) INTO lessons, widths, vectors
      FROM unnest(ids) AS u (id)
     CROSS JOIN LATERAL (SELECT p.* FROM pgmnemo.passage p
                          WHERE p.tenant_id = scope.tenant AND p.lesson_id = u.id AND p.number = 0
                            AND p.embedding IS NOT NULL OFFSET 0) p;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.older, r.newer
      FROM (SELECT o.lesson_id AS older, n.newer,
                   row_number() OVER (PARTITION BY n.newer ORDER BY n.cosine DESC, o.lesson_id DESC) AS place
              FROM pgmnemo.passage o
             CROSS JOIN LATERAL (
                    SELECT v.id AS newer, -(v.vector OPERATOR(@extschema:vector@.<#>) o.embedding) AS cosine
                      FROM unnest(lessons, widths, vectors) AS v (id, width, vector)
                     WHERE v.id > o.lesson_id AND v.width = o.width OFFSET 0) n
             WHERE o.tenant_id = scope.tenant AND o.embedding IS NOT NULL AND o.number = 0 AND o.lesson_id < last
               AND o.project_id BETWEEN scope.first_project AND scope.last_project AND n.cosine >= at_least) r
     WHERE r.place <= told_most;
END
$$;
-- Makes the HNSW indexes a tenant's where they are nobody's and it has many lessons with vectors, whatever it has set;
-- whether they serve it then. Nobody waits for another who is about to claim them. Who has them holds his claim to the
-- end of the transaction: it cannot be given up while vectors enter the indexes on the strength of it.
CREATE OR REPLACE FUNCTION pgmnemo._claim_graph(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_lessons constant bigint := 5000;
    everything pgmnemo.scope := pgmnemo._scope(tenant, NULL);
BEGIN
    IF NOT pgmnemo._graphs_sound() THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant FOR KEY SHARE;
    IF FOUND OR EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared) THEN
        RETURN true;
    ELSIF EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NOT NULL)
          OR NOT pgmnemo._holds_more(tenant, everything.first_project, everything.last_project, least_lessons)
          -- of a lesson's vectors, its own and its first passage's: two at most
          OR (SELECT count(DISTINCT v.lesson_id)
                FROM (SELECT p.lesson_id FROM pgmnemo.passage p
                       WHERE p.tenant_id = tenant AND p.embedding IS NOT NULL AND p.number <= 1
                       LIMIT 2 * least_lessons + 1) v) <= least_lessons THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NULL FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.shared OR g.tenant_id IS NOT NULL) THEN
        RETURN false;
    END IF;
    INSERT INTO pgmnemo.vector_graph VALUES (tenant, false) ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
-- The `most` vectors in scope nearest to a direction through each HNSW index, one a width: approximate. enable_sort is
-- off because only the index gives the order without it. What the caller has set for the graphs must not decide how
-- far a scan goes through other tenants' vectors: that would count them.
CREATE OR REPLACE FUNCTION pgmnemo._graph_rows(scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                    ef_search integer, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
DECLARE
    names constant text[] := '{hnsw.ef_search,hnsw.iterative_scan,hnsw.max_scan_tuples,hnsw.scan_mem_multiplier}';
    widest constant integer := 1000;  -- the greatest hnsw.ef_search
    before text[] := ARRAY(SELECT current_setting(n, true)
                           FROM unnest(names) WITH ORDINALITY AS u (n, place) ORDER BY place);
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
    projects uuid[] := (scope.filter).projects;
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, widest))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.max_scan_tuples', '20000', true), set_config('hnsw.scan_mem_multiplier', '1', true);
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(384) OPERATOR(@extschema:vector@.<#>) narrow
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 384 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(384) OPERATOR(@extschema:vector@.<#>) narrow LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(768) OPERATOR(@extschema:vector@.<#>) middle
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 768 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(768) OPERATOR(@extschema:vector@.<#>) middle LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::@extschema:vector@.halfvec(1024) OPERATOR(@extschema:vector@.<#>) direction
      FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 1024 AND p.tenant_id = scope.tenant
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects))
     ORDER BY p.embedding::@extschema:vector@.halfvec(1024) OPERATOR(@extschema:vector@.<#>) direction LIMIT most;
    PERFORM set_config(n, value, true) FROM unnest(names, before) AS u (n, value);
END
$$;
-- The `depth` of a scope's few lessons that have the nearest vector, exactly.
CREATE OR REPLACE FUNCTION pgmnemo._nearest_of(scope pgmnemo.scope, direction @extschema:vector@.halfvec, depth integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
BEGIN
    RETURN ARRAY(
        SELECT l.id
          FROM unnest(scope.ids) AS u (id)
         CROSS JOIN LATERAL (
                SELECT min(p.embedding OPERATOR(@extschema:vector@.<#>)
                           CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END) AS distance
                  FROM pgmnemo.passage p WHERE p.tenant_id = scope.tenant AND p.lesson_id = u.id) v
         CROSS JOIN LATERAL (
                SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.id = u.id OFFSET 0) l
         WHERE v.distance IS NOT NULL
         ORDER BY v.distance, l.external_id, l.project_id
         LIMIT depth);
END
$$;
-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE OR REPLACE FUNCTION pgmnemo._vector_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    vectors_each constant integer := 4;    -- vectors asked for at first for each lesson wanted
    more_times   constant integer := 8;    -- how many times as many are asked for where they were too few
    graph_most   constant integer := 16;   -- vectors for each lesson wanted up to which the graphs are asked
    all_of_them  constant bigint := 2000000000;
    large boolean;
    most integer := vectors_each * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    ELSIF scope.ids IS NOT NULL THEN
        RETURN pgmnemo._nearest_of(scope, asked.direction, depth);
    END IF;
    -- never below the setting, so what is smaller need not ask
    large := asked.held > s.exact_scan_limit
             AND asked.held > pgmnemo._exact_limit(scope.tenant, s.exact_scan_limit);
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(scope, asked.direction, s.ef_search, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(scope, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM (SELECT * FROM lessons ORDER BY distance OFFSET 0) n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = scope.tenant AND l.id = n.lesson_id AND pgmnemo._recallable(l, scope)
                            OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= graph_most * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * more_times, all_of_them);
    END LOOP;
    RETURN found_ids;
END
$$;
-- The `most` vectors in scope nearest to a direction, by reading them all: exact. The index alone has what it takes.
CREATE OR REPLACE FUNCTION pgmnemo._vector_rows(scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                     flags boolean[], most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(direction, 1, 768);
    projects uuid[] := (scope.filter).projects;
BEGIN
    RETURN QUERY
    SELECT p.lesson_id,
           p.embedding OPERATOR(@extschema:vector@.<#>)
             CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END AS distance
      FROM pgmnemo.passage p
     WHERE p.tenant_id = scope.tenant AND p.indexed = ANY (flags) AND p.width = ANY ('{384,768,1024}')
       AND p.project_id BETWEEN scope.first_project AND scope.last_project
       AND (projects IS NULL OR p.project_id = ANY (projects)) AND p.embedding IS NOT NULL
     ORDER BY distance, p.lesson_id
     LIMIT most;
END
$$;
-- An answer that is empty because of the gate alone is an error: it would look like an empty memory, and drivers
-- swallow notices.
CREATE OR REPLACE FUNCTION pgmnemo._all_hidden(scope pgmnemo.scope, hidden integer)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gate constant text := scope.gate;
BEGIN
    scope.gate := 'off';
    scope.ids := NULL;  -- which the gate has sieved
    IF EXISTS (SELECT pgmnemo._fill(scope, '{}', 1)) THEN
        RAISE EXCEPTION 'pgmnemo.gate_strict is % and hides all lessons in scope: none has commit_sha or '
                        'artifact_hash', gate
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'SET pgmnemo.gate_strict = warn or off to recall them, or store them again with their provenance.';
    END IF;
END
$$;
-- The scope that a verb's arguments ask for, with the lessons in it where a filter leaves few.
CREATE OR REPLACE FUNCTION pgmnemo._asked_scope(tenant uuid, project uuid, gate text, role text, valid_at timestamptz,
                                     moment timestamptz, known_at timestamptz, given jsonb,
                                     everything boolean DEFAULT false)
RETURNS pgmnemo.scope
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    scope pgmnemo.scope := pgmnemo._scope(tenant, project, gate, role, valid_at, moment, known_at,
                                          pgmnemo._filter(given));
BEGIN
    IF (scope.filter).projects IS NOT NULL THEN
        IF project IS NULL THEN
            SELECT min(p::text COLLATE "C"), max(p::text COLLATE "C") INTO scope.first_project, scope.last_project
              FROM unnest((scope.filter).projects) p;
        ELSIF project <> ALL ((scope.filter).projects) THEN
            PERFORM pgmnemo._filter_error('''projects''', 'does not hold project_id, ' || project,
                                          'Give the project, or the set of projects.');
        END IF;
    END IF;
    scope.everything := everything;
    IF given IS NOT NULL THEN
        scope.ids := pgmnemo._few(scope);
    END IF;
    RETURN scope;
END
$$;
-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none.
CREATE OR REPLACE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    narrow @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 384);
    middle @extschema:vector@.halfvec := @extschema:vector@.subvector(asked.direction, 1, 768);
    timed boolean := cardinality(asked.since) > 0;
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   p.own, coalesce(g.total, t.total) / pgmnemo._unit(),
                   CASE WHEN p.passages > 0 THEN p.terms ELSE t.worth END,
                   coalesce(p.best, p.own),
                   coalesce((p.best + CASE WHEN cardinality(p.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(p.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE p.best END) / 2, p.own),
                   CASE WHEN timed THEN asked.share * pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                        ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = g.id OFFSET 0) l
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms,
                       max(v.number) AS passages, max(v.cosine) FILTER (WHERE v.number > 0) AS best,
                       array_agg(v.cosine) FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT r.number, pgmnemo._bounded(r.cosine) AS cosine,
                               CASE WHEN by_words AND r.number > 0
                                    THEN (SELECT t.worth
                                            FROM pgmnemo._terms_within(r.lexemes, asked, s.passage_term_bonus) t)
                               END AS terms
                          FROM (SELECT p.number, p.lexemes,
                                       -(p.embedding OPERATOR(@extschema:vector@.<#>)
                                         CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle
                                                      ELSE asked.direction END) AS cosine
                                  FROM pgmnemo.passage p
                                 WHERE p.tenant_id = scope.tenant AND p.lesson_id = l.id OFFSET 0) r OFFSET 0) v) p
          LEFT JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, s.passage_term_bonus,
                                                 g.total) t
            ON by_words AND (g.total IS NULL OR p.passages IS NULL OR p.passages = 0));
END
$$;
CREATE OR REPLACE FUNCTION pgmnemo._check_alike(least_cosine float8, least_words float8)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong record;
BEGIN
    SELECT g.name, g.value INTO wrong
      FROM (VALUES ('least_cosine', least_cosine), ('least_words', least_words)) AS g (name, value)
     WHERE NOT (g.value >= 0.5 AND g.value <= 1) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '% is %, but must be from 0.5 to 1', wrong.name, wrong.value
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give NULL to leave it out.';
    ELSIF coalesce(least_cosine, least_words) IS NULL THEN
        RAISE EXCEPTION 'least_cosine and least_words are both NULL'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Say by which of them lessons are to be alike.';
    END IF;
END
$$;
-- How much one call may ask for.
CREATE OR REPLACE FUNCTION pgmnemo._check_most(most integer, allowed integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF most IS NULL OR most NOT BETWEEN 1 AND allowed THEN
        RAISE EXCEPTION 'most is %, but must be from 1 to %', coalesce(most::text, 'NULL'), allowed
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Call again for those that come after.';
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION pgmnemo._check_recall(k integer, mode text, has_embedding boolean, words text,
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
-- The lessons that a filter leaves in a scope, where they are few: then those alone are read, exactly. NULL where they
-- may be many, or where no index knows a condition. Of the conditions that one knows, the rarest is followed, and none
-- is read further than `read_most` rows, nor than one that was read before.
CREATE OR REPLACE FUNCTION pgmnemo._few(scope pgmnemo.scope)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few        constant integer := 2000;   -- lessons that are read one by one
    read_most  constant integer := 10000;  -- rows of an index that are looked at for them
    tried_most constant integer := 20;     -- conditions on metadata
    f          constant pgmnemo.filter := scope.filter;
    since      constant timestamptz := coalesce(f.since, '-infinity');
    until      constant timestamptz := coalesce(f.until, 'infinity');
    beyond     constant text := pgmnemo._after_prefix(f.topic_prefix);
    bound      integer := read_most;
    condition  integer;
    entries    bigint[];
    found      bigint[];
    rarest     bigint[];
BEGIN
    FOR condition IN SELECT DISTINCT c FROM unnest(f.conditions) c ORDER BY c LIMIT tried_most LOOP
        entries := ARRAY(SELECT u.entry FROM unnest(f.entries, f.conditions) AS u (entry, place)
                          WHERE u.place = condition) || 0::bigint;
        found := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                        WHERE e.tenant_id = scope.tenant AND e.entry = ANY (entries) LIMIT bound);
        IF cardinality(found) < bound THEN
            rarest := found;
            bound := cardinality(found);
        END IF;
    END LOOP;
    IF f.topics IS NOT NULL THEN
        found := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND l.topic COLLATE "C" = ANY (f.topics)
                          AND octet_length(l.topic) <= 500
                        UNION ALL
                       SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND octet_length(l.topic) > 500 LIMIT bound);
        IF cardinality(found) < bound THEN
            rarest := found;
            bound := cardinality(found);
        END IF;
    END IF;
    IF f.topic_prefix IS NOT NULL THEN
        found := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND l.topic COLLATE "C" >= f.topic_prefix
                          AND (beyond IS NULL OR l.topic COLLATE "C" < beyond) AND octet_length(l.topic) <= 500
                        UNION ALL
                       SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND octet_length(l.topic) > 500 LIMIT bound);
        IF cardinality(found) < bound THEN
            rarest := found;
            bound := cardinality(found);
        END IF;
    END IF;
    IF f.since IS NOT NULL OR f.until IS NOT NULL THEN
        found := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant
                          AND CASE WHEN l.occurred_at IS NULL THEN l.stored_at ELSE l.occurred_at END >= since
                          AND CASE WHEN l.occurred_at IS NULL THEN l.stored_at ELSE l.occurred_at END < until
                        LIMIT bound);
        IF cardinality(found) < bound THEN
            rarest := found;
        END IF;
    END IF;
    IF rarest IS NOT NULL THEN
        found := pgmnemo._recallable_of(scope, rarest, few + 1);
    END IF;
    RETURN CASE WHEN rarest IS NOT NULL AND cardinality(found) <= few THEN found END;
END
$$;
-- Recallable lessons in scope that no leg found, in key order: at most `wanted`.
CREATE OR REPLACE FUNCTION pgmnemo._fill(scope pgmnemo.scope, have bigint[], wanted integer)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id
      FROM pgmnemo.lesson l
     WHERE l.tenant_id = (scope).tenant AND pgmnemo._in_scope(l.project_id, scope)
       AND ((scope).ids IS NULL OR l.id = ANY ((scope).ids))
       AND pgmnemo._recallable(l, scope) AND l.id <> ALL (have)
     ORDER BY l.project_id, l.external_id
     LIMIT wanted
$$;
-- A score on the scale of its question (pgmnemo._ideal).
CREATE OR REPLACE FUNCTION pgmnemo._fit(score float8, ideal float8)
RETURNS TABLE (fit float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN ideal > 0 THEN greatest(0, least(1, score / ideal)) ELSE 0 END $$;

COMMENT ON FUNCTION pgmnemo._fit IS 'score / ideal, from 0 to 1; 0 for a question of stop words alone';
-- Graph proximity of every lesson that an edge joins, directly or not, to one of the seeds, and from which it flows.
CREATE OR REPLACE FUNCTION pgmnemo._graph_leg(scope pgmnemo.scope, candidates pgmnemo.candidate[],
                                   seeds bigint[], s pgmnemo.settings)
RETURNS TABLE (lesson_id bigint, graph float8, seed bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    least_width constant integer := 200;  -- lessons that each step keeps at least, and at most
    widest      constant integer := 500;
    strengths float8[];
BEGIN
    strengths := ARRAY(SELECT r.relevance FROM unnest(seeds) WITH ORDINALITY AS d (id, place)
                         JOIN unnest(candidates) c ON c.lesson_id = d.id
                        CROSS JOIN LATERAL pgmnemo._relevance(c, s) r ORDER BY d.place);
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph), (array_agg(g.seed ORDER BY g.graph DESC, array_position(seeds, g.seed)))[1]
      FROM pgmnemo._graph_proximity(scope, seeds, strengths, s.graph_depth,
                                    least(greatest(s.pool_depth, least_width), widest)) g
     GROUP BY g.lesson_id;
END
$$;
-- Relevance that flows along edges, both ways: for a lesson the best over all seeds other than itself and all
-- paths of at most `depth` edges of the seed's relevance times, for each edge, half its weight. Paths lead
-- through active lessons that are valid at the time and pass the gate, of whichever project and role.
-- Each step keeps at most `width` lessons and follows of each the first edges of either direction, in key order, so
-- hubs and cycles cost no more than that.
CREATE OR REPLACE FUNCTION pgmnemo._graph_proximity(scope pgmnemo.scope, seed_ids bigint[], seed_relevances float8[],
                                         depth integer,
                                         width integer)
RETURNS TABLE (lesson_id bigint, graph float8, seed bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_edges constant integer := 200;
    anywhere pgmnemo.scope := pgmnemo._scope(scope.tenant, NULL, scope.gate, NULL, scope.valid_at, scope.moment,
                                                     scope.known_at);
    seeds bigint[] := seed_ids;
    ids bigint[] := seed_ids;
    strengths float8[] := seed_relevances;
BEGIN
    FOR step IN 1 .. depth LOOP
        SELECT array_agg(n.seed), array_agg(n.id), array_agg(n.strength) INTO seeds, ids, strengths
          FROM (SELECT f.seed, l.id, max(f.strength * e.weight / 2) AS strength
                  FROM unnest(seeds, ids, strengths) AS f (seed, id, strength)
                 CROSS JOIN LATERAL (
                       (SELECT o.target_id, o.weight::float8, o.valid_from, o.valid_to FROM pgmnemo.lesson_edge o
                         WHERE o.tenant_id = scope.tenant AND o.source_id = f.id
                         ORDER BY o.target_id, o.kind LIMIT most_edges)
                         UNION ALL
                       (SELECT i.source_id, i.weight::float8, i.valid_from, i.valid_to FROM pgmnemo.lesson_edge i
                         WHERE i.tenant_id = scope.tenant AND i.target_id = f.id
                         ORDER BY i.source_id, i.kind LIMIT most_edges)
                       ) AS e (id, weight, valid_from, valid_to)
                 CROSS JOIN LATERAL (
                        SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = e.id
                           AND pgmnemo._recallable(l, anywhere) OFFSET 0) l
                 WHERE e.id <> f.seed
                   AND (scope.valid_at IS NULL OR (coalesce(e.valid_from <= scope.valid_at, true)
                                                   AND coalesce(scope.valid_at < e.valid_to, true)))
                 GROUP BY f.seed, l.id, l.external_id, l.project_id
                 ORDER BY strength DESC, l.external_id, l.project_id, f.seed
                 LIMIT width) n;
        EXIT WHEN ids IS NULL;
        RETURN QUERY SELECT * FROM unnest(ids, strengths, seeds);
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._graph_proximity IS 'graph component, 0 or more, in units of relevance: max over seeds and paths of relevance(seed) * product over the path''s edges of weight / 2';
-- How many active lessons in scope the gate hides, counted to a thousand: each row of an answer says it, and a NOTICE.
CREATE OR REPLACE FUNCTION pgmnemo._hidden(scope pgmnemo.scope)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    counted constant integer := 1000;
    hidden integer;
BEGIN
    IF scope.gate <> 'enforce' THEN
        RETURN 0;
    END IF;
    SELECT count(*) INTO hidden
      FROM (SELECT FROM pgmnemo.lesson l
             WHERE l.tenant_id = scope.tenant AND pgmnemo._in_scope(l.project_id, scope)
               AND l.active AND l.commit_sha IS NULL AND l.artifact_hash IS NULL LIMIT counted) h;
    IF hidden > 0 THEN
        RAISE NOTICE 'pgmnemo.gate_strict is enforce and hides % in scope, which have neither commit_sha nor '
                     'artifact_hash',
              CASE WHEN hidden = counted THEN counted || ' lessons or more' WHEN hidden = 1 THEN '1 lesson'
                   ELSE hidden || ' lessons' END
        USING HINT = 'SET pgmnemo.gate_strict = warn or off to recall them.';
    END IF;
    RETURN hidden;
END
$$;
-- Which lessons a verb that lists, counts or forgets may mean: those of a recall, or with `everything` whatever is
-- kept.
CREATE OR REPLACE FUNCTION pgmnemo._listed(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((scope).everything IS TRUE
            OR l.active
               AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
               AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
               AND ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL))
       AND ((scope).filtered IS NOT TRUE OR pgmnemo._passes(l, scope))
$$;
-- The scope of verbs that list: what a recall could answer with now, or everything that is kept.
CREATE OR REPLACE FUNCTION pgmnemo._listed_scope(tenant uuid, project uuid, gate text, given jsonb, valid_at timestamptz,
                                      known_at timestamptz, everything boolean)
RETURNS pgmnemo.scope
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF everything AND (valid_at IS NOT NULL OR known_at IS NOT NULL) THEN
        RAISE EXCEPTION 'everything stands with valid_at or known_at'
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Leave it out for what held at a time; with it all lessons are meant, whenever they held.';
    END IF;
    RETURN pgmnemo._asked_scope(tenant, project, gate, NULL, valid_at, now(), known_at,
                                given, coalesce(everything, false));
END
$$;
-- The relevance that reaches candidates from those up to two places before and after (pgmnemo._passed): an answer
-- often follows its question, and a thought goes on in the next turn. An assistant's lesson gains nothing, for it
-- repeats; and nothing comes from an assistant's lesson to those after it, only to the ones that it answers.
CREATE OR REPLACE FUNCTION pgmnemo._neighbours(candidates pgmnemo.candidate[], s pgmnemo.settings)
RETURNS TABLE (lesson_id bigint, neighbours float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT c.lesson_id,
           pgmnemo._passed(c.before_step, c.before, c.before_words, c.earlier_step, c.earlier, s.neighbours_half_length)
           + pgmnemo._passed(c.after_step, c.after, c.after_words, c.later_step, c.later, s.neighbours_half_length)
      FROM (SELECT c.lesson_id, c.assistant,
                   g.place - lag(g.place) OVER places AS before_step, lag(c.words) OVER places AS before_words,
                   lag(g.onward) OVER places AS before,
                   g.place - lag(g.place, 2) OVER places AS earlier_step, lag(g.onward, 2) OVER places AS earlier,
                   lead(g.place) OVER places - g.place AS after_step, lead(c.words) OVER places AS after_words,
                   lead(r.relevance) OVER places AS after,
                   lead(g.place, 2) OVER places - g.place AS later_step, lead(r.relevance, 2) OVER places AS later
              FROM unnest(candidates) c
             CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
             CROSS JOIN LATERAL (SELECT c.place::bigint, CASE WHEN c.assistant THEN 0 ELSE r.relevance END)
                   AS g (place, onward)
             WHERE c.place IS NOT NULL
            WINDOW places AS (PARTITION BY c.project_id ORDER BY c.place, c.external_id)) c
     WHERE c.assistant IS NOT TRUE;
END
$$;

COMMENT ON FUNCTION pgmnemo._neighbours IS 'neighbours component, 0 or more, in units of relevance, of candidates with a position';
-- The score has one home, this function and _lent_parts: here what a candidate's own components add to it, in the
-- order in which they are summed up. A leg that was not asked adds nothing. A row rather than an array: it costs
-- nothing.
CREATE OR REPLACE FUNCTION pgmnemo._own_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (bm25 float8, passage_terms float8, passage_cosine float8, pair_cosine float8, cosine float8,
               temporal float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pgmnemo._share(c, s) * (s).bm25_weight * coalesce((c).bm25, 0),
           pgmnemo._share(c, s) * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
           pgmnemo._share(c, s) * (s).passage_cosine_weight * greatest((c).passage_cosine, 0),
           pgmnemo._share(c, s) * (s).pair_cosine_weight * greatest((c).pair_cosine, 0),
           pgmnemo._share(c, s) * (s).cosine_weight * greatest((c).cosine, 0),
           pgmnemo._share(c, s) * (s).temporal_weight * (c).temporal
$$;
-- The relevance that comes from one side: from the candidate next to a lesson, and across it from the one two places
-- away, the less of it, the longer the one between is. A `step` is how many places away one is; a place without a
-- candidate lets nothing pass.
CREATE OR REPLACE FUNCTION pgmnemo._passed(near_step bigint, near float8, near_words integer, far_step bigint, far float8,
                                half_length float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN near_step = 1 THEN near ELSE 0 END
         + CASE WHEN near_step = 1 AND far_step = 2 THEN far * power(0.5::float8, least(near_words / half_length, 1000))
                ELSE 0 END
$$;
-- The candidates of one recall with what they are worth by themselves, and by which way each came: the best of each
-- leg, others in key order where both find fewer, neighbours of the most relevant, and what the graph adds: the same
-- for every k up to pool_depth.
-- `lesson` joins them last, where none did, to see what it would be worth.
CREATE OR REPLACE FUNCTION pgmnemo._pool(
    scope pgmnemo.scope, asked pgmnemo.question, s pgmnemo.settings, k integer, by_words boolean, moment timestamptz,
    lesson bigint, OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT added bigint[],
    OUT near bigint[], OUT nears float8[], OUT linked bigint[], OUT graphs float8[], OUT seeds bigint[],
    OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reach constant bigint := 2;    -- places before and after a lesson at which its neighbours are
    most  constant integer := 32;  -- lessons that are looked at there, in the order of their places
    depth integer := greatest(s.pool_depth, k);
    ids bigint[];
    totals float8[];
    more bigint[];
    placed boolean;
BEGIN
    SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
      FROM pgmnemo._keyword_leg(scope, asked, depth) t;
    by_vector := pgmnemo._vector_leg(scope, asked, depth, s);
    ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
    IF cardinality(ids) < depth THEN
        filled := ARRAY(SELECT pgmnemo._fill(scope, ids, depth - cardinality(ids)));
        ids := ids || filled;
    END IF;
    candidates := pgmnemo._candidates(scope, ids, totals, asked, s, by_words, moment);
    placed := s.neighbours_weight > 0 AND EXISTS (SELECT FROM unnest(candidates) c WHERE c.place IS NOT NULL);
    IF placed THEN
        added := ARRAY(
            SELECT DISTINCT l.id
              FROM (SELECT c.project_id, c.place FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                     WHERE c.place IS NOT NULL
                     ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.neighbours_seeds) c
             CROSS JOIN LATERAL (
                    SELECT l.* FROM pgmnemo.lesson l
                     WHERE l.tenant_id = scope.tenant AND l.project_id = c.project_id
                       AND l.position BETWEEN c.place - reach AND c.place + reach
                     ORDER BY l.position, l.id LIMIT most) l
             WHERE l.id <> ALL (ids) AND pgmnemo._recallable(l, scope));
        IF cardinality(added) > 0 THEN
            ids := ids || added;
            candidates := candidates || pgmnemo._candidates(scope, added, '{}', asked, s, by_words, moment);
        END IF;
    END IF;
    IF s.graph_weight > 0 AND EXISTS (SELECT FROM pgmnemo.lesson_edge e WHERE e.tenant_id = scope.tenant) THEN
        seeds := ARRAY(SELECT c.lesson_id FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                        WHERE r.relevance > 0
                        ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.graph_seeds);
        SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
          FROM pgmnemo._graph_leg(scope, candidates, seeds, s) g;
    END IF;
    IF NOT linked <@ ids OR lesson <> ALL (ids) THEN
        more := ARRAY(SELECT l.id FROM unnest(linked || lesson) AS w (id)
                       CROSS JOIN LATERAL (
                              SELECT l.id FROM pgmnemo.lesson l
                               WHERE l.tenant_id = scope.tenant AND l.id = w.id AND l.id <> ALL (ids)
                                 AND (l.id = lesson
                                      OR pgmnemo._recallable(l, scope)
                                         AND pgmnemo._in_scope(l.project_id, scope))
                              OFFSET 0) l
                       GROUP BY l.id);
        candidates := candidates || pgmnemo._candidates(scope, more, '{}', asked, s, by_words, moment);
    END IF;
    IF placed THEN
        SELECT array_agg(n.lesson_id), array_agg(n.neighbours) INTO near, nears
          FROM pgmnemo._neighbours(candidates, s) n;
    END IF;
END
$$;
-- Which lessons a call may answer with; the same in every leg. It becomes a part of each statement that asks, and most
-- calls ask for no more than is tested first.
CREATE OR REPLACE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.active
       AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
       AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
       AND ((scope).plain
            OR ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL)
               AND ((scope).filtered IS NOT TRUE OR pgmnemo._passing(l, scope)))
$$;
-- Those of these lessons that a call may answer with, at most so many. The sub-select keeps the planner to their ids:
-- without statistics it takes an interval of projects for rarer.
CREATE OR REPLACE FUNCTION pgmnemo._recallable_of(scope pgmnemo.scope, ids bigint[], most integer)
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT l.id
                   FROM (SELECT l.* FROM pgmnemo.lesson l
                          WHERE l.tenant_id = (scope).tenant AND l.id = ANY (ids) OFFSET 0) l
                  WHERE pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._listed(l, scope)
                  LIMIT most)
$$;
-- The scope of a recall: one project, or with NULL all of the tenant. Nothing in it depends on the search path, so it
-- fixes none and costs no call.
CREATE OR REPLACE FUNCTION pgmnemo._scope(tenant uuid, project uuid, gate text DEFAULT 'off', role text DEFAULT NULL,
                               valid_at timestamptz DEFAULT NULL, moment timestamptz DEFAULT NULL,
                               known_at timestamptz DEFAULT NULL, filter pgmnemo.filter DEFAULT NULL)
RETURNS pgmnemo.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ROW(tenant, coalesce(project, '00000000-0000-0000-0000-000000000000'),
               coalesce(project, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), gate, role, valid_at,
               coalesce(valid_at, moment), known_at, known_at IS NOT NULL OR filter IS DISTINCT FROM NULL, NULL,
               filter, NULL,
               role IS NULL AND valid_at IS NULL AND gate <> 'enforce' AND known_at IS NULL
               AND filter IS NOT DISTINCT FROM NULL)::pgmnemo.scope
$$;
-- The lessons of one project that a call may answer with, where it holds few; else NULL.
CREATE OR REPLACE FUNCTION pgmnemo._small_project(scope pgmnemo.scope)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few constant integer := 2000;
    found bigint[];
BEGIN
    IF scope.first_project = scope.last_project THEN
        found := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                        WHERE l.tenant_id = scope.tenant AND l.project_id = scope.first_project LIMIT few + 1);
    END IF;
    RETURN CASE WHEN cardinality(found) <= few THEN pgmnemo._recallable_of(scope, found, few) END;
END
$$;
-- What the index of metadata holds against what the lessons say.
CREATE OR REPLACE FUNCTION pgmnemo._entry_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH due AS (
        SELECT l.project_id, l.id, e.entry
          FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._entries(l.metadata) AS e (entry)
         WHERE l.tenant_id = tenant AND l.metadata <> '{}'
    ), held AS (
        SELECT h.lesson_id AS id, h.entry FROM pgmnemo.lesson_entry h WHERE h.tenant_id = tenant
    )
    SELECT CASE WHEN h.id IS NULL THEN 'entry missing' ELSE 'entry surplus' END, d.project_id,
           coalesce(d.id, h.id), coalesce(d.entry, h.entry)::text, NULL, NULL
      FROM due d FULL JOIN held h ON h.id = d.id AND h.entry = d.entry
     WHERE d.id IS NULL OR h.id IS NULL
$$;
-- The tenant's greatest id where the sequence of ids would give it, or a smaller one, again. Servers that share tenants
-- draw from blocks of 2^40 numbers, one each: an id of another block came with its lesson from elsewhere.
CREATE OR REPLACE FUNCTION pgmnemo._id_behind(tenant uuid)
RETURNS TABLE (last_id bigint, greatest_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.last_value, m.id
      FROM pgmnemo.lesson_id_seq s
     CROSS JOIN LATERAL (
            SELECT max(l.id) FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id < ((s.last_value >> 40) + 1) << 40) AS m (id)
     WHERE s.last_value < m.id OR s.last_value = m.id AND NOT s.is_called
$$;
-- Lessons whose superseded_at is not what the supersession that holds says.
CREATE OR REPLACE FUNCTION pgmnemo._supersession_problems(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, superseded_at timestamptz, valid_from timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.superseded_at, x.valid_from
      FROM pgmnemo.lesson l
      LEFT JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = l.id AND x.undone_at IS NULL
     WHERE l.tenant_id = tenant AND l.superseded_at IS DISTINCT FROM x.valid_from
$$;
-- Lessons whose metadata cannot be written out: of 0.3.1 and before, for later versions refuse them.
CREATE OR REPLACE FUNCTION pgmnemo._unwritable_lessons(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, external_id text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.metadata <> '{}' AND pgmnemo._holds_unprintable(l.metadata)
$$;
-- The tests of pgmnemo._recallable and of the scope, one by one.
CREATE OR REPLACE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'recallable', t.item, CASE WHEN t.passed THEN 'yes' ELSE 'no' END, NULL::float8, NULL::float8, t.note
      FROM (VALUES
            ('scope', pgmnemo._in_scope((l).project_id, scope),
             format('lesson in project %s, recall in %s', (l).project_id,
                    CASE WHEN (scope).first_project = (scope).last_project THEN (scope).first_project::text
                         WHEN ((scope).filter).projects IS NOT NULL
                         THEN array_to_string(((scope).filter).projects, ', ')
                         ELSE 'the whole tenant' END)),
            ('active', (l).active, CASE WHEN NOT (l).active THEN 'softly forgotten' END),
            ('role', (scope).role IS NULL OR coalesce((l).role = (scope).role, false),
             format('lesson %s, recall %s', coalesce(quote_literal((l).role), 'without role'),
                    coalesce(quote_literal((scope).role), 'of any role'))),
            ('happened', coalesce(coalesce((l).occurred_at, (l).stored_at) <= (scope).valid_at, true),
             format('%s, recall valid at %s', coalesce((l).occurred_at, (l).stored_at),
                    coalesce((scope).valid_at::text, 'any time'))),
            ('not expired', coalesce((scope).moment < (l).expires_at, true),
             format('expires %s, recall as of %s', coalesce((l).expires_at::text, 'never'), (scope).moment)),
            ('not superseded', CASE WHEN (scope).known_at IS NULL
                                    THEN coalesce((scope).moment < (l).superseded_at, true)
                                    ELSE pgmnemo._believed(l, (scope).moment, (scope).known_at) END,
             format('superseded %s, recall as of %s, by what was known %s', coalesce((l).superseded_at::text, 'never'),
                    (scope).moment, coalesce((scope).known_at::text, 'last'))),
            ('filter', (scope).filtered IS NOT TRUE OR pgmnemo._passes(l, scope),
             CASE WHEN (scope).filtered IS NOT TRUE THEN 'none' END),
            ('gate', (scope).gate <> 'enforce' OR (l).commit_sha IS NOT NULL OR (l).artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', (scope).gate,
                    CASE WHEN coalesce((l).commit_sha, (l).artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
-- From which seed the relevance comes that reaches a lesson along edges; NULL: from none.
CREATE OR REPLACE FUNCTION pgmnemo._graph_seed(scope pgmnemo.scope, candidates pgmnemo.candidate[], seeds bigint[], lesson bigint,
                                    s pgmnemo.settings)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM pgmnemo._graph_leg(scope, candidates, seeds, s) g JOIN unnest(candidates) c ON c.lesson_id = g.seed
     WHERE g.lesson_id = lesson
$$;
-- By which ways a lesson became a candidate; NULL: by none.
CREATE OR REPLACE FUNCTION pgmnemo._ways(l pgmnemo.lesson, scope pgmnemo.scope, by_keyword bigint[], by_vector bigint[],
                              filled bigint[], added bigint[], linked bigint[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT nullif(concat_ws('; ',
        'keyword leg, place ' || array_position(by_keyword, (l).id),
        'vector leg, place ' || array_position(by_vector, (l).id),
        CASE WHEN (l).id = ANY (filled) THEN 'filled up' END,
        CASE WHEN (l).id = ANY (added) THEN 'neighbour of one of the best' END,
        CASE WHEN (l).id = ANY (linked) AND pgmnemo._recallable(l, scope)
                  AND pgmnemo._in_scope((l).project_id, scope) THEN 'graph' END), '')
$$;
CREATE OR REPLACE FUNCTION pgmnemo.append(
    tenant        uuid,
    project_id    uuid,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    prefix        text        DEFAULT 'turn',
    apart         boolean     DEFAULT false,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (external_id text, "position" integer, lesson_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    one pgmnemo.lesson_input;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._refuse_lesson(1, NULL, pgmnemo._size_problem(
        append.content, append.topic, append.role, append.commit_sha, append.artifact_hash, append.metadata,
        append.passages));
    one := ROW(
        append.project_id, NULL, append.content, pgmnemo._embedding(append.embedding), append.role, append.topic,
        CASE WHEN append.importance BETWEEN 1 AND 5 THEN append.importance
             WHEN append.importance IS NOT NULL THEN 0 END, append.metadata,
        append.occurred_at, append.expires_at, append.commit_sha, append.artifact_hash,
        append.verified_at, append.passages, append.passage_embeddings, NULL);
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT n.key, n.place INTO one.external_id, one.position
      FROM pgmnemo._next_turn(tenant, append.project_id, append.prefix COLLATE "default", coalesce(apart, false)) n;
    RETURN QUERY
    SELECT s.external_id, one.position, s.lesson_id FROM pgmnemo._store(tenant, ARRAY[one], NULL, true) s;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.append IS 'stores a lesson at the end of a project''s conversation, so that no writer need count: its position is the one after the project''s greatest, from 1 on (apart: one place is left free before it, where a session begins), its key prefix/position, or with the next number whose key is not taken; the other arguments are those of pgmnemo.store. Calls for one tenant wait for one another to the end of their transactions; under REPEATABLE READ one that waited is a serialization error to repeat. Returns key, position and id. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.assert_fact(
    tenant        uuid,
    project_id    uuid,
    subject       text,
    relation      text,
    object        text,
    at            timestamptz DEFAULT NULL,
    single        boolean     DEFAULT false,
    reason        text        DEFAULT NULL,
    source        text        DEFAULT NULL,
    content       text        DEFAULT NULL,
    embedding     real[]      DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (key text, outcome text, superseded bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, now());
    fact jsonb := pgmnemo._fact(subject, relation, object);
    source_id bigint;
    one pgmnemo.lesson_input;
    named text COLLATE "C";
    stored record;
    others bigint[];
    later record;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_moment(moment, reason);
    IF fact -> 'subject' IS NULL OR fact -> 'relation' IS NULL OR fact -> 'object' IS NULL THEN
        RAISE EXCEPTION 'a fact needs a subject, a relation and an object' USING ERRCODE = 'invalid_parameter_value';
    ELSIF jsonb_typeof(metadata) <> 'object' OR metadata ? 'fact' THEN
        RAISE EXCEPTION 'metadata of a fact must be an object without the key fact, which the fact has'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    IF assert_fact.source IS NOT NULL THEN
        source_id := pgmnemo._lesson_id(tenant, project_id, assert_fact.source COLLATE "default");
    END IF;
    SELECT l.id, l.external_id INTO stored
      FROM pgmnemo._facts_held(tenant, project_id, fact, moment) l ORDER BY l.id LIMIT 1;
    IF FOUND THEN
        named := stored.external_id;
        outcome := 'unchanged';
    ELSE
        named := 'fact/' || left(encode(sha256(convert_to(jsonb_build_array(fact, moment)::text, 'UTF8')), 'hex'), 32);
        IF EXISTS (SELECT FROM pgmnemo.lesson l
                    WHERE l.tenant_id = tenant AND l.project_id = assert_fact.project_id AND l.external_id = named) THEN
            named := 'fact/' || replace(gen_random_uuid()::text, '-', '');  -- it was asserted then before, and ended
        END IF;
        one.project_id := project_id;
        one.external_id := named;
        one.content := coalesce(assert_fact.content, concat_ws(' ', subject, relation, object));
        one.embedding := pgmnemo._embedding(embedding);
        one.metadata := coalesce(assert_fact.metadata, '{}') || jsonb_build_object('fact', fact);
        one.occurred_at := moment;
        one.commit_sha := assert_fact.commit_sha;
        one.artifact_hash := assert_fact.artifact_hash;
        SELECT s.lesson_id AS id, s.outcome INTO stored
          FROM pgmnemo._store(tenant, ARRAY[one], NULL, only_new => true) s;
        outcome := stored.outcome;
    END IF;
    IF source_id IS NOT NULL THEN
        INSERT INTO pgmnemo.lesson_edge (tenant_id, source_id, target_id, kind, valid_from)
        VALUES (tenant, source_id, stored.id, 'asserts', moment) ON CONFLICT DO NOTHING;
    END IF;
    IF single THEN
        others := ARRAY(SELECT l.id FROM pgmnemo._facts_held(tenant, project_id, fact - 'object', moment) l
                         WHERE l.id <> stored.id AND l.metadata -> 'fact' -> 'object' <> fact -> 'object');
        SELECT l.id, l.occurred_at INTO later
          FROM pgmnemo._facts_held(tenant, project_id, fact - 'object', NULL) l
         WHERE l.occurred_at > moment AND l.id <> stored.id ORDER BY l.occurred_at, l.id LIMIT 1;
        IF later.id IS NOT NULL AND outcome <> 'unchanged' THEN
            PERFORM pgmnemo._supersede(tenant, stored.id, later.id, assert_fact.reason, later.occurred_at);
        END IF;
        PERFORM pgmnemo._supersede(tenant, o, stored.id, assert_fact.reason, moment) FROM unnest(others) o;
    END IF;
    key := named;
    superseded := coalesce(cardinality(others), 0);
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.assert_fact IS 'stores that subject, relation and object hold together from at on (NULL: now), as a lesson whose metadata has them under fact, and returns its key. unchanged where the same holds then already. single: the caller''s word that a subject has one object of this relation at a time: whatever else holds at that moment is superseded by the new one, and the new one by what holds later; superseded says how many were. source: the key of a lesson that it was learned from, linked to it as asserts. content: what recall finds it by, NULL: the three joined. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.check(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT w.problem, s.project_id, s.lesson_id, NULL, w.found, w.wanted
      FROM pgmnemo._stale_lessons(tenant) s
     CROSS JOIN LATERAL (VALUES
            ('lesson with unknown text_config', s.text_config, NULL, s.config IS NULL),
            ('lesson with stale lexemes', s.lexemes::text, s.fresh::text,
             s.config IS NOT NULL AND s.lexemes <> s.fresh),
            ('lesson with wrong token_count', s.token_count::text, s.tokens::text,
             s.config IS NOT NULL AND s.token_count <> s.tokens)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT w.problem, p.project_id, p.lesson_id, p.number::text, w.found, w.wanted
      FROM pgmnemo._unsound_passages(tenant) p
     CROSS JOIN LATERAL (VALUES
            ('passage in another project', p.project_id::text, p.in_project::text, p.project_id <> p.in_project),
            ('passage with stale lexemes', NULL, p.fresh::text, p.lexemes_differ),
            ('passage with a vector not of unit length', p.norm::text, '1', p.norm NOT BETWEEN 0.999 AND 1.001),
            ('passage with a vector wider than needed', NULL, @extschema:vector@.vector_dims(p.embedding)::text,
             p.vector_differs AND p.norm BETWEEN 0.999 AND 1.001),
            ('passage indexed without a vector', 't', 'f', p.indexed_differs)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT 'lesson with metadata that cannot be written out', u.project_id, u.lesson_id, u.external_id, NULL, NULL
      FROM pgmnemo._unwritable_lessons(tenant) u;
    RETURN QUERY
    SELECT 'sequence of ids behind the greatest id', NULL::uuid, NULL::bigint, NULL, b.last_id::text,
           b.greatest_id::text
      FROM pgmnemo._id_behind(tenant) b;
    RETURN QUERY
    SELECT 'lesson with wrong superseded_at', s.project_id, s.lesson_id, NULL, s.superseded_at::text,
           s.valid_from::text
      FROM pgmnemo._supersession_problems(tenant) s;
    RETURN QUERY SELECT * FROM pgmnemo._entry_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._block_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._posting_problems(tenant);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.check IS 'what is wrong in what the tenant''s lessons are found by, one row a problem, none when all is well. lesson: lexemes or token_count are not what the text gives under the lesson''s text_config, or its metadata (item: its external_id) hold a number beyond 1e308 or with more than 400 decimals, which no dump can hold, or superseded_at is not what its supersession says; entry (item: its number): missing or surplus in the index of metadata; sequence of ids: behind the greatest id; passage (item: its number): in another project than its lesson, lexemes not those of its text, a vector not of unit length or wider than needed, or indexed without a vector; block (item: its lexeme, lesson_id: its first): order, sums or extremes wrong; posting (item: the lexeme, empty for the list of all lessons): missing, surplus, more than once, or with wrong numbers. Reads everything of the tenant; pgmnemo.repair mends it';
-- The gate is taken off to see what it hides.
CREATE OR REPLACE FUNCTION pgmnemo.count(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    filter     jsonb       DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    everything boolean     DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (lessons bigint, hidden bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    gated boolean;
    scope pgmnemo.scope;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    gated := (pgmnemo._settings()).gate_strict = 'enforce' AND everything IS NOT TRUE;
    scope := pgmnemo._listed_scope(tenant, count.project_id, 'off', filter, valid_at, known_at, everything);
    IF scope.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT count(*) FILTER (WHERE NOT gated OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL),
               count(*) FILTER (WHERE gated AND l.commit_sha IS NULL AND l.artifact_hash IS NULL)
          FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (scope.ids);
    ELSE
        RETURN QUERY
        SELECT count(*) FILTER (WHERE NOT gated OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL),
               count(*) FILTER (WHERE gated AND l.commit_sha IS NULL AND l.artifact_hash IS NULL)
          FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._listed(l, scope);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.count IS 'how many lessons pgmnemo.list would give for the same arguments, and how many more it would but for pgmnemo.gate_strict. Reads each lesson in scope, unless an index knows a condition of the filter. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.current_tenant(caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role name := pgmnemo._proved(caller);
    asked text := current_setting('pgmnemo.tenant_id', true);
BEGIN
    IF asked IS NULL OR NOT pg_input_is_valid(asked, 'uuid')
       OR NOT pgmnemo._reaches(role, asked::uuid) THEN
        RETURN NULL;
    END IF;
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, asked::uuid);
    END IF;
    RETURN asked::uuid;
END
$$;

COMMENT ON FUNCTION pgmnemo.current_tenant IS 'the tenant that pgmnemo.tenant_id names if a grant of it reaches the current role; else NULL';
CREATE OR REPLACE FUNCTION pgmnemo.end_fact(
    tenant     uuid,
    project_id uuid,
    subject    text,
    relation   text,
    object     text        DEFAULT NULL,
    at         timestamptz DEFAULT NULL,
    reason     text        DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment timestamptz := coalesce(at, now());
    fact jsonb := pgmnemo._fact(subject, relation, object);
    ended bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_moment(moment, reason);
    IF fact -> 'subject' IS NULL OR fact -> 'relation' IS NULL THEN
        RAISE EXCEPTION 'a fact needs a subject and a relation' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT count(pgmnemo._supersede(tenant, l.id, NULL, end_fact.reason, moment)) INTO ended
      FROM (SELECT l.id FROM pgmnemo._facts_held(tenant, end_fact.project_id, fact, moment) l OFFSET 0) l;
    PERFORM pgmnemo._leave();
    RETURN ended;
END
$$;

COMMENT ON FUNCTION pgmnemo.end_fact IS 'ends what holds of a subject and a relation, of one object or of all, from at on (NULL: now), without anything in its place; returns how many facts that were. pgmnemo.undo_supersede takes it back, by the fact''s key. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.explain(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(explain.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN explain.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(explain.embedding) END;
    words text COLLATE "default" := CASE WHEN explain.mode IS DISTINCT FROM 'vector' THEN explain.query_text END;
    from_role text COLLATE "default" := explain.role;
    key text COLLATE "default" := explain.external_id;
    home uuid := coalesce(explain.in_project, explain.project_id);
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    found record;
    ways text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(explain.k, explain.mode, meaning IS NOT NULL, words, moment, NULL);
    IF home IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    s := pgmnemo._settings();
    scope := pgmnemo._asked_scope(tenant, explain.project_id, s.gate_strict, from_role, explain.valid_at, moment,
                                  explain.known_at, explain.filter);
    wanted := pgmnemo._lesson_id(tenant, home, key);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    asked := pgmnemo._ask(scope, words, meaning, moment, s, explain.windows);
    pool := pgmnemo._pool(scope, asked, s, explain.k, words IS NOT NULL, moment, l.id);
    SELECT row_number() OVER (ORDER BY r.score DESC, (r.own).external_id, (r.own).project_id) AS rank,
           r.score, r.own, count(*) OVER () AS all_of_them INTO found
      FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
     ORDER BY (r.own).lesson_id <> l.id LIMIT 1;
    ways := pgmnemo._ways(l, scope, pool.by_keyword, pool.by_vector, pool.filled, pool.added, pool.linked);

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN found.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', found.rank, found.all_of_them)
              ELSE format('of %s candidates', found.all_of_them)
                   || CASE WHEN found.rank > explain.k THEN '; beyond k = ' || explain.k ELSE '' END END),
        ('answer', 'score', found.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'fit', (SELECT f.fit::text FROM pgmnemo._fit(found.score, asked.ideal) f), NULL, NULL,
         'of a score of ' || asked.ideal),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest(s.pool_depth, explain.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(l, scope);
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, found.own, pgmnemo._context_seed(pool.candidates, found.own, s),
        CASE WHEN (found.own).graph > 0 THEN pgmnemo._graph_seed(scope, pool.candidates, pool.seeds, l.id, s) END,
        s, moment);
    RETURN QUERY SELECT * FROM pgmnemo._explain_terms(l, words, asked, s);
    RETURN QUERY SELECT * FROM pgmnemo._explain_passages(l, asked, s);
    RETURN QUERY
    SELECT 'time', 'interval ' || t.number, pgmnemo._temporal(l.occurred_at, ARRAY[t.since], ARRAY[t.until])::text,
           NULL::float8, NULL::float8, format('%s to %s', t.since, t.until)
      FROM unnest(asked.since, asked.until) WITH ORDINALITY AS t (since, until, number);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.explain IS 'why one lesson ranks where it does for one question; arguments as of pgmnemo.recall, in_project: the lesson''s project where that is not project_id. Sections of the table, value and numbers as that call has them:
answer: rank (NULL: not among the candidates), score (what it would be otherwise), fit and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
CREATE OR REPLACE FUNCTION pgmnemo.explain_recall(
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM pgmnemo.explain(pgmnemo._session_tenant(), project_id, external_id, embedding, query_text,
                                  as_of, valid_at, role, mode, k, in_project, filter, known_at, windows);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'explain for the session''s tenant';
CREATE OR REPLACE FUNCTION pgmnemo.facts(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    subject    text        DEFAULT NULL,
    relation   text        DEFAULT NULL,
    object     text        DEFAULT NULL,
    at         timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    history    boolean     DEFAULT false,
    most       integer     DEFAULT 1000,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    in_project  uuid,
    key         text,
    said_of     text,
    related     text,
    told        text,
    content     text,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := CASE WHEN history THEN '-infinity' ELSE coalesce(facts.at, now()) END;
    asked jsonb := (SELECT jsonb_object_agg('fact.' || f.key, f.value)
                      FROM jsonb_each(pgmnemo._fact(facts.subject, facts.relation, facts.object)) f);
    read_most constant integer := 10000;
    scope pgmnemo.scope;
    hidden integer;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    IF most IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'most is %, but must be from 1 to 10000', coalesce(most::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- `history` asks as of a moment before everything, when nothing has ended yet, and does without valid_at
    scope := pgmnemo._asked_scope(
        tenant, facts.project_id, (pgmnemo._settings()).gate_strict, NULL,
        CASE WHEN NOT history THEN moment END, moment, facts.known_at,
        jsonb_build_object('metadata', '{"fact.subject": {"exists": true}}' || coalesce(asked, '{}')));
    hidden := pgmnemo._hidden(scope);
    RETURN QUERY
    SELECT l.project_id, l.external_id, l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}',
           l.metadata #>> '{fact,object}', l.content, l.occurred_at, x.valid_from, x.reason, l.stored_at
      FROM (SELECT i.id FROM unnest(scope.ids) AS i (id)
             UNION ALL
            SELECT pgmnemo._fill(scope, '{}', read_most) WHERE scope.ids IS NULL) i
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = i.id OFFSET 0) l
      LEFT JOIN LATERAL pgmnemo._links_known(tenant, l.id, NULL, facts.known_at) x ON true
     ORDER BY l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}', l.occurred_at, l.external_id
     LIMIT most;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.facts IS 'the facts of a subject, a relation, an object (NULL: any) that hold at a time (NULL: now) by what was known at another (NULL: now), at most so many (1 to 10,000), by subject, relation and time; history: whenever they held. valid_to and reason: from when on they no longer do, and why; recorded_at: when they were stored. tenant NULL: the session''s, project_id NULL: all of it';
CREATE OR REPLACE FUNCTION pgmnemo.forget(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    hard        boolean DEFAULT false,
    revive      boolean DEFAULT false,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text COLLATE "default" := forget.external_id;
    gone bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._write_tenant(tenant);
    PERFORM pgmnemo._bequeath(tenant, ARRAY(SELECT l.id FROM pgmnemo.lesson l
                                             WHERE l.tenant_id = tenant AND l.project_id = forget.project_id
                                               AND l.external_id = key), revive);
    IF hard THEN
        DELETE FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key;
    ELSE
        UPDATE pgmnemo.lesson l SET active = false
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key
           AND l.active;
    END IF;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget IS 'soft: out of recall and out of the statistics, and storing the lesson again restores it; hard: gone, with its edges. Lessons whose place it took stay out of recall, and a NOTICE says so; with revive they hold again. Returns whether anything was forgotten';
-- The postings go at once: taking lessons out of blocks one by one would cost far more. A tenant without lessons needs
-- no HNSW indexes; its claim goes first, so that whoever brings vectors into them meanwhile is waited for.
CREATE OR REPLACE FUNCTION pgmnemo.forget_all(tenant uuid, project_id uuid DEFAULT NULL,
                                   caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    scope pgmnemo.scope := pgmnemo._scope(tenant, project_id);
    gone bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    IF forget_all.project_id IS NULL THEN
        DELETE FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant;
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    DELETE FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.project_id BETWEEN scope.first_project AND scope.last_project;
    IF project_id IS NULL THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
    END IF;
    DELETE FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN scope.first_project AND scope.last_project;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_all IS 'every lesson of one project, or with NULL of the tenant, gone for good; returns how many there were, softly forgotten ones included. Without any a tenant gives up the HNSW indexes';
CREATE OR REPLACE FUNCTION pgmnemo.forget_lesson(project_id uuid, external_id text, hard boolean DEFAULT false,
                                      revive boolean DEFAULT false)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.forget(pgmnemo._session_tenant(), project_id, external_id, hard, revive);
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_lesson IS 'forget for the session''s tenant';
-- A dry run asks for the same lessons, so it counts what the call itself would forget.
CREATE OR REPLACE FUNCTION pgmnemo.forget_matching(
    tenant     uuid,
    filter     jsonb,
    project_id uuid    DEFAULT NULL,
    hard       boolean DEFAULT false,
    dry_run    boolean DEFAULT false,
    revive     boolean DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    scope pgmnemo.scope;
    ids bigint[];
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_forgetting(filter);
    IF dry_run IS NOT TRUE THEN
        PERFORM pgmnemo._write_tenant(tenant);
    END IF;
    scope := pgmnemo._listed_scope(tenant, forget_matching.project_id, 'off', filter, NULL, NULL, true);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id = ANY (scope.ids) AND (hard OR l.active)
                  UNION ALL
                 SELECT l.id FROM pgmnemo.lesson l
                  WHERE scope.ids IS NULL AND l.tenant_id = tenant AND pgmnemo._in_scope(l.project_id, scope)
                    AND pgmnemo._listed(l, scope) AND (hard OR l.active));
    IF dry_run IS NOT TRUE THEN
        PERFORM pgmnemo._bequeath(tenant, ids, revive);
    END IF;
    IF dry_run THEN
        NULL;
    ELSIF hard THEN
        DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    ELSE
        UPDATE pgmnemo.lesson l SET active = false WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN cardinality(ids);
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_matching IS 'forgets, as pgmnemo.forget does, every lesson that matches a filter (as in recall, pgmnemo._filter): superseded, expired and unproven ones, too, and with hard softly forgotten ones; project_id NULL: in all projects. dry_run: nothing is forgotten. Returns how many lessons it forgot, or would. A filter that is NULL or says nothing is an error: pgmnemo.forget_all forgets everything. tenant NULL: the session''s';
-- One way to the row, whatever the tables' statistics say.
CREATE OR REPLACE FUNCTION pgmnemo.get(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    key text COLLATE "default" := get.external_id;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    RETURN QUERY
    SELECT l.* FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = get.project_id AND l.external_id = key;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.get IS 'the lesson of a key as it is kept, whatever its state: softly forgotten (active false), superseded, expired or without provenance, too; no row where there is none. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.link(
    tenant         uuid,
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    weight         float8      DEFAULT 1,
    valid_from     timestamptz DEFAULT NULL,
    valid_to       timestamptz DEFAULT NULL,
    target_project uuid        DEFAULT NULL,
    caller         pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ends bigint[];
    fresh boolean;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, link.source COLLATE "default"),
                  pgmnemo._lesson_id(tenant, coalesce(target_project, project_id),
                                     link.target COLLATE "default")];
    PERFORM pgmnemo._check_link(ends[1], ends[2], link.kind COLLATE "default", weight, valid_from, valid_to);
    INSERT INTO pgmnemo.lesson_edge AS e (tenant_id, source_id, target_id, kind, weight, valid_from, valid_to)
    VALUES (tenant, ends[1], ends[2], link.kind COLLATE "default", link.weight, link.valid_from, link.valid_to)
        ON CONFLICT (tenant_id, source_id, target_id, kind) DO UPDATE
       SET weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to
     WHERE (e.weight, e.valid_from, e.valid_to)
           IS DISTINCT FROM (excluded.weight, excluded.valid_from, excluded.valid_to)
    RETURNING xmax = 0 INTO fresh;
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN fresh IS NULL THEN 'unchanged' WHEN fresh THEN 'inserted' ELSE 'updated' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.link IS 'an edge from source to target, both by external id and of one project unless target_project says otherwise; weight from 1e-30 to 1; the same kind between the same two again is unchanged or updated. Returns inserted, unchanged or updated';
-- Pages by id. The settings keep to the keys, however the tables have grown since the plan was made.
CREATE OR REPLACE FUNCTION pgmnemo.list(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    filter     jsonb       DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    everything boolean     DEFAULT false,
    after      bigint      DEFAULT NULL,
    most       integer     DEFAULT 100,
    newest     boolean     DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
    first bigint := CASE WHEN newest THEN 0 ELSE coalesce(after, 0) END;
    last bigint := CASE WHEN newest THEN coalesce(after, 9223372036854775807) ELSE 9223372036854775807 END;
    scope pgmnemo.scope;
    hidden integer;
    page bigint[];
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    scope := pgmnemo._listed_scope(tenant, list.project_id, (pgmnemo._settings()).gate_strict, filter, valid_at,
                                   known_at, everything);
    IF after IS NULL AND everything IS NOT TRUE THEN
        hidden := pgmnemo._hidden(scope);
    END IF;
    scope.ids := coalesce(scope.ids, pgmnemo._small_project(scope));
    IF scope.ids IS NOT NULL THEN
        page := ARRAY(SELECT i FROM unnest(scope.ids) i WHERE i > first AND i < last
                       ORDER BY CASE WHEN newest THEN -i ELSE i END LIMIT most);
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (page)
         ORDER BY CASE WHEN newest THEN -l.id ELSE l.id END;
    ELSIF newest THEN
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.id < last
           AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._listed(l, scope)
         ORDER BY l.id DESC LIMIT most;
    ELSE
        RETURN QUERY
        SELECT l.* FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.id > first
           AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._listed(l, scope)
         ORDER BY l.id LIMIT most;
    END IF;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list IS 'lessons as they are kept, in pages of at most so many (1 to 10,000) by id, which is the order of storing, or from the newest back; after: the last id of the page before, so that what is written meanwhile moves nothing (a transaction that takes longer than a page may still bring ids before it). Those that a recall could answer with now, or at valid_at by what was known at known_at; everything: softly forgotten, superseded, expired and unproven ones, too. project_id NULL: all; filter as in recall (pgmnemo._filter): where no index knows a condition, pages are read until they are full. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.list_grants(caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    role name := pgmnemo._proved(caller);
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM pgmnemo._check_revoked(role, NULL);
    END IF;
    RETURN QUERY
    SELECT g.tenant_id, g.grantee::text, g.granted_at, g.granted_by
      FROM pgmnemo.tenant_grant g
     WHERE pg_has_role(role, g.grantee::oid, 'USAGE') OR pg_has_role(role, current_user::name, 'USAGE')
     ORDER BY g.tenant_id, g.grantee::text COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.list_grants IS 'the grants that reach the current role; the extension''s owner gets all of them. A number in grantee is a role that was dropped';
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE OR REPLACE FUNCTION pgmnemo.recall(
    tenant     uuid,
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    filter     jsonb       DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    windows    tstzmultirange DEFAULT NULL,
    floor      float8      DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    lesson_id      bigint,
    in_project     uuid,
    external_id    text,
    said_by        text,
    topic          text,
    content        text,
    metadata       jsonb,
    occurred_at    timestamptz,
    passage        text,
    score          float8,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    context        float8,
    neighbours     float8,
    recency        float8,
    importance     float8,
    graph          float8,
    fit            float8,
    hidden         integer
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(recall.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN recall.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(recall.embedding) END;
    words text COLLATE "default" := CASE WHEN recall.mode IS DISTINCT FROM 'vector' THEN recall.query_text END;
    from_role text COLLATE "default" := recall.role;
    asked pgmnemo.question;
    pool record;
    hidden integer;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(recall.k, recall.mode, meaning IS NOT NULL, words, moment, recall.floor);
    s := pgmnemo._settings();
    scope := CASE WHEN recall.filter IS NULL
                  THEN pgmnemo._scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at, moment,
                                      recall.known_at)
                  ELSE pgmnemo._asked_scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at,
                                            moment, recall.known_at, recall.filter) END;
    hidden := pgmnemo._hidden(scope);
    asked := pgmnemo._ask(scope, words, meaning, moment, s, recall.windows);
    pool := pgmnemo._pool(scope, asked, s, recall.k, words IS NOT NULL, moment, NULL);
    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           (SELECT p.content FROM pgmnemo.passage p
             WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND p.number > 0
             ORDER BY pgmnemo._passage_worth(p, asked, s), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.neighbours, r.recency, r.importance, r.graph, r.fit, hidden
      FROM (SELECT r.score, (r.own).*, f.fit
              FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
             CROSS JOIN LATERAL pgmnemo._fit(r.score, asked.ideal) f
             WHERE recall.floor IS NULL OR f.fit >= recall.floor
             ORDER BY r.score DESC, (r.own).external_id, (r.own).project_id LIMIT recall.k) r
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = r.lesson_id OFFSET 0) l
     ORDER BY r.score DESC, r.external_id, r.project_id;
    IF NOT FOUND AND hidden > 0 AND recall.floor IS NULL THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.recall IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = share * (bm25_weight * bm25 + passage_terms_weight * passage_terms + passage_cosine_weight * max(passage_cosine, 0) + pair_cosine_weight * max(pair_cosine, 0) + cosine_weight * max(cosine, 0) + temporal_weight * temporal), share assistant_weight for a lesson of role assistant, else 1;
score = relevance + context_weight * context + neighbours_weight * neighbours + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, times length_pivot / different words where the passage has more of them, 0 or more, NULL like bm25; of a lesson without passages the same, with the root of that quotient;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal), less where it is told loosely;
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
neighbours: relevance of the candidates up to two positions before and after in the same project (pgmnemo._neighbours);
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
fit: the score as a part of what a lesson that answers the question well would have, 0 to 1, comparable between questions (pgmnemo._ideal); hidden: lessons in scope that pgmnemo.gate_strict hides, counted to 1,000.
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector of 1,024; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; what has expired or is superseded at valid_at, else at as_of, is left out; valid_at: only what had happened then; known_at: by what was stored, superseded and undone then; role: only lessons of that role; mode: hybrid, vector or keyword; filter: only lessons that match it (pgmnemo._filter); windows: times that count in place of those that query_text names, at most 100 ranges; floor: only rows whose fit is at least that, 0 to 1, NULL: all.
Candidates are the pool_depth (at least k) best of each leg, the neighbours of the neighbours_seeds most relevant, and what the graph adds, filled up to pool_depth (at least k) in key order: the same for every k up to pool_depth. Errors: an argument out of range or a malformed filter (22023); all lessons in scope hidden by the gate (55000).';
CREATE OR REPLACE FUNCTION pgmnemo.recall_lessons(
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    filter     jsonb       DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    windows    tstzmultirange DEFAULT NULL,
    floor      float8      DEFAULT NULL
)
RETURNS TABLE (
    lesson_id      bigint,
    in_project     uuid,
    external_id    text,
    said_by        text,
    topic          text,
    content        text,
    metadata       jsonb,
    occurred_at    timestamptz,
    passage        text,
    score          float8,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    context        float8,
    neighbours     float8,
    recency        float8,
    importance     float8,
    graph          float8,
    fit            float8,
    hidden         integer
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM pgmnemo.recall(pgmnemo._session_tenant(), embedding, k, query_text, project_id, as_of,
                                 valid_at, role, mode, filter, known_at, windows, floor);
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'recall for the session''s tenant';
-- The claim goes first: that waits for those who bring vectors in on the strength of it, and the second statement sees
-- what they wrote. The policies show rows of the acting tenant alone, so it acts for the one that had the indexes.
CREATE OR REPLACE FUNCTION pgmnemo.release_vector_index()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    holder uuid;
BEGIN
    DELETE FROM pgmnemo.vector_graph g WHERE g.tenant_id IS NOT NULL RETURNING g.tenant_id INTO holder;
    IF holder IS NULL THEN
        RETURN false;
    END IF;
    PERFORM set_config('pgmnemo.acting_tenant', holder::text, true);
    UPDATE pgmnemo.passage p SET indexed = false WHERE p.tenant_id = holder AND p.indexed;
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.release_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.release_vector_index() IS 'takes the HNSW indexes from the tenant that has them, whose scopes are then read exactly: the next large tenant that stores, or calls pgmnemo.index, gets them. Returns whether somebody had them; VACUUM pgmnemo.passage afterwards. Only the extension''s owner may';
-- One statement takes the postings away and lists the lessons to build them from: a lesson that another session
-- stores between two would otherwise keep its own postings and get them again. Changes of those listed wait.
CREATE OR REPLACE FUNCTION pgmnemo.repair(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told constant integer := 10;
    ids bigint[];
    unwritable text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._lock_tenant(tenant);
    IF EXISTS (SELECT FROM pgmnemo._stale_lessons(tenant)) THEN
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
        PERFORM pgmnemo._repair_lessons(tenant);
    END IF;
    PERFORM pgmnemo._repair_passages(tenant);
    UPDATE pgmnemo.lesson l SET superseded_at = s.valid_from
      FROM pgmnemo._supersession_problems(tenant) s WHERE l.tenant_id = tenant AND l.id = s.lesson_id;
    IF EXISTS (SELECT FROM pgmnemo._entry_problems(tenant)) THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
        INSERT INTO pgmnemo.lesson_entry
        SELECT tenant, e.entry, l.id
          FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._entries(l.metadata) AS e (entry)
         WHERE l.tenant_id = tenant AND l.metadata <> '{}'
         ORDER BY e.entry, l.id
            ON CONFLICT DO NOTHING;
    END IF;
    WITH gone AS (
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant
    )
    SELECT array_agg(l.id) INTO ids FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.active;
    PERFORM pgmnemo._add_postings(tenant, ids);
    IF EXISTS (SELECT FROM pgmnemo._id_behind(tenant)) THEN
        -- this takes the lock that lets nobody draw a number until it is set forward
        ALTER SEQUENCE pgmnemo.lesson_id_seq NO CYCLE;
        PERFORM setval('pgmnemo.lesson_id_seq', b.greatest_id) FROM pgmnemo._id_behind(tenant) b;
    END IF;
    SELECT string_agg(quote_literal(left(u.external_id, 100)), ', ') INTO unwritable
      FROM (SELECT u.external_id FROM pgmnemo._unwritable_lessons(tenant) u LIMIT told) u;
    IF unwritable IS NOT NULL THEN
        RAISE WARNING 'metadata that cannot be written out stay as they are, and no dump can hold them: %', unwritable
        USING HINT = 'Store these lessons with other metadata, or forget them; pgmnemo.check names all of them.';
    END IF;
    PERFORM pgmnemo._leave();
    RETURN coalesce(cardinality(ids), 0);
END
$$;

COMMENT ON FUNCTION pgmnemo.repair IS 'mends what pgmnemo.check finds: derives stale lexemes and unsound passages anew from their texts and vectors, and rebuilds the entries of metadata and all postings of the tenant from its lessons, in one transaction, sorted and in full blocks; sets the sequence of ids forward where it is behind. Metadata that cannot be written out stay, and a WARNING names the first: to store such a lesson with other metadata mends it. Holds the tenant''s writers up, readers never. Returns how many active lessons there are; VACUUM pgmnemo.posting afterwards';
-- One revoke at a time, so that of the last one's transaction may be told whether any came after a snapshot.
CREATE OR REPLACE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE pgmnemo.tenant_grant IN SHARE ROW EXCLUSIVE MODE;
    PERFORM setval('pgmnemo.revocation_seq', pg_current_xact_id()::text::bigint);
    DELETE FROM pgmnemo.tenant_grant g
     WHERE g.tenant_id = revoke_tenant.tenant
       AND (g.grantee::oid = (SELECT r.oid FROM pg_roles r WHERE r.rolname = revoke_tenant.grantee)
            OR g.grantee::text = revoke_tenant.grantee::text
               AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = g.grantee::oid));
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.revoke_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.revoke_tenant(uuid, name) IS 'takes back what grant_tenant gave, and says whether there was a grant: from its commit on it binds every call, and in an open REPEATABLE READ or SERIALIZABLE transaction the next one gives 40001; of a dropped role give the number that list_grants shows; only the extension''s owner may';
CREATE OR REPLACE FUNCTION pgmnemo.similar_pairs(
    tenant       uuid,
    project_id   uuid    DEFAULT NULL,
    least_cosine float8  DEFAULT 0.95,
    least_words  float8  DEFAULT 0.8,
    after        bigint  DEFAULT 0,
    most         integer DEFAULT 100,
    caller       pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (first_id bigint, second_id bigint, first_key text, second_key text, cosine float8, words float8,
               next_after bigint)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    scope pgmnemo.scope;
    ids bigint[];
    last bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 1000);
    PERFORM pgmnemo._check_alike(least_cosine, least_words);
    scope := pgmnemo._listed_scope(tenant, similar_pairs.project_id, (pgmnemo._settings()).gate_strict, NULL, NULL,
                                   NULL, false);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(after, 0)
                    AND pgmnemo._in_scope(l.project_id, scope) AND pgmnemo._recallable(l, scope)
                  ORDER BY l.id LIMIT most);
    last := ids[cardinality(ids)];
    RETURN QUERY
    SELECT o.id, n.id, o.external_id, n.external_id, c.cosine, w.words, last
      FROM (SELECT v.older, v.newer FROM pgmnemo._alike_vectors(scope, ids, least_cosine) v
            UNION
            SELECT w.older, w.newer FROM pgmnemo._alike_words(scope, ids, least_words) w) p
     CROSS JOIN LATERAL (
            SELECT l.id, l.external_id, l.lexemes FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id = p.older AND pgmnemo._recallable(l, scope) OFFSET 0) o
     CROSS JOIN LATERAL (
            SELECT l.id, l.external_id, l.lexemes FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id = p.newer OFFSET 0) n
     CROSS JOIN LATERAL (SELECT pgmnemo._words_shared(o.lexemes, n.lexemes)) AS w (words)
     CROSS JOIN LATERAL (
            SELECT max(pgmnemo._bounded(-(a.embedding OPERATOR(@extschema:vector@.<#>) b.embedding))) AS cosine
              FROM pgmnemo.passage a
              JOIN pgmnemo.passage b ON b.tenant_id = tenant AND b.lesson_id = n.id AND b.number = 0
                                    AND b.width = a.width
             WHERE a.tenant_id = tenant AND a.lesson_id = o.id AND a.number = 0) c
     WHERE c.cosine >= least_cosine OR w.words >= least_words
     ORDER BY n.id, o.id;
    IF NOT FOUND AND last IS NOT NULL THEN
        RETURN QUERY SELECT NULL::bigint, NULL::bigint, NULL, NULL, NULL::float8, NULL::float8, last;
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.similar_pairs IS 'lessons that say nearly the same, for whoever merges them; nothing is changed. Looks at the next lessons in order of id (after; at most so many, 1 to 1,000) that a recall could answer with, and pairs each with older ones of the project, or with NULL of the tenant: cosine of the lessons as a whole at least least_cosine, or words, lexemes that both have / lexemes that either has, at least least_words (0.5 to 1; NULL: not by this; lessons of more than 2,000 different lexemes are not compared so). first_id is the older, so each pair comes once. Call again with after => next_after until no row comes; a row without ids says that these lessons had no pair. cosine is NULL without vectors of one width; vectors are kept at half precision, so ask for 0.999 where they should be equal. Not found: beyond the 50 nearest of one lesson by vector, and the 50 that share most of its rarest lexemes; by words, those of a lesson each of whose lexemes is in more than 2,000 others. A call compares each of its lessons with every vector in scope: 100 lessons of 10,000 take about a second. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.store(
    tenant        uuid,
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    "position"    integer     DEFAULT NULL,
    clear         text[]      DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one pgmnemo.lesson_input;
    outcome text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._refuse_lesson(
        1, external_id, pgmnemo._size_problem(content, topic, role, commit_sha, artifact_hash, metadata, passages));
    one := ROW(
        project_id, external_id, content, pgmnemo._embedding(embedding), role, topic,
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position);
    outcome := (SELECT s.outcome FROM pgmnemo._store(tenant, ARRAY[one], clear) s);
    PERFORM pgmnemo._leave();
    RETURN outcome;
END
$$;

COMMENT ON FUNCTION pgmnemo.store IS 'stores one lesson as store_set stores a set; returns inserted, unchanged, updated, unembedded or restored. clear names what shall have no value afterwards, among embedding, passages, role, topic, importance, metadata, occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position: what is left out stays. embedding is real[] or vector of 1,024 dimensions, passage_embeddings a vector of 1,024 for each of passages';
CREATE OR REPLACE FUNCTION pgmnemo.store_lesson(
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    "position"    integer     DEFAULT NULL,
    clear         text[]      DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store(
        pgmnemo._session_tenant(), project_id, external_id, content, embedding, role, topic, importance, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        clear);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'store for the session''s tenant';
-- The lesson's row is written as well, so that whoever changes its text at the same time meets a conflict, whatever
-- the isolation level.
CREATE OR REPLACE FUNCTION pgmnemo.store_passages(
    tenant             uuid,
    lesson_id          bigint,
    passages           text[],
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    caller             pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem text := coalesce(pgmnemo._size_problem(NULL, NULL, NULL, NULL, NULL, NULL, passages),
                             pgmnemo._passages_problem(passages, passage_embeddings));
    one pgmnemo.lesson_input;
    large uuid[];
    bare boolean;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    IF problem IS NOT NULL OR coalesce(cardinality(passages), 0) = 0 THEN
        RAISE EXCEPTION 'lesson % %', store_passages.lesson_id, coalesce(problem, 'is given no passages')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE pgmnemo.lesson l SET metadata = l.metadata WHERE l.tenant_id = tenant AND l.id = store_passages.lesson_id
    RETURNING l.project_id, l.external_id INTO one.project_id, one.external_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no lesson %', store_passages.lesson_id USING ERRCODE = 'no_data_found';
    END IF;
    bare := NOT EXISTS (SELECT FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = store_passages.lesson_id AND p.number > 0);
    IF bare THEN
        one.passages := passages;
        one.passage_embeddings := passage_embeddings;
        large := ARRAY(SELECT p.project_id FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = store_passages.lesson_id AND p.indexed);
        PERFORM pgmnemo._write_passages(tenant, ARRAY[store_passages.lesson_id], ARRAY[one], large);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN bare;
END
$$;

COMMENT ON FUNCTION pgmnemo.store_passages IS 'gives a lesson that has no passages these, with a vector of 1,024 dimensions for each or none; returns false, and changes nothing, where it has some';
CREATE OR REPLACE FUNCTION pgmnemo.store_set(tenant uuid, lessons pgmnemo.lesson_input[],
                                  caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT * FROM pgmnemo._store(tenant, lessons);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.store_set IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, and nothing that is given differs: nothing is written); updated (same key, other attributes); unembedded (updated, and the vector of the old text is gone with it, for none was given for the new); restored (softly forgotten before). What is NULL stays as it is';
CREATE OR REPLACE FUNCTION pgmnemo.supersede(
    tenant      uuid,
    project_id  uuid,
    old         text,
    new         text        DEFAULT NULL,
    reason      text        DEFAULT NULL,
    at          timestamptz DEFAULT NULL,
    new_project uuid        DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, now());
    ends bigint[];
    forgotten text;
    held record;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_moment(moment, reason);
    PERFORM pgmnemo._write_tenant(tenant);
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, supersede.old COLLATE "default"),
                  CASE WHEN supersede.new IS NOT NULL
                       THEN pgmnemo._lesson_id(tenant, coalesce(new_project, project_id),
                                               supersede.new COLLATE "default") END];
    SELECT l.external_id INTO forgotten
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ends) AND NOT l.active LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'lesson % is forgotten', quote_literal(forgotten)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Store it again first.';
    END IF;
    SELECT x.new_id, x.valid_from, x.reason, l.external_id INTO held
      FROM pgmnemo.supersession x LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = x.new_id
     WHERE x.tenant_id = tenant AND x.old_id = ends[1] AND x.undone_at IS NULL;
    IF FOUND AND held.new_id IS DISTINCT FROM ends[2] THEN
        RAISE EXCEPTION 'lesson % is superseded already, %', quote_literal(supersede.old),
              coalesce('by ' || quote_literal(held.external_id), 'by none')
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Supersede the one that holds, or call pgmnemo.undo_supersede first.';
    ELSIF FOUND AND (at IS NULL OR at = held.valid_from)
          AND (supersede.reason IS NULL OR supersede.reason COLLATE "default" = held.reason) THEN
        PERFORM pgmnemo._leave();
        RETURN 'unchanged';
    END IF;
    PERFORM pgmnemo._supersede(tenant, ends[1], ends[2], coalesce(supersede.reason, held.reason),
                               coalesce(at, held.valid_from, moment));
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN held.valid_from IS NULL THEN 'superseded' ELSE 'corrected' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.supersede IS 'lets the lesson new (of new_project, else of the same) take the place of old from at on (NULL: now), or with new NULL ends old: a recall leaves old out from then on, unless valid_at or as_of asks for an earlier time. The memory keeps when it learned that (known_at). Returns superseded; corrected (the same two with another at or reason: what was known before is kept); unchanged. tenant NULL: the session''s. Errors: no such lesson (02000), a lesson that is forgotten or superseded by another already (55000), itself or a circle (22023)';
CREATE OR REPLACE FUNCTION pgmnemo.sweep(
    tenant uuid,
    before timestamptz DEFAULT NULL,
    most   integer     DEFAULT 10000,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    IF before > clock_timestamp() THEN
        RAISE EXCEPTION 'before is %, but must not be in the future', before
        USING ERRCODE = 'invalid_parameter_value', HINT = 'pgmnemo.forget_matching forgets what has not expired.';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.expires_at <= coalesce(before, now())
                  ORDER BY l.expires_at LIMIT most);
    PERFORM pgmnemo._bequeath(tenant, ids, false);
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    PERFORM pgmnemo._leave();
    RETURN cardinality(ids);
END
$$;

COMMENT ON FUNCTION pgmnemo.sweep IS 'deletes for good the lessons that had expired at a moment (before; NULL: now), at most so many (1 to 10,000), those first that expired first. Returns how many: call again until it is fewer than most. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.timeline(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    known_at    timestamptz DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    step        integer,
    lesson_id   bigint,
    in_project  uuid,
    key         text,
    content     text,
    active      boolean,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    stored_at   timestamptz,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    middle bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    middle := pgmnemo._lesson_id(tenant, project_id, timeline.external_id COLLATE "default");
    RETURN QUERY
    WITH RECURSIVE before (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.old_id, b.step - 1
          FROM before b CROSS JOIN LATERAL pgmnemo._links_known(tenant, NULL, b.id, timeline.known_at) x
    ), after (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.new_id, a.step + 1
          FROM after a CROSS JOIN LATERAL pgmnemo._links_known(tenant, a.id, NULL, timeline.known_at) x
         WHERE x.new_id IS NOT NULL
    )
    SELECT w.step, l.id, l.project_id, l.external_id, l.content, l.active, coalesce(l.occurred_at, l.stored_at),
           x.valid_from, x.reason, l.stored_at, x.recorded_at
      FROM (SELECT * FROM before UNION SELECT * FROM after) w
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = w.id
      LEFT JOIN LATERAL pgmnemo._links_known(tenant, l.id, NULL, timeline.known_at) x ON true
     WHERE timeline.known_at IS NULL OR l.stored_at <= timeline.known_at
     ORDER BY w.step, l.external_id, l.project_id;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.timeline IS 'a lesson, those whose place it took and those that took its own, oldest first, as known at a time (NULL: now): step below 0: before it, 0: itself, above 0: after it; valid_from: when it happened (occurred_at, else stored_at); valid_to: from when on it no longer holds, with the reason, and recorded_at: when the memory learned that; NULL: it holds. active: not softly forgotten. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.undo_supersede(tenant uuid, project_id uuid, old text,
                                       caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    undone bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._write_tenant(tenant);
    undone := pgmnemo._undo_supersede(
        tenant, ARRAY[pgmnemo._lesson_id(tenant, project_id, undo_supersede.old COLLATE "default")]);
    PERFORM pgmnemo._leave();
    RETURN undone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.undo_supersede IS 'takes back that the lesson old is superseded, so that it holds again; known_at still knows that it was. Returns whether it was superseded. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.unlink(
    tenant         uuid,
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    target_project uuid DEFAULT NULL,
    caller         pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ends bigint[];
    gone bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, unlink.source COLLATE "default"),
                  pgmnemo._lesson_id(tenant, coalesce(target_project, project_id),
                                     unlink.target COLLATE "default")];
    DELETE FROM pgmnemo.lesson_edge e
     WHERE e.tenant_id = tenant AND e.source_id = ends[1] AND e.target_id = ends[2]
       AND e.kind = unlink.kind COLLATE "default";
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink IS 'takes one edge away, for good; returns whether there was one';
-- What a lesson says besides its text. The whole of it is checked as if it were stored.
CREATE OR REPLACE FUNCTION pgmnemo.update(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    topic       text        DEFAULT NULL,
    role        text        DEFAULT NULL,
    importance  integer     DEFAULT NULL,
    metadata    jsonb       DEFAULT NULL,
    patch       jsonb       DEFAULT NULL,
    occurred_at timestamptz DEFAULT NULL,
    expires_at  timestamptz DEFAULT NULL,
    verified_at timestamptz DEFAULT NULL,
    "position"  integer     DEFAULT NULL,
    clear       text[]      DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    gone text[] := coalesce(update.clear, '{}');
    one pgmnemo.lesson_input;
    wanted bigint;
    changed boolean;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_clear(gone, '{role,topic,importance,metadata,occurred_at,expires_at,commit_sha,'
                                       'artifact_hash,verified_at,position}');
    PERFORM pgmnemo._check_patch(update.metadata, update.patch);
    PERFORM pgmnemo._lock_tenant(tenant);
    wanted := pgmnemo._lesson_id(tenant, update.project_id, update.external_id COLLATE "default");
    SELECT l.project_id, l.external_id, l.content INTO one.project_id, one.external_id, one.content
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = wanted;
    one.topic := update.topic;
    one.role := update.role;
    one.importance := CASE WHEN update.importance BETWEEN 1 AND 5 THEN update.importance
                           WHEN update.importance IS NOT NULL THEN 0 END;
    one.metadata := update.metadata;
    one.occurred_at := update.occurred_at;
    one.expires_at := update.expires_at;
    one.verified_at := update.verified_at;
    one.position := update.position;
    one := (SELECT m.given FROM pgmnemo._merged(tenant, ARRAY[one], gone) m);
    IF update.patch IS NOT NULL THEN
        IF jsonb_typeof(one.metadata) <> 'object' THEN
            RAISE EXCEPTION 'the metadata of lesson % is no object', quote_literal(one.external_id)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give metadata, which replaces it, in place of patch.';
        END IF;
        one.metadata := one.metadata || update.patch;
    END IF;
    PERFORM pgmnemo._check_input(ARRAY[one]);
    PERFORM pgmnemo._check_provenance(tenant, ARRAY[one], gone, (pgmnemo._settings()).gate_strict);
    UPDATE pgmnemo.lesson l
       SET role = one.role, topic = one.topic, importance = one.importance, metadata = one.metadata,
           occurred_at = one.occurred_at, expires_at = one.expires_at, commit_sha = one.commit_sha,
           artifact_hash = one.artifact_hash, verified_at = one.verified_at, position = one.position
     WHERE l.tenant_id = tenant AND l.id = wanted
       AND (l.role, l.topic, l.importance, l.metadata, l.occurred_at, l.expires_at, l.commit_sha, l.artifact_hash,
            l.verified_at, l.position)
           IS DISTINCT FROM
           (one.role, one.topic, one.importance, one.metadata, one.occurred_at, one.expires_at, one.commit_sha,
            one.artifact_hash, one.verified_at, one.position);
    changed := FOUND;
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN changed THEN 'updated' ELSE 'unchanged' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.update IS 'changes what is given of one lesson and leaves its text, vectors and passages; NULL: stays as it is. metadata replaces what is there, patch is an object that is merged into it key by key (||): one of them. clear names what shall have no value afterwards, among role, topic, importance (3 then), metadata ({}), occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position. A softly forgotten lesson stays forgotten. Returns updated or unchanged; a key without a lesson is the error no_data_found. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.5.0' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
COMMENT ON TYPE pgmnemo.filter IS 'what a filter asks for (pgmnemo._filter; NULL: nothing): one of these projects, roles and topics; how the topic begins; since when and until before when it happened; what the metadata contains and matches; entries: what of that pgmnemo.lesson_entry finds, and for each the number of its condition';
COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson, and the texts and vectors of its passages; the first three are required; of a lesson that is there already what is NULL stays; of a new one importance NULL is 3 and metadata NULL {}';
COMMENT ON TYPE pgmnemo.question IS 'held: active lessons in scope; terms: lexemes of the question that occur, rarest first, and for each a tsquery, its idf, its scale (pgmnemo._impact), the most that it can add to a BM25 in scope (units of 2^-40) and the lessons in scope that hold it; flat, per_token, pivot: see pgmnemo._impact; direction: the embedding at unit length; since, until: the intervals that it names; ideal: see pgmnemo._fit; share: what fitting these intervals counts for';
COMMENT ON TYPE pgmnemo.scope IS 'a recall''s tenant, its projects as an interval (one, or all), pgmnemo.gate_strict, the role and the moment that were asked for (NULL: any); moment: when a lesson must not have expired or been superseded; known_at: what was known then (NULL: now); filtered: whether known_at or filter say anything; ids: the lessons that they leave, where those are few (NULL: not told); everything: whatever is kept, forgotten, superseded, expired and hidden lessons, too; plain: none of role, valid_at, gate, known_at and filter leaves any out';
COMMENT ON COLUMN pgmnemo.lesson.metadata IS 'anything; handed back by recall; filters ask it';
COMMENT ON COLUMN pgmnemo.lesson.expires_at IS 'from when on it is no longer recalled, unless an earlier time is asked for; NULL: never';
COMMENT ON COLUMN pgmnemo.lesson.superseded_at IS 'from when on another holds in its place: pgmnemo.supersession.valid_from of the one that was not undone; NULL: none does';
COMMENT ON TABLE pgmnemo.lesson_entry IS 'the index of pgmnemo.lesson.metadata, kept by triggers on pgmnemo.lesson: never write it';
COMMENT ON COLUMN pgmnemo.lesson_entry.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_entry.entry IS 'a path in the metadata with a value, as pgmnemo._entry makes it; 0: the lesson may hold any';
COMMENT ON COLUMN pgmnemo.lesson_entry.lesson_id IS 'lesson.id that holds it';
COMMENT ON SEQUENCE pgmnemo.revocation_seq IS 'number of the transaction that last revoked a grant; in no dump';
COMMENT ON TABLE pgmnemo.supersession IS 'which lesson took the place of which, from when on, and when that was learned; written by the verbs';
COMMENT ON COLUMN pgmnemo.supersession.number IS 'orders the rows of one lesson; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.supersession.tenant_id IS 'the tenant of both lessons';
COMMENT ON COLUMN pgmnemo.supersession.old_id IS 'lesson.id that no longer holds; the row goes with it';
COMMENT ON COLUMN pgmnemo.supersession.new_id IS 'lesson.id that holds in its place; NULL: none does, or it is forgotten for good';
COMMENT ON COLUMN pgmnemo.supersession.valid_from IS 'from when on, in the world';
COMMENT ON COLUMN pgmnemo.supersession.reason IS 'why, in the writer''s words';
COMMENT ON COLUMN pgmnemo.supersession.recorded_at IS 'when the memory learned it';
COMMENT ON COLUMN pgmnemo.supersession.undone_at IS 'when it was taken back; NULL: it holds';
-- It shows the columns that the table had when it was made.
CREATE OR REPLACE VIEW pgmnemo.lessons AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_lessons(c.tenant) t
 WHERE c.tenant IS NOT NULL;
ALTER TABLE pgmnemo.lesson_entry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.supersession ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.lesson_entry USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.supersession USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
-- The policies hold for the owner as well, so the entries are made while those of lessons do not.
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry NO FORCE ROW LEVEL SECURITY;
INSERT INTO pgmnemo.lesson_entry
SELECT l.tenant_id, e.entry, l.id FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._entries(l.metadata) AS e (entry)
 WHERE l.metadata <> '{}'
 ORDER BY 1, 2, 3;
ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry FORCE ROW LEVEL SECURITY;
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession_number_seq', '');
-- Nobody but the extension's owner reaches a table, a type for columns of his own, or a function that is no verb: no
-- login can lock rows or tables, ask the planner about them, or make an object that depends on ours. What default
-- privileges of the owner gave to others goes as well.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        WITH object AS (
            SELECT format('%s pgmnemo.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS name,
                   c.relowner AS owner, c.relacl AS rights
              FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'S', 'v')
             UNION ALL
            SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, p.proacl
              FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace AND starts_with(p.proname, '_')
             UNION ALL
            SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl
              FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typtype = 'c'
        )
        SELECT o.name, 'PUBLIC' AS holder FROM object o
         UNION
        SELECT o.name, quote_ident(pg_get_userbyid(a.grantee))
          FROM object o CROSS JOIN LATERAL aclexplode(o.rights) a
         WHERE a.grantee NOT IN (0, o.owner)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', item.name, item.holder);
    END LOOP;
    -- The plans within verbs hold estimates, which come of all tenants' rows: no caller is to have them printed. And
    -- bodies are read as they are written, whatever a caller has set.
    FOR item IN
        SELECT p.oid::regprocedure AS name FROM pg_catalog.pg_proc p
         WHERE p.pronamespace = 'pgmnemo'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET debug_print_plan = off', item.name);
        EXECUTE format('ALTER FUNCTION %s SET standard_conforming_strings = on', item.name);
    END LOOP;
END
$$;
-- What a role may do is decided by its grants of tenants: without one, every verb refuses.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT SELECT ON pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.edges, pgmnemo.postings TO PUBLIC;
-- Run with the rights of whoever calls, before or beside a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._session_tenant,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number
    TO PUBLIC;

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
