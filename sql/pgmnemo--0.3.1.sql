\echo Use "CREATE EXTENSION pgmnemo" to load this file. \quit
-- One row a memory. Its vectors stand in pgmnemo.passage, so that rows are narrow and many share a page.
CREATE TABLE pgmnemo.lesson (
    id            bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id     uuid        NOT NULL,
    project_id    uuid        NOT NULL,
    external_id   text        COLLATE "C" NOT NULL CHECK (octet_length(external_id) BETWEEN 1 AND 1000),
    role          text,
    topic         text,
    content       text        NOT NULL,
    importance    smallint    NOT NULL DEFAULT 3 CHECK (importance BETWEEN 1 AND 5),
    metadata      jsonb       NOT NULL DEFAULT '{}',
    occurred_at   timestamptz CHECK (isfinite(occurred_at)),
    stored_at     timestamptz NOT NULL DEFAULT now() CHECK (isfinite(stored_at)),
    expires_at    timestamptz,
    commit_sha    text,
    artifact_hash text,
    verified_at   timestamptz,
    active        boolean     NOT NULL DEFAULT true,
    text_config   text        NOT NULL,
    lexemes       tsvector    NOT NULL DEFAULT '',
    token_count   integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, project_id, external_id)
);

COMMENT ON TABLE pgmnemo.lesson IS 'memories, one a row; a role sees and writes those of the tenant that pgmnemo.tenant_id names and a grant reaches';
COMMENT ON COLUMN pgmnemo.lesson.id IS 'number within the database; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.lesson.tenant_id IS 'the tenant whose row this is; row-level security goes by it';
COMMENT ON COLUMN pgmnemo.lesson.project_id IS 'the project in the tenant: what recall_lessons searches by project_id';
COMMENT ON COLUMN pgmnemo.lesson.external_id IS 'the writer''s key, unique in tenant and project, 1 to 1000 bytes; breaks ties in C order';
COMMENT ON COLUMN pgmnemo.lesson.role IS 'who the lesson is from or for; recall_lessons can ask for one role';
COMMENT ON COLUMN pgmnemo.lesson.topic IS 'a title; its words count as words of the content';
COMMENT ON COLUMN pgmnemo.lesson.content IS 'the text itself';
COMMENT ON COLUMN pgmnemo.lesson.importance IS '1 (trifling) to 5 (vital); 3 adds nothing to the score';
COMMENT ON COLUMN pgmnemo.lesson.metadata IS 'anything; handed back by recall, never searched';
COMMENT ON COLUMN pgmnemo.lesson.occurred_at IS 'when it happened: the age of recency counts from here, else from stored_at';
COMMENT ON COLUMN pgmnemo.lesson.stored_at IS 'when it was first stored';
COMMENT ON COLUMN pgmnemo.lesson.expires_at IS 'from when on a recall with valid_at leaves it out; NULL: never';
COMMENT ON COLUMN pgmnemo.lesson.commit_sha IS 'provenance: the commit that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.artifact_hash IS 'provenance: hash of the artefact that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.verified_at IS 'when somebody last checked it';
COMMENT ON COLUMN pgmnemo.lesson.active IS 'false once softly forgotten: out of recall and out of the statistics';
COMMENT ON COLUMN pgmnemo.lesson.text_config IS 'text search configuration that lexemes was made with; derived from pgmnemo.text_config when the text is written';
COMMENT ON COLUMN pgmnemo.lesson.lexemes IS 'pgmnemo._lexemes of topic and content; derived, whatever is written to it';
COMMENT ON COLUMN pgmnemo.lesson.token_count IS 'length for BM25: positions in lexemes; derived';
CREATE TABLE pgmnemo.lesson_edge (
    tenant_id  uuid   NOT NULL,
    source_id  bigint NOT NULL,
    target_id  bigint NOT NULL,
    kind       text   NOT NULL CHECK (octet_length(kind) BETWEEN 1 AND 1000),
    weight     real   NOT NULL DEFAULT 1 CHECK (weight > 0 AND weight <= 1),
    valid_from timestamptz,
    valid_to   timestamptz,
    PRIMARY KEY (tenant_id, source_id, target_id, kind),
    FOREIGN KEY (tenant_id, source_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    CHECK (source_id <> target_id),
    CHECK (valid_to > valid_from)
);

COMMENT ON TABLE pgmnemo.lesson_edge IS 'typed, weighted, directed links between lessons of one tenant; gone with either end';
COMMENT ON COLUMN pgmnemo.lesson_edge.tenant_id IS 'the tenant of both ends';
COMMENT ON COLUMN pgmnemo.lesson_edge.source_id IS 'lesson.id that the edge leaves';
COMMENT ON COLUMN pgmnemo.lesson_edge.target_id IS 'lesson.id that the edge reaches';
COMMENT ON COLUMN pgmnemo.lesson_edge.kind IS 'type of the link, 1 to 1000 bytes, such as follows, explains, replaces; two lessons may have one edge of each kind';
COMMENT ON COLUMN pgmnemo.lesson_edge.weight IS 'above 0, at most 1: half of it is the share of relevance that passes';
COMMENT ON COLUMN pgmnemo.lesson_edge.valid_from IS 'first moment at which a recall with valid_at follows the edge; NULL: always';
COMMENT ON COLUMN pgmnemo.lesson_edge.valid_to IS 'from when on a recall with valid_at no longer follows it; NULL: never';
-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id);
-- The keyword index: for each lexeme of a project, blocks of at most 128 active lessons that hold it.
-- Statistics are sums over these rows, so they are as true as any other row is under MVCC: a writer appends
-- blocks and waits for nobody. The empty lexeme stands for "every active lesson": its blocks give the
-- number of lessons and their total length. The extremes bound what a block can add to any score.
CREATE TABLE pgmnemo.posting (
    tenant_id     uuid       NOT NULL,
    project_id    uuid       NOT NULL,
    lexeme        text       COLLATE "C" NOT NULL,
    lesson_ids    bigint[]   STORAGE PLAIN NOT NULL,
    frequencies   smallint[] STORAGE PLAIN NOT NULL,
    token_counts  integer[]  STORAGE PLAIN NOT NULL,
    lesson_count  integer    NOT NULL,
    token_total   bigint     NOT NULL,
    max_frequency smallint   NOT NULL,
    min_tokens    integer    NOT NULL
);

COMMENT ON TABLE pgmnemo.posting IS 'the keyword index, kept by triggers on pgmnemo.lesson: read it, but never write it';
COMMENT ON COLUMN pgmnemo.posting.tenant_id IS 'the tenant of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.project_id IS 'the project of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.lexeme IS 'the term; empty in the blocks that list every active lesson';
COMMENT ON COLUMN pgmnemo.posting.lesson_ids IS 'lesson.id of 1 to 128 active lessons that hold the term, ascending';
COMMENT ON COLUMN pgmnemo.posting.frequencies IS 'for each of them how often it holds the term (0 in blocks of the empty lexeme)';
COMMENT ON COLUMN pgmnemo.posting.token_counts IS 'for each of them lesson.token_count';
COMMENT ON COLUMN pgmnemo.posting.lesson_count IS 'how many they are';
COMMENT ON COLUMN pgmnemo.posting.token_total IS 'sum of token_counts';
COMMENT ON COLUMN pgmnemo.posting.max_frequency IS 'greatest of frequencies';
COMMENT ON COLUMN pgmnemo.posting.min_tokens IS 'least of token_counts';
-- Covers what statistics sum up, so that they need not read the blocks.
CREATE INDEX posting_lexeme ON pgmnemo.posting (tenant_id, lexeme, project_id)
    INCLUDE (lesson_count, token_total, max_frequency, min_tokens);
-- Only the extension's owner writes here; every policy reads it. By name, not oid, so that it survives a dump.
CREATE TABLE pgmnemo.tenant_grant (
    tenant_id  uuid        NOT NULL,
    grantee    name        NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    granted_by name        NOT NULL DEFAULT current_user,
    PRIMARY KEY (tenant_id, grantee)
);

COMMENT ON TABLE pgmnemo.tenant_grant IS 'which role reaches which tenant; written by the extension''s owner alone';
COMMENT ON COLUMN pgmnemo.tenant_grant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant_grant.grantee IS 'name of the role that reaches it, and so do the members that inherit from it; revoke before dropping the role';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_at IS 'when it was granted';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_by IS 'the role that granted it';
CREATE TYPE pgmnemo.lesson_input AS (
    project_id         uuid,
    external_id        text,
    content            text,
    embedding          vector(1024),
    role               text,
    topic              text,
    importance         smallint,
    metadata           jsonb,
    occurred_at        timestamptz,
    expires_at         timestamptz,
    commit_sha         text,
    artifact_hash      text,
    verified_at        timestamptz,
    passages           text[],
    passage_embeddings vector(1024)[]
);

COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson, and the texts and vectors of its passages; the first three are required, importance NULL is 3, metadata NULL is {}, passages NULL leaves those of an unchanged text as they are';
-- What a lesson is found by besides its words as a whole. Rows are narrow, and the covering index below keeps
-- the vectors of a tenant together, whatever order they came in.
CREATE TABLE pgmnemo.passage (
    tenant_id  uuid     NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 0),
    indexed    boolean  NOT NULL DEFAULT false,
    width      smallint CHECK (width IN (384, 768, 1024)),
    content    text     CHECK ((content IS NULL) = (number = 0)),
    lexemes    tsvector,
    embedding  halfvec  STORAGE PLAIN,
    PRIMARY KEY (tenant_id, lesson_id, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    CHECK ((embedding IS NULL) = (width IS NULL)),
    CHECK (vector_dims(embedding) = width),
    CONSTRAINT passage_norm_check CHECK (l2_norm(embedding) BETWEEN 0.99 AND 1.01)
);

COMMENT ON TABLE pgmnemo.passage IS 'the vectors of lessons and the parts of their text that are searched one by one; written by the verbs';
COMMENT ON COLUMN pgmnemo.passage.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.passage.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.passage.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.passage.number IS '0: the lesson as a whole; from 1: its passages in order';
COMMENT ON COLUMN pgmnemo.passage.indexed IS 'whether the vector is in an HNSW index; set by the verbs (pgmnemo.exact_scan_limit)';
COMMENT ON COLUMN pgmnemo.passage.width IS 'dimensions that are stored: 384, 768 or 1,024; what lies beyond is zero';
COMMENT ON COLUMN pgmnemo.passage.content IS 'the text of the passage; NULL for the lesson as a whole';
COMMENT ON COLUMN pgmnemo.passage.lexemes IS 'pgmnemo._lexemes of the text; NULL for the lesson as a whole';
COMMENT ON COLUMN pgmnemo.passage.embedding IS 'unit length, half precision, without trailing zeros; NULL: found by its words alone';
-- Small scopes are read from here, exactly and without the table; their vectors never enter the graphs.
CREATE INDEX passage_scope ON pgmnemo.passage (tenant_id, indexed, width, project_id, lesson_id, number) INCLUDE (embedding)
    WHERE embedding IS NOT NULL;
