\echo Use "CREATE EXTENSION pgmnemo" to load this file. \quit
-- One row a memory. A 4 kB vector leaves one row a page, so short texts may stay in line (toast_tuple_target)
-- at no cost.
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
    embedding     vector(1024) STORAGE PLAIN CHECK (vector_norm(embedding) BETWEEN 1e-15 AND 1e15),
    commit_sha    text,
    artifact_hash text,
    verified_at   timestamptz,
    active        boolean     NOT NULL DEFAULT true,
    indexed       boolean     NOT NULL DEFAULT false,
    text_config   text        NOT NULL,
    lexemes       tsvector    NOT NULL DEFAULT '',
    token_count   integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, project_id, external_id)
) WITH (toast_tuple_target = 8160);

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
COMMENT ON COLUMN pgmnemo.lesson.embedding IS '1,024 dimensions, norm 1e-15 to 1e15 (only the direction counts); NULL: found by its words alone';
COMMENT ON COLUMN pgmnemo.lesson.commit_sha IS 'provenance: the commit that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.artifact_hash IS 'provenance: hash of the artefact that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.verified_at IS 'when somebody last checked it';
COMMENT ON COLUMN pgmnemo.lesson.active IS 'false once softly forgotten: out of recall and out of the statistics';
COMMENT ON COLUMN pgmnemo.lesson.indexed IS 'whether the row is in the HNSW index; set by the verbs (pgmnemo.exact_scan_limit)';
COMMENT ON COLUMN pgmnemo.lesson.text_config IS 'text search configuration that lexemes was made with; derived from pgmnemo.text_config when the text is written';
COMMENT ON COLUMN pgmnemo.lesson.lexemes IS 'tsvector of topic and content; derived, whatever is written to it';
COMMENT ON COLUMN pgmnemo.lesson.token_count IS 'length for BM25: positions in lexemes; derived';
-- Lessons of small scopes are scanned exactly and never enter this index (pgmnemo.exact_scan_limit).
CREATE INDEX lesson_embedding_hnsw ON pgmnemo.lesson USING hnsw (embedding vector_cosine_ops) WHERE indexed;
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
-- number of lessons and their total length.
CREATE TABLE pgmnemo.posting (
    tenant_id     uuid       NOT NULL,
    project_id    uuid       NOT NULL,
    lexeme        text       COLLATE "C" NOT NULL,
    lesson_ids    bigint[]   STORAGE PLAIN NOT NULL,
    frequencies   smallint[] STORAGE PLAIN NOT NULL,
    token_counts  integer[]  STORAGE PLAIN NOT NULL,
    lesson_count  integer    NOT NULL,
    token_total   bigint     NOT NULL
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
-- Covers what statistics sum up, so that they need not read the blocks.
CREATE INDEX posting_lexeme ON pgmnemo.posting (tenant_id, lexeme, project_id) INCLUDE (lesson_count, token_total);
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
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     vector(1024),
    role          text,
    topic         text,
    importance    smallint,
    metadata      jsonb,
    occurred_at   timestamptz,
    expires_at    timestamptz,
    commit_sha    text,
    artifact_hash text,
    verified_at   timestamptz
);

COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson; the first three are required, importance NULL is 3, metadata NULL is {}';
-- Beside the HNSW index: what is not in it is scanned exactly, and must be found without reading the rest.
CREATE INDEX lesson_unindexed ON pgmnemo.lesson (tenant_id, project_id) WHERE NOT indexed AND embedding IS NOT NULL;
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
    ('cosine_weight', '1.5', 'number', 0, 100, NULL, 'score of a cosine similarity of 1'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '200', 'whole number', 1, 10000, NULL, 'candidates taken from each leg, and the largest k'),
    ('exact_scan_limit', '5000', 'whole number', 0, 10000000, NULL,
     'lessons in a scope up to which vectors are scanned exactly; beyond it new lessons enter the HNSW index'),
    ('ef_search', '100', 'whole number', 1, 1000, NULL, 'hnsw.ef_search while the HNSW index is scanned')
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
AS $$ SELECT '0.2.1' $$;

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
              JOIN pg_roles r ON r.rolname = g.grantee
             WHERE g.tenant_id = asked::uuid AND pg_has_role(r.oid, 'USAGE')
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
    USING (EXISTS (SELECT FROM pg_catalog.pg_roles r
                    WHERE r.rolname = grantee AND pg_catalog.pg_has_role(r.oid, 'USAGE')));
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
ALTER TABLE pgmnemo.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON pgmnemo.posting
    USING (tenant_id = (SELECT pgmnemo.current_tenant()))
    WITH CHECK (tenant_id = (SELECT pgmnemo.current_tenant()));