-- One graph a width. Of unit vectors the inner product is the cosine.
CREATE INDEX passage_hnsw_384 ON pgmnemo.passage USING hnsw ((embedding::halfvec(384)) halfvec_ip_ops) WHERE indexed AND width = 384;
CREATE INDEX passage_hnsw_768 ON pgmnemo.passage USING hnsw ((embedding::halfvec(768)) halfvec_ip_ops) WHERE indexed AND width = 768;
CREATE INDEX passage_hnsw_1024 ON pgmnemo.passage USING hnsw ((embedding::halfvec(1024)) halfvec_ip_ops) WHERE indexed AND width = 1024;
CREATE FUNCTION pgmnemo._setting_catalogue()
RETURNS TABLE (name text, initial text, kind text, low float8, high float8, choices text[], meaning text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
VALUES
    ('tenant_id', NULL, 'uuid', NULL::float8, NULL::float8, NULL::text[],
     'tenant that this session works for; needs a grant (pgmnemo.grant_tenant)'),
    ('gate_strict', 'enforce', 'choice', NULL, NULL, '{enforce,warn,off}'::text[],
     'a lesson without commit_sha and artifact_hash: enforce refuses it and hides it from recall, warn stores it with a warning, off stores it silently'),
    ('text_config', 'english', 'text search configuration', NULL, NULL, NULL,
     'how lessons written and questions asked from now on are cut into lexemes'),
    ('statistics_scope', 'tenant', 'choice', NULL, NULL, '{tenant,project}',
     'lessons over which BM25 counts: all active lessons of the tenant, or those of the project asked'),
    ('bm25_k1', '0.9', 'number', 0, 10, NULL, 'BM25: how slowly repetitions of a term saturate'),
    ('bm25_b', '0.4', 'number', 0, 1, NULL, 'BM25: how much a long lesson is held against it'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('passage_terms_weight', '0.75', 'number', 0, 100, NULL,
     'score of one unit of the terms that stand together in the best passage'),
    ('passage_term_bonus', '2', 'number', 0, 100, NULL, 'what a term counts there besides its inverse document frequency'),
    ('passage_cosine_weight', '18', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the best passage'),
    ('pair_cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a mean cosine similarity of 1 of the two best passages'),
    ('cosine_weight', '8', 'number', 0, 1000, NULL, 'score of a cosine similarity of 1 of the lesson as a whole'),
    ('temporal_weight', '10', 'number', 0, 1000, NULL, 'score of a lesson of just the time that the question names'),
    ('context_weight', '1', 'number', 0, 100, NULL,
     'share of the relevance of the most relevant lesson of the same project and moment that a lesson gains'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '30', 'whole number', 1, 10000, NULL, 'candidates taken from each leg; at least k are'),
    ('exact_scan_limit', '10000', 'whole number', 0, 10000000, NULL,
     'lessons in a scope up to which vectors are scanned exactly; beyond it new lessons enter the HNSW index'),
    ('ef_search', '200', 'whole number', 1, 1000, NULL, 'hnsw.ef_search while the HNSW index is scanned')
$$;
CREATE FUNCTION pgmnemo._setting_range(kind text, low float8, high float8, choices text[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN choices IS NOT NULL THEN 'one of ' || array_to_string(choices, ', ')
        WHEN low IS NOT NULL THEN format('a %s from %s to %s', kind, low, high)
        ELSE 'a ' || kind
    END
$$;
CREATE FUNCTION pgmnemo._setting_valid(value text, kind text, low float8, high float8, choices text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN choices IS NOT NULL THEN value = ANY (choices)
        WHEN kind = 'uuid' THEN value IS NULL OR pg_input_is_valid(value, 'uuid')
        WHEN low IS NULL THEN pg_input_is_valid(value, 'regconfig')
        WHEN NOT pg_input_is_valid(value, 'float8') THEN false
        WHEN kind = 'whole number' AND value::float8 <> trunc(value::float8) THEN false
        ELSE value::float8 BETWEEN low AND high
    END
$$;
-- Every setting as text by its bare name; the first that cannot be used is an error that names its range.
-- PostgreSQL cannot check a custom setting when it is SET, so each use checks.
CREATE FUNCTION pgmnemo._settings()
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    effective jsonb;
    wrong record;
BEGIN
    SELECT jsonb_object_agg(c.name, coalesce(nullif(current_setting('pgmnemo.' || c.name, true), ''), c.initial))
      INTO effective
      FROM pgmnemo._setting_catalogue() c;
    SELECT c.* INTO wrong
      FROM pgmnemo._setting_catalogue() c
     WHERE NOT pgmnemo._setting_valid(effective ->> c.name, c.kind, c.low, c.high, c.choices)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'pgmnemo.% is %, but must be %', wrong.name, quote_literal(effective ->> wrong.name),
              pgmnemo._setting_range(wrong.kind, wrong.low, wrong.high, wrong.choices)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('SET pgmnemo.%s to a value in that range, or RESET it.', wrong.name);
    END IF;
    RETURN effective;
END
$$;
-- Settings that are kept for this role, for this database or, if the role may look, in a configuration file.
-- PostgreSQL hides a name that nobody defined everywhere else, so one that is only SET cannot be found.
CREATE FUNCTION pgmnemo._stored_settings()
RETURNS TABLE (name text, value text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
      FROM pg_db_role_setting s
     CROSS JOIN LATERAL unnest(s.setconfig) AS entry
     WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
       AND (s.setrole = 0 OR pg_has_role(s.setrole, 'USAGE'));
    IF has_table_privilege('pg_file_settings', 'SELECT')
       AND has_function_privilege('pg_show_all_file_settings()', 'EXECUTE') THEN
        RETURN QUERY SELECT f.name, f.setting FROM pg_file_settings f;
    END IF;
END
$$;
CREATE FUNCTION pgmnemo.list_settings()
RETURNS TABLE (name text, value text, initial text, range text, meaning text, warning text)
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'pgmnemo.' || c.name, v.value, c.initial, pgmnemo._setting_range(c.kind, c.low, c.high, c.choices), c.meaning,
           CASE WHEN NOT pgmnemo._setting_valid(v.value, c.kind, c.low, c.high, c.choices)
                THEN 'value out of range: every use of it is an error' END
      FROM pgmnemo._setting_catalogue() c
     CROSS JOIN LATERAL (
            SELECT coalesce(nullif(current_setting('pgmnemo.' || c.name, true), ''), c.initial)) AS v (value)
    UNION ALL
    SELECT DISTINCT s.name, s.value, NULL, NULL, NULL, 'unknown setting: it does nothing'
      FROM pgmnemo._stored_settings() s
     WHERE s.name LIKE 'pgmnemo.%'
       AND NOT EXISTS (SELECT FROM pgmnemo._setting_catalogue() c WHERE s.name = 'pgmnemo.' || c.name)
$$;

COMMENT ON FUNCTION pgmnemo.list_settings() IS 'every setting with value in force, default, range and meaning; and, as warnings, values out of range and names beginning with pgmnemo. that are none of ours, if they are kept for the role, for the database or (seen by superusers) in a configuration file';
CREATE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '0.3.1' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
-- The text search configuration in force, as it is for a session whose other settings may be wrong.
CREATE FUNCTION pgmnemo._text_config()
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(nullif(current_setting('pgmnemo.text_config', true), ''),
                           (SELECT c.initial FROM pgmnemo._setting_catalogue() c WHERE c.name = 'text_config'));
BEGIN
    IF NOT pg_input_is_valid(asked, 'regconfig') THEN
        RAISE EXCEPTION 'pgmnemo.text_config is %, but must be a text search configuration', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT cfgname FROM pg_ts_config lists them; one outside pg_catalog needs its schema.';
    END IF;
    RETURN asked::regconfig;
END
$$;
-- Forms that the english stemmer leaves apart, as the lexemes it gives them. A group begins with its root, which is
-- no form of another group. Stop words (be, do, have and their forms) never become lexemes and have no place here.
CREATE FUNCTION pgmnemo._form_roots()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(form, w.words[1])
      FROM string_to_table(
        -- irregular verbs
        'aris aros arisen|awak awok awoken|bear bore born|beat beaten|becom becam|begin began begun|bend bent|'
        'bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|'
        'build built|burn burnt|buy bought|catch caught|choos chose chosen|cling clung|come came|creep crept|'
        'deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|'
        'fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fli flew flown|'
        'forbid forbad forbidden|forget forgot forgotten|forgiv forgav forgiven|freez froze frozen|get got gotten|'
        'give gave given|go went gone|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|'
        'keep kept|kneel knelt|know knew known|lead led|lean leant|leap leapt|learn learnt|leav left|lend lent|'
        'light lit|lose lost|make made|mean meant|meet met|mistak mistook mistaken|overcom overcam|pay paid|'
        'prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|'
        'sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|'
        'sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spill spilt|'
        'spin spun|spoil spoilt|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|'
        'stink stank|strike struck stricken|strive strove|swear swore sworn|sweep swept|swell swollen|'
        'swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|'
        'throw threw thrown|tread trod|understand understood|undergo underw|undertak undertook undertaken|'
        'wake woke woken|wear wore worn|weav wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn|'
        'write wrote written|'
        -- irregular nouns
        'child children|man men|woman women|person peopl|foot feet|tooth teeth|goos gees|mous mice|wife wive|'
        'life live|knife knive|shelf shelv|half halv|wolf wolv|loaf loav|thief thiev|'
        -- comparatives
        'old older oldest elder eldest|good better best|bad wors worst|big bigger biggest|small smaller smallest|'
        'larg larger largest|high higher highest|low lower lowest|long longer longest|short shorter shortest|'
        'new newer newest|young younger youngest|earli earlier earliest|late later latest|fast faster fastest|'
        'slow slower slowest|easi easier easiest|hard harder hardest|cheap cheaper cheapest|near nearer nearest|'
        'close closer closest|great greater greatest|happi happier happiest|healthi healthier healthiest|'
        'busi busier busiest|warm warmer warmest|cold colder coldest|strong stronger strongest|'
        -- everyday words
        'mother mom mum mommi|father dad daddi|grandmoth grandma granni|grandfath grandpa|child kid|'
        'photo pictur pic photograph|boyfriend bf|girlfriend gf|televis tv|bicycl bike|refriger fridg|vacat vacay|'
        'educ edu|laboratori lab|advertis ad|applic app|doctor doc|veterinarian vet|mathemat math|gymnasium gym|'
        'movi film|'
        -- numbers
        '1 one|2 two|3 three|4 four|5 five|6 six|7 seven|8 eight|9 nine|10 ten|11 eleven|12 twelv', '|') AS g (line)
     CROSS JOIN LATERAL (SELECT string_to_array(g.line, ' ')) AS w (words)
     CROSS JOIN LATERAL unnest(w.words[2:]) AS form
$$;
CREATE FUNCTION pgmnemo._forms()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT array_agg(form) FROM jsonb_object_keys(pgmnemo._form_roots()) AS form $$;
-- A word put behind the text has the next position; weight A tells it from every other.
CREATE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT rtrim(split_part(ts_filter(cut || 'end:1A', '{a}')::text, ':', 2), 'A')::integer - 1 $$;
-- How every text is cut: lessons, passages and questions alike. The forms leave the vector and return under their
-- roots, so that a root has as many positions as it and its forms had. Positions themselves mean nothing to us.
-- Joining two vectors moves the second behind the first, and positions end at 16,383: a text whose own could come
-- there is rewritten whole instead. A lexeme gets one position at most from each byte.
CREATE FUNCTION pgmnemo._lexemes(config regconfig, words text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cut tsvector := to_tsvector(config, words);
    rest tsvector;
    moved tsvector;
    found text[];
    form text;
    rewritten text;
BEGIN
    IF config <> 'pg_catalog.english'::regconfig THEN
        RETURN cut;
    END IF;
    moved := setweight(cut, 'A', pgmnemo._forms());
    rest := ts_filter(moved, '{d}');
    moved := ts_filter(moved, '{a}');
    found := tsvector_to_array(moved);
    IF found = '{}' THEN
        RETURN cut;
    ELSIF octet_length(words) > 8191 AND pgmnemo._last_position(cut) > 8191 THEN
        moved := cut;
        rest := '';
    END IF;
    -- a blank stands before each lexeme and never within one, and a quote within one is doubled
    rewritten := ' ' || setweight(moved, 'D')::text;
    FOREACH form IN ARRAY found LOOP
        rewritten := replace(rewritten, ' ''' || form || ''':', ' ''' || (pgmnemo._form_roots() ->> form) || ''':');
    END LOOP;
    RETURN rewritten::tsvector || rest;
END
$$;

COMMENT ON FUNCTION pgmnemo._lexemes(regconfig, text) IS 'to_tsvector(config, words); for pg_catalog.english, irregular forms and a few everyday words counted as their root (went as go, children as child, two as 2)';
-- Policies read it, so a forged setting shows no rows; verbs call pgmnemo._tenant, which says why.
CREATE FUNCTION pgmnemo.current_tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := current_setting('pgmnemo.tenant_id', true);
BEGIN
    IF asked IS NULL OR NOT pg_input_is_valid(asked, 'uuid') THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT g.tenant_id
              FROM pgmnemo.tenant_grant g
             WHERE g.tenant_id = asked::uuid AND pg_has_role(to_regrole(quote_ident(g.grantee)), 'USAGE')
             LIMIT 1);
END
$$;

COMMENT ON FUNCTION pgmnemo.current_tenant() IS 'the tenant that pgmnemo.tenant_id names if a grant of it reaches the current role; else NULL';
CREATE FUNCTION pgmnemo._tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo.current_tenant();
    asked text := coalesce(current_setting('pgmnemo.tenant_id', true), '');
BEGIN
    IF tenant IS NOT NULL THEN
        RETURN tenant;
    ELSIF asked = '' THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is not set'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    ELSIF NOT pg_input_is_valid(asked, 'uuid') THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is %, but must be a uuid', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    END IF;
    RAISE EXCEPTION 'role % has no grant for tenant %', quote_ident(current_user), quote_literal(asked)
    USING ERRCODE = 'insufficient_privilege',
          HINT = 'The owner of the extension grants it with pgmnemo.grant_tenant(tenant, role).';
END
$$;
-- A role sees the grants that reach it; the extension's owner sees and writes all.
ALTER TABLE pgmnemo.tenant_grant ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_grants ON pgmnemo.tenant_grant FOR SELECT
    USING (pg_catalog.pg_has_role(pg_catalog.to_regrole(pg_catalog.quote_ident(grantee)), 'USAGE'));
CREATE POLICY owner_grants ON pgmnemo.tenant_grant
    USING (pg_catalog.pg_has_role(
        (SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = 'pgmnemo.tenant_grant'::regclass), 'USAGE'));
GRANT SELECT ON pgmnemo.tenant_grant TO PUBLIC;
-- Forced, so that the table's owner is bound as well; only superusers and BYPASSRLS roles are not.
-- The sub-select makes PostgreSQL ask once a statement instead of once a row.
ALTER TABLE pgmnemo.lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.lesson
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.lesson TO PUBLIC;
-- Forced, so that the table's owner is bound as well; only superusers and BYPASSRLS roles are not.
-- The sub-select makes PostgreSQL ask once a statement instead of once a row.
ALTER TABLE pgmnemo.lesson_edge ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.lesson_edge
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.lesson_edge TO PUBLIC;
-- Forced, so that the table's owner is bound as well; only superusers and BYPASSRLS roles are not.
-- The sub-select makes PostgreSQL ask once a statement instead of once a row.
ALTER TABLE pgmnemo.passage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.passage
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.passage TO PUBLIC;
-- Forced, so that the table's owner is bound as well; only superusers and BYPASSRLS roles are not.
-- The sub-select makes PostgreSQL ask once a statement instead of once a row.
ALTER TABLE pgmnemo.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.posting
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.posting TO PUBLIC;
CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = grant_tenant.grantee) THEN
        RAISE EXCEPTION 'there is no role %', quote_ident(grantee)
        USING ERRCODE = 'undefined_object', HINT = 'CREATE ROLE first.';
    END IF;
    INSERT INTO pgmnemo.tenant_grant (tenant_id, grantee) VALUES (tenant, grantee) ON CONFLICT DO NOTHING;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.grant_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant(uuid, name) IS 'lets a role, and the members that inherit from it, reach a tenant; only the extension''s owner may; granting twice is granting once';
CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pgmnemo.tenant_grant g
     WHERE g.tenant_id = revoke_tenant.tenant AND g.grantee = revoke_tenant.grantee;
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.revoke_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.revoke_tenant(uuid, name) IS 'takes back what grant_tenant gave, and says whether there was a grant; only the extension''s owner may';
-- What a role may do is decided by its tenant grants: without one, every table is empty to it.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
-- Derives what a lesson is found by. A restored dump brings its text_config along, so that its lexemes come out
-- as they were.
CREATE FUNCTION pgmnemo._lesson_before_write()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' OR NEW.text_config IS NULL THEN
        NEW.text_config := pgmnemo._text_config();
    END IF;
    NEW.lexemes := pgmnemo._lexemes(NEW.text_config::regconfig, concat_ws(E'\n', NEW.topic, NEW.content));
    NEW.token_count := (SELECT coalesce(sum(cardinality(u.positions)), 0) FROM unnest(NEW.lexemes) u);
    RETURN NEW;
END
$$;

CREATE TRIGGER lesson_before_insert BEFORE INSERT ON pgmnemo.lesson
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._lesson_before_write();
CREATE TRIGGER lesson_before_update BEFORE UPDATE OF topic, content, text_config, lexemes, token_count ON pgmnemo.lesson
    FOR EACH ROW
    WHEN ((OLD.topic, OLD.content, OLD.text_config, OLD.lexemes, OLD.token_count)
          IS DISTINCT FROM (NEW.topic, NEW.content, NEW.text_config, NEW.lexemes, NEW.token_count))
    EXECUTE FUNCTION pgmnemo._lesson_before_write();
-- Cuts one posting list into blocks of at most 128 lessons: a block stays in line in its row.
CREATE FUNCTION pgmnemo._posting_blocks(lesson_ids bigint[], frequencies smallint[], token_counts integer[])
RETURNS TABLE (lesson_ids bigint[], frequencies smallint[], token_counts integer[], lesson_count integer, token_total bigint,
               max_frequency smallint, min_tokens integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT $1[s:s + 127], $2[s:s + 127], $3[s:s + 127], cardinality($1[s:s + 127]), t.total, f.highest, t.least
      FROM generate_series(1, cardinality($1), 128) s
     CROSS JOIN LATERAL (SELECT max(n) AS highest FROM unnest($2[s:s + 127]) n) f
     CROSS JOIN LATERAL (SELECT sum(n) AS total, min(n) AS least FROM unnest($3[s:s + 127]) n) t
$$;
-- Appends the posting blocks of these active lessons of one tenant, ids ascending within each. One lesson's are of
-- one posting each, and need not be gathered.
CREATE FUNCTION pgmnemo._add_postings(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(ids) = 1 THEN
        INSERT INTO pgmnemo.posting
        SELECT tenant, l.project_id, u.lexeme, ids, ARRAY[u.frequency], ARRAY[l.token_count], 1, l.token_count, u.frequency,
               l.token_count
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ids[1] AND l.active;
        RETURN;
    END IF;
    WITH lists AS (
        SELECT l.project_id, u.lexeme, array_agg(l.id ORDER BY l.id) AS ids,
               array_agg(u.frequency ORDER BY l.id) AS frequencies,
               array_agg(l.token_count ORDER BY l.id) AS token_counts
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ANY (_add_postings.ids) AND l.active
         GROUP BY l.project_id, u.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
END
$$;
-- Whoever takes out or merges postings holds the tenant's lock to the end of its transaction; whoever appends
-- needs none. Verbs that change lessons take it before any row of theirs, so that they cannot deadlock.
CREATE FUNCTION pgmnemo._lock_postings(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('pgmnemo.posting ' || tenant, 0))
$$;
-- Takes these lessons out of every block of a project that holds one of these lexemes. Ids ascend within a block,
-- so its ends tell most blocks apart that hold none of them.
CREATE FUNCTION pgmnemo._remove_postings(tenant uuid, project uuid, gone bigint[], lexemes text[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    WITH touched AS MATERIALIZED (
        SELECT p.ctid AS block, p.lesson_count AS lessons_before, kept.*
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT array_agg(x.id) AS ids, array_agg(x.frequency) AS frequencies,
                       array_agg(x.tokens) AS token_counts, count(*) AS lessons, sum(x.tokens) AS total,
                       max(x.frequency) AS highest, min(x.tokens) AS least
                  FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
                 WHERE x.id NOT IN (SELECT g FROM unnest(gone) AS g)) AS kept
         WHERE p.tenant_id = tenant AND p.project_id = project AND p.lexeme = ANY (lexemes || ''::text)
           AND p.lesson_ids[1] <= (SELECT max(g) FROM unnest(gone) AS g)
           AND p.lesson_ids[p.lesson_count] >= (SELECT min(g) FROM unnest(gone) AS g)
    ), emptied AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block AND t.lessons = 0
    )
    UPDATE pgmnemo.posting p
       SET lesson_ids = t.ids, frequencies = t.frequencies, token_counts = t.token_counts,
           lesson_count = t.lessons, token_total = t.total, max_frequency = t.highest, min_tokens = t.least
      FROM touched t
     WHERE p.ctid = t.block AND t.lessons > 0 AND t.lessons < t.lessons_before;
END
$$;
-- With its two siblings keeps postings true to lessons, whichever statement wrote them.
CREATE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id)) FROM written w GROUP BY w.tenant_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
-- Where pgmnemo.forget_project or forget_tenant took all postings out at once, there is nothing left to do.
CREATE FUNCTION pgmnemo._lesson_after_delete()
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
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_delete AFTER DELETE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_delete();
-- A row that stays as its postings know it is left alone; a changed one is taken out as it was and put in as it is.
-- Passages follow their lesson into another project, and go when its text becomes another. The two states are
-- compared as sets: a join would be planned once, for the first statement's row, and take the square of the next's.
CREATE FUNCTION pgmnemo._lesson_after_update()
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
    DELETE FROM pgmnemo.passage p
     USING (SELECT tenant_id, id, topic, content FROM written EXCEPT SELECT tenant_id, id, topic, content FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id AND p.number > 0;
    UPDATE pgmnemo.passage p SET project_id = w.project_id
      FROM written w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id AND p.project_id <> w.project_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_update AFTER UPDATE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_update();
CREATE FUNCTION pgmnemo._lesson_id(tenant uuid, project uuid, external text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_id bigint;
BEGIN
    SELECT l.id INTO found_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = external;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'project % has no lesson %', coalesce(project::text, 'NULL'), quote_nullable(external)
        USING ERRCODE = 'no_data_found', HINT = 'Store it first.';
    END IF;
    RETURN found_id;
END
$$;
-- A vector as it is kept: its direction alone, at the narrowest width that leaves only zeros out, in half precision.
CREATE FUNCTION pgmnemo._narrowed(given vector)
RETURNS halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT CASE WHEN vector_norm(subvector(given, 385, 640)) = 0 THEN l2_normalize(subvector(given, 1, 384))
                WHEN vector_norm(subvector(given, 769, 256)) = 0 THEN l2_normalize(subvector(given, 1, 768))
                ELSE l2_normalize(given) END::halfvec
$$;
-- A caller's vector at the stored width. pgvector itself refuses NULL, NaN and infinity within it.
CREATE FUNCTION pgmnemo._embedding(given real[])
RETURNS vector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
BEGIN
    IF coalesce(array_ndims(given), 1) <> 1 OR cardinality(given) <> 1024 THEN
        RAISE EXCEPTION 'embedding has % numbers in % dimension(s), but must have 1024 in one',
              cardinality(given), coalesce(array_ndims(given), 1)
        USING ERRCODE = 'array_subscript_error', HINT = 'Pad a narrower vector with zeros: its cosine stays the same.';
    ELSIF vector_norm(given::vector) NOT BETWEEN 1e-15 AND 1e15 THEN
        RAISE EXCEPTION 'embedding has norm %, but must have one from 1e-15 to 1e15', vector_norm(given::vector)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'A vector of zeros has no direction: pass NULL where there is no embedding.';
    END IF;
    RETURN given::vector(1024);
END
$$;
-- What is wrong with the passages of one lesson; NULL: nothing.
CREATE FUNCTION pgmnemo._passages_problem(passages text[], vectors vector[])
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT CASE
        WHEN vectors IS NOT NULL AND coalesce(cardinality(passages), -1) <> cardinality(vectors)
        THEN format('has %s passages, but %s passage_embeddings', coalesce(cardinality(passages), 0), cardinality(vectors))
        WHEN cardinality(passages) > 10000 THEN format('has %s passages, but may have 10,000', cardinality(passages))
        WHEN array_position(passages, NULL) IS NOT NULL THEN format('has no text in passage %s', array_position(passages, NULL))
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE vector_dims(v) <> 1024)
        THEN 'must have passage_embeddings of 1024 dimensions (pad with zeros)'
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE vector_norm(v) NOT BETWEEN 1e-15 AND 1e15)
        THEN 'must have passage_embeddings with a norm from 1e-15 to 1e15'
    END
$$;
-- A set with a lesson that cannot be stored, or that names one key twice, is refused whole.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    wrong record;
BEGIN
    SELECT i.ordinal, coalesce(i.external_id, '') AS name, p.problem INTO wrong
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, r, t, importance, m, occurred_at, x, c, a, v,
                 passages, vectors, ordinal)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN octet_length(i.external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id))
                WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
                WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
                WHEN vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
                THEN 'must have an embedding with a norm from 1e-15 to 1e15'
                ELSE pgmnemo._passages_problem(i.passages, i.vectors) END) AS p (problem)
     WHERE p.problem IS NOT NULL
     ORDER BY i.ordinal LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'lesson % of the set, %, %', wrong.ordinal, quote_literal(left(wrong.name, 100)), wrong.problem
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
    SELECT i.external_id, i.project_id INTO wrong
      FROM unnest(lessons) i GROUP BY 1, 2 HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'external_id % stands more than once in the set for project %',
              quote_literal(wrong.external_id), wrong.project_id
        USING ERRCODE = 'unique_violation', HINT = 'Give each key once; nothing of the set was stored.';
    END IF;
END
$$;
-- What pgmnemo.gate_strict does to lessons without provenance when they are written.
CREATE FUNCTION pgmnemo._check_provenance(lessons pgmnemo.lesson_input[], gate text)
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
      FROM unnest(lessons) i WHERE i.commit_sha IS NULL AND i.artifact_hash IS NULL;
    IF bare > 0 AND gate = 'enforce' THEN
        RAISE EXCEPTION '% of % lessons have no provenance, % among them', bare, cardinality(lessons), quote_literal(example)
        USING ERRCODE = 'check_violation',
              HINT = 'Give commit_sha or artifact_hash, or SET pgmnemo.gate_strict to warn or off; nothing of the set was stored.';
    ELSIF bare > 0 THEN
        RAISE WARNING '% of % lessons have no provenance, % among them', bare, cardinality(lessons), quote_literal(example);
    END IF;
END
$$;
CREATE FUNCTION pgmnemo.add_passages(lesson_id bigint, passages text[], passage_embeddings vector[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    problem text := pgmnemo._passages_problem(passages, passage_embeddings);
    one pgmnemo.lesson_input;
    large uuid[];
BEGIN
    IF problem IS NOT NULL OR coalesce(cardinality(passages), 0) = 0 THEN
        RAISE EXCEPTION 'lesson % %', add_passages.lesson_id, coalesce(problem, 'is given no passages')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT l.project_id, l.external_id INTO one.project_id, one.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.id = add_passages.lesson_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no lesson %', add_passages.lesson_id USING ERRCODE = 'no_data_found';
    ELSIF EXISTS (SELECT FROM pgmnemo.passage p
                   WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.number > 0) THEN
        RETURN false;
    END IF;
    one.passages := passages;
    one.passage_embeddings := passage_embeddings;
    SELECT array_agg(p.project_id) INTO large FROM pgmnemo.passage p
     WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.indexed;
    PERFORM pgmnemo._write_passages(tenant, ARRAY[add_passages.lesson_id], ARRAY[one], coalesce(large, '{}'));
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.add_passages(bigint, text[], vector[]) IS 'gives a lesson that has no passages these, with a vector of 1,024 dimensions for each or none; returns false, and changes nothing, where it has some';
-- Makes room for _write_passages: takes away what the set gives anew for these lessons.
CREATE FUNCTION pgmnemo._clear_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pgmnemo.passage p
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE l.id = ANY (ids) AND p.tenant_id = tenant AND p.lesson_id = l.id
       AND (p.number = 0 OR i.passages IS NOT NULL)
$$;
-- Whether a scope holds more active lessons than that. Its first blocks are its oldest, hence full, and say it at
-- once where it holds many more.
CREATE FUNCTION pgmnemo._holds_more(tenant uuid, first_project uuid, last_project uuid, than bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held bigint;
BEGIN
    SELECT sum(b.lesson_count) INTO held
      FROM (SELECT p.lesson_count FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project
             LIMIT 100 + greatest(than, 0) / 100) b;
    IF held > than THEN
        RETURN true;
    END IF;
    SELECT coalesce(sum(p.lesson_count), 0) INTO held
      FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project;
    RETURN held > than;
END
$$;
-- Projects of the set whose lessons belong in the HNSW index: their scope, these included, is past the exact
-- scan. A tenant is held to ten times a project's limit, so that many small projects stay out of the index.
CREATE FUNCTION pgmnemo._indexed_projects(tenant uuid, lessons pgmnemo.lesson_input[], exact_scan_limit bigint)
RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(array_agg(c.project_id), '{}')
      FROM (SELECT i.project_id, count(*) AS n FROM unnest(lessons) i WHERE i.embedding IS NOT NULL GROUP BY 1) c
     WHERE pgmnemo._holds_more(tenant, c.project_id, c.project_id, exact_scan_limit - c.n)
        OR pgmnemo._holds_more(tenant, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
                               10 * exact_scan_limit)
$$;
-- Whether what is kept of a lesson's vectors and passages is other than the set gives.
CREATE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given vector, passages text[], vectors vector[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT (SELECT p.embedding FROM pgmnemo.passage p
             WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number = 0)
           IS DISTINCT FROM pgmnemo._narrowed(given)
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number),
                 ARRAY(SELECT p.embedding FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson AND p.number > 0 ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._narrowed(vectors[n]) FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
$$;
-- The vectors and passages of these lessons of one tenant, as the set gives them. A lesson whose passages the set
-- leaves open keeps those that it has. Vectors of `large` projects enter the HNSW index.
CREATE FUNCTION pgmnemo._write_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[], large uuid[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, indexed, width, content, lexemes, embedding)
    SELECT tenant, l.project_id, l.id, w.number, w.embedding IS NOT NULL AND l.project_id = ANY (large),
           vector_dims(w.embedding), w.content, pgmnemo._lexemes(l.text_config::regconfig, w.content), w.embedding
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL (
            SELECT 0, NULL, pgmnemo._narrowed(i.embedding) WHERE i.embedding IS NOT NULL
             UNION ALL
            SELECT p.number, p.content, pgmnemo._narrowed(i.passage_embeddings[p.number])
              FROM unnest(i.passages) WITH ORDINALITY AS p (content, number)) AS w (number, content, embedding)
     WHERE l.id = ANY (ids)
$$;
-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed:
-- writers who all keep to this sequence wait for one another but never in a circle.
CREATE FUNCTION pgmnemo.store_lessons(lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    large uuid[];
    inserted bigint[];
    changed bigint[];
    outcomes text[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    PERFORM pgmnemo._check_provenance(lessons, s ->> 'gate_strict');
    large := pgmnemo._indexed_projects(tenant, lessons, (s ->> 'exact_scan_limit')::float8::bigint);

    WITH fresh AS (
        INSERT INTO pgmnemo.lesson (
               tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at, expires_at,
               commit_sha, artifact_hash, verified_at)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    PERFORM pgmnemo._write_passages(tenant, inserted, lessons, large);

    IF cardinality(inserted) < cardinality(lessons) THEN
        SELECT array_agg(l.id), array_agg(CASE WHEN l.active THEN 'updated' ELSE 'restored' END) INTO changed, outcomes
          FROM pgmnemo.lesson l
          JOIN unnest(lessons) i USING (project_id, external_id)
         WHERE l.tenant_id = tenant AND l.id <> ALL (inserted)
           AND ((l.role, l.topic, l.content, l.importance, l.metadata, l.occurred_at, l.expires_at,
                 l.commit_sha, l.artifact_hash, l.verified_at, l.active)
                IS DISTINCT FROM
                (i.role, i.topic, i.content, coalesce(i.importance, 3::smallint), coalesce(i.metadata, '{}'), i.occurred_at,
                 i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at, true)
                OR pgmnemo._passages_differ(tenant, l.id, i.embedding, i.passages, i.passage_embeddings));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_postings(tenant);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = coalesce(i.importance, 3::smallint),
               metadata = coalesce(i.metadata, '{}'), occurred_at = i.occurred_at, expires_at = i.expires_at,
               commit_sha = i.commit_sha, artifact_hash = i.artifact_hash, verified_at = i.verified_at, active = true
          FROM unnest(lessons) i
         WHERE l.tenant_id = tenant AND l.id = ANY (changed)
           AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._clear_passages(tenant, changed, lessons);
        PERFORM pgmnemo._write_passages(tenant, changed, lessons, large);
    END IF;

    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, c, e, r, t, m, d, o, x, s, a, v, p, q, ordinal)
      LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lessons(pgmnemo.lesson_input[]) IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, same attributes: nothing is written); updated (same key, other attributes); restored (softly forgotten before)';
CREATE FUNCTION pgmnemo.store_lesson(
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT 3,
    metadata      jsonb       DEFAULT '{}',
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings vector[] DEFAULT NULL
)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT s.outcome FROM pgmnemo.store_lessons(ARRAY[ROW(
        project_id, external_id, content, pgmnemo._embedding(embedding), role, topic,
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings)::pgmnemo.lesson_input]) s
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'stores one lesson as store_lessons stores a set; returns inserted, unchanged, updated or restored. embedding is real[] or vector of 1,024 dimensions, passage_embeddings a vector of 1,024 for each of passages';
-- The table is the session's own: no other role sees it, and it ends with the session.
CREATE FUNCTION pgmnemo.open_staging()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NOT NULL THEN
        TRUNCATE pg_temp.lesson_staging;
    ELSE
        CREATE TEMPORARY TABLE lesson_staging OF pgmnemo.lesson_input;
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo.open_staging() IS 'makes or empties the session''s temporary table lesson_staging, whose columns are those of pgmnemo.lesson_input: COPY a large set into it and call pgmnemo.store_staged()';
-- In key order, like any set, and with one batch at a time in memory.
CREATE FUNCTION pgmnemo.store_staged(batch_size integer DEFAULT 500)
RETURNS TABLE (outcome text, lessons bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    one pgmnemo.lesson_input;
    batch pgmnemo.lesson_input[] := '{}';
    counts jsonb := '{}';
    rest bigint;
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NULL THEN
        RAISE EXCEPTION 'there is no staging table in this session'
        USING ERRCODE = 'undefined_table', HINT = 'Call pgmnemo.open_staging() and COPY into lesson_staging first.';
    ELSIF batch_size IS NULL OR batch_size NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'batch_size is %, but must be from 1 to 10000', coalesce(batch_size::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    rest := (SELECT count(*) FROM pg_temp.lesson_staging);
    FOR one IN SELECT i.* FROM pg_temp.lesson_staging i ORDER BY i.project_id, i.external_id COLLATE "C" LOOP
        batch := batch || one;
        rest := rest - 1;
        IF cardinality(batch) = batch_size OR rest = 0 THEN
            SELECT counts || jsonb_object_agg(t.outcome, t.n + coalesce((counts ->> t.outcome)::bigint, 0)) INTO counts
              FROM (SELECT o.outcome, count(*) AS n FROM pgmnemo.store_lessons(batch) o GROUP BY 1) t;
            batch := '{}';
        END IF;
    END LOOP;
    TRUNCATE pg_temp.lesson_staging;
    RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c ORDER BY c.key COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.store_staged(integer) IS 'stores what was copied into lesson_staging, as store_lessons does, batch by batch (1 to 10,000 lessons) in one transaction; empties the table; returns how many lessons had each outcome';
CREATE FUNCTION pgmnemo.forget_lesson(project_id uuid, external_id text, hard boolean DEFAULT false)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    IF hard THEN
        DELETE FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = forget_lesson.project_id
           AND l.external_id = forget_lesson.external_id;
    ELSE
        UPDATE pgmnemo.lesson l SET active = false
         WHERE l.tenant_id = tenant AND l.project_id = forget_lesson.project_id
           AND l.external_id = forget_lesson.external_id AND l.active;
    END IF;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_lesson(uuid, text, boolean) IS 'soft: out of recall and out of the statistics, and storing the lesson again restores it; hard: gone, with its edges. Returns whether anything was forgotten';
-- Its postings go first and at once: taking lessons out of blocks one by one would cost far more.
CREATE FUNCTION pgmnemo.forget_project(project_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    gone bigint;
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.project_id = forget_project.project_id;
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.project_id = forget_project.project_id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_project(uuid) IS 'every lesson of one project, gone for good; returns how many there were, softly forgotten ones included';
CREATE FUNCTION pgmnemo.forget_tenant()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    gone bigint;
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
    DELETE FROM pgmnemo.lesson l WHERE l.tenant_id = tenant;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_tenant() IS 'every lesson of the session''s tenant, gone for good; returns how many there were, softly forgotten ones included';
CREATE FUNCTION pgmnemo._check_link(source_id bigint, target_id bigint, kind text, weight float8,
                                    valid_from timestamptz, valid_to timestamptz)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF source_id = target_id THEN
        RAISE EXCEPTION 'a lesson cannot be linked to itself' USING ERRCODE = 'invalid_parameter_value';
    ELSIF coalesce(octet_length(kind), 0) NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'kind has % bytes, but must have 1 to 1000', coalesce(octet_length(kind), 0)
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF weight IS NULL OR NOT (weight >= 1e-30 AND weight <= 1) THEN
        RAISE EXCEPTION 'weight is %, but must be from 1e-30 to 1', coalesce(weight::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    ELSIF valid_to <= valid_from THEN
        RAISE EXCEPTION 'valid_to is %, but must be after valid_from, %', valid_to, valid_from
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
CREATE FUNCTION pgmnemo.link_lessons(
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    weight         float8      DEFAULT 1,
    valid_from     timestamptz DEFAULT NULL,
    valid_to       timestamptz DEFAULT NULL,
    target_project uuid        DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    ends bigint[] := ARRAY[pgmnemo._lesson_id(tenant, project_id, source),
                           pgmnemo._lesson_id(tenant, coalesce(target_project, project_id), target)];
    fresh boolean;
BEGIN
    PERFORM pgmnemo._check_link(ends[1], ends[2], kind, weight, valid_from, valid_to);
    INSERT INTO pgmnemo.lesson_edge AS e (tenant_id, source_id, target_id, kind, weight, valid_from, valid_to)
    VALUES (tenant, ends[1], ends[2], link_lessons.kind, link_lessons.weight, link_lessons.valid_from, link_lessons.valid_to)
        ON CONFLICT (tenant_id, source_id, target_id, kind) DO UPDATE
       SET weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to
     WHERE (e.weight, e.valid_from, e.valid_to) IS DISTINCT FROM (excluded.weight, excluded.valid_from, excluded.valid_to)
    RETURNING xmax = 0 INTO fresh;
    RETURN CASE WHEN fresh IS NULL THEN 'unchanged' WHEN fresh THEN 'inserted' ELSE 'updated' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.link_lessons IS 'an edge from source to target, both by external id and of one project unless target_project says otherwise; weight from 1e-30 to 1; the same kind between the same two again is unchanged or updated. Returns inserted, unchanged or updated';
CREATE FUNCTION pgmnemo.unlink_lessons(project_id uuid, source text, target text, kind text, target_project uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    ends bigint[] := ARRAY[pgmnemo._lesson_id(tenant, project_id, source),
                           pgmnemo._lesson_id(tenant, coalesce(target_project, project_id), target)];
BEGIN
    DELETE FROM pgmnemo.lesson_edge e
     WHERE e.tenant_id = tenant AND e.source_id = ends[1] AND e.target_id = ends[2] AND e.kind = unlink_lessons.kind;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink_lessons IS 'takes one edge away, for good; returns whether there was one';
CREATE FUNCTION pgmnemo.compact_postings()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    merged bigint;
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    WITH small AS (
        DELETE FROM pgmnemo.posting p
         USING (SELECT q.project_id, q.lexeme FROM pgmnemo.posting q
                 WHERE q.tenant_id = tenant AND q.lesson_count < 128
                 GROUP BY 1, 2 HAVING count(*) > 1) f
         WHERE p.tenant_id = tenant AND p.project_id = f.project_id AND p.lexeme = f.lexeme AND p.lesson_count < 128
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), lists AS (
        SELECT m.project_id, m.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM small m, unnest(m.lesson_ids, m.frequencies, m.token_counts) AS x (id, frequency, tokens)
         GROUP BY m.project_id, m.lexeme
    ), written AS (
        INSERT INTO pgmnemo.posting
        SELECT tenant, l.project_id, l.lexeme, b.*
          FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
         ORDER BY l.project_id, l.lexeme COLLATE "C"
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM small) - (SELECT count(*) FROM written) INTO merged;
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.compact_postings() IS 'merges the many small blocks that single writes leave in pgmnemo.posting; answers stay the same, recall gets faster. Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
CREATE FUNCTION pgmnemo.index_lessons()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    size_limit bigint := (pgmnemo._settings() ->> 'exact_scan_limit')::float8;
    entered bigint;
BEGIN
    WITH held AS (
        SELECT p.project_id, sum(p.lesson_count) AS n
          FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lexeme = '' GROUP BY 1
    )
    UPDATE pgmnemo.passage p SET indexed = true
     WHERE p.tenant_id = tenant AND p.embedding IS NOT NULL AND NOT p.indexed
       AND ((SELECT sum(h.n) FROM held h) > size_limit
            OR p.project_id IN (SELECT h.project_id FROM held h WHERE h.n > size_limit));
    GET DIAGNOSTICS entered = ROW_COUNT;
    RETURN entered;
END
$$;

COMMENT ON FUNCTION pgmnemo.index_lessons() IS 'brings vectors that were written before their project, or the whole tenant, grew beyond pgmnemo.exact_scan_limit into the HNSW index; returns how many. Worth it where the whole tenant is recalled from, or a project grew slowly';
-- How many lessons a scope may hold and still be read exactly. In a graph shared by many, a scope's own vectors are
-- met the later the smaller its part of it: so the limit grows with the square root of what the graphs hold, from
-- 100,000 vectors on (by the planner's count of them). No graph, no limit.
CREATE FUNCTION pgmnemo._exact_limit(exact_scan_limit float8)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN count(*) < 3 THEN 'Infinity'
                ELSE exact_scan_limit * sqrt(greatest(1, sum(greatest(c.reltuples, 0)) / 100000)) END
      FROM pg_class c
     WHERE c.oid IN (to_regclass('pgmnemo.passage_hnsw_384'), to_regclass('pgmnemo.passage_hnsw_768'),
                     to_regclass('pgmnemo.passage_hnsw_1024'))
$$;
CREATE FUNCTION pgmnemo.suspend_vector_index()
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    built boolean := pgmnemo._vector_index_built();
BEGIN
    DROP INDEX IF EXISTS pgmnemo.passage_hnsw_384, pgmnemo.passage_hnsw_768, pgmnemo.passage_hnsw_1024;
    RETURN built;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.suspend_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.suspend_vector_index() IS 'drops the HNSW indexes of all tenants before a bulk load, so that rows written meanwhile cost no graph; recall scans every scope exactly until pgmnemo.build_vector_index(). Returns whether they stood; only the extension''s owner may';
-- Without its graphs (pgmnemo.suspend_vector_index) every scope is read exactly, whatever its size.
CREATE FUNCTION pgmnemo._vector_index_built()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.to_regclass('pgmnemo.passage_hnsw_384') IS NOT NULL
       AND pg_catalog.to_regclass('pgmnemo.passage_hnsw_768') IS NOT NULL
       AND pg_catalog.to_regclass('pgmnemo.passage_hnsw_1024') IS NOT NULL
$$;
-- The definitions are those of the script's own indexes. A build takes all rows at once, in parallel where
-- max_parallel_maintenance_workers allows, and is fastest while the graph fits into maintenance_work_mem. The
-- number comes from the build: the policies would hide other tenants' rows from a count.
CREATE FUNCTION pgmnemo.build_vector_index()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    missing text[] := ARRAY(SELECT name FROM unnest('{passage_hnsw_384,passage_hnsw_768,passage_hnsw_1024}'::text[]) AS name
                             WHERE to_regclass('pgmnemo.' || name) IS NULL);
BEGIN
    IF 'passage_hnsw_384' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_384 ON pgmnemo.passage USING hnsw ((embedding::halfvec(384)) halfvec_ip_ops)
            WHERE indexed AND width = 384;
    END IF;
    IF 'passage_hnsw_768' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_768 ON pgmnemo.passage USING hnsw ((embedding::halfvec(768)) halfvec_ip_ops)
            WHERE indexed AND width = 768;
    END IF;
    IF 'passage_hnsw_1024' = ANY (missing) THEN
        CREATE INDEX passage_hnsw_1024 ON pgmnemo.passage USING hnsw ((embedding::halfvec(1024)) halfvec_ip_ops)
            WHERE indexed AND width = 1024;
    END IF;
    RETURN (SELECT coalesce(sum(c.reltuples), 0) FROM unnest(missing) AS name, pg_class c
             WHERE c.oid = to_regclass('pgmnemo.' || name));
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.build_vector_index() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.build_vector_index() IS 'makes those HNSW indexes that pgmnemo.suspend_vector_index dropped, over the marked vectors of all tenants; raise maintenance_work_mem and max_parallel_maintenance_workers before. Returns how many vectors entered: 0 where all stood; only the extension''s owner may';
CREATE FUNCTION pgmnemo._idf(lessons float8, holding float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ln(1 + (lessons - holding + 0.5) / (holding + 0.5)) $$;

COMMENT ON FUNCTION pgmnemo._idf(float8, float8) IS 'inverse document frequency, in nats, above 0: ln(1 + (N - n + 0.5) / (n + 0.5)), N lessons of which n hold the term';
-- In whole units of 2^-40 (1e-12), so that a sum below 8,192 is exact in any order: equal content gives equal
-- bits, whichever way a lesson was found. scale = 2^40 * idf * (k1 + 1), flat = k1 * (1 - b), and
-- per_token = k1 * b / mean length are the same for all lessons.
CREATE FUNCTION pgmnemo._impact(scale float8, frequency float8, flat float8, per_token float8, tokens float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT round(scale * frequency / (frequency + flat + per_token * tokens)) $$;

COMMENT ON FUNCTION pgmnemo._impact(float8, float8, float8, float8, float8) IS 'what one term adds to the BM25 of one lesson, in units of 2^-40: idf * f * (k1 + 1) / (f + k1 * (1 - b + b * tokens / mean tokens)), f times the term';
-- Held at a thousand half-lives: PostgreSQL calls a smaller power an error.
CREATE FUNCTION pgmnemo._recency(as_of timestamptz, happened timestamptz, half_life_days float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT power(0.5::float8, least(greatest(extract(epoch FROM as_of - happened)::float8, 0) / (86400 * half_life_days), 1000))
$$;

COMMENT ON FUNCTION pgmnemo._recency(timestamptz, timestamptz, float8) IS 'above 0, at most 1: 0.5 ^ (age in days / half-life in days); what lies after as_of has age 0';
CREATE FUNCTION pgmnemo._importance(level integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (level - 3) / 2.0::float8 $$;

COMMENT ON FUNCTION pgmnemo._importance(integer) IS 'from -1 to 1: (level - 3) / 2, level from 1 to 5';
-- The settings that weigh components, typed.
CREATE TYPE pgmnemo.weights AS (
    bm25_weight           float8,
    passage_terms_weight  float8,
    passage_term_bonus    float8,
    passage_cosine_weight float8,
    pair_cosine_weight    float8,
    cosine_weight         float8,
    temporal_weight       float8,
    context_weight        float8,
    recency_weight        float8,
    recency_half_life     float8,
    importance_weight     float8,
    graph_weight          float8
);

COMMENT ON TYPE pgmnemo.weights IS 'settings of the same names, as numbers';
-- A lesson that may be among the answers, with what does not depend on the other candidates.
CREATE TYPE pgmnemo.candidate AS (
    lesson_id      bigint,
    project_id     uuid,
    external_id    text COLLATE "C",
    occurred_at    timestamptz,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    recency        float8,
    importance     float8,
    relevance      float8
);

COMMENT ON TYPE pgmnemo.candidate IS 'components as pgmnemo.recall_lessons returns them; relevance: their weighted sum without context, recency, importance and graph';
-- What a recall knows of its question.
CREATE TYPE pgmnemo.question AS (
    held      bigint,
    terms     text[],
    queries   tsquery[],
    idfs      float8[],
    scales    float8[],
    peaks     float8[],
    postings  bigint[],
    flat      float8,
    per_token float8,
    direction halfvec,
    since     timestamptz[],
    until     timestamptz[]
);

COMMENT ON TYPE pgmnemo.question IS 'held: active lessons in scope; terms: lexemes of the question that occur, rarest first, and for each a tsquery, its idf, its scale (pgmnemo._impact), the most that it can add to a BM25 in scope (units of 2^-40) and the lessons in scope that hold it; flat, per_token: see pgmnemo._impact; direction: the embedding at unit length; since, until: the intervals that it names';
-- Which lessons a call may answer with; the same in every leg.
CREATE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, wanted_role text, valid_at timestamptz, gate text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT l.active
       AND (wanted_role IS NULL OR l.role = wanted_role)
       AND (valid_at IS NULL OR (coalesce(l.occurred_at, l.stored_at) <= valid_at
                                 AND (l.expires_at IS NULL OR valid_at < l.expires_at)))
       AND (gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL)
$$;
-- A day, some months or a year, by what is given; without a year the latest that does not begin after `now`.
CREATE FUNCTION pgmnemo._calendar_span(year integer, month integer, day integer, months integer, now timestamp)
RETURNS tsrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT tsrange(b.since, b.since + CASE WHEN day IS NOT NULL THEN interval '1 day'
                                           WHEN month IS NULL THEN interval '1 year'
                                           ELSE coalesce(months, 1) * interval '1 month' END)
      FROM unnest(CASE WHEN year IS NULL THEN ARRAY[extract(year FROM now)::integer, extract(year FROM now)::integer - 1]
                       WHEN year > 0 THEN ARRAY[year] END) AS y (number)
     CROSS JOIN LATERAL (
            SELECT make_timestamp(y.number, coalesce(month, 1), 1, 0, 0, 0) + (coalesce(day, 1) - 1) * interval '1 day') AS b (since)
     WHERE extract(month FROM b.since) = coalesce(month, 1) AND (year IS NOT NULL OR b.since <= now)
     ORDER BY b.since DESC
     LIMIT 1
$$;
-- From its name, or the number that an ISO date gives.
CREATE FUNCTION pgmnemo._month(name text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN name ~ '^[0-9]' THEN name::integer
                ELSE array_position('{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}', left(name, 3)) END
$$;
-- NULL for what is no number; a thousand years are no memory, and PostgreSQL's calendar ends.
CREATE FUNCTION pgmnemo._small_number(word text)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN word ~ '^[0-9]{1,3}$' THEN word::float8
                WHEN word IN ('a', 'an') THEN 1
                WHEN word = 'couple' THEN 2
                WHEN word = 'few' THEN 3
                ELSE array_position('{one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}', word) END
$$;
-- How a question in English names a time: tried in this order, what matched is taken out of the question.
-- `names` says what the groups of the pattern hold; MONTH stands for the group of the months' names. What looks
-- ahead (tonight, next week) and what has two readings (5/8/2023, the winter of 2022) is left out.
CREATE FUNCTION pgmnemo._time_patterns()
RETURNS TABLE (kind text, pattern text, names text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind,
           '\m(' || replace(p.pattern, 'MONTH', '(january|february|march|april|may|june|july|august|september|october|'
                            'november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)') || ')',
           p.names::text[]
      FROM (VALUES
        ('date',    '(\d{4})-(0[1-9]|1[0-2])-(\d\d)\M',                            '{year,month,day}'),
        ('date',    '(\d{1,2})(?:st|nd|rd|th)?(?: of)? MONTH\M\.?,? ?(\d{4})?',      '{day,month,year}'),
        ('date',    'MONTH\.? (\d{1,2})(?:st|nd|rd|th)?\M(?:,? (\d{4})\M)?',         '{month,day,year}'),
        ('date',    'MONTH\.?,? (?:of )?(\d{4})\M',                                 '{month,year}'),
        ('date',    '(?:in|of|during|since|by|before|after|until|late|early|mid|last|this|on|week of) MONTH\M(?! i\M)',
                                                                                   '{month}'),
        ('feast',   '(valentine|christmas eve|christmas|halloween|new year''?s eve|new year''?s day)\M(?:''?s? day\M)?'
                    '(?:,? (?:of |in )?(\d{4})\M)?',                               '{feast,year}'),
        ('quarter', 'q([1-4])(?: of)? (\d{4})\M',                                   '{quarter,year}'),
        ('quarter', '(first|second|third|fourth) quarter of (\d{4})\M',             '{quarter,year}'),
        ('season',  '(spring|summer|autumn|fall) (?:of |in )?(\d{4})\M',            '{season,year}'),
        ('season',  'last (spring|summer|autumn|fall|winter)\M',                   '{season}'),
        ('ago',     '(\w+)(?: of)? (day|week|month|year)s? (?:ago|back|earlier)\M', '{count,unit}'),
        ('near',    '(day before yesterday|yesterday|today|this morning|this afternoon|last night|last weekend)\M(?! before| after)', '{day}'),
        ('past',    '(?:last|past|previous)(?: (\w+))? (day|week|month)s?\M(?! of)', '{count,unit}'),
        ('past',    '(?:in|over|during|within) the (?:last|past)(?: (\w+))? (year)s?\M', '{count,unit}'),
        ('span',    '(last|this) (year)\M',                                        '{which,unit}'),
        ('span',    '(this) (week|month)\M',                                       '{which,unit}'),
        ('weekday', 'last (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('date',    '(?:(?:in|of|since|by|before|after|during|until|year) )(19\d\d)\M', '{year}'),
        ('date',    '(20\d\d)\M',                                                  '{year}')
      ) AS p (kind, pattern, names)
$$;
-- The interval of one expression, its words by name, counted from `now` in UTC; NULL for a date that does not exist.
-- A date without a year is the latest that is not after `now`; what is told only roughly is as wide as it is vague.
CREATE FUNCTION pgmnemo._time_span(kind text, said jsonb, now timestamp)
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
        slack := greatest(0.5, 0.12 * many * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 2 END) * interval '24 hours';
        RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + slack) END;
    ELSIF kind = 'past' THEN
        unit_days := CASE unit WHEN 'month' THEN 31 ELSE unit_days END;
        since := now - (coalesce(many, 1) * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 3 END) * interval '24 hours';
        RETURN tsrange(since, now + interval '24 hours');
    ELSIF kind = 'span' AND said ->> 'which' = 'last' THEN
        RETURN tsrange(date_trunc(unit, now) - ('1 ' || unit)::interval, date_trunc(unit, now));
    ELSIF kind = 'span' THEN
        RETURN tsrange(date_trunc(unit, now), today + interval '1 day');
    ELSIF kind = 'weekday' THEN
        since := today - (1 + (extract(isodow FROM today)::integer + 6
                               - array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3))) % 7)
                         * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
    END IF;
    RETURN CASE said ->> 'day'
        WHEN 'day before yesterday' THEN tsrange(now - interval '60 hours', now - interval '36 hours')
        WHEN 'yesterday' THEN tsrange(now - interval '36 hours', now - interval '12 hours')
        WHEN 'last night' THEN tsrange(today - interval '12 hours', today + interval '12 hours')
        WHEN 'last weekend' THEN tsrange(date_trunc('week', now) - interval '2 days', date_trunc('week', now))
        ELSE tsrange(today, today + interval '1 day') END;
END
$$;
-- Two tests, a quick one and a close one, let a question go that names no time. Far from today the
-- calendar of PostgreSQL would end within the intervals; such a moment has none.
CREATE FUNCTION pgmnemo._times(question text, as_of timestamptz, OUT since timestamptz[], OUT until timestamptz[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    remaining text := lower(question);
    now timestamp := as_of AT TIME ZONE 'UTC';
    way record;
    found text[];
    span tsrange;
BEGIN
    since := '{}';
    until := '{}';
    IF remaining !~ '(19|20)\d\d|\d-|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|christmas|halloween|valentine|new year|ago|back|earlier|yesterday|today|last|past|previous|this '
       OR remaining !~ ('\d{4}|\m(january|february|march|april|may|june|july|august|september|october|november|december|'
                        'jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|christmas|halloween|valentine|new year|yesterday|'
                        'today|(last|past|previous|this) \w|(day|week|month|year)s? (ago|back|earlier))')
       OR as_of NOT BETWEEN '1000-01-01 UTC' AND '9999-12-31 UTC' THEN
        RETURN;
    END IF;
    FOR way IN SELECT * FROM pgmnemo._time_patterns() LOOP
        FOR found IN SELECT regexp_matches(remaining, way.pattern, 'g') LOOP
            span := pgmnemo._time_span(way.kind, jsonb_object(way.names, found[2:]), now);
            IF NOT isempty(span) AND span IS NOT NULL THEN
                since := since || lower(span) AT TIME ZONE 'UTC';
                until := until || upper(span) AT TIME ZONE 'UTC';
                remaining := replace(remaining, found[1], ' ');
            END IF;
        END LOOP;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz) IS 'the intervals that an English question names, as of a moment and in UTC: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years (pgmnemo._time_patterns); both arrays empty if it names none';
-- What is told comes after what happened, so a memory fits longer after an interval than ahead of it. Powers are held
-- at a thousand halvings: PostgreSQL calls a smaller one an error.
CREATE FUNCTION pgmnemo._temporal(happened timestamptz, since timestamptz[], until timestamptz[])
RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment float8 := date_part('epoch', happened);
    halvings float8 := 'Infinity';
BEGIN
    IF happened IS NULL OR since IS NULL OR until IS NULL THEN
        RETURN 0;
    END IF;
    FOR place IN 1 .. cardinality(since) LOOP
        halvings := least(halvings, greatest((moment - date_part('epoch', until[place])) / (7 * 86400),
                                             (date_part('epoch', since[place]) - moment) / (2 * 86400), 0));
    END LOOP;
    RETURN CASE WHEN halvings = 'Infinity' THEN 0 ELSE power(0.5::float8, least(halvings, 1000)) END;
END
$$;

COMMENT ON FUNCTION pgmnemo._temporal(timestamptz, timestamptz[], timestamptz[]) IS 'how well a time fits the nearest of these intervals, 0 to 1: 1 within; 0.5 ^ (days / 7) after its end, 0.5 ^ (days / 2) ahead of its start; 0 without an interval or a time';
-- A cosine of vectors in half precision, whose lengths are 1 but for rounding.
CREATE FUNCTION pgmnemo._bounded(cosine float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN cosine > 1 THEN 1 WHEN cosine < -1 THEN -1 ELSE cosine END $$;
-- A query for one lexeme as it stands, whatever characters it has.
CREATE FUNCTION pgmnemo._term(lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery $$;
-- BM25's statistics, the direction and the times of a question. Statistics count over the tenant or the project,
-- by pgmnemo.statistics_scope; what bounds a term, and how many lessons hold it, over the scope that is searched.
CREATE FUNCTION pgmnemo._ask(tenant uuid, first_project uuid, last_project uuid, words text, embedding vector,
                             moment timestamptz, s jsonb)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    asked pgmnemo.question;
    whole_tenant boolean := s ->> 'statistics_scope' = 'tenant';
    k1 float8 := s ->> 'bm25_k1';
    b float8 := s ->> 'bm25_b';
    lexemes text[] := coalesce(tsvector_to_array(pgmnemo._lexemes(pgmnemo._text_config(), words)), '{}');
BEGIN
    WITH counts AS (
        SELECT p.lexeme,
               sum(p.lesson_count) FILTER (WHERE whole_tenant OR i.inside) AS lessons,
               sum(p.token_total) FILTER (WHERE whole_tenant OR i.inside) AS tokens,
               coalesce(sum(p.lesson_count) FILTER (WHERE i.inside), 0)::bigint AS held,
               max(p.max_frequency) FILTER (WHERE i.inside) AS frequency, min(p.min_tokens) FILTER (WHERE i.inside) AS shortest
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (SELECT p.project_id BETWEEN first_project AND last_project) AS i (inside)
         WHERE p.tenant_id = tenant AND p.lexeme = ANY (lexemes || ''::text)
         GROUP BY p.lexeme
    ), everything AS (
        SELECT c.held, c.lessons::float8 AS lessons, k1 * (1 - b) AS flat,
               k1 * b / greatest(c.tokens::float8 / nullif(c.lessons, 0), 1) AS per_token
          FROM counts c WHERE c.lexeme = ''
    ), terms AS (
        SELECT c.lexeme, c.held, c.frequency, c.shortest, i.idf, 1099511627776 * i.idf * (k1 + 1) AS scale
          FROM counts c
         CROSS JOIN everything e
         CROSS JOIN LATERAL (SELECT pgmnemo._idf(e.lessons, c.lessons)) AS i (idf)
         WHERE c.lexeme <> '' AND c.held > 0
    )
    SELECT e.held, e.flat, e.per_token,
           array_agg(t.lexeme ORDER BY t.idf DESC, t.lexeme), array_agg(pgmnemo._term(t.lexeme) ORDER BY t.idf DESC, t.lexeme),
           array_agg(t.idf ORDER BY t.idf DESC, t.lexeme), array_agg(t.scale ORDER BY t.idf DESC, t.lexeme),
           array_agg(pgmnemo._impact(t.scale, t.frequency, e.flat, e.per_token, t.shortest) + 1 ORDER BY t.idf DESC, t.lexeme),
           array_agg(t.held ORDER BY t.idf DESC, t.lexeme)
      INTO asked.held, asked.flat, asked.per_token,
           asked.terms, asked.queries, asked.idfs, asked.scales, asked.peaks, asked.postings
      FROM everything e LEFT JOIN terms t ON true
     GROUP BY e.held, e.flat, e.per_token;
    IF asked.terms[1] IS NULL THEN
        asked.terms := '{}'; asked.queries := '{}'; asked.idfs := '{}'; asked.scales := '{}'; asked.peaks := '{}'; asked.postings := '{}';
    END IF;
    asked.held := coalesce(asked.held, 0);
    asked.direction := l2_normalize(embedding)::halfvec;
    IF words IS NOT NULL AND (s ->> 'temporal_weight')::float8 <> 0 THEN
        SELECT t.since, t.until INTO asked.since, asked.until FROM pgmnemo._times(words, moment) t;
    END IF;
    RETURN asked;
END
$$;
-- The same for one lesson and all terms, read from the lesson. With weights of 1 the cover density of one term is
-- the number of times that it stands there.
CREATE FUNCTION pgmnemo._lesson_sum(lexemes tsvector, tokens integer, queries tsquery[], scales float8[],
                                    flat float8, per_token float8)
RETURNS TABLE (total float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', lexemes, t.query), flat, per_token, tokens)), 0)
      FROM unnest(queries, scales) AS t (query, scale)
     WHERE lexemes @@ t.query
$$;
-- For every lesson in scope that holds one of these terms of the question, and each such term, its part of the
-- lesson's BM25, read from the term's list; in units of 2^-40.
CREATE FUNCTION pgmnemo._list_parts(tenant uuid, first_project uuid, last_project uuid, terms text[], scales float8[],
                                    flat float8, per_token float8)
RETURNS TABLE (lesson_id bigint, part float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, pgmnemo._impact(x.scale, x.frequency, flat, per_token, x.tokens)
      FROM (SELECT t.scale, unnest(p.lesson_ids) AS id, unnest(p.frequencies) AS frequency, unnest(p.token_counts) AS tokens
              FROM unnest(terms, scales) AS t (term, scale)
             CROSS JOIN LATERAL (
                    SELECT p.lesson_ids, p.frequencies, p.token_counts FROM pgmnemo.posting p
                     WHERE p.tenant_id = tenant AND p.lexeme = t.term
                       AND p.project_id BETWEEN first_project AND last_project OFFSET 0) p) x
$$;
-- The whole BM25 (in units of 2^-40) of the most promising of these lessons that may be recalled, best first: of those
-- `most` that have the highest totals so far, or of all. With weights of 1 the cover density of one term is the
-- number of times that it stands in the lesson.
CREATE FUNCTION pgmnemo._best_sums(tenant uuid, ids bigint[], totals float8[], most integer, queries tsquery[], scales float8[],
                                   flat float8, per_token float8, gate text, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', l.lexemes, t.query), flat, per_token, l.token_count)) AS total
      FROM (SELECT h.id FROM (SELECT unnest(ids) AS id, unnest(totals) AS total) h
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = h.id
      JOIN unnest(queries, scales) AS t (query, scale) ON l.lexemes @@ t.query
     WHERE pgmnemo._recallable(l, asked_role, valid_time, gate)
     GROUP BY l.tenant_id, l.id
     ORDER BY total DESC, l.external_id, l.project_id
$$;
-- Sum of the weights of those terms that stand in a text.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, queries tsquery[], weights float8[])
RETURNS TABLE (weight float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.weight), 0) FROM unnest(queries, weights) AS t (query, weight) WHERE lexemes @@ t.query
$$;
-- The `depth` lessons in scope with the highest BM25 (in units of 2^-40), exactly, ties by external id. MaxScore: the
-- lists of the rarest terms are read whole; once the terms that are left cannot lift a lesson that holds none of
-- them to the depth-th score found so far, they matter for those few lessons alone that they could still lift.
-- Without enable_sort the planner sums up by hashing: it takes a few hundred postings for three, and would sort.
CREATE FUNCTION pgmnemo._keyword_leg(tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, depth integer,
                                     gate text, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    at_once constant bigint := 3000;
    read integer := 0;
    wanted integer;
    lists bigint := 0;
    more bigint;
    ids bigint[];
    totals float8[];
    rest float8;
    least_of_best float8;
BEGIN
    IF cardinality(asked.terms) = 0 THEN
        RETURN;
    END IF;
    -- many terms bound nothing, and each would cost a look at all that are left
    IF cardinality(asked.terms) > 100 OR (SELECT sum(n) FROM unnest(asked.postings) n) <= at_once THEN
        read := cardinality(asked.terms);
    ELSE
        LOOP
            read := read + 1;
            lists := lists + asked.postings[read];
            EXIT WHEN lists >= 4 * depth OR read = cardinality(asked.terms);
        END LOOP;
    END IF;
    SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
      FROM (SELECT u.lesson_id, sum(u.part) AS total
              FROM pgmnemo._list_parts(tenant, first_project, last_project, asked.terms[:read], asked.scales[:read],
                                       asked.flat, asked.per_token) u
             GROUP BY u.lesson_id) x;
    WHILE read < cardinality(asked.terms) LOOP
        rest := (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        least_of_best := (SELECT CASE WHEN count(*) = depth THEN min(x.total) ELSE -1 END
                            FROM pgmnemo._best_sums(tenant, ids, totals, depth, asked.queries, asked.scales, asked.flat,
                                                   asked.per_token, gate, asked_role, valid_time) x);
        IF least_of_best <= rest THEN
            -- a lesson without any term read so far could be among the best: read on until none can, or the floor may
            -- have risen
            wanted := read;
            more := 0;
            WHILE rest >= least_of_best AND wanted < cardinality(asked.terms) LOOP
                wanted := wanted + 1;
                rest := (SELECT coalesce(sum(p), 0) FROM unnest(asked.peaks[wanted + 1:]) p);
                more := more + asked.postings[wanted];
                EXIT WHEN more >= greatest(lists, 1000);
            END LOOP;
            SELECT array_agg(x.lesson_id), array_agg(x.total) INTO ids, totals
              FROM (SELECT u.lesson_id, sum(u.total) AS total
                      FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total
                             UNION ALL
                            SELECT * FROM pgmnemo._list_parts(
                                tenant, first_project, last_project, asked.terms[read + 1:wanted],
                                asked.scales[read + 1:wanted], asked.flat, asked.per_token)) u
                     GROUP BY u.lesson_id) x;
            read := wanted;
            lists := lists + more;
        ELSE
            SELECT array_agg(h.lesson_id), array_agg(h.total) INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h WHERE h.total + rest >= least_of_best;
            -- reading a lesson costs about as much as fifteen postings
            EXIT WHEN 15 * cardinality(ids) <= asked.postings[read + 1];
            SELECT array_agg(h.lesson_id),
                   array_agg(h.total + coalesce(pgmnemo._impact(asked.scales[read + 1], x.frequency, asked.flat, asked.per_token, x.tokens), 0))
              INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h
              LEFT JOIN (SELECT unnest(p.lesson_ids) AS id, unnest(p.frequencies) AS frequency, unnest(p.token_counts) AS tokens
                           FROM pgmnemo.posting p
                          WHERE p.tenant_id = tenant AND p.lexeme = asked.terms[read + 1]
                            AND p.project_id BETWEEN first_project AND last_project) x ON x.id = h.lesson_id;
            read := read + 1;
        END IF;
    END LOOP;
    IF read = cardinality(asked.terms) THEN
        RETURN QUERY
        SELECT w.lesson_id, w.total
          FROM (SELECT * FROM unnest(ids, totals) AS h (lesson_id, total) ORDER BY h.total DESC OFFSET 0) w
         CROSS JOIN LATERAL (
                SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = tenant AND l.id = w.lesson_id
                   AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
         ORDER BY w.total DESC, l.external_id, l.project_id
         LIMIT depth;
    ELSE
        RETURN QUERY
        SELECT x.lesson_id, x.total
          FROM pgmnemo._best_sums(tenant, ids, totals, NULL, asked.queries, asked.scales, asked.flat, asked.per_token,
                                  gate, asked_role, valid_time) x
         LIMIT depth;
    END IF;
END
$$;
-- The same through the HNSW indexes, one a width: approximate, and `most` of each. enable_sort is off because only
-- the index gives the order without it.
CREATE FUNCTION pgmnemo._graph_rows(tenant uuid, first_project uuid, last_project uuid, direction halfvec, ef_search integer, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET enable_sort = off
SET enable_bitmapscan = off
AS $$
DECLARE
    ef_before text := current_setting('hnsw.ef_search', true);
    iterative_before text := current_setting('hnsw.iterative_scan', true);
    narrow halfvec := subvector(direction, 1, 384);
    middle halfvec := subvector(direction, 1, 768);
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, 1000))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(384) <#> narrow FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 384 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(384) <#> narrow LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(768) <#> middle FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 768 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(768) <#> middle LIMIT most;
    RETURN QUERY
    SELECT p.lesson_id, p.embedding::halfvec(1024) <#> direction FROM pgmnemo.passage p
     WHERE p.indexed AND p.width = 1024 AND p.tenant_id = tenant AND p.project_id BETWEEN first_project AND last_project
     ORDER BY p.embedding::halfvec(1024) <#> direction LIMIT most;
    PERFORM set_config('hnsw.ef_search', ef_before, true), set_config('hnsw.iterative_scan', iterative_before, true);
END
$$;
-- The `most` vectors in scope nearest to a direction, by reading them all: exact. The index alone has what it takes.
CREATE FUNCTION pgmnemo._vector_rows(tenant uuid, first_project uuid, last_project uuid, direction halfvec, flags boolean[], most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    narrow halfvec := subvector(direction, 1, 384);
    middle halfvec := subvector(direction, 1, 768);
BEGIN
    RETURN QUERY
    SELECT p.lesson_id, p.embedding <#> CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle ELSE direction END AS distance
      FROM pgmnemo.passage p
     WHERE p.tenant_id = tenant AND p.indexed = ANY (flags) AND p.width = ANY ('{384,768,1024}')
       AND p.project_id BETWEEN first_project AND last_project AND p.embedding IS NOT NULL
     ORDER BY distance, p.lesson_id
     LIMIT most;
END
$$;
-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the graphs where it is large, joined with an exact scan of what is not in them. Vectors are asked for
-- first and lessons counted then: should too few be left, by a filter or because many vectors are of one lesson,
-- more are asked for, at last the whole scope, exactly.
CREATE FUNCTION pgmnemo._vector_leg(tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, depth integer,
                                    s jsonb, asked_role text, valid_time timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    large boolean := asked.held > pgmnemo._exact_limit((s ->> 'exact_scan_limit')::float8);
    most integer := 4 * depth;
    seen bigint;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL THEN
        RETURN '{}';
    END IF;
    LOOP
        WITH near AS MATERIALIZED (
            SELECT g.* FROM pgmnemo._graph_rows(tenant, first_project, last_project, asked.direction,
                                              (s ->> 'ef_search')::float8::integer, most) g WHERE large
             UNION ALL
            SELECT v.* FROM pgmnemo._vector_rows(tenant, first_project, last_project, asked.direction,
                                                 CASE WHEN large THEN '{f}' ELSE '{f,t}' END::boolean[], most) v
        ), lessons AS (
            SELECT n.lesson_id, min(n.distance) AS distance FROM near n GROUP BY n.lesson_id
        )
        SELECT (SELECT count(*) FROM near),
               ARRAY(SELECT n.lesson_id
                       FROM lessons n
                      CROSS JOIN LATERAL (
                            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                             WHERE l.tenant_id = tenant AND l.id = n.lesson_id
                               AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
                      ORDER BY n.distance, l.external_id, l.project_id
                      LIMIT depth)
          INTO seen, found_ids;
        EXIT WHEN cardinality(found_ids) >= depth OR (NOT large AND seen < most);
        IF large AND most >= 16 * depth OR seen < most THEN
            large := false;
        END IF;
        most := least(most::bigint * 8, 2000000000);
    END LOOP;
    RETURN found_ids;
END
$$;
-- Recallable lessons in scope that no leg found, in key order: at most `wanted`.
CREATE FUNCTION pgmnemo._fill(tenant uuid, first_project uuid, last_project uuid, have bigint[], wanted integer,
                              asked_role text, valid_time timestamptz, gate text)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id
      FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN first_project AND last_project
       AND pgmnemo._recallable(l, asked_role, valid_time, gate) AND l.id <> ALL (have)
     ORDER BY l.project_id, l.external_id
     LIMIT wanted
$$;
-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none.
CREATE FUNCTION pgmnemo._candidates(tenant uuid, ids bigint[], totals float8[], asked pgmnemo.question, w pgmnemo.weights,
                                    by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    narrow halfvec := subvector(asked.direction, 1, 384);
    middle halfvec := subvector(asked.direction, 1, 768);
    term_weights float8[] := ARRAY(SELECT i.idf + w.passage_term_bonus FROM unnest(asked.idfs) AS i (idf));
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, c.cosine, c.bm25, c.passage_terms, c.passage_cosine,
                   c.pair_cosine, c.temporal, pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), w.recency_half_life),
                   pgmnemo._importance(l.importance),
                   w.bm25_weight * coalesce(c.bm25, 0) + w.passage_terms_weight * coalesce(c.passage_terms, 0)
                   + w.passage_cosine_weight * greatest(c.passage_cosine, 0) + w.pair_cosine_weight * greatest(c.pair_cosine, 0)
                   + w.cosine_weight * greatest(c.cosine, 0) + w.temporal_weight * c.temporal)::pgmnemo.candidate
          FROM unnest(ids, totals) AS g (id, total)
          JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = g.id
         CROSS JOIN LATERAL (
                SELECT max(v.cosine) FILTER (WHERE v.number = 0) AS own, max(v.terms) AS terms, max(v.number) AS passages,
                       array_agg(v.cosine ORDER BY v.cosine DESC) FILTER (WHERE v.number > 0 AND v.cosine IS NOT NULL) AS cosines
                  FROM (SELECT p.number, pgmnemo._bounded(-(p.embedding <#> CASE p.width WHEN 384 THEN narrow WHEN 768 THEN middle
                                                                                         ELSE asked.direction END)) AS cosine,
                               CASE WHEN by_words AND p.number > 0 THEN
                                    (SELECT t.weight FROM pgmnemo._terms_within(p.lexemes, asked.queries, term_weights) t) END AS terms
                          FROM pgmnemo.passage p
                         WHERE p.tenant_id = tenant AND p.lesson_id = l.id) v) p
         CROSS JOIN LATERAL (
                SELECT p.own AS cosine,
                       CASE WHEN by_words THEN coalesce(g.total, (SELECT b.total FROM pgmnemo._lesson_sum(
                            l.lexemes, l.token_count, asked.queries, asked.scales, asked.flat, asked.per_token) b))
                            / 1099511627776 END AS bm25,
                       CASE WHEN by_words AND coalesce(p.passages, 0) = 0
                            THEN (SELECT t.weight FROM pgmnemo._terms_within(l.lexemes, asked.queries, term_weights) t)
                            ELSE p.terms END AS passage_terms,
                       coalesce(p.cosines[1], p.own) AS passage_cosine,
                       coalesce((p.cosines[1] + coalesce(p.cosines[2], p.cosines[1])) / 2, p.own) AS pair_cosine,
                       CASE WHEN cardinality(asked.since) > 0 THEN pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                            ELSE 0 END AS temporal OFFSET 0) c);
END
$$;
-- Relevance that flows along edges, both ways: for a lesson the best over all seeds other than itself and all
-- paths of at most `depth` edges of the seed's relevance times, for each edge, half its weight. Paths lead
-- through active lessons that are valid at the time and pass the gate, of whichever project and role.
-- Each step keeps at most `width` lessons, so hubs and cycles cost no more than that.
CREATE FUNCTION pgmnemo._graph_proximity(tenant uuid, seed_ids bigint[], seed_relevances float8[], depth integer,
                                         width integer, valid_at timestamptz, gate text)
RETURNS TABLE (lesson_id bigint, graph float8)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    seeds bigint[] := seed_ids;
    ids bigint[] := seed_ids;
    strengths float8[] := seed_relevances;
BEGIN
    FOR step IN 1 .. depth LOOP
        SELECT array_agg(n.seed), array_agg(n.id), array_agg(n.strength) INTO seeds, ids, strengths
          FROM (SELECT f.seed, l.id, max(f.strength * e.weight / 2) AS strength
                  FROM unnest(seeds, ids, strengths) AS f (seed, id, strength)
                 CROSS JOIN LATERAL (
                        SELECT o.target_id, o.weight::float8, o.valid_from, o.valid_to FROM pgmnemo.lesson_edge o
                         WHERE o.tenant_id = tenant AND o.source_id = f.id
                         UNION ALL
                        SELECT i.source_id, i.weight::float8, i.valid_from, i.valid_to FROM pgmnemo.lesson_edge i
                         WHERE i.tenant_id = tenant AND i.target_id = f.id
                       ) AS e (id, weight, valid_from, valid_to)
                 CROSS JOIN LATERAL (
                        SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                         WHERE l.tenant_id = tenant AND l.id = e.id AND pgmnemo._recallable(l, NULL, valid_at, gate) OFFSET 0) l
                 WHERE e.id <> f.seed
                   AND (valid_at IS NULL OR (coalesce(e.valid_from <= valid_at, true)
                                             AND coalesce(valid_at < e.valid_to, true)))
                 GROUP BY f.seed, l.id, l.external_id, l.project_id
                 ORDER BY strength DESC, l.external_id, l.project_id, f.seed
                 LIMIT width) n;
        EXIT WHEN ids IS NULL;
        RETURN QUERY SELECT * FROM unnest(ids, strengths);
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._graph_proximity(uuid, bigint[], float8[], integer, integer, timestamptz, text) IS 'graph component, 0 or more, in units of relevance: max over seeds and paths of relevance(seed) * product over the path''s edges of weight / 2';
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
-- Graph proximity of every lesson that an edge joins, directly or not, to one of the most relevant candidates.
CREATE FUNCTION pgmnemo._graph_leg(tenant uuid, candidates pgmnemo.candidate[], s jsonb, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, graph float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    seeds bigint[];
    strengths float8[];
BEGIN
    IF (s ->> 'graph_weight')::float8 = 0
       OR NOT EXISTS (SELECT FROM pgmnemo.lesson_edge e WHERE e.tenant_id = tenant) THEN
        RETURN;
    END IF;
    SELECT array_agg(c.lesson_id), array_agg(c.relevance) INTO seeds, strengths
      FROM (SELECT c.lesson_id, c.relevance
              FROM unnest(candidates) c
             WHERE c.relevance > 0
             ORDER BY c.relevance DESC, c.external_id, c.project_id
             LIMIT (s ->> 'graph_seeds')::float8) c;
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph)
      FROM pgmnemo._graph_proximity(tenant, seeds, strengths, (s ->> 'graph_depth')::float8::integer,
                                    greatest((s ->> 'pool_depth')::float8::integer, 200), valid_time, s ->> 'gate_strict') g
     GROUP BY g.lesson_id;
END
$$;
CREATE FUNCTION pgmnemo._check_recall(k integer, mode text, has_embedding boolean, has_text boolean,
                                      as_of timestamptz)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
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
    ELSIF NOT isfinite(as_of) THEN
        RAISE EXCEPTION 'as_of is %, but must be finite', as_of USING ERRCODE = 'invalid_parameter_value';
    END IF;
END
$$;
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE FUNCTION pgmnemo.recall_lessons(
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid'
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
    recency        float8,
    importance     float8,
    graph          float8
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    w pgmnemo.weights := jsonb_populate_record(NULL::pgmnemo.weights, s);
    gate text := s ->> 'gate_strict';
    depth integer := greatest((s ->> 'pool_depth')::float8, recall_lessons.k);
    first_project uuid := coalesce(recall_lessons.project_id, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(recall_lessons.project_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(recall_lessons.as_of, now());
    meaning vector := pgmnemo._embedding(recall_lessons.embedding);
    words text := recall_lessons.query_text;
    asked pgmnemo.question;
    ids bigint[];
    totals float8[];
    candidates pgmnemo.candidate[];
    linked bigint[];
    graphs float8[];
BEGIN
    PERFORM pgmnemo._check_recall(recall_lessons.k, recall_lessons.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    IF recall_lessons.mode = 'keyword' THEN
        meaning := NULL;
    ELSIF recall_lessons.mode = 'vector' THEN
        words := NULL;
    END IF;
    asked := pgmnemo._ask(tenant, first_project, last_project, words, meaning, moment, s);

    -- candidates: the union of both legs, filled up so that a scope that holds k lessons returns k
    SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO ids, totals
      FROM pgmnemo._keyword_leg(
        tenant, first_project, last_project, asked, depth, gate, recall_lessons.role, recall_lessons.valid_at) t;
    ids := ids || ARRAY(SELECT v.id FROM unnest(pgmnemo._vector_leg(
        tenant, first_project, last_project, asked, depth, s, recall_lessons.role, recall_lessons.valid_at)) AS v (id)
                         WHERE v.id <> ALL (ids));
    IF cardinality(ids) < recall_lessons.k THEN
        ids := ids || ARRAY(SELECT pgmnemo._fill(
            tenant, first_project, last_project, ids, recall_lessons.k - cardinality(ids),
            recall_lessons.role, recall_lessons.valid_at, gate));
    END IF;
    candidates := pgmnemo._candidates(tenant, ids, totals, asked, w, words IS NOT NULL, moment);

    -- relevance flows from the best of them along edges, to lessons that no leg found as well
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, candidates, s, recall_lessons.valid_at) g;
    IF NOT linked <@ ids THEN
        candidates := candidates || pgmnemo._candidates(
            tenant,
            ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, recall_lessons.role, recall_lessons.valid_at, gate)),
            '{}', asked, w, words IS NOT NULL, moment);
    END IF;

    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           (SELECT p.content FROM pgmnemo.passage p
             WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND p.number > 0
             ORDER BY pgmnemo._passage_worth(p, asked, w), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.recency, r.importance, r.graph
      FROM (SELECT c.*, coalesce(g.graph, 0) AS graph,
                   c.relevance + w.context_weight * c.context + w.recency_weight * c.recency
                   + w.importance_weight * c.importance + w.graph_weight * coalesce(g.graph, 0) AS score
              FROM (SELECT c.*, CASE WHEN c.occurred_at IS NULL THEN c.relevance
                                     ELSE max(c.relevance) OVER (PARTITION BY c.project_id, c.occurred_at) END AS context
                      FROM unnest(candidates) c) c
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id
             ORDER BY score DESC, c.external_id, c.project_id
             LIMIT recall_lessons.k) r
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = r.lesson_id
     ORDER BY r.score DESC, r.external_id, r.project_id;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = bm25_weight * bm25 + passage_terms_weight * passage_terms + passage_cosine_weight * max(passage_cosine, 0) + pair_cosine_weight * max(pair_cosine, 0) + cosine_weight * max(cosine, 0) + temporal_weight * temporal;
score = relevance + context_weight * context + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, 0 or more, NULL like bm25;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal);
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector of 1,024; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; valid_at: only what had happened and had not expired then; role: only lessons of that role; mode: hybrid, vector or keyword.
Candidates are the pool_depth (at least k) best of each leg and what the graph adds, filled up so that a scope that holds k lessons returns k.';
-- Each block of postings against itself: the pruning of recall trusts its order, its sums and its extremes.
CREATE FUNCTION pgmnemo._block_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.problem, p.project_id, p.lesson_ids[1], p.lexeme, w.found, w.wanted
      FROM pgmnemo.posting p
     CROSS JOIN LATERAL (
            SELECT count(*) AS n, coalesce(sum(x.tokens), 0) AS total, coalesce(max(x.frequency), 0) AS highest,
                   coalesce(min(x.tokens), 0) AS least, bool_and(coalesce(x.id > x.previous, x.place = 1)) AS ascending,
                   (cardinality(p.frequencies), cardinality(p.token_counts)) = (cardinality(p.lesson_ids), cardinality(p.lesson_ids))
                   AS alike
              FROM (SELECT u.*, lag(u.id) OVER (ORDER BY u.place) AS previous
                      FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) WITH ORDINALITY
                           AS u (id, frequency, tokens, place)) x) b
     CROSS JOIN LATERAL (VALUES
            ('block with lists of different lengths',
             concat_ws(', ', cardinality(p.lesson_ids), cardinality(p.frequencies), cardinality(p.token_counts)), NULL,
             NOT b.alike),
            ('block of no or more than 128 lessons', b.n::text, '1 to 128', b.n NOT BETWEEN 1 AND 128),
            ('block not in ascending order', p.lesson_ids::text, NULL, b.alike AND NOT b.ascending),
            ('block with wrong lesson_count', p.lesson_count::text, b.n::text, b.alike AND p.lesson_count <> b.n),
            ('block with wrong token_total', p.token_total::text, b.total::text, b.alike AND p.token_total <> b.total),
            ('block with wrong max_frequency', p.max_frequency::text, b.highest::text, b.alike AND p.max_frequency <> b.highest),
            ('block with wrong min_tokens', p.min_tokens::text, b.least::text, b.alike AND p.min_tokens <> b.least)
           ) AS w (problem, found, wanted, so)
     WHERE p.tenant_id = tenant AND w.so
$$;
-- What the keyword index holds against what the tenant's active lessons hold, entry by entry.
CREATE FUNCTION pgmnemo._posting_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH due AS (
        SELECT l.project_id, l.id, u.lexeme COLLATE "C" AS lexeme, u.frequency, l.token_count AS tokens
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions) FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.active
    ), held AS (
        SELECT p.project_id, x.id, p.lexeme, max(x.frequency) AS frequency, max(x.tokens) AS tokens, count(*) AS times
          FROM pgmnemo.posting p, unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
         WHERE p.tenant_id = tenant
         GROUP BY p.project_id, p.lexeme, x.id
    )
    SELECT w.problem, project_id, id, lexeme, w.found, w.wanted
      FROM due d FULL JOIN held h USING (project_id, id, lexeme)
     CROSS JOIN LATERAL (VALUES
            ('posting missing', NULL, d.frequency::text, h.times IS NULL),
            ('posting surplus', h.frequency::text, NULL, d.lexeme IS NULL),
            ('posting more than once', h.times::text, '1', h.times > 1),
            ('posting with wrong frequency', h.frequency::text, d.frequency::text,
             d.lexeme IS NOT NULL AND h.times IS NOT NULL AND h.frequency IS DISTINCT FROM d.frequency),
            ('posting with wrong token count', h.tokens::text, d.tokens::text,
             d.lexeme IS NOT NULL AND h.times IS NOT NULL AND h.tokens IS DISTINCT FROM d.tokens)
           ) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
-- Lessons whose lexemes, or their number, are not what their text gives under their own configuration; `config` is
-- NULL where that no longer exists.
CREATE FUNCTION pgmnemo._stale_lessons(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, config regconfig, text_config text, lexemes tsvector, fresh tsvector,
               token_count integer, tokens integer)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, c.config, l.text_config, l.lexemes, f.fresh, l.token_count, n.tokens
      FROM pgmnemo.lesson l
     CROSS JOIN LATERAL (
            SELECT CASE WHEN pg_input_is_valid(l.text_config, 'regconfig') THEN l.text_config::regconfig END) AS c (config)
     CROSS JOIN LATERAL (
            SELECT pgmnemo._lexemes(c.config, concat_ws(E'\n', l.topic, l.content)) OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (SELECT coalesce(sum(cardinality(u.positions)), 0)::integer FROM unnest(f.fresh) u) AS n (tokens)
     WHERE l.tenant_id = tenant AND (c.config IS NULL OR (l.lexemes, l.token_count) IS DISTINCT FROM (f.fresh, n.tokens))
$$;
-- Passages that are not as the verbs write them, beside what they should be. Half precision leaves a unit vector
-- at most 0.0005 too long or too short.
CREATE FUNCTION pgmnemo._unsound_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector, norm float8,
               embedding halfvec, indexed boolean, lexemes_differ boolean, vector_differs boolean, indexed_differs boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, v.norm, r.embedding, i.indexed,
           p.lexemes IS DISTINCT FROM f.fresh, p.embedding IS DISTINCT FROM r.embedding, p.indexed <> i.indexed
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (
            SELECT CASE WHEN pg_input_is_valid(l.text_config, 'regconfig')
                        THEN pgmnemo._lexemes(l.text_config::regconfig, p.content) ELSE p.lexemes END OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (
            SELECT l2_norm(p.embedding),
                   CASE WHEN p.width = 384 THEN 384
                        WHEN l2_norm(subvector(p.embedding, 385, p.width - 384)) = 0 THEN 384
                        WHEN p.width = 768 THEN 768
                        WHEN l2_norm(subvector(p.embedding, 769, 256)) = 0 THEN 768
                        ELSE 1024 END) AS v (norm, width)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN v.norm NOT BETWEEN 0.999 AND 1.001 THEN l2_normalize(subvector(p.embedding, 1, v.width))
                        ELSE subvector(p.embedding, 1, v.width) END) AS r (embedding)
     CROSS JOIN LATERAL (SELECT p.indexed AND p.embedding IS NOT NULL) AS i (indexed)
     WHERE p.tenant_id = tenant
       AND (p.project_id, p.lexemes, p.embedding, p.indexed)
           IS DISTINCT FROM (l.project_id, f.fresh, r.embedding, i.indexed)
$$;
CREATE FUNCTION pgmnemo.check_index()
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
BEGIN
    RETURN QUERY
    SELECT w.problem, s.project_id, s.lesson_id, NULL, w.found, w.wanted
      FROM pgmnemo._stale_lessons(tenant) s
     CROSS JOIN LATERAL (VALUES
            ('lesson with unknown text_config', s.text_config, NULL, s.config IS NULL),
            ('lesson with stale lexemes', s.lexemes::text, s.fresh::text, s.config IS NOT NULL AND s.lexemes <> s.fresh),
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
            ('passage with a vector wider than needed', NULL, vector_dims(p.embedding)::text,
             p.vector_differs AND p.norm BETWEEN 0.999 AND 1.001),
            ('passage indexed without a vector', 't', 'f', p.indexed_differs)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY SELECT * FROM pgmnemo._block_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._posting_problems(tenant);
END
$$;

COMMENT ON FUNCTION pgmnemo.check_index() IS 'what is wrong in what the tenant''s lessons are found by, one row a problem, none when all is well. lesson: lexemes or token_count are not what the text gives under the lesson''s text_config; passage (item: its number): in another project than its lesson, lexemes not those of its text, a vector not of unit length or wider than needed, or indexed without a vector; block (item: its lexeme, lesson_id: its first): order, sums or extremes wrong; posting (item: the lexeme, empty for the list of all lessons): missing, surplus, more than once, or with wrong numbers. Reads everything of the tenant; pgmnemo.repair_index() mends it';
-- One statement takes the postings away and lists the lessons to build them from: a lesson that another session
-- stores between two would otherwise keep its own postings and get them again. Changes of those listed wait.
CREATE FUNCTION pgmnemo.repair_index()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    ids bigint[];
BEGIN
    PERFORM pgmnemo._lock_postings(tenant);
    IF EXISTS (SELECT FROM pgmnemo._stale_lessons(tenant)) THEN
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
        PERFORM pgmnemo._repair_lessons(tenant);
    END IF;
    PERFORM pgmnemo._repair_passages(tenant);
    WITH gone AS (
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant
    )
    SELECT array_agg(l.id) INTO ids FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.active;
    PERFORM pgmnemo._add_postings(tenant, ids);
    RETURN coalesce(cardinality(ids), 0);
END
$$;

COMMENT ON FUNCTION pgmnemo.repair_index() IS 'mends what pgmnemo.check_index finds: derives stale lexemes and unsound passages anew from their texts and vectors, and rebuilds all postings of the tenant from its lessons, in one transaction, sorted and in full blocks. Holds the tenant''s writers up, readers never. Returns how many active lessons there are; VACUUM pgmnemo.posting afterwards';
-- The trigger derives lexemes anew under the setting, which is therefore each lesson's own configuration here. The
-- tenant's postings must be away: the siblings of that trigger would stumble over damaged ones.
CREATE FUNCTION pgmnemo._repair_lessons(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_config text := coalesce(current_setting('pgmnemo.text_config', true), '');
    stale record;
BEGIN
    FOR stale IN SELECT s.config, array_agg(s.lesson_id) AS ids FROM pgmnemo._stale_lessons(tenant) s GROUP BY s.config LOOP
        PERFORM set_config('pgmnemo.text_config', coalesce(stale.config::text, own_config), true);
        UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1 WHERE l.tenant_id = tenant AND l.id = ANY (stale.ids);
    END LOOP;
    PERFORM set_config('pgmnemo.text_config', own_config, true);
END
$$;
CREATE FUNCTION pgmnemo._repair_passages(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    UPDATE pgmnemo.passage p
       SET project_id = u.in_project, lexemes = u.fresh, embedding = u.embedding, width = vector_dims(u.embedding),
           indexed = u.indexed
      FROM pgmnemo._unsound_passages(tenant) u
     WHERE p.tenant_id = tenant AND p.lesson_id = u.lesson_id AND p.number = u.number
$$;
-- The passage that recall shows and those that decide passage_terms, passage_cosine and pair_cosine, by number.
CREATE FUNCTION pgmnemo._explain_passages(l pgmnemo.lesson, asked pgmnemo.question, w pgmnemo.weights)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    WITH each AS (
        SELECT p.number, p.content, c.cosine, t.terms, t.lexemes,
               row_number() OVER (ORDER BY pgmnemo._passage_worth(p, asked, w), p.number) AS shown,
               row_number() OVER (ORDER BY c.cosine DESC NULLS LAST, p.number) AS by_cosine,
               row_number() OVER (ORDER BY t.terms DESC, p.number) AS by_terms
          FROM pgmnemo.passage p
         CROSS JOIN LATERAL (
                SELECT pgmnemo._bounded(-(p.embedding <#> subvector((asked).direction, 1, p.width)))) AS c (cosine)
         CROSS JOIN LATERAL (
                SELECT coalesce(sum(i.idf + (w).passage_term_bonus), 0), string_agg(i.lexeme, ', ')
                  FROM unnest((asked).terms, (asked).idfs, (asked).queries) AS i (lexeme, idf, query)
                 WHERE p.lexemes @@ i.query) AS t (terms, lexemes)
         WHERE p.tenant_id = l.tenant_id AND p.lesson_id = l.id AND p.number > 0
    )
    SELECT 'passage ' || e.number, r.item, r.value, NULL::float8, NULL::float8, r.note
      FROM each e
     CROSS JOIN LATERAL (VALUES
            (1, 'text', CASE WHEN e.shown = 1 THEN 'shown' END, e.content),
            (2, 'terms', e.terms::text, concat_ws(': ', CASE WHEN e.by_terms = 1 THEN 'most' END, e.lexemes)),
            (3, 'cosine', e.cosine::text, CASE e.by_cosine WHEN 1 THEN 'best' WHEN 2 THEN 'second' END)
           ) AS r (place, item, value, note)
     WHERE 1 IN (e.shown, e.by_cosine, e.by_terms) OR e.by_cosine = 2
     ORDER BY e.number, r.place
$$;
CREATE FUNCTION pgmnemo.explain_recall(
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    w pgmnemo.weights := jsonb_populate_record(NULL::pgmnemo.weights, s);
    scope uuid := explain_recall.project_id;
    first_project uuid := coalesce(scope, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(scope, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(explain_recall.as_of, now());
    meaning vector := pgmnemo._embedding(explain_recall.embedding);
    words text := explain_recall.query_text;
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    own pgmnemo.candidate;
    place record;
    ways text;
BEGIN
    PERFORM pgmnemo._check_recall(explain_recall.k, explain_recall.mode, meaning IS NOT NULL, words IS NOT NULL, moment);
    IF coalesce(explain_recall.in_project, scope) IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    wanted := pgmnemo._lesson_id(tenant, coalesce(explain_recall.in_project, scope), explain_recall.external_id);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    IF explain_recall.mode = 'keyword' THEN
        meaning := NULL;
    ELSIF explain_recall.mode = 'vector' THEN
        words := NULL;
    END IF;
    asked := pgmnemo._ask(tenant, first_project, last_project, words, meaning, moment, s);
    pool := pgmnemo._pool(tenant, first_project, last_project, asked, s, w, explain_recall.k, words IS NOT NULL, moment,
                          explain_recall.role, explain_recall.valid_at, l.id);
    SELECT c.* INTO own FROM unnest(pool.candidates) c WHERE c.lesson_id = l.id;
    SELECT p.*, count(*) OVER () AS all_of_them INTO place
      FROM pgmnemo._pool_scores(pool.candidates, pool.linked, pool.graphs, w) p ORDER BY p.lesson_id <> l.id LIMIT 1;
    ways := nullif(concat_ws('; ',
        'keyword leg, place ' || array_position(pool.by_keyword, l.id), 'vector leg, place ' || array_position(pool.by_vector, l.id),
        CASE WHEN l.id = ANY (pool.filled) THEN 'filled up to k' END,
        CASE WHEN l.id = ANY (pool.linked) AND (scope IS NULL OR l.project_id = scope)
                  AND pgmnemo._recallable(l, explain_recall.role, explain_recall.valid_at, s ->> 'gate_strict')
             THEN 'graph' END), '');

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN place.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', place.rank, place.all_of_them)
              WHEN place.rank > explain_recall.k THEN format('of %s candidates; beyond k = %s', place.all_of_them, explain_recall.k)
              ELSE format('of %s candidates', place.all_of_them) END),
        ('answer', 'score', place.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest((s ->> 'pool_depth')::float8, explain_recall.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(
        l, scope, explain_recall.role, explain_recall.valid_at, s ->> 'gate_strict');
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, own, place.context, place.context_from, place.graph,
        CASE WHEN place.graph > 0 THEN pgmnemo._graph_seed(
            tenant, pool.candidates, pool.seeds, l.id, s, explain_recall.valid_at) END, w, moment);
    RETURN QUERY SELECT * FROM pgmnemo._explain_terms(l, words, asked, w);
    RETURN QUERY SELECT * FROM pgmnemo._explain_passages(l, asked, w);
    RETURN QUERY SELECT 'time', 'interval ' || t.number, pgmnemo._temporal(l.occurred_at, ARRAY[t.since], ARRAY[t.until])::text,
                        NULL::float8, NULL::float8, format('%s to %s', t.since, t.until)
                   FROM unnest(asked.since, asked.until) WITH ORDINALITY AS t (since, until, number);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'why one lesson ranks where it does for one question; arguments as of pgmnemo.recall_lessons, in_project: the lesson''s project where that is not project_id. Sections of the table, value and numbers as that call has them:
answer: rank (NULL: not among the candidates), score (what it would be otherwise) and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
-- The tests of pgmnemo._recallable and of the scope, one by one.
CREATE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, project uuid, asked_role text, valid_time timestamptz, gate text)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'recallable', t.item, CASE WHEN t.passed THEN 'yes' ELSE 'no' END, NULL::float8, NULL::float8, t.note
      FROM (VALUES
            ('scope', project IS NULL OR l.project_id = project,
             format('lesson in project %s, recall in %s', l.project_id, coalesce(project::text, 'the whole tenant'))),
            ('active', l.active, CASE WHEN NOT l.active THEN 'softly forgotten' END),
            ('role', asked_role IS NULL OR coalesce(l.role = asked_role, false),
             format('lesson %s, recall %s', coalesce(quote_literal(l.role), 'without role'),
                    coalesce(quote_literal(asked_role), 'of any role'))),
            ('happened', coalesce(coalesce(l.occurred_at, l.stored_at) <= valid_time, true),
             format('%s, recall valid at %s', coalesce(l.occurred_at, l.stored_at), coalesce(valid_time::text, 'any time'))),
            ('not expired', coalesce(valid_time < l.expires_at, true),
             format('expires %s, recall valid at %s', coalesce(l.expires_at::text, 'never'), coalesce(valid_time::text, 'any time'))),
            ('gate', gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', gate,
                    CASE WHEN coalesce(l.commit_sha, l.artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
-- The terms of the formula in its order: added up one after another they are the score to the last bit.
CREATE FUNCTION pgmnemo._explain_score(l pgmnemo.lesson, c pgmnemo.candidate, context float8, context_from text, graph float8,
                                       graph_seed text, w pgmnemo.weights, moment timestamptz)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'score', t.item, t.value::text, t.weight, t.weight * t.counted, t.note
      FROM (VALUES
            ('bm25', (c).bm25, (w).bm25_weight, coalesce((c).bm25, 0), format('%s words', l.token_count)),
            ('passage_terms', (c).passage_terms, (w).passage_terms_weight, coalesce((c).passage_terms, 0), NULL),
            ('passage_cosine', (c).passage_cosine, (w).passage_cosine_weight, greatest((c).passage_cosine, 0), NULL),
            ('pair_cosine', (c).pair_cosine, (w).pair_cosine_weight, greatest((c).pair_cosine, 0), NULL),
            ('cosine', (c).cosine, (w).cosine_weight, greatest((c).cosine, 0), NULL),
            ('temporal', (c).temporal, (w).temporal_weight, (c).temporal,
             coalesce('occurred at ' || l.occurred_at, 'without occurred_at')),
            ('context', context, (w).context_weight, context,
             CASE WHEN context_from = l.external_id THEN 'its own relevance' ELSE 'relevance of ' || quote_literal(context_from) END),
            ('recency', (c).recency, (w).recency_weight, (c).recency,
             format('age %s days, half-life %s days',
                    round(greatest(extract(epoch FROM moment - coalesce(l.occurred_at, l.stored_at)), 0) / 86400, 2), (w).recency_half_life)),
            ('importance', (c).importance, (w).importance_weight, (c).importance, format('importance %s of 1 to 5', l.importance)),
            ('graph', graph, (w).graph_weight, graph, 'flows in from ' || quote_literal(graph_seed))
           ) AS t (item, value, weight, counted, note)
$$;
-- The question's lexemes, rarest first; those that no lesson in scope holds come last.
CREATE FUNCTION pgmnemo._explain_terms(l pgmnemo.lesson, words text, asked pgmnemo.question, w pgmnemo.weights)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'term', q.lexeme, coalesce(cardinality(h.positions), 0)::text, a.idf,
           CASE WHEN h.lexeme IS NOT NULL
                THEN (w).bm25_weight * pgmnemo._impact(a.scale, cardinality(h.positions), (asked).flat, (asked).per_token, l.token_count)
                     / 1099511627776
                ELSE 0 END,
           format('in %s of %s lessons', coalesce(a.lessons, 0), (asked).held) || coalesce('; in passage ' || p.numbers, '')
      FROM unnest(tsvector_to_array(pgmnemo._lexemes(pgmnemo._text_config(), words))) AS q (lexeme)
      LEFT JOIN unnest((asked).terms, (asked).idfs, (asked).scales, (asked).postings) AS a (lexeme, idf, scale, lessons)
             ON a.lexeme = q.lexeme
      LEFT JOIN unnest(l.lexemes) h ON h.lexeme = q.lexeme
     CROSS JOIN LATERAL (
            SELECT string_agg(p.number::text, ', ' ORDER BY p.number) FROM pgmnemo.passage p
             WHERE p.tenant_id = l.tenant_id AND p.lesson_id = l.id AND p.lexemes @@ pgmnemo._term(q.lexeme)) AS p (numbers)
     ORDER BY a.idf DESC NULLS LAST, q.lexeme COLLATE "C"
$$;
-- From which seed the relevance comes that reaches a lesson along edges; NULL: from none.
CREATE FUNCTION pgmnemo._graph_seed(tenant uuid, candidates pgmnemo.candidate[], seeds bigint[], lesson bigint, s jsonb,
                                    valid_time timestamptz)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM unnest(candidates) c
     CROSS JOIN LATERAL pgmnemo._graph_proximity(
            tenant, ARRAY[c.lesson_id], ARRAY[c.relevance], (s ->> 'graph_depth')::float8::integer,
            greatest((s ->> 'pool_depth')::float8::integer, 200), valid_time, s ->> 'gate_strict') g
     WHERE c.lesson_id = ANY (seeds) AND g.lesson_id = lesson
     ORDER BY g.graph DESC, c.external_id, c.project_id
     LIMIT 1
$$;
-- The candidates of one recall as pgmnemo.recall_lessons takes them, and by which way each came; `lesson` joins them
-- last, where none did, to see what it would be worth.
CREATE FUNCTION pgmnemo._pool(
    tenant uuid, first_project uuid, last_project uuid, asked pgmnemo.question, s jsonb, w pgmnemo.weights, k integer,
    by_words boolean, moment timestamptz, asked_role text, valid_time timestamptz, lesson bigint,
    OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT linked bigint[], OUT graphs float8[],
    OUT seeds bigint[], OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    depth integer := greatest((s ->> 'pool_depth')::float8, k);
    ids bigint[];
    totals float8[];
    more bigint[];
BEGIN
    SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
      FROM pgmnemo._keyword_leg(tenant, first_project, last_project, asked, depth, gate, asked_role, valid_time) t;
    by_vector := pgmnemo._vector_leg(tenant, first_project, last_project, asked, depth, s, asked_role, valid_time);
    ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
    filled := ARRAY(SELECT pgmnemo._fill(
        tenant, first_project, last_project, ids, greatest(k - cardinality(ids), 0), asked_role, valid_time, gate));
    ids := ids || filled;
    candidates := pgmnemo._candidates(tenant, ids, totals, asked, w, by_words, moment);
    seeds := ARRAY(SELECT c.lesson_id FROM unnest(candidates) c WHERE c.relevance > 0
                    ORDER BY c.relevance DESC, c.external_id, c.project_id LIMIT (s ->> 'graph_seeds')::float8);
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, candidates, s, valid_time) g;
    more := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, asked_role, valid_time, gate));
    IF lesson <> ALL (ids || more) THEN
        more := more || lesson;
    END IF;
    candidates := candidates || pgmnemo._candidates(tenant, more, '{}', asked, w, by_words, moment);
END
$$;
-- Every candidate with its score and rank, and whose relevance its context is.
CREATE FUNCTION pgmnemo._pool_scores(candidates pgmnemo.candidate[], linked bigint[], graphs float8[], w pgmnemo.weights)
RETURNS TABLE (lesson_id bigint, rank bigint, score float8, context float8, context_from text, graph float8)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.lesson_id, row_number() OVER (ORDER BY x.score DESC, x.external_id, x.project_id), x.score, x.context,
           x.context_from, x.graph
      FROM (SELECT c.*, coalesce(g.graph, 0) AS graph,
                   c.relevance + (w).context_weight * c.context + (w).recency_weight * c.recency
                   + (w).importance_weight * c.importance + (w).graph_weight * coalesce(g.graph, 0) AS score
              FROM (SELECT c.*, CASE WHEN c.occurred_at IS NULL THEN c.relevance ELSE max(c.relevance) OVER moment END AS context,
                           CASE WHEN c.occurred_at IS NULL THEN c.external_id
                                ELSE first_value(c.external_id) OVER moment END AS context_from
                      FROM unnest(candidates) c
                    WINDOW moment AS (PARTITION BY c.project_id, c.occurred_at
                                      ORDER BY c.relevance DESC, c.external_id
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) c
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = c.lesson_id) x
$$;
-- What pg_dump takes along. Postings are not dumped: the triggers build them anew from the lessons.
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant_grant', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.passage', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_edge', '');