GRANT SELECT, INSERT, UPDATE, DELETE ON pgmnemo.posting TO PUBLIC;
-- What a role may do is decided by its tenant grants: without one, every table is empty to it.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
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
    NEW.lexemes := to_tsvector(NEW.text_config::regconfig, concat_ws(E'\n', NEW.topic, NEW.content));
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
RETURNS TABLE (lesson_ids bigint[], frequencies smallint[], token_counts integer[], lesson_count integer, token_total bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT $1[s:s + 127], $2[s:s + 127], $3[s:s + 127], cardinality($1[s:s + 127]),
           (SELECT sum(n) FROM unnest($3[s:s + 127]) n)
      FROM generate_series(1, cardinality($1), 128) s
$$;
-- Appends the posting blocks of these active lessons of one tenant, ids ascending within each.
CREATE FUNCTION pgmnemo._add_postings(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH lists AS (
        SELECT l.project_id, u.lexeme, array_agg(l.id ORDER BY l.id) AS ids,
               array_agg(u.frequency ORDER BY l.id) AS frequencies,
               array_agg(l.token_count ORDER BY l.id) AS token_counts
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.id = ANY (ids) AND l.active
         GROUP BY l.project_id, u.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C"
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
                       array_agg(x.tokens) AS token_counts, count(*) AS lessons, sum(x.tokens) AS total
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
           lesson_count = t.lessons, token_total = t.total
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
CREATE FUNCTION pgmnemo._lesson_after_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(DISTINCT g.id), array_agg(DISTINCT x))
       FROM gone g
       LEFT JOIN written w USING (tenant_id, id)
       LEFT JOIN LATERAL unnest(tsvector_to_array(g.lexemes)) x ON true
      WHERE g.active AND (g.active, g.project_id, g.lexemes) IS DISTINCT FROM (w.active, w.project_id, w.lexemes)
      GROUP BY g.tenant_id, g.project_id;
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id))
       FROM written w
       LEFT JOIN gone g USING (tenant_id, id)
      WHERE w.active AND (g.active, g.project_id, g.lexemes) IS DISTINCT FROM (w.active, w.project_id, w.lexemes)
      GROUP BY w.tenant_id;
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
           AS i (project_id, external_id, content, embedding, r, t, importance, m, occurred_at, x, c, a, v, ordinal)
     CROSS JOIN LATERAL (SELECT CASE
                WHEN i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL
                THEN 'lacks project_id, external_id or content'
                WHEN octet_length(i.external_id) > 1000
                THEN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id))
                WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
                WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
                WHEN vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
                THEN 'must have an embedding with a norm from 1e-15 to 1e15' END) AS p (problem)
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
-- Projects of the set whose lessons belong in the HNSW index: their scope, these included, is past the exact
-- scan. A tenant is held to ten times a project's limit, so that many small projects stay out of the index.
CREATE FUNCTION pgmnemo._indexed_projects(tenant uuid, lessons pgmnemo.lesson_input[], exact_scan_limit bigint)
RETURNS uuid[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH held AS (
        SELECT p.project_id, sum(p.lesson_count) AS n
          FROM pgmnemo.posting p WHERE p.tenant_id = tenant AND p.lexeme = '' GROUP BY 1
    ), coming AS (
        SELECT i.project_id, count(*) AS n FROM unnest(lessons) i WHERE i.embedding IS NOT NULL GROUP BY 1
    )
    SELECT coalesce(array_agg(c.project_id), '{}')
      FROM coming c LEFT JOIN held h USING (project_id)
     WHERE c.n + coalesce(h.n, 0) > exact_scan_limit
        OR (SELECT sum(n) FROM held) > 10 * exact_scan_limit
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
               embedding, commit_sha, artifact_hash, verified_at, indexed)
        SELECT tenant, i.project_id, i.external_id, i.role, i.topic, i.content, coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.embedding, i.commit_sha, i.artifact_hash,
               i.verified_at, i.embedding IS NOT NULL AND i.project_id = ANY (large)
          FROM unnest(lessons) i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;

    IF cardinality(inserted) < cardinality(lessons) THEN
        SELECT array_agg(l.id), array_agg(CASE WHEN l.active THEN 'updated' ELSE 'restored' END) INTO changed, outcomes
          FROM pgmnemo.lesson l
          JOIN unnest(lessons) i USING (project_id, external_id)
         WHERE l.tenant_id = tenant
           AND (l.role, l.topic, l.content, l.importance, l.metadata, l.occurred_at, l.expires_at, l.embedding,
                l.commit_sha, l.artifact_hash, l.verified_at, l.active)
               IS DISTINCT FROM
               (i.role, i.topic, i.content, coalesce(i.importance, 3::smallint), coalesce(i.metadata, '{}'), i.occurred_at,
                i.expires_at, i.embedding, i.commit_sha, i.artifact_hash, i.verified_at, true);
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_postings(tenant);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = coalesce(i.importance, 3::smallint),
               metadata = coalesce(i.metadata, '{}'), occurred_at = i.occurred_at, expires_at = i.expires_at,
               embedding = i.embedding, commit_sha = i.commit_sha, artifact_hash = i.artifact_hash,
               verified_at = i.verified_at, active = true,
               indexed = i.embedding IS NOT NULL AND (l.indexed OR i.project_id = ANY (large))
          FROM unnest(lessons) i
         WHERE l.tenant_id = tenant AND l.id = ANY (changed)
           AND l.project_id = i.project_id AND l.external_id = i.external_id;
    END IF;

    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM unnest(lessons) WITH ORDINALITY
           AS i (project_id, external_id, c, e, r, t, m, d, o, x, s, a, v, ordinal)
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
    verified_at   timestamptz DEFAULT NULL
)
RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
    SELECT s.outcome FROM pgmnemo.store_lessons(ARRAY[ROW(
        project_id, external_id, content, pgmnemo._embedding(embedding), role, topic,
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at)::pgmnemo.lesson_input]) s
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'stores one lesson as store_lessons stores a set; returns inserted, unchanged, updated or restored. embedding is real[] or vector of 1,024 dimensions';
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
    UPDATE pgmnemo.lesson l SET indexed = true
     WHERE l.tenant_id = tenant AND l.embedding IS NOT NULL AND NOT l.indexed
       AND ((SELECT sum(h.n) FROM held h) > size_limit
            OR l.project_id IN (SELECT h.project_id FROM held h WHERE h.n > size_limit));
    GET DIAGNOSTICS entered = ROW_COUNT;
    RETURN entered;
END
$$;

COMMENT ON FUNCTION pgmnemo.index_lessons() IS 'brings lessons that were written before their project, or the whole tenant, grew beyond pgmnemo.exact_scan_limit into the HNSW index; returns how many. Worth it where the whole tenant is recalled from, or a project grew slowly';
CREATE FUNCTION pgmnemo._idf(lessons float8, holding float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ln(1 + (lessons - holding + 0.5) / (holding + 0.5)) $$;

COMMENT ON FUNCTION pgmnemo._idf(float8, float8) IS 'inverse document frequency, in nats, above 0: ln(1 + (N - n + 0.5) / (n + 0.5)), N lessons of which n hold the term';
-- Rounded to whole multiples of 2^-40 (1e-12), so that a sum below 8,192 is exact in any order: equal content
-- gives equal bits whatever the plan.
CREATE FUNCTION pgmnemo._bm25(idf float8, frequency float8, tokens float8, mean_tokens float8, k1 float8, b float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT round(1099511627776 * idf * frequency * (k1 + 1)
                 / (frequency + k1 * (1 - b + b * tokens / mean_tokens))) / 1099511627776
$$;

COMMENT ON FUNCTION pgmnemo._bm25(float8, float8, float8, float8, float8, float8) IS 'what one term adds to the BM25 of one lesson, from 0 to idf * (k1 + 1): idf * f * (k1 + 1) / (f + k1 * (1 - b + b * tokens / mean_tokens)), f times the term, to 1e-12';
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
CREATE FUNCTION pgmnemo._relevance(cosine float8, bm25 float8, cosine_weight float8, bm25_weight float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT cosine_weight * greatest(coalesce(cosine, 0), 0) + bm25_weight * coalesce(bm25, 0) $$;

COMMENT ON FUNCTION pgmnemo._relevance(float8, float8, float8, float8) IS 'what a lesson has to do with the question, 0 or more: cosine_weight * max(cosine, 0) + bm25_weight * BM25; a leg that was not asked adds 0';
CREATE FUNCTION pgmnemo._score(relevance float8, recency float8, importance float8, graph float8,
                               recency_weight float8, importance_weight float8, graph_weight float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT relevance + recency_weight * recency + importance_weight * importance + graph_weight * graph
$$;

COMMENT ON FUNCTION pgmnemo._score(float8, float8, float8, float8, float8, float8, float8) IS 'relevance + recency_weight * recency + importance_weight * importance + graph_weight * graph; from -importance_weight upwards, comparable within one question only';
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
-- What BM25 needs to know of the collection: number of active lessons, their mean length in tokens, and for
-- each term of the query that occurs at all its inverse document frequency.
CREATE FUNCTION pgmnemo._keyword_statistics(tenant uuid, first_project uuid, last_project uuid, query_terms text[])
RETURNS TABLE (lessons float8, mean_tokens float8, terms text[], idfs float8[])
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
AS $$
    WITH counts AS (
        SELECT p.lexeme, sum(p.lesson_count)::float8 AS lessons, sum(p.token_total)::float8 AS tokens
          FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.lexeme = ANY (query_terms || ''::text)
           AND p.project_id BETWEEN first_project AND last_project
         GROUP BY p.lexeme
    ), everything AS (
        SELECT c.lessons, greatest(c.tokens / c.lessons, 1) AS mean_tokens FROM counts c WHERE c.lexeme = ''
    )
    SELECT e.lessons, e.mean_tokens,
           array_agg(c.lexeme) FILTER (WHERE c.lexeme <> ''),
           array_agg(pgmnemo._idf(e.lessons, c.lessons)) FILTER (WHERE c.lexeme <> '')
      FROM everything e, counts c
     GROUP BY e.lessons, e.mean_tokens
$$;
-- BM25 of every active lesson in scope that holds a term.
CREATE FUNCTION pgmnemo._keyword_scores(tenant uuid, first_project uuid, last_project uuid, terms text[], idfs float8[],
                                        mean_tokens float8, k1 float8, b float8)
RETURNS TABLE (lesson_id bigint, bm25 float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.id, sum(pgmnemo._bm25(t.idf, x.frequency, x.tokens, mean_tokens, k1, b))
      FROM unnest(terms, idfs) AS t (term, idf)
      JOIN pgmnemo.posting p ON p.tenant_id = tenant AND p.lexeme = t.term
                            AND p.project_id BETWEEN first_project AND last_project
     CROSS JOIN LATERAL unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
     GROUP BY x.id
$$;
-- The lessons in scope that say most of the query's terms, at most `depth`, and the BM25 of those in `also`.
-- The best are looked up one by one from the top, because most of the lessons that hold a term are never shown.
-- Without enable_sort the planner sums up by hashing: it takes a few hundred postings for three, and would sort.
CREATE FUNCTION pgmnemo._keyword_leg(tenant uuid, first_project uuid, last_project uuid, query_text text, depth integer,
                                     also bigint[], s jsonb, asked_role text, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, bm25 float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
    query_terms text[] := tsvector_to_array(to_tsvector(pgmnemo._text_config(), query_text));
    whole_tenant boolean := s ->> 'statistics_scope' = 'tenant';
    gate text := s ->> 'gate_strict';
    seen record;
BEGIN
    IF query_text IS NULL THEN
        RETURN QUERY SELECT a.id, 0::float8 FROM unnest(also) AS a (id);
        RETURN;
    END IF;
    SELECT k.* INTO seen
      FROM pgmnemo._keyword_statistics(
               tenant,
               CASE WHEN whole_tenant THEN '00000000-0000-0000-0000-000000000000' ELSE first_project END,
               CASE WHEN whole_tenant THEN 'ffffffff-ffff-ffff-ffff-ffffffffffff' ELSE last_project END,
               query_terms) k;
    RETURN QUERY
    WITH words AS MATERIALIZED (
        SELECT w.lesson_id, w.bm25
          FROM pgmnemo._keyword_scores(tenant, first_project, last_project, seen.terms, seen.idfs, seen.mean_tokens,
                                       (s ->> 'bm25_k1')::float8, (s ->> 'bm25_b')::float8) w
    ), best AS (
        SELECT w.lesson_id, w.bm25
          FROM (SELECT * FROM words ORDER BY bm25 DESC OFFSET 0) w
         CROSS JOIN LATERAL (
                SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = tenant AND l.id = w.lesson_id
                   AND pgmnemo._recallable(l, asked_role, valid_time, gate) OFFSET 0) l
         ORDER BY w.bm25 DESC, l.external_id, l.project_id
         LIMIT depth
    )
    SELECT * FROM best
     UNION
    SELECT a.id, coalesce(w.bm25, 0) FROM unnest(also) AS a (id) LEFT JOIN words w ON w.lesson_id = a.id;
END
$$;
-- The most similar lessons in scope by exact cosine, whatever indexes exist.
CREATE FUNCTION pgmnemo._nearest_exact(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer,
                                       wanted_role text, valid_at timestamptz, gate text)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT n.id
      FROM (SELECT l.id, l.external_id, l.project_id, l.embedding <=> query AS distance
              FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.project_id BETWEEN first_project AND last_project
               AND l.embedding IS NOT NULL AND pgmnemo._recallable(l, wanted_role, valid_at, gate)
            OFFSET 0) n
     ORDER BY n.distance, n.external_id, n.project_id
     LIMIT depth
$$;
-- The same through the HNSW index, joined with an exact scan of the lessons written before their scope grew
-- large. Dynamic, so that the planner sees the limit and the scope: a generic plan may ignore the index.
CREATE FUNCTION pgmnemo._nearest_indexed(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer,
                                         wanted_role text, valid_at timestamptz, gate text, ef_search integer)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    ef_before text := current_setting('hnsw.ef_search', true);
    iterative_before text := current_setting('hnsw.iterative_scan', true);
BEGIN
    PERFORM set_config('hnsw.ef_search', ef_search::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true);
    RETURN QUERY EXECUTE
        'WITH graph AS MATERIALIZED (
             SELECT l.id, l.external_id, l.project_id, l.embedding <=> $4 AS distance
               FROM pgmnemo.lesson l
              WHERE l.indexed AND l.tenant_id = $1 AND l.project_id BETWEEN $2 AND $3
                AND pgmnemo._recallable(l, $6, $7, $8)
              ORDER BY l.embedding <=> $4
              LIMIT $5
         ), rest AS (
             SELECT l.id, l.external_id, l.project_id, l.embedding <=> $4 AS distance
               FROM pgmnemo.lesson l
              WHERE NOT l.indexed AND l.tenant_id = $1 AND l.project_id BETWEEN $2 AND $3
                AND l.embedding IS NOT NULL AND pgmnemo._recallable(l, $6, $7, $8)
         )
         SELECT n.id
           FROM (SELECT * FROM graph UNION ALL SELECT * FROM rest) n
          ORDER BY n.distance, n.external_id, n.project_id
          LIMIT $5'
        USING tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate;
    PERFORM set_config('hnsw.ef_search', ef_before, true), set_config('hnsw.iterative_scan', iterative_before, true);
END
$$;
-- The vector leg: exact where the scope is small, through the index where it is large. pgvector ends an index
-- scan after hnsw.max_scan_tuples, whatever a filter left of them: what comes back short is scanned exactly.
CREATE FUNCTION pgmnemo._nearest(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer, s jsonb,
                                 wanted_role text, valid_at timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    gate text := s ->> 'gate_strict';
    held bigint;
    found_ids bigint[];
BEGIN
    IF query IS NULL THEN
        RETURN '{}';
    END IF;
    SELECT coalesce(sum(p.lesson_count), 0) INTO held
      FROM pgmnemo.posting p
     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project;
    IF held > (s ->> 'exact_scan_limit')::float8 THEN
        found_ids := ARRAY(SELECT pgmnemo._nearest_indexed(
            tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate,
            (s ->> 'ef_search')::float8::integer));
        IF cardinality(found_ids) >= least(depth, held) THEN
            RETURN found_ids;
        END IF;
    END IF;
    RETURN ARRAY(SELECT pgmnemo._nearest_exact(
        tenant, first_project, last_project, query, depth, wanted_role, valid_at, gate));
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
-- Cosine, BM25 and their weighted sum for lessons of one tenant.
CREATE FUNCTION pgmnemo._relevances(tenant uuid, ids bigint[], bm25s float8[], asked vector,
                                    cosine_weight float8, bm25_weight float8)
RETURNS TABLE (lesson_id bigint, cosine float8, bm25 float8, relevance float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, c.cosine, p.bm25, pgmnemo._relevance(c.cosine, p.bm25, cosine_weight, bm25_weight)
      FROM unnest(ids, bm25s) AS p (id, bm25)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.id
     CROSS JOIN LATERAL (SELECT 1 - (l.embedding <=> asked) AS cosine OFFSET 0) c
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
                  JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = e.id
                 WHERE e.id <> f.seed AND pgmnemo._recallable(l, NULL, valid_at, gate)
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
-- Graph proximity of every lesson that an edge joins, directly or not, to one of the most relevant candidates.
CREATE FUNCTION pgmnemo._graph_leg(tenant uuid, ids bigint[], bm25s float8[], asked vector, s jsonb, valid_time timestamptz)
RETURNS TABLE (lesson_id bigint, graph float8)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
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
    SELECT array_agg(v.lesson_id), array_agg(v.relevance) INTO seeds, strengths
      FROM (SELECT v.lesson_id, v.relevance
              FROM pgmnemo._relevances(tenant, ids, bm25s, asked, (s ->> 'cosine_weight')::float8, (s ->> 'bm25_weight')::float8) v
              JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = v.lesson_id
             WHERE v.relevance > 0
             ORDER BY v.relevance DESC, l.external_id, l.project_id
             LIMIT (s ->> 'graph_seeds')::float8) v;
    RETURN QUERY
    SELECT g.lesson_id, max(g.graph)
      FROM pgmnemo._graph_proximity(tenant, seeds, strengths, (s ->> 'graph_depth')::float8::integer,
                                    (s ->> 'pool_depth')::float8::integer, valid_time, s ->> 'gate_strict') g
     GROUP BY g.lesson_id;
END
$$;
CREATE FUNCTION pgmnemo._check_recall(k integer, pool_depth integer, mode text, has_embedding boolean, has_text boolean,
                                      as_of timestamptz)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF k IS NULL OR k < 1 OR k > pool_depth THEN
        RAISE EXCEPTION 'k is %, but must be from 1 to % (pgmnemo.pool_depth)', coalesce(k::text, 'NULL'), pool_depth
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Ask for fewer lessons, or SET pgmnemo.pool_depth higher.';
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
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Every
-- statement has its index: a plan made while the tables were small must not read them whole once they are not.
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
    lesson_id   bigint,
    in_project  uuid,
    external_id text,
    said_by     text,
    topic       text,
    content     text,
    metadata    jsonb,
    occurred_at timestamptz,
    score       float8,
    cosine      float8,
    bm25        float8,
    recency     float8,
    importance  float8,
    graph       float8
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, @extschema:vector@, pg_temp
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    tenant uuid := pgmnemo._tenant();
    s jsonb := pgmnemo._settings();
    gate text := s ->> 'gate_strict';
    depth integer := (s ->> 'pool_depth')::float8;
    w_cosine float8 := s ->> 'cosine_weight';
    w_bm25 float8 := s ->> 'bm25_weight';
    first_project uuid := coalesce(recall_lessons.project_id, '00000000-0000-0000-0000-000000000000');
    last_project uuid := coalesce(recall_lessons.project_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
    moment timestamptz := coalesce(recall_lessons.as_of, now());
    asked vector := pgmnemo._embedding(recall_lessons.embedding);
    words text := recall_lessons.query_text;
    ids bigint[];
    bm25s float8[];
    linked bigint[];
    graphs float8[];
BEGIN
    PERFORM pgmnemo._check_recall(recall_lessons.k, depth, recall_lessons.mode, asked IS NOT NULL, words IS NOT NULL, moment);
    IF recall_lessons.mode = 'keyword' THEN
        asked := NULL;
    ELSIF recall_lessons.mode = 'vector' THEN
        words := NULL;
    END IF;

    -- candidates: the union of both legs, filled up so that a scope that holds k lessons returns k
    ids := pgmnemo._nearest(
        tenant, first_project, last_project, asked, depth, s, recall_lessons.role, recall_lessons.valid_at);
    SELECT coalesce(array_agg(w.lesson_id), '{}'), coalesce(array_agg(w.bm25), '{}') INTO ids, bm25s
      FROM pgmnemo._keyword_leg(
        tenant, first_project, last_project, words, depth, ids, s, recall_lessons.role, recall_lessons.valid_at) w;
    IF cardinality(ids) < depth THEN
        ids := ids || ARRAY(SELECT pgmnemo._fill(
            tenant, first_project, last_project, ids, depth - cardinality(ids),
            recall_lessons.role, recall_lessons.valid_at, gate));
    END IF;

    -- relevance flows from the best of them along edges, to lessons that no leg found as well
    SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
      FROM pgmnemo._graph_leg(tenant, ids, bm25s, asked, s, recall_lessons.valid_at) g;
    IF NOT linked <@ ids THEN
        SELECT ids || array_agg(w.lesson_id), bm25s || array_fill(0::float8, ARRAY[cardinality(ids) - cardinality(bm25s)])
               || array_agg(w.bm25) INTO ids, bm25s
          FROM pgmnemo._keyword_leg(
            tenant, first_project, last_project, words, 0,
            ARRAY(SELECT l.id FROM pgmnemo.lesson l
                   WHERE l.tenant_id = tenant AND l.id = ANY (linked) AND l.id <> ALL (ids)
                     AND l.project_id BETWEEN first_project AND last_project
                     AND pgmnemo._recallable(l, recall_lessons.role, recall_lessons.valid_at, gate)),
            s, recall_lessons.role, recall_lessons.valid_at) w;
    END IF;

    RETURN QUERY
    SELECT l.id, l.project_id, l.external_id, l.role, l.topic, l.content, l.metadata, l.occurred_at,
           r.score, r.cosine, r.bm25, r.recency, r.importance, r.graph
      FROM (SELECT v.lesson_id, v.cosine, CASE WHEN words IS NOT NULL THEN coalesce(v.bm25, 0) END AS bm25,
                   c.recency, c.importance, c.graph,
                   pgmnemo._score(v.relevance, c.recency, c.importance, c.graph, (s ->> 'recency_weight')::float8,
                                  (s ->> 'importance_weight')::float8, (s ->> 'graph_weight')::float8) AS score
              FROM pgmnemo._relevances(tenant, ids, bm25s, asked, w_cosine, w_bm25) v
              JOIN pgmnemo.lesson d ON d.tenant_id = tenant AND d.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id
             CROSS JOIN LATERAL (
                    SELECT pgmnemo._recency(moment, coalesce(d.occurred_at, d.stored_at), (s ->> 'recency_half_life')::float8),
                           pgmnemo._importance(d.importance), coalesce(g.graph, 0) OFFSET 0) AS c (recency, importance, graph)
             ORDER BY score DESC, d.external_id, d.project_id
             LIMIT recall_lessons.k) r
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = r.lesson_id
     ORDER BY r.score DESC, l.external_id, l.project_id;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'the k lessons with the highest score, ties by external id in C order, with the components of the score:
score = cosine_weight * max(cosine, 0) + bm25_weight * bm25 + recency_weight * recency + importance_weight * importance + graph_weight * graph (the weights are the settings pgmnemo.*; at their defaults 1.5, 1, 0.10, 0.10, 1);
cosine: cosine similarity of the embeddings, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._bm25, pgmnemo._idf), NULL without query_text or in mode vector;
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
embedding: real[] or vector of 1,024; k: 1 to pool_depth; project_id NULL: the whole tenant; as_of NULL: now; valid_at: only what had happened and had not expired then; role: only lessons of that role; mode: hybrid, vector or keyword.
Candidates are the pool_depth best of each leg and what the graph adds, filled up so that a scope that holds k lessons returns k.';
-- What pg_dump takes along. Postings are not dumped: the triggers build them anew from the lessons.
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant_grant', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_edge', '');
