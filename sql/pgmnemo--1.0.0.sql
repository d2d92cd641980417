\echo Use "CREATE EXTENSION pgmnemo" to load this file. \quit
-- Nothing in pgvector's schema, where others may create, is to run in place of what pg_catalog has: each name of this
-- script is one of pg_catalog or has its schema. PostgreSQL shows no NOTICE of a script, so what is to be known is a
-- WARNING.
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- Whoever owns the schema can put objects of his own into it and drop ours. So it must be empty, and the creator's:
-- a superuser takes over an empty one, for a dump brings the schema before the extension.
DO $$
DECLARE
    keeper name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pgmnemo');
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace)
       OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace)
       OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace) THEN
        RAISE EXCEPTION 'schema pgmnemo holds objects of others, and they would run in place of ours'
        USING ERRCODE = 'duplicate_object',
              HINT = 'Look at them with \df pgmnemo.* and \d pgmnemo.*, then drop or move them.';
    ELSIF keeper = current_user THEN
        NULL;
    ELSIF (SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        ALTER SCHEMA pgmnemo OWNER TO CURRENT_USER;
    ELSE
        RAISE EXCEPTION 'schema pgmnemo belongs to role %, who could replace what is in it', quote_ident(keeper)
        USING ERRCODE = 'insufficient_privilege',
              HINT = format('DROP SCHEMA pgmnemo, or ALTER SCHEMA pgmnemo OWNER TO %I, and try again.', current_user);
    END IF;
    IF (SELECT r.rolsuper OR r.rolbypassrls FROM pg_catalog.pg_roles r WHERE r.rolname = current_user) THEN
        RAISE WARNING 'the extension is owned by %, whom no row-level security binds: only the verbs '
                      'then keep tenants apart',
              quote_ident(current_user)
        USING HINT = 'For two walls, SET ROLE to an ordinary role that may create in this database, and create it '
                     'there.';
    END IF;
END
$$;
-- Rights that the owner's default privileges, or a former owner, gave on the schema are not ours.
DO $$
DECLARE
    other oid;
BEGIN
    REVOKE CREATE ON SCHEMA pgmnemo FROM PUBLIC;
    FOR other IN
        SELECT DISTINCT a.grantee FROM pg_namespace n, aclexplode(n.nspacl) a
         WHERE n.nspname = 'pgmnemo' AND a.grantee NOT IN (0, n.nspowner)
    LOOP
        EXECUTE format('REVOKE CREATE ON SCHEMA pgmnemo FROM %I CASCADE', pg_get_userbyid(other));
    END LOOP;
END
$$;
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
CREATE TYPE pgmnemo.caller AS (
    name  name,
    proof bytea
);

COMMENT ON TYPE pgmnemo.caller IS 'who calls a verb: a role, and the proof that it is the one that runs (pgmnemo.calling)';
-- A lesson that may be among the answers, with all that its score is made of.
CREATE TYPE pgmnemo.candidate AS (
    lesson_id      bigint,
    project_id     uuid,
    external_id    text COLLATE "C",
    occurred_at    timestamptz,
    place          integer,
    words          integer,
    assistant      boolean,
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
    coverage       float8,
    center         float8,
    mark           bigint,
    repeats        boolean,
    share          float8
);

COMMENT ON TYPE pgmnemo.candidate IS 'components as pgmnemo.recall returns them, and what context and neighbours go by: place is lesson.position, words lesson.token_count, assistant whether lesson.role says so; coverage: the share that the words count with (pgmnemo._coverage); center: the cosine that it would have if question and lesson were unrelated (pgmnemo._center); mark: pgmnemo._words_mark, NULL where equal lessons are hits of their own; repeats: it is the question itself (pgmnemo._repeats_question); share: what its own relevance counts with (pgmnemo._share)';
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
CREATE TYPE pgmnemo.lesson_input AS (
    project_id         uuid,
    external_id        text,
    content            text,
    embedding          @extschema:vector@.vector,
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
    passage_embeddings @extschema:vector@.vector[],
    position           integer,
    language           text
);

COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson, the texts and vectors of its passages, and the language of its text (auto, a text search configuration or a code of ISO 639; NULL: the session''s pgmnemo.text_config); the first three are required; of a lesson that is there already what is NULL stays; of a new one importance NULL is 3 and metadata NULL {}';
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
    pivot     float8,
    direction @extschema:vector@.halfvec,
    since     timestamptz[],
    until     timestamptz[],
    ideal     float8,
    share     float8,
    listed    bigint[],
    tops      float8[],
    generation smallint,
    graph     text,
    reach     float8,
    center    float8,
    brevity   float8,
    repeated  text[],
    common    @extschema:vector@.halfvec,
    commonness float8,
    collapse  boolean,
    configs   regconfig[]
);

COMMENT ON TYPE pgmnemo.question IS 'held: active lessons in scope; terms: lexemes of the question that occur, rarest first, and for each a tsquery, its idf, its scale (pgmnemo._impact), the most that it can add to a BM25 in scope (units of 2^-40) of a lesson that no piece holds, the lessons in scope that hold it, how many of those are in postings, and the most that it can add to one that a piece holds (0: none does); flat, per_token, pivot: see pgmnemo._impact; direction: the embedding at unit length, of as many dimensions as the tenant''s; generation: which vectors it is compared with, and graph: which table holds them as a graph (NULL: none); since, until: the intervals that it names; ideal: see pgmnemo._fit; share: what fitting these intervals counts for; reach: the score of a lesson that holds every word of the question; brevity: see pgmnemo._brevity; center: the cosine of unrelated texts; common, commonness: direction and length of the mean of their vectors (all three of pgmnemo._against_background, NULL: no vector to compare with); repeated: the lexemes of which a lesson that is the question itself has no other (NULL: none is taken for it); collapse: equal lessons are one hit; configs: what lessons of the tenant were cut by (pgmnemo._tenant_configs), NULL: the question is blank';
-- Where a recall looks, and which lessons it may answer with: the same in every leg.
CREATE TYPE pgmnemo.scope AS (
    tenant        uuid,
    first_project uuid,
    last_project  uuid,
    gate          text,
    role          text,
    valid_at      timestamptz,
    moment        timestamptz,
    known_at      timestamptz,
    filtered      boolean,
    ids           bigint[],
    filter        pgmnemo.filter,
    everything    boolean,
    plain         boolean,
    ended         int8multirange
);

COMMENT ON TYPE pgmnemo.scope IS 'a recall''s tenant, its projects as an interval (one, or all), pgmnemo.gate_strict, the role and the moment that were asked for (NULL: any); moment: when a lesson must not have expired or been superseded; known_at: what was known then (NULL: now); filtered: whether filter says anything; ids: the lessons that it leaves, where those are few (NULL: not told); everything: whatever is kept, forgotten, superseded, expired and hidden lessons, too; plain: none of role, valid_at, gate, known_at and filter leaves any out; ended: the lessons that known_at leaves out as superseded (NULL: not told)';
CREATE TYPE pgmnemo.settings AS (
    gate_strict           text,
    text_config           text,
    statistics_scope      text,
    bm25_k1               float8,
    bm25_b                float8,
    length_pivot          float8,
    bm25_weight           float8,
    passage_terms_weight  float8,
    passage_term_bonus    float8,
    passage_cosine_weight float8,
    pair_cosine_weight    float8,
    cosine_weight         float8,
    temporal_weight       float8,
    context_weight        float8,
    assistant_weight      float8,
    neighbours_weight     float8,
    neighbours_half_length float8,
    neighbours_seeds      integer,
    recency_weight        float8,
    recency_half_life     float8,
    importance_weight     float8,
    graph_weight          float8,
    graph_depth           integer,
    graph_seeds           integer,
    pool_depth            integer,
    exact_scan_limit      integer,
    ef_search             integer,
    vector_recall         float8,
    time_zone             text,
    full_coverage         float8,
    question_weight       float8
);

COMMENT ON TYPE pgmnemo.settings IS 'the settings of the same names (pgmnemo.list_settings), checked and typed';
-- What a caller's proof is made with; new in every database, in no dump, and read by the extension's owner alone.
CREATE TABLE pgmnemo.caller_key (
    key bytea NOT NULL CHECK (length(key) = 32)
);
INSERT INTO pgmnemo.caller_key VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

COMMENT ON TABLE pgmnemo.caller_key IS 'one row: the secret of this database that callers are proved with (pgmnemo.calling)';
COMMENT ON COLUMN pgmnemo.caller_key.key IS '32 random bytes';
-- A row comes with a tenant's first vector. Whoever writes vectors holds it FOR KEY SHARE to the end of his
-- transaction, so that nobody else takes the dimension away meanwhile, or lets other vectors serve.
CREATE TABLE pgmnemo.embedding_space (
    tenant_id       uuid     PRIMARY KEY,
    generation      smallint NOT NULL,
    dimensions      integer  NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    embedder        text     CHECK (octet_length(embedder) BETWEEN 1 AND 1000),
    next_generation smallint CHECK (next_generation <> generation),
    next_dimensions integer  CHECK (next_dimensions BETWEEN 1 AND 4000),
    next_embedder   text     CHECK (octet_length(next_embedder) BETWEEN 1 AND 1000),
    CHECK ((next_generation IS NULL) = (next_dimensions IS NULL)),
    CHECK (next_generation IS NOT NULL OR next_embedder IS NULL)
);

COMMENT ON TABLE pgmnemo.embedding_space IS 'of which dimension a tenant''s vectors are, and which of them serve; written by the verbs';
COMMENT ON COLUMN pgmnemo.embedding_space.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.embedding_space.generation IS 'pgmnemo.lesson_vector.generation of those that serve';
COMMENT ON COLUMN pgmnemo.embedding_space.dimensions IS 'their dimension, 1 to 4,000';
COMMENT ON COLUMN pgmnemo.embedding_space.embedder IS 'what made them, by the name that pgmnemo.set_embedder or pgmnemo.begin_reembedding gave; NULL: nobody said';
COMMENT ON COLUMN pgmnemo.embedding_space.next_generation IS 'while another embedder makes them anew: the generation that is being filled; NULL: none is';
COMMENT ON COLUMN pgmnemo.embedding_space.next_dimensions IS 'the dimension of that generation';
COMMENT ON COLUMN pgmnemo.embedding_space.next_embedder IS 'what makes that generation';
-- No name is used twice: an old snapshot that knows the name of a graph finds that one or none.
CREATE SEQUENCE pgmnemo.graph_seq;

COMMENT ON SEQUENCE pgmnemo.graph_seq IS 'numbers of the tables pgmnemo.graph_<number> (pgmnemo.vector_graph)';
-- One row a memory. Its vectors stand in pgmnemo.lesson_vector, so that rows are narrow and many share a page.
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
    position      integer,
    superseded_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, project_id, external_id)
);

COMMENT ON TABLE pgmnemo.lesson IS 'memories, one a row; a role reaches those of its tenants, by the verbs and the view pgmnemo.lessons';
COMMENT ON COLUMN pgmnemo.lesson.id IS 'number within the database; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.lesson.tenant_id IS 'the tenant whose row this is; row-level security goes by it';
COMMENT ON COLUMN pgmnemo.lesson.project_id IS 'the project in the tenant: what recall_lessons searches by project_id';
COMMENT ON COLUMN pgmnemo.lesson.external_id IS 'the writer''s key, unique in tenant and project, 1 to 1000 bytes; breaks ties in C order; in Unicode''s composed form (pgmnemo._composed), as role and topic are';
COMMENT ON COLUMN pgmnemo.lesson.role IS 'who the lesson is from or for; recall_lessons can ask for one role';
COMMENT ON COLUMN pgmnemo.lesson.topic IS 'a title; its words count as words of the content';
COMMENT ON COLUMN pgmnemo.lesson.content IS 'the text itself';
COMMENT ON COLUMN pgmnemo.lesson.importance IS '1 (trifling) to 5 (vital); 3 adds nothing to the score';
COMMENT ON COLUMN pgmnemo.lesson.metadata IS 'anything; handed back by recall; filters ask it';
COMMENT ON COLUMN pgmnemo.lesson.occurred_at IS 'when it happened: the age of recency counts from here, else from stored_at';
COMMENT ON COLUMN pgmnemo.lesson.stored_at IS 'when it was first stored';
COMMENT ON COLUMN pgmnemo.lesson.expires_at IS 'from when on it is no longer recalled, unless an earlier time is asked for; NULL: never';
COMMENT ON COLUMN pgmnemo.lesson.commit_sha IS 'provenance: the commit that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.artifact_hash IS 'provenance: hash of the artefact that it comes from';
COMMENT ON COLUMN pgmnemo.lesson.verified_at IS 'when somebody last checked it';
COMMENT ON COLUMN pgmnemo.lesson.active IS 'false once softly forgotten: out of recall and out of the statistics';
COMMENT ON COLUMN pgmnemo.lesson.text_config IS 'text search configuration that lexemes was made with; derived from pgmnemo.text_config when the text is written';
COMMENT ON COLUMN pgmnemo.lesson.lexemes IS 'pgmnemo._lexemes of topic and content; derived, whatever is written to it';
COMMENT ON COLUMN pgmnemo.lesson.token_count IS 'length for BM25: positions in lexemes; derived';
COMMENT ON COLUMN pgmnemo.lesson.position IS 'place in the order of the project''s conversation: the lessons at the places before and after are its neighbours; leave a gap where a session ends; NULL: it has none';
COMMENT ON COLUMN pgmnemo.lesson.superseded_at IS 'from when on another holds in its place: pgmnemo.supersession.valid_from of the one that was not undone; NULL: none does';
-- Tells which configurations the lessons of a tenant were cut by, a probe for each.
CREATE INDEX lesson_config ON pgmnemo.lesson (tenant_id, text_config COLLATE "C");
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
-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it. In the order in which the first
-- edges of a lesson are taken.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id, source_id, kind);
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
-- Finds those that have expired.
CREATE INDEX lesson_expiry ON pgmnemo.lesson (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
-- Finds lessons by when they happened. CASE, where coalesce would do: only of that row-level security knows that it
-- tells nobody what it was given, and lets it search an index.
CREATE INDEX lesson_happened ON pgmnemo.lesson
    (tenant_id, (CASE WHEN occurred_at IS NULL THEN stored_at ELSE occurred_at END));
-- Finds a lesson's neighbours: the first few of a place without the others.
CREATE INDEX lesson_position ON pgmnemo.lesson (tenant_id, project_id, position, id) WHERE position IS NOT NULL;
-- Finds lessons by topic. An index holds no long one; of those there are few.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE octet_length(topic) <= 500;
-- Finds the lessons whose topic pgmnemo.lesson_topic leaves out.
CREATE INDEX lesson_topic_long ON pgmnemo.lesson (tenant_id) WHERE octet_length(topic) > 500;
-- Tells at once whether pgmnemo.gate_strict hides anything.
CREATE INDEX lesson_unproven ON pgmnemo.lesson (tenant_id, project_id)
    WHERE active AND commit_sha IS NULL AND artifact_hash IS NULL;
-- What lessons and their passages mean. The key leads by the lesson, for whoever has one; lesson_vector_scope by where
-- to look. The widest vector fills a page: no row is ever moved out of line.
CREATE TABLE pgmnemo.lesson_vector (
    tenant_id  uuid     NOT NULL,
    generation smallint NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 0),
    indexed    boolean  NOT NULL DEFAULT false,
    embedding  @extschema:vector@.halfvec STORAGE PLAIN NOT NULL
               CONSTRAINT lesson_vector_norm_check CHECK (@extschema:vector@.l2_norm(embedding) BETWEEN 0.99 AND 1.01),
    PRIMARY KEY (tenant_id, lesson_id, generation, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE
);

COMMENT ON TABLE pgmnemo.lesson_vector IS 'the vectors of lessons and passages, all that one generation of a tenant holds of one dimension (pgmnemo.embedding_space); written by the verbs';
COMMENT ON COLUMN pgmnemo.lesson_vector.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_vector.generation IS 'the embedder that made it: pgmnemo.embedding_space.generation is the one that serves';
COMMENT ON COLUMN pgmnemo.lesson_vector.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.lesson_vector.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.lesson_vector.number IS '0: the lesson as a whole; from 1: the passage of that number';
COMMENT ON COLUMN pgmnemo.lesson_vector.indexed IS 'whether the tenant''s graph holds it, too (pgmnemo.vector_graph); otherwise it is scanned';
COMMENT ON COLUMN pgmnemo.lesson_vector.embedding IS 'unit length, half precision, of the tenant''s dimension';
-- Small scopes and tails are scanned here, without the table: the vectors of a tenant, and within it of a project,
-- stand together whatever order they came in. A tuple of an index holds some 1,300 dimensions.
CREATE INDEX lesson_vector_scope ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    INCLUDE (embedding)
    WHERE NOT indexed AND @extschema:vector@.vector_dims(embedding) <= 1250;
CREATE INDEX lesson_vector_scope_wide ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    WHERE NOT indexed AND @extschema:vector@.vector_dims(embedding) > 1250;
-- What a graph holds, where a scope of the tenant is small.
CREATE INDEX lesson_vector_scope_indexed ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    WHERE indexed;
-- The parts of a lesson's text that are searched one by one. Their vectors stand in pgmnemo.lesson_vector.
CREATE TABLE pgmnemo.passage (
    tenant_id  uuid     NOT NULL,
    project_id uuid     NOT NULL,
    lesson_id  bigint   NOT NULL,
    number     smallint NOT NULL CHECK (number >= 1),
    content    text     NOT NULL,
    lexemes    tsvector NOT NULL,
    PRIMARY KEY (tenant_id, lesson_id, number),
    FOREIGN KEY (tenant_id, lesson_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE
);

COMMENT ON TABLE pgmnemo.passage IS 'the parts of lessons'' texts that are searched one by one; written by the verbs';
COMMENT ON COLUMN pgmnemo.passage.tenant_id IS 'the tenant of the lesson';
COMMENT ON COLUMN pgmnemo.passage.project_id IS 'the project of the lesson';
COMMENT ON COLUMN pgmnemo.passage.lesson_id IS 'lesson.id that it belongs to; gone with it';
COMMENT ON COLUMN pgmnemo.passage.number IS 'from 1: the passages of a lesson in order';
COMMENT ON COLUMN pgmnemo.passage.content IS 'the text of the passage';
COMMENT ON COLUMN pgmnemo.passage.lexemes IS 'pgmnemo._lexemes of the text';
-- The keyword index as pgmnemo.compact seals it: of a large tenant, pieces of some thousand lessons, in which a lesson
-- is a bit. A piece is never changed: who changes or forgets a lesson of it takes it back by negative postings, and
-- compact makes a piece of which much was taken back anew.
CREATE TABLE pgmnemo.piece (
    tenant_id    uuid    NOT NULL,
    number       bigint  NOT NULL,
    lesson_count integer NOT NULL,
    token_total  bigint  NOT NULL,
    zeros        varbit  STORAGE MAIN NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

COMMENT ON TABLE pgmnemo.piece IS 'the sealed parts of the keyword index, made by pgmnemo.compact';
COMMENT ON COLUMN pgmnemo.piece.tenant_id IS 'the tenant of its lessons';
COMMENT ON COLUMN pgmnemo.piece.number IS 'the least lesson.id in it: no other piece holds that';
COMMENT ON COLUMN pgmnemo.piece.lesson_count IS 'how many lessons it was made of: their places are 0 and up, by project and id';
COMMENT ON COLUMN pgmnemo.piece.token_total IS 'sum of their lesson.token_count';
COMMENT ON COLUMN pgmnemo.piece.zeros IS 'a bitmap with a bit for each place, none set: made once, for to make one of text takes long';
CREATE TABLE pgmnemo.piece_lesson (
    tenant_id    uuid      NOT NULL,
    piece        bigint    NOT NULL,
    row_number   integer   NOT NULL,
    lesson_ids   bigint[]  STORAGE PLAIN NOT NULL,
    token_counts integer[] STORAGE PLAIN NOT NULL,
    PRIMARY KEY (tenant_id, piece, row_number)
);

COMMENT ON TABLE pgmnemo.piece_lesson IS 'which lesson stands at which place of a piece';
COMMENT ON COLUMN pgmnemo.piece_lesson.tenant_id IS 'the tenant of the piece';
COMMENT ON COLUMN pgmnemo.piece_lesson.piece IS 'piece.number';
COMMENT ON COLUMN pgmnemo.piece_lesson.row_number IS 'place / 128';
COMMENT ON COLUMN pgmnemo.piece_lesson.lesson_ids IS 'lesson.id of 128 places, the last row''s of as many as are left';
COMMENT ON COLUMN pgmnemo.piece_lesson.token_counts IS 'for each of them lesson.token_count';
CREATE TABLE pgmnemo.piece_project (
    tenant_id    uuid    NOT NULL,
    project_id   uuid    NOT NULL,
    piece        bigint  NOT NULL,
    first_place  integer NOT NULL,
    lesson_count integer NOT NULL,
    token_total  bigint  NOT NULL,
    PRIMARY KEY (tenant_id, project_id, piece)
);

COMMENT ON TABLE pgmnemo.piece_project IS 'at which places of a piece the lessons of a project stand';
COMMENT ON COLUMN pgmnemo.piece_project.tenant_id IS 'the tenant of the piece';
COMMENT ON COLUMN pgmnemo.piece_project.project_id IS 'the project';
COMMENT ON COLUMN pgmnemo.piece_project.piece IS 'piece.number';
COMMENT ON COLUMN pgmnemo.piece_project.first_place IS 'the place of its first lesson; the others follow';
COMMENT ON COLUMN pgmnemo.piece_project.lesson_count IS 'how many they are';
COMMENT ON COLUMN pgmnemo.piece_project.token_total IS 'sum of their lesson.token_count';
-- Few places are listed, many are bits. Storage main: none is moved out of its row.
CREATE TABLE pgmnemo.piece_term (
    tenant_id     uuid     NOT NULL,
    lexeme        text     COLLATE "C" NOT NULL,
    piece         bigint   NOT NULL,
    lesson_count  integer  NOT NULL,
    max_frequency smallint NOT NULL,
    min_tokens    integer  NOT NULL,
    holders       varbit   STORAGE MAIN,
    held_at       smallint[],
    repeaters     varbit   STORAGE MAIN,
    repeated_at   smallint[],
    frequencies   smallint[] STORAGE MAIN,
    PRIMARY KEY (tenant_id, lexeme, piece),
    CHECK (num_nonnulls(holders, held_at) = 1),
    CHECK (num_nonnulls(repeaters, repeated_at) = num_nonnulls(frequencies))
);

COMMENT ON TABLE pgmnemo.piece_term IS 'which lessons of a piece hold a lexeme, and how often';
COMMENT ON COLUMN pgmnemo.piece_term.tenant_id IS 'the tenant of the piece';
COMMENT ON COLUMN pgmnemo.piece_term.lexeme IS 'the term';
COMMENT ON COLUMN pgmnemo.piece_term.piece IS 'piece.number';
COMMENT ON COLUMN pgmnemo.piece_term.lesson_count IS 'how many lessons hold it';
COMMENT ON COLUMN pgmnemo.piece_term.max_frequency IS 'how often the one does that holds it most often';
COMMENT ON COLUMN pgmnemo.piece_term.min_tokens IS 'least lesson.token_count of those that hold it';
COMMENT ON COLUMN pgmnemo.piece_term.holders IS 'a bit for each place of the piece: whether the lesson there holds the term; NULL: held_at says it';
COMMENT ON COLUMN pgmnemo.piece_term.held_at IS 'the places themselves, ascending, where they are few';
COMMENT ON COLUMN pgmnemo.piece_term.repeaters IS 'likewise, whether it holds it more than once; NULL: repeated_at says it, or none does';
COMMENT ON COLUMN pgmnemo.piece_term.repeated_at IS 'those places themselves, ascending, where they are few';
COMMENT ON COLUMN pgmnemo.piece_term.frequencies IS 'how often each of the repeaters holds it, in the order of their places';
-- The keyword index as writers keep it: for each lexeme of a project, blocks of at most 128 active lessons that hold
-- it. Statistics are sums over these rows and pieces, so they are as true as any other row is under MVCC: a writer
-- appends blocks and waits for nobody. The empty lexeme stands for "every active lesson": its blocks give the number
-- of lessons and their total length. The extremes bound what a block can add to any score. A block whose numbers are
-- negative takes lessons back that a piece holds (pgmnemo.piece_term).
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
    min_tokens    integer    NOT NULL,
    first_id      bigint     NOT NULL
);

COMMENT ON TABLE pgmnemo.posting IS 'the keyword index of what no piece holds yet, kept by triggers on pgmnemo.lesson: read it, but never write it';
COMMENT ON COLUMN pgmnemo.posting.tenant_id IS 'the tenant of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.project_id IS 'the project of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.lexeme IS 'the term; empty in the blocks that list every active lesson';
COMMENT ON COLUMN pgmnemo.posting.lesson_ids IS 'lesson.id of 1 to 128 active lessons that hold the term, ascending; where lesson_count is negative, of lessons that no longer are what a piece says';
COMMENT ON COLUMN pgmnemo.posting.frequencies IS 'for each of them how often it holds the term (0 in blocks of the empty lexeme)';
COMMENT ON COLUMN pgmnemo.posting.token_counts IS 'for each of them lesson.token_count';
COMMENT ON COLUMN pgmnemo.posting.lesson_count IS 'how many they are; negative: so many fewer than pieces say';
COMMENT ON COLUMN pgmnemo.posting.token_total IS 'sum of token_counts, with the sign of lesson_count';
COMMENT ON COLUMN pgmnemo.posting.max_frequency IS 'greatest of frequencies';
COMMENT ON COLUMN pgmnemo.posting.min_tokens IS 'least of token_counts';
COMMENT ON COLUMN pgmnemo.posting.first_id IS 'lesson_ids[1], with the sign of lesson_count: no two blocks of a list begin alike';
-- Covers what statistics sum up, so that they need not read the blocks.
ALTER TABLE pgmnemo.posting ADD PRIMARY KEY (tenant_id, lexeme, project_id, first_id)
    INCLUDE (lesson_count, token_total, max_frequency, min_tokens);
-- Finds the lessons that are taken back.
CREATE INDEX posting_gone ON pgmnemo.posting (tenant_id) WHERE lesson_count < 0 AND lexeme = '';
-- The transaction of the last pgmnemo.revoke_tenant: a sequence, because its value shows at once, whatever snapshot a
-- reader has (pgmnemo._check_revoked).
CREATE SEQUENCE pgmnemo.revocation_seq;

COMMENT ON SEQUENCE pgmnemo.revocation_seq IS 'number of the transaction that last revoked a grant; in no dump';
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
-- A row to lock: whoever takes out or merges postings of a tenant holds it to the end of the transaction. Nobody but
-- the verbs reaches it, so no login can hold up another tenant's writers.
CREATE TABLE pgmnemo.tenant (
    tenant_id uuid PRIMARY KEY,
    language  text
);

COMMENT ON TABLE pgmnemo.tenant IS 'one row for each tenant whose lessons were ever changed, or that has a language; its lock orders the tenant''s writers';
COMMENT ON COLUMN pgmnemo.tenant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant.language IS 'the language of texts that are written without one, as pgmnemo.set_language was given it: a text search configuration, or auto: and the one for texts whose language is not recognized; NULL: auto';
-- Only the extension's owner writes here. By role, so that a renamed one keeps its grants and its old name carries
-- none; a dump writes the role's name.
CREATE TABLE pgmnemo.tenant_grant (
    tenant_id  uuid        NOT NULL,
    grantee    regrole     NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    granted_by name        NOT NULL DEFAULT current_user,
    PRIMARY KEY (tenant_id, grantee)
);

COMMENT ON TABLE pgmnemo.tenant_grant IS 'which role reaches which tenant; written by the extension''s owner alone';
COMMENT ON COLUMN pgmnemo.tenant_grant.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.tenant_grant.grantee IS 'the role that reaches it, and so do the members that inherit from it';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_at IS 'when it was granted';
COMMENT ON COLUMN pgmnemo.tenant_grant.granted_by IS 'the role that granted it';
-- What the last call of pgmnemo.upkeep left. One row from the beginning: of two calls at once the later leaves it as it
-- is, and does not wait.
CREATE TABLE pgmnemo.upkeep_run (
    began           timestamptz,
    seconds         float8  NOT NULL,
    merged          timestamptz,
    vectors_waiting bigint  NOT NULL,
    blocks_waiting  bigint  NOT NULL,
    "left"          bigint  NOT NULL,
    skipped         integer NOT NULL
);
INSERT INTO pgmnemo.upkeep_run VALUES (NULL, 0, NULL, 0, 0, 0, 0);

COMMENT ON TABLE pgmnemo.upkeep_run IS 'one row: what the last call of pgmnemo.upkeep left; pgmnemo.health shows it';
COMMENT ON COLUMN pgmnemo.upkeep_run.began IS 'when it began; NULL where there was none';
COMMENT ON COLUMN pgmnemo.upkeep_run.seconds IS 'how long it took';
COMMENT ON COLUMN pgmnemo.upkeep_run.merged IS 'when a call last brought vectors into an HNSW index or compacted a tenant';
COMMENT ON COLUMN pgmnemo.upkeep_run.vectors_waiting IS 'vectors of large tenants that were outside their HNSW index';
COMMENT ON COLUMN pgmnemo.upkeep_run.blocks_waiting IS 'small blocks of lessons that single writes had left and no compaction had merged';
COMMENT ON COLUMN pgmnemo.upkeep_run."left" IS 'what it returned: of these vectors and blocks those that are due';
COMMENT ON COLUMN pgmnemo.upkeep_run.skipped IS 'tenants that were due and stayed as they were: their writers held them, or a WARNING in the log says why';
-- Which tenants have an HNSW index, each of its own vectors alone: a search passes whatever is in one, and PostgreSQL
-- counts for everybody the rows and pages that a call met. The graph is a table, a copy of the tenant's rows of
-- pgmnemo.lesson_vector that are marked as indexed; it may be dropped at any time, and whoever merges makes it anew.
-- The row is locked by who merges, and never waited for.
CREATE TABLE pgmnemo.vector_graph (
    tenant_id  uuid     NOT NULL,
    generation smallint NOT NULL,
    name       name     NOT NULL,
    behind     boolean  NOT NULL DEFAULT false,
    built      boolean  NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, generation)
);

COMMENT ON TABLE pgmnemo.vector_graph IS 'the tenants whose vectors are more than pgmnemo.exact_scan_limit, and where each one''s HNSW index is';
COMMENT ON COLUMN pgmnemo.vector_graph.tenant_id IS 'the tenant';
COMMENT ON COLUMN pgmnemo.vector_graph.generation IS 'pgmnemo.lesson_vector.generation of what it holds';
COMMENT ON COLUMN pgmnemo.vector_graph.name IS 'the table in schema pgmnemo; where there is none, every scope is read exactly until the next merge makes it';
COMMENT ON COLUMN pgmnemo.vector_graph.behind IS 'whether a writer has found more than about 1,000 vectors outside it: then every writer brings some in';
COMMENT ON COLUMN pgmnemo.vector_graph.built IS 'whether the table was ever made: until then large sets are marked as being in it, and are, once it is';
-- The settings as they are where nobody changed one. Immutable, so that a plan holds what it gives.
CREATE FUNCTION pgmnemo._initial_settings()
RETURNS pgmnemo.settings
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_populate_record(NULL::pgmnemo.settings, jsonb_object_agg(c.name, c.initial))
      FROM pgmnemo._setting_catalogue() c
$$;
CREATE FUNCTION pgmnemo._setting_catalogue()
RETURNS TABLE (name text, initial text, kind text, low float8, high float8, choices text[], meaning text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
VALUES
    ('tenant_id', NULL, 'uuid', NULL::float8, NULL::float8, NULL::text[],
     'tenant that this session works for; needs a grant (pgmnemo.grant_tenant)'),
    ('embedder', NULL, 'name', NULL, NULL, NULL,
     'what makes the vectors that this session gives: refused where another made the tenant''s (pgmnemo.set_embedder)'),
    ('gate_strict', 'enforce', 'choice', NULL, NULL, '{enforce,warn,off}'::text[],
     'a lesson without commit_sha and artifact_hash: enforce refuses it and hides it from recall, '
     'warn stores it with a warning, off stores it silently'),
    ('text_config', 'auto', 'text search configuration', NULL, NULL, NULL,
     'how lessons are cut into lexemes that are written without a language; auto: by the language of the text, '
     'english where nothing tells it'),
    ('statistics_scope', 'both', 'choice', NULL, NULL, '{tenant,project,both}',
     'where BM25 counts how rare a term is: in the tenant, in the project asked, or the mean of both'),
    ('bm25_k1', '0.9', 'number', 0, 10, NULL, 'BM25: how slowly repetitions of a term saturate'),
    ('bm25_b', '0.4', 'number', 0, 1, NULL, 'BM25: how much a long lesson is held against it'),
    ('length_pivot', '70', 'whole number', 1, 100000, NULL,
     'words up to which a text counts as short: what stands in a longer one counts for less'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('passage_terms_weight', '0.75', 'number', 0, 100, NULL,
     'score of one unit of the terms that stand together in the best passage'),
    ('passage_term_bonus', '1.5', 'number', 0, 100, NULL,
     'what a term counts there besides its inverse document frequency'),
    ('full_coverage', '0.7', 'number', 0, 1, NULL,
     'part of what all words of a question are worth from which on a lesson''s words count in full; 0: at once'),
    ('passage_cosine_weight', '13', 'number', 0, 1000, NULL,
     'score of a best passage that is equal to the question, where an unrelated one has 0'),
    ('pair_cosine_weight', '7', 'number', 0, 1000, NULL,
     'score of two best passages that are equal to the question'),
    ('cosine_weight', '7', 'number', 0, 1000, NULL,
     'score of a lesson that is as a whole equal to the question'),
    ('temporal_weight', '12', 'number', 0, 1000, NULL, 'score of a lesson of just the time that the question names'),
    ('context_weight', '1', 'number', 0, 100, NULL,
     'share of the relevance of the most relevant lesson of the same project and moment that a lesson gains'),
    ('assistant_weight', '0.8', 'number', 0, 1, NULL,
     'share of its relevance that a lesson of role assistant counts with'),
    ('question_weight', '0.4', 'number', 0, 1, NULL,
     'share of its relevance that a lesson counts with that is a short question and nothing else'),
    ('neighbours_weight', '0.2', 'number', 0, 100, NULL,
     'share of the relevance of the lessons before and after that a lesson gains'),
    ('neighbours_half_length', '20', 'number', 0.001, 100000, NULL,
     'words between two neighbours at which half of that share passes'),
    ('neighbours_seeds', '5', 'whole number', 0, 100, NULL,
     'most relevant candidates whose neighbours become candidates'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '50', 'whole number', 1, 10000, NULL, 'candidates taken from each leg; at least k are'),
    ('exact_scan_limit', '10000', 'whole number', 0, 10000000, NULL,
     'vectors up to which they are scanned exactly; a tenant that has more gets a graph'),
    ('vector_recall', '0.95', 'number', 0.5, 0.999, NULL,
     'part of the nearest vectors that the search of a graph shall find'),
    ('ef_search', '0', 'whole number', 0, 1000, NULL,
     'hnsw.ef_search while a graph is searched; 0: as many as vector_recall needs in a graph of its size'),
    ('time_zone', 'UTC', 'time zone', NULL, NULL, NULL,
     'whose days the times of a question count: a name such as Asia/Tokyo, or what it is ahead of UTC, such as +09:00'),
    ('bypass_notice', 'on', 'choice', NULL, NULL, '{on,off}',
     'whether each call by a role that no row-level security binds says so')
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
        WHEN kind = 'name' THEN true
        WHEN kind = 'time zone' THEN pgmnemo._zone(value) IS NOT NULL
        WHEN low IS NULL THEN value = 'auto' OR pgmnemo._config(value) IS NOT NULL
        WHEN NOT pg_input_is_valid(value, 'float8') THEN false
        WHEN kind = 'whole number' AND value !~ '^ *[0-9]+ *$' THEN false
        ELSE value::float8 BETWEEN low AND high
    END
$$;
-- Every setting, typed; the first that cannot be used is an error that names its range. PostgreSQL cannot check a
-- custom setting when it is SET, so each use checks. Most are as they were made, and those cost nothing but a look.
CREATE FUNCTION pgmnemo._settings()
RETURNS pgmnemo.settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed jsonb;
    valid boolean;
    wrong record;
BEGIN
    SELECT jsonb_object_agg(c.name, g.value),
           bool_and(pgmnemo._setting_valid(g.value, c.kind, c.low, c.high, c.choices))
      INTO changed, valid
      FROM pgmnemo._setting_catalogue() c
     CROSS JOIN LATERAL (SELECT nullif(current_setting('pgmnemo.' || c.name, true), '') OFFSET 0) AS g (value)
     WHERE g.value <> c.initial;
    IF changed IS NULL THEN
        RETURN pgmnemo._initial_settings();
    ELSIF valid THEN
        RETURN jsonb_populate_record(pgmnemo._initial_settings(), changed);
    END IF;
    SELECT c.* INTO wrong
      FROM pgmnemo._setting_catalogue() c
     WHERE changed ? c.name
       AND NOT pgmnemo._setting_valid(changed ->> c.name, c.kind, c.low, c.high, c.choices)
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'pgmnemo.% is %, but must be %', wrong.name, quote_literal(changed ->> wrong.name),
              pgmnemo._setting_range(wrong.kind, wrong.low, wrong.high, wrong.choices)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = format('SET pgmnemo.%s to a value in that range, or RESET it.', wrong.name);
    END IF;
    RETURN jsonb_populate_record(pgmnemo._initial_settings(), changed);
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
-- As PostgreSQL's AT TIME ZONE takes it, which counts the signs of bare numbers the other way; NULL for what is none.
CREATE FUNCTION pgmnemo._zone(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN name = 'UTC' THEN name
                WHEN name ~ '^[+-](0[0-9]|1[0-5]):[0-5][0-9]$' THEN translate(name, '+-', '-+')
                WHEN name ~ '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$'
                     AND pg_input_is_valid('2000-01-01 00:00 ' || name, 'timestamptz') THEN name END
$$;
-- A text of which characters beyond ASCII are written as in JSON, so that two forms of a name can be told apart.
CREATE FUNCTION pgmnemo._ascii_text(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(
               CASE WHEN n < 127 THEN c
                    WHEN n < 65536 THEN '\u' || lpad(to_hex(n), 4, '0')
                    ELSE '\u' || to_hex(55296 + ((n - 65536) >> 10))
                         || '\u' || to_hex(56320 + ((n - 65536) & 1023)) END, '' ORDER BY place), '')
      FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS u (c, place)
     CROSS JOIN LATERAL ascii(c) AS n
$$;
-- Whether a text asks by its form: a question mark of any script ends it, a word that asks or requests begins it, or,
-- in Chinese and Japanese, stands in it.
CREATE FUNCTION pgmnemo._asks(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT content ~ '[?\u037E\u055E\u061F\u1367\u203D\u2047-\u2049\u2CFA\u2CFB\u2E2E\uFF1F][^[:alnum:]]*$'
           OR content ~ '[\u0370-\u03FF].*;[^[:alnum:]]*$'
           OR content ~* ('^[^[:alnum:]]*(?:(?:please|bitte|und|and|so|also|et|y)[ ,]+)?'
                          '(?:(?:what|who|where|when|how|why)(?:[''\u2019]?s|[''\u2019]?re)?|whom|whose|which|'
                          'can|could|would|will|do|does|did|is|are|was|were|have|has|any idea|'
                          'tell me|remind me|show me|give me|let me know|i forgot|i forget|i need to know|'
                          'wie|wer|wen|wem|welche[nrms]?|wann|wo|warum|wieso|kannst|k\u00f6nntest|wei\u00dft|sag|sage|'
                          'nenn|nenne|erinner|erinnere|zeig|zeige|ich habe vergessen|'
                          'quel|quels|quelles?|qui|que|quoi|qu[''\u2019]|o\u00f9|quand|comment|pourquoi|'
                          'combien|c[''\u2019]est quoi|'
                          'est-ce|tu peux|peux-tu|pouvez-vous|dis-moi|rappelle|rappelle-moi|j[''\u2019]ai oubli\u00e9|'
                          'qu\u00e9|qui\u00e9n|d\u00f3nde|cu\u00e1ndo|c\u00f3mo|cu\u00e1l(?:es)?|por qu\u00e9|dime|'
                          'puedes|recu\u00e9rdame)\M')
           OR content ~ ('[\u4ec0\u600e]\u4e48|[\u5417\u5462\u8c01\u54ea\u51e0]|'
                         '\u591a\u5c11|'
                         '\u4e3a\u4f55|\u544a\u8bc9\u6211|\u8bf7\u95ee|'
                         '\u4f55|\u8ab0|\u3069\u3053|\u3044\u3064|\u3069\u3046|\u6559\u3048\u3066')
$$;
-- Whether a text is one short question and nothing else, but for a lead-in (pgmnemo._without_lead_in). It asks for what
-- others tell. Most texts hold no mark that could end one, and looking for it costs less than a pattern.
CREATE FUNCTION pgmnemo._bare_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT octet_length(content) <= 800
       AND (strpos(content, '?') > 0 OR strpos(content, ';') > 0 OR octet_length(content) <> length(content))
       AND content ~ '[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
       AND length(content) <= 200 AND length(content) - length(replace(content, ' ', '')) <= 24
       AND pgmnemo._without_lead_in(content)
           ~ '^(?:[^.!?\u3002\uFF01\uFF1F\u061F\s]+\s*){1,12}[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
$$;

COMMENT ON FUNCTION pgmnemo._bare_question(text) IS 'true for one question of at most 12 words (of a script without blanks 200 characters), but for a lead-in (pgmnemo._without_lead_in)';
-- Whether a text has nothing but blanks, controls and invisible characters, whatever the locale takes for a blank.
CREATE FUNCTION pgmnemo._blank(words text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT words !~ ('[^\s\u0001-\u0020\u007F-\u00A0\u00AD\u061C\u1680\u180E\u2000-\u200F\u2028-\u202F'
                     '\u205F-\u206F\u3000\uFEFF]')
$$;
-- The text search configuration of a language that a caller names, or auto; an error for a name that is neither.
CREATE FUNCTION pgmnemo._checked_language(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config constant text := pgmnemo._language_config(language);
BEGIN
    IF config IS NULL THEN
        RAISE EXCEPTION 'language is %, but must be auto, a text search configuration or a code of ISO 639',
              coalesce(quote_literal(left(language, 100)), 'NULL')
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SELECT cfgname FROM pg_ts_config lists the configurations.';
    END IF;
    RETURN config;
END
$$;
-- What else codes are asked for by, as words to add to a text. Numbers of telephones, accounts, cards and parcels that
-- are written in groups (+49 (0)30 1234-5678, DE89 3704 0044, SW1A 1AA): as one word, and by their last seven
-- characters, for a prefix is often left out. Hashes: by their first seven. '' where there are none.
-- The first pattern reads each word of the text once: groups of any length with the character behind them, words that
-- are no code, other words. The second bounds the parts of a group; few groups need it. Neither looks around itself,
-- for then the engine keeps no states, and needs 20 times as long.
CREATE FUNCTION pgmnemo._codes(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(concat_ws(' ', CASE WHEN c.grouped THEN c.code END,
                                         CASE WHEN c.size > 7 AND length(translate(right(c.code, 7), '0123456789', ''))
                                                                  <= 3 THEN right(c.code, 7) END,
                                         CASE WHEN c.size > 7 AND c.letters > 0
                                                   AND ltrim(c.code, '0123456789abcdef') = '' THEN left(c.code, 7) END,
                                         CASE WHEN starts_with(c.code, '0x')
                                                   AND ltrim(substr(c.code, 3), '0123456789abcdef') = ''
                                              THEN substr(c.code, 3) END), ' '), '')
      FROM (SELECT DISTINCT u.code, length(u.code) AS size, length(translate(u.code, '0123456789', '')) AS letters,
                   length(u.code) < length(b.body) AS grouped
              FROM regexp_matches(words,
                                  '[A-Za-z]{0,8}[0-9][0-9A-Za-z]*'
                                  '(?:[ ().:/-]{1,3}(?:[A-Z]{1,4}[ ().:/-]{1,3})?[A-Za-z]{0,4}[0-9][0-9A-Za-z]*)*'
                                  '(?:[^0-9A-Za-z]|$)|'
                                  '(?:(?:[0-9A-Za-z]{1,4}[^0-9A-Za-z ().:/-]|[A-Za-z]*[A-Zg-z][A-Za-z]*[^0-9A-Za-z])'
                                  '[^0-9A-Za-z]*)+|[0-9A-Za-z]+', 'g') AS w
             CROSS JOIN LATERAL unnest(
                    CASE WHEN length(w[1]) < 17 OR w[1] !~ '[0-9A-Za-z]{17}' THEN w
                         ELSE ARRAY(SELECT p[1]
                                      FROM regexp_matches(w[1], '[A-Za-z]{0,8}[0-9][0-9A-Za-z]{0,63}'
                                                                '(?:[ ().:/-]{1,3}(?:[A-Z]{1,4}[ ().:/-]{1,3})?'
                                                                '[A-Za-z]{0,4}[0-9][0-9A-Za-z]{0,15})*'
                                                                '(?:[^0-9A-Za-z]|$)|[0-9A-Za-z]+', 'g') AS p)
                         END) AS m (words)
             CROSS JOIN LATERAL (
                    SELECT CASE WHEN strpos('0123456789abcdefghijklmnopqrstuvwxyz',
                                            lower(right(m.words, 1) COLLATE "C")) = 0
                                THEN left(m.words, -1) ELSE m.words END OFFSET 0) AS b (body)
             CROSS JOIN LATERAL (SELECT translate(lower(b.body COLLATE "C"), ' ().:/-', '') OFFSET 0) AS u (code)
             WHERE length(u.code) BETWEEN 5 AND 64 AND ltrim(u.code, '0123456789abcdefghijklmnopqrstuvwxyz') = ''
               AND (left(ltrim(lower(left(b.body, 9) COLLATE "C"), 'abcdefghijklmnopqrstuvwxyz'), 1)
                    BETWEEN '0' AND '9' COLLATE "C"
                    OR length(b.body) >= 8 AND ltrim(b.body, '0123456789abcdef') = '')) c
     WHERE NOT c.grouped OR c.size - c.letters >= 6 OR c.size - c.letters >= 2 AND c.letters > 0
$$;

COMMENT ON FUNCTION pgmnemo._codes(text) IS 'words to add to a text, so that codes in groups are found joined, long ones by their last seven characters, hashes by their first seven';
-- A name in the form in which names are kept and compared. It becomes a part of the statement that asks, so a text of
-- ASCII pays one cheap test.
CREATE FUNCTION pgmnemo._composed(name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN octet_length(name) = length(name) THEN name ELSE pgmnemo._composed_unicode(name) END $$;

COMMENT ON FUNCTION pgmnemo._composed(text) IS 'a name in Unicode''s composed form (NFC), in which keys, topics, roles, subjects, relations and objects of facts are kept and asked for; in a database of another encoding than UTF8 as it is';
-- What pgmnemo._composed makes of a name that has characters beyond ASCII. Apart, for a plan of that function would
-- normalize a constant before it knows the encoding.
CREATE FUNCTION pgmnemo._composed_unicode(name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN name;
    END IF;
    RETURN normalize(name, NFC);
END
$$;
-- The text search configuration of a name, which may have its schema in front; NULL where there is none. A number is
-- no name, and what is temporary would be gone before the lessons that were cut by it. Looked up in the catalogue: a
-- cast would be an error where the schema is somebody's own.
CREATE FUNCTION pgmnemo._config(name text)
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
-- Characters without a blank between them, where they are more than `most`, in pieces of 50: the parser of text search
-- takes the square of such a run.
CREATE FUNCTION pgmnemo._cut_runs(words text, most integer)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(CASE WHEN length(m[1]) > most THEN regexp_replace(m[1], '.{50}', '\& ', 'g') ELSE m[1] END
                      || m[2], '' ORDER BY u.place)
      FROM regexp_matches(words, '(\S*)(\s*)', 'g') WITH ORDINALITY AS u (m, place)
$$;
-- Words that stand for the emoji of a text, which the parser of text search leaves out: for each the numbers of its
-- characters. A flag is two characters.
CREATE FUNCTION pgmnemo._emoji_words(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(DISTINCT concat('emoji', to_hex(ascii(m[1])), to_hex(nullif(ascii(substr(m[1], 2)), 0))), ' ')
      FROM regexp_matches(words, '([\U0001F1E6-\U0001F1FF]{2}|[\u2600-\u27BF\U0001F000-\U0001FAFF])', 'g') AS m
$$;

COMMENT ON FUNCTION pgmnemo._emoji_words(text) IS 'words such as emoji1f355 for the emoji of a text in UTF8';
-- Spells words so that the stemmers of every supported PostgreSQL give the same stem: those of 18 know more endings
-- (german -erin, -eln, -system, ae, oe and ue for umlauts; swedish -ost; romanian letters with a comma below; english
-- added, erred and few more, which 18 stems well, so that 16 and 17 get the form with -s).
CREATE FUNCTION pgmnemo._even_stems(config regconfig, words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF config = 'pg_catalog.english'::regconfig THEN
        IF current_setting('server_version_num')::integer < 180000 THEN
            words := regexp_replace(words, '\m(add|ebb|egg|err|off)(?:ed|ings?)\M', '\1s', 'gi');
        END IF;
    ELSIF config = 'pg_catalog.german'::regconfig THEN
        words := replace(replace(replace(lower(words), 'system', 'syst'), 'ae', 'a'), 'oe', 'o');
        words := regexp_replace(words, '(?<![aeiouq])ue', 'u', 'g');
        words := regexp_replace(regexp_replace(words, 'erin(?:nen)?\M', 'er', 'g'), 'lns?\M', 'l', 'g');
    ELSIF config = 'pg_catalog.swedish'::regconfig THEN
        words := regexp_replace(words, '(\u00F6s)t', '\1', 'gi');
    ELSIF config = 'pg_catalog.italian'::regconfig THEN
        words := regexp_replace(words, '\mdivano\M', 'divan', 'gi');
    ELSIF config = 'pg_catalog.romanian'::regconfig THEN
        words := regexp_replace(words, '[\u0218\u0219]', chr(351), 'g');
        words := regexp_replace(words, '[\u021A\u021B]', chr(355), 'g');
    END IF;
    RETURN words;
END
$$;
-- Words without the accents of Latin letters, for people type cafe and mean it with its accent. Letters of other
-- scripts keep their marks. Of a tsvector as text: reading it joins lexemes that become one.
CREATE FUNCTION pgmnemo._folded(lexemes text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' OR lexemes !~ '[\u00C0-\u024F\u1E00-\u1EFF]' THEN
        RETURN lexemes;
    END IF;
    lexemes := normalize(regexp_replace(normalize(lexemes, NFD), '([A-Za-z])[\u0300-\u036F]+', '\1', 'g'), NFC);
    lexemes := regexp_replace(regexp_replace(lexemes, '\u00DF', 'ss', 'g'), '[\u00E6\u00C6]', 'ae', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0153\u0152]', 'oe', 'g'), '[\u00F8\u00D8]', 'o', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0142\u0141]', 'l', 'g'), '[\u0111\u0110]', 'd', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u00FE\u00DE]', 'th', 'g'), '[\u00F0\u00D0]', 'd', 'g');
    RETURN regexp_replace(lexemes, '\u0131', 'i', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._folded(text) IS 'lexemes without the accents of Latin letters; in a database of another encoding than UTF8 as they are';
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
-- The text search configuration of a language: `auto` as it is, a configuration by its own name, a code of ISO 639
-- (de, pt-BR) by the configuration of PostgreSQL, and any other code of two or three letters, for which PostgreSQL has
-- no stemmer (zh, ja, th, ko, pl), as simple. NULL: no such language.
CREATE FUNCTION pgmnemo._language_config(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    code constant text := lower(split_part(replace(language, '_', '-'), '-', 1) COLLATE "C");
    known constant text := '{"ar":"arabic","hy":"armenian","eu":"basque","ca":"catalan","da":"danish","nl":"dutch",'
        '"en":"english","fi":"finnish","fr":"french","de":"german","el":"greek","hi":"hindi","hu":"hungarian",'
        '"id":"indonesian","ga":"irish","it":"italian","lt":"lithuanian","ne":"nepali","no":"norwegian",'
        '"nb":"norwegian","nn":"norwegian","pt":"portuguese","ro":"romanian","ru":"russian","sr":"serbian",'
        '"es":"spanish","sv":"swedish","ta":"tamil","tr":"turkish","yi":"yiddish"}';
BEGIN
    IF language = 'auto' THEN
        RETURN 'auto';
    ELSIF pgmnemo._config(language) IS NOT NULL THEN
        RETURN pgmnemo._config(language);
    ELSIF language ~ '^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$' THEN
        RETURN coalesce(known::jsonb ->> code, 'simple');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION pgmnemo._language_config(text) IS 'the text search configuration of a language: auto, a configuration''s name, or a code of ISO 639; a code without a stemmer is simple; NULL: no such language';
-- A lexeme put behind the text has the next position. A blank is no lexeme of any text: one that the text holds past
-- position 16,383 would take no other position.
CREATE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $body$ SELECT rtrim(split_part(ts_filter(cut || $$' ':1A$$, '{a}')::text, ':', 2), 'A')::integer - 1 $body$;
-- How every text is cut: lessons, passages and questions alike. A text with more different words than a vector of
-- lexemes holds is cut as far as its first 80,000 characters. The forms leave the vector and return under their
-- roots, so that a root has as many positions as it and its forms had. Positions themselves mean nothing to us.
-- Joining two vectors moves the second behind the first, and positions end at 16,383: a text whose own could come
-- there is rewritten whole instead. A lexeme gets one position at most from each byte.
CREATE FUNCTION pgmnemo._lexemes(config regconfig, words text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text := pgmnemo._prepared(words);
    accents boolean;
    cut tsvector;
    rest tsvector;
    moved tsvector;
    found text[];
    form text;
    rewritten text;
BEGIN
    IF octet_length(prepared) <> length(prepared) OR getdatabaseencoding() <> 'UTF8' OR lower('I') <> 'i' THEN
        prepared := pgmnemo._lower_case(config, prepared);
    END IF;
    accents := octet_length(prepared) <> length(prepared);
    IF accents AND config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig) THEN
        -- these know no accents
        prepared := pgmnemo._folded(prepared);
        accents := false;
    END IF;
    IF config <> 'pg_catalog.english'::regconfig OR current_setting('server_version_num')::integer < 180000 THEN
        prepared := pgmnemo._even_stems(config, prepared);
    END IF;
    IF octet_length(prepared) <= 250000 THEN
        cut := to_tsvector(config, prepared);
    ELSE
        BEGIN
            cut := to_tsvector(config, prepared);
        EXCEPTION WHEN program_limit_exceeded THEN
            cut := to_tsvector(config, left(prepared, 80000));  -- a vector of lexemes holds 1 MB
        END;
    END IF;
    IF words ~ '[a-z0-9,;] [A-Z][a-z]{1,4}\M|\m[A-Z]{2,5}\M' THEN
        cut := cut || pgmnemo._stop_names(config, words);
    END IF;
    IF cut = '' AND octet_length(prepared) <= 1000 THEN
        cut := to_tsvector('pg_catalog.simple', prepared);  -- a text of stop words has these
    END IF;
    IF accents THEN
        cut := pgmnemo._folded(cut::text)::tsvector;
    END IF;
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

COMMENT ON FUNCTION pgmnemo._lexemes(regconfig, text) IS 'to_tsvector(config, pgmnemo._prepared(words)) without accents of Latin letters, with stop words that are written as names; for pg_catalog.english, irregular forms and a few everyday words counted as their root (went as go, children as child, two as 2)';
-- A text in lower case, where the locale of the database leaves its capitals: with LC_CTYPE C those beyond ASCII
-- (Latin, Greek, Cyrillic, Armenian), in Turkish and Azerbaijani the I of every other language.
CREATE FUNCTION pgmnemo._lower_case(config regconfig, words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- first and last capital, the step to the next, and how far behind it its small letter is
    latin1 constant integer[] := '{{192,214,1,32},{216,222,1,32}}';
    unicode constant integer[] := latin1 || '{{256,302,2,1},{304,304,1,-199},{306,310,2,1},{313,327,2,1},'
        '{330,374,2,1},{376,376,1,-121},{377,381,2,1},{416,416,1,1},{431,431,1,1},{536,538,2,1},{902,902,1,38},'
        '{904,906,1,37},{908,908,1,64},{910,911,1,63},{913,929,1,32},{931,939,1,32},{1024,1039,1,80},'
        '{1040,1071,1,32},{1120,1152,2,1},{1162,1214,2,1},{1329,1366,1,48},{7680,7828,2,1},{7840,7934,2,1}}'::integer[];
    capitals text;
    small text;
BEGIN
    IF lower('I') <> 'i' THEN
        IF config = 'pg_catalog.turkish'::regconfig THEN
            RETURN words;
        END IF;
        words := translate(words, 'I', 'i');
    END IF;
    IF getdatabaseencoding() NOT IN ('UTF8', 'LATIN1', 'LATIN9', 'WIN1252') THEN
        RETURN words;  -- chr() knows other characters there, or none
    ELSIF lower(chr(201)) <> chr(233) THEN
        SELECT string_agg(chr(n), '' ORDER BY n), string_agg(chr(n + behind), '' ORDER BY n) INTO capitals, small
          FROM (SELECT a.ranges[i][1] AS first, a.ranges[i][2] AS last, a.ranges[i][3] AS step, a.ranges[i][4] AS behind
                  FROM (SELECT CASE WHEN getdatabaseencoding() = 'UTF8' THEN unicode ELSE latin1 END AS ranges) a,
                       generate_subscripts(a.ranges, 1) AS i) r
         CROSS JOIN LATERAL generate_series(r.first, r.last, r.step) AS n;
        words := translate(words, capitals, small);
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._lower_case(regconfig, text) IS 'a text with small letters for capitals that lower() leaves, or changes as Turkish has it, under the locale of the database';
-- Characters that say the same as others: digits of other scripts as ASCII's, katakana as hiragana.
CREATE FUNCTION pgmnemo._one_form(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    zeros constant integer[] := '{1632, 1776, 1984, 2406, 2534, 2662, 2790, 2918, 3046, 3174, 3302, 3430, 3664, 3792,'
                                ' 3872, 4160, 6112}';
    found integer;
BEGIN
    IF words ~ ('[\u0660-\u0669\u06F0-\u06F9\u07C0-\u07C9\u0966-\u096F\u09E6-\u09EF\u0A66-\u0A6F\u0AE6-\u0AEF'
                '\u0B66-\u0B6F\u0BE6-\u0BEF\u0C66-\u0C6F\u0CE6-\u0CEF\u0D66-\u0D6F\u0E50-\u0E59\u0ED0-\u0ED9'
                '\u0F20-\u0F29\u1040-\u1049\u17E0-\u17E9]') THEN
        FOREACH found IN ARRAY zeros LOOP
            words := translate(words, (SELECT string_agg(chr(found + n), '' ORDER BY n) FROM generate_series(0, 9) n),
                               '0123456789');
        END LOOP;
    END IF;
    IF words ~ '[\u30A1-\u30F6]' THEN
        words := translate(words, (SELECT string_agg(chr(12449 + n), '' ORDER BY n) FROM generate_series(0, 85) n),
                           (SELECT string_agg(chr(12353 + n), '' ORDER BY n) FROM generate_series(0, 85) n));
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._one_form(text) IS 'a text in UTF8 with ASCII digits for those of other scripts, and hiragana for katakana';
-- A text as the parser of text search shall read it, whatever the language. NFKC; soft hyphens, zero-width
-- characters, marks of direction and marks that are written or left out (vowels of Arabic and Hebrew, the nukta) go;
-- runs of scripts that put no blanks between words become overlapping pairs of characters, each with its combining
-- marks (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar, Tai, Yi, Javanese). A Han character may be a word, so each is
-- one as well. In a database of another encoding than UTF8 the text stays as it is.
CREATE FUNCTION pgmnemo._plain_text(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    base  constant text := '\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46\u0E81-\u0EB0\u0EB2\u0EB3\u0EBD-\u0EC6\u0EDC-\u0EDF'
                           '\u1000-\u102A\u103F\u1050-\u1055\u105A-\u105D\u1061\u1065\u1066\u106E-\u1070\u1075-\u1081'
                           '\u108E\u1780-\u17B3\u1950-\u19DF\u1A20-\u1A54\uA984-\uA9B2\uA9E0-\uA9E4\uA9E6-\uA9EF'
                           '\uAA60-\uAA76\uAA80-\uAAAF\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096'
                           '\u309D-\u309F\u30A1-\u30FA\u30FC-\u312F\u31A0-\u31BF\u31F0-\u31FF\u3400-\u4DBF'
                           '\u4E00-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U000323AF';
    mark  constant text := '\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECE\u102B-\u103E'
                           '\u1056-\u1059\u105E-\u1060\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F'
                           '\u109A-\u109D\u17B4-\u17D3\u17DD\u1A55-\u1A7F\uA9B3-\uA9C0\u3099\u309A';
    han   constant text := '\u2E80-\u2FDF\u3005-\u3007\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U000323AF';
    one   constant text := '[' || base || '][' || mark || ']*';
    -- a pair, and the single character after the last pair of a run, which the pairs that begin one later end with
    pair  constant text := '(' || one || one || ')(?:' || one || '(?![' || base || mark || ']))?|';
    shifted text;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN words;
    ELSIF words IS NOT NFKC NORMALIZED THEN
        -- blanks within an amount, and the sign of a trade mark, which would become letters of the word before it
        words := regexp_replace(words, '([0-9])[\u00A0\u2009\u202F](?=[0-9]{3})', '\1,', 'g');
        words := normalize(regexp_replace(words, '[\u2120\u2122]', ' ', 'g'), NFKC);
    END IF;
    words := regexp_replace(words, '[\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                   '\uFE00-\uFE0F\uFEFF\u05B0-\u05BD\u0640\u064B-\u065F\u0670'
                                   '\u093C\u09BC\u0A3C\u0ABC\u0B3C]', '', 'g');
    words := regexp_replace(words, '[\u2010-\u2012\u2212]', '-', 'g');
    words := pgmnemo._one_form(words);
    IF words ~ '[\u2600-\u27BF\U0001F000-\U0001FAFF]' THEN
        words := words || ' ' || pgmnemo._emoji_words(words);
    END IF;
    IF words !~ ('[' || base || ']') THEN
        RETURN words;
    END IF;
    shifted := regexp_replace(words, '[^' || base || mark || ']+', ' ', 'g');
    shifted := regexp_replace(shifted, '(?<![' || base || mark || '])' || one, '', 'g');
    RETURN regexp_replace(words, pair || '(' || one || ')', ' \1\2 ', 'g')
           || ' ' || regexp_replace(shifted, pair || one, ' \1 ', 'g')
           || ' ' || regexp_replace(regexp_replace(words, '[^' || han || ']+', ' ', 'g'), '(\S)', '\1 ', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._plain_text(text) IS 'a text for the parser of text search: NFKC, without invisible characters, runs of scripts without blanks cut into overlapping pairs of characters';
-- How long a text is: the positions of its lexemes.
CREATE FUNCTION pgmnemo._positions(lexemes tsvector)
RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(sum(cardinality(u.positions)), 0)::integer FROM unnest(lexemes) u);
END
$$;
-- A text before a configuration cuts it, the same for every language. Most texts pass four cheap tests. The parser
-- takes the square of a long run without blanks, and of unclosed comments, so both are broken up: runs of thousands
-- of characters before their parts are looked for, which takes its time too.
CREATE FUNCTION pgmnemo._prepared(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts text;
    long boolean;
BEGIN
    IF octet_length(words) <> length(words) THEN
        words := pgmnemo._plain_text(words);
    END IF;
    long := octet_length(words) > 250 AND words ~ '\S{250}';
    IF long AND words ~ '(?:\S{250}){4}' THEN
        words := pgmnemo._cut_runs(words, 1000);
    END IF;
    -- of a text that is longer the vector of lexemes could become longer than one can be
    IF octet_length(words) <= 250000
       AND words ~ ('[0-9A-Za-z\u00C0-\u1FFF][_./@=#+,&][0-9A-Za-z\u00C0-\u1FFF]|'
                     '[0-9][A-Za-z-]|[A-Za-z-][0-9]|[a-z][A-Z]|[0-9A-Z][''\u2019][0-9A-Z]|[A-Za-z](\+\+|#)') THEN
        parts := pgmnemo._token_parts(words);
    END IF;
    IF octet_length(words) <= 250000 AND words ~ ('[0-9][A-Za-z]{0,4}[ ().:/-]{1,3}[A-Za-z]{0,4}[0-9(]|'
                                                  '[0-9A-Fa-f]{8}') THEN
        parts := concat_ws(' ', parts, pgmnemo._codes(words));
    END IF;
    words := concat_ws(E'\n', words, parts);
    -- what is no letter: under LC_CTYPE C, and under a builtin locale, the parser takes all beyond ASCII for letters
    IF octet_length(words) <> length(words) AND getdatabaseencoding() = 'UTF8' THEN
        words := regexp_replace(words, '[\u00A1-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7'
                                       '\u00F7\u037E\u0387\u055A-\u055F\u0589\u058A\u05BE\u05C0\u05C3\u05C6\u05F3\u05F4'
                                       '\u060C\u060D\u061B\u061D-\u061F\u066A-\u066D\u06D4\u0700-\u070D\u0964\u0965'
                                       '\u0E5A\u0E5B\u0F01-\u0F17\u104A-\u104F\u1360-\u1368\u17D4-\u17D6\u17D8-\u17DB'
                                       '\u1800-\u180A\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2190-\u23FF\u2500-\u2BFF'
                                       '\u2E00-\u2E2E\u2E30-\u2E5D\u3001-\u3004\u3008-\u3020\u3030\u303D'
                                       '\U0001F000-\U0001F0FF\U0001F1E6-\U0001FAFF]', ' ', 'g');
    END IF;
    IF (long OR parts ~ '\S{250}') AND words ~ '\S{250}' THEN
        words := pgmnemo._cut_runs(words, 250);
    END IF;
    IF octet_length(words) > 250 THEN
        words := replace(words, '<!', ' ');
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._prepared(text) IS 'a text as it goes to the parser: pgmnemo._plain_text, then pgmnemo._token_parts and pgmnemo._codes behind it, and runs of more than 250 characters without a blank in pieces of 50';
-- The lexemes of a question under each of these configurations, and for each the number of the word that it is a form
-- of: a word stands at one place, whatever cuts the text. A word that one of them drops as a stop word is dropped: a
-- lesson that another language was taken for would else be found by every "the". A question that consists of stop
-- words is asked by these as they are.
CREATE FUNCTION pgmnemo._question_words(words text, configs regconfig[], OUT lexemes text[], OUT numbers integer[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text;
    folded text;
    names text[];
BEGIN
    IF cardinality(configs) = 1 THEN
        lexemes := tsvector_to_array(pgmnemo._lexemes(configs[1], words));
    ELSE
        prepared := pgmnemo._prepared(words);
        folded := pgmnemo._folded(prepared);
        WITH form AS MATERIALIZED (
            SELECT u.config, v.lexeme, p.place
              FROM unnest(configs) AS u (config)
             CROSS JOIN LATERAL unnest(to_tsvector(u.config, pgmnemo._even_stems(u.config,
                    CASE WHEN u.config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig)
                         THEN folded ELSE prepared END))) v
             CROSS JOIN LATERAL unnest(v.positions) AS p (place)
        ), word AS (
            SELECT pgmnemo._folded(CASE WHEN f.config = 'pg_catalog.english'::regconfig
                                        THEN coalesce(pgmnemo._form_roots() ->> f.lexeme, f.lexeme)
                                        ELSE f.lexeme END) AS lexeme, min(f.place) AS place
              FROM form f
             WHERE f.place IN (SELECT k.place FROM form k GROUP BY k.place
                               HAVING count(DISTINCT k.config) = cardinality(configs))
             GROUP BY 1
        )
        SELECT coalesce(array_agg(w.lexeme ORDER BY w.lexeme COLLATE "C"), '{}'),
               coalesce(array_agg(w.place ORDER BY w.lexeme COLLATE "C"), '{}') INTO lexemes, numbers
          FROM word w;
        names := ARRAY(SELECT DISTINCT n FROM unnest(configs) AS u (config)
                        CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._stop_names(u.config, words))) n
                        WHERE n <> ALL (lexemes) ORDER BY n);
        lexemes := lexemes || names;
        numbers := numbers || ARRAY(SELECT -n FROM generate_series(1, cardinality(names)) n);
    END IF;
    IF lexemes = '{}' THEN
        numbers := NULL;
        lexemes := tsvector_to_array(pgmnemo._folded(to_tsvector('pg_catalog.simple', pgmnemo._prepared(words))::text)
                                     ::tsvector);
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo._question_words(text, regconfig[]) IS 'lexemes: those of a question under all these configurations; numbers: for each the number of the word that it is a form of, NULL: each is a word of its own';
-- The configurations whose stop words the encoding of the database has: in LATIN1 those of Hungarian are an error.
CREATE FUNCTION pgmnemo._readable_configs(configs regconfig[])
RETURNS regconfig[]
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    readable regconfig[] := '{}';
    config regconfig;
BEGIN
    FOREACH config IN ARRAY configs LOOP
        BEGIN
            PERFORM to_tsvector(config, 'a');
            readable := readable || config;
        EXCEPTION WHEN untranslatable_character THEN
            NULL;
        END;
    END LOOP;
    RETURN readable;
END
$$;

COMMENT ON FUNCTION pgmnemo._readable_configs(regconfig[]) IS 'the text search configurations that the encoding of the database can read, for databases of another encoding than UTF8';
-- The configuration of the language that a text is in. A script tells most; among languages that share one the stop
-- words that PostgreSQL ships decide: the text is cut under each of them, and the one that drops most words has it,
-- if it drops two at least and more than `fallback` does. `fallback` where nothing decides.
CREATE FUNCTION pgmnemo._recognized_config(words text, fallback regconfig)
RETURNS regconfig
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sample constant text := left(words, 1000);
    configs regconfig[] := '{english,german,french,spanish,portuguese,italian,dutch,swedish,danish,'
                           'norwegian,finnish,hungarian,turkish}';
    -- frequent stop words that are no English words: without one of them no language but `fallback` is tried
    telling constant tsquery := (
        'der | das | und | ist | nicht | ich | ein | eine | einen | einem | mit | auf | wie | wer | '
        'zu | den | dem | des | sich | von | wir | im | aus | bei | nach | wurde | hat | welche | '
        'welchen | welcher | wann | wo | durch | zur | zum | haben | sind | kann | mein | meine | '
        'als | auch | le | la | les | de | est | et | un | une | je | que | qui | dans | pour | pas '
        '| du | il | elle | vous | nous | au | aux | sur | mon | ma | el | los | las | en | es | y | '
        'por | con | una | se | mi | su | al | o | os | em | um | uma | da | dos | com | eu | meu | '
        'minha | lo | di | che | per | non | del | della | sono | ho | mio | het | een | van | dat | '
        'niet | ik | op | met | zijn | heb | och | att | det | som | jag | inte | av | har | og | er '
        '| jeg | ikke | til | af | med | ja | ei | oli | ett | az | hogy | nem | egy | bir | ve | bu '
        '| ile | ne')::tsquery;
    cut tsvector;
    letters integer;
    tokens integer;
    dropped integer;
    most integer := 1;
    best regconfig := fallback;
    config regconfig;
    script record;
BEGIN
    IF octet_length(sample) > 1.3 * length(sample) AND getdatabaseencoding() = 'UTF8' THEN
        letters := length(regexp_replace(sample, '[^[:alpha:]\u0370-\U000323AF]', '', 'g'));
        FOR script IN SELECT * FROM (VALUES
            ('[^\u0400-\u052F]',
             '[\u0402\u0404\u0406-\u040B\u040E\u040F\u0452\u0454\u0456-\u045B\u045E\u045F\u0490\u0491]', 'russian'),
            ('[^\u0600-\u06FF]', '[\u0679-\u06D5]', 'arabic'), ('[^\u0370-\u03FF\u1F00-\u1FFF]', NULL, 'greek'),
            ('[^\u0531-\u058F]', NULL, 'armenian'), ('[^\u0900-\u097F]', NULL, 'hindi'),
            ('[^\u0B80-\u0BFF]', NULL, 'tamil'),
            ('[^\u0590-\u05FF\u0700-\u08FF\u0980-\u0B7F\u0C00-\U000323AF]', NULL, 'simple')
        ) AS s (others, not_of_it, config) LOOP
            IF 2 * length(regexp_replace(sample, script.others, '', 'g')) > letters THEN
                RETURN CASE WHEN sample ~ script.not_of_it THEN 'simple' ELSE script.config END::regconfig;
            END IF;
        END LOOP;
    END IF;
    cut := to_tsvector('pg_catalog.simple', sample);
    IF fallback = 'pg_catalog.english'::regconfig AND NOT cut @@ telling THEN
        RETURN fallback;
    END IF;
    IF getdatabaseencoding() <> 'UTF8' THEN
        configs := pgmnemo._readable_configs(configs);
    END IF;
    tokens := pgmnemo._positions(cut);
    most := greatest(most, tokens - pgmnemo._positions(to_tsvector(fallback, sample)));
    FOREACH config IN ARRAY array_remove(configs, fallback) LOOP
        dropped := tokens - pgmnemo._positions(to_tsvector(config, sample));
        IF dropped > most THEN
            most := dropped;
            best := config;
        END IF;
    END LOOP;
    RETURN best;
END
$$;

COMMENT ON FUNCTION pgmnemo._recognized_config(text, regconfig) IS 'the text search configuration of the language that a text seems to be in, of its first 1,000 characters; the second argument where neither script nor stop words tell';
-- Whether a lesson is the question itself: it is a question, and has no word of its own that the question lacks, but in
-- a lead-in (pgmnemo._without_lead_in). A lesson that states something is an answer, whatever its words.
CREATE FUNCTION pgmnemo._repeats_question(content text, topic text, config text, lexemes tsvector, question text[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- characters of a question that may be asked again
    most constant integer := 24;  -- lexemes of a lead-in
    more tsvector;
BEGIN
    IF topic IS NULL THEN
        more := ts_delete(lexemes, question);
        IF length(more) > most THEN
            RETURN false;
        END IF;
    END IF;
    IF length(lexemes) = 0 OR length(content) > longest OR NOT pgmnemo._asks(content)
       OR pgmnemo._config(config) IS NULL THEN
        RETURN false;
    ELSIF topic IS NOT NULL THEN
        more := ts_delete(pgmnemo._lexemes(pgmnemo._config(config), content), question);
    END IF;
    RETURN length(more) = 0
           OR length(more) <= most
              AND length(ts_delete(pgmnemo._lexemes(pgmnemo._config(config), pgmnemo._without_lead_in(content)),
                                   question)) = 0;
END
$$;
-- Words of a text that its configuration drops as stop words although they are written as names: in capitals (IT), or
-- with one within a sentence (The Who), of five letters at most. They become lexemes as they are, in lower case. The
-- pattern looks behind itself from a capital letter on: before it, it would do so at every character.
CREATE FUNCTION pgmnemo._stop_names(config regconfig, words text)
RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(format('%s:1', n.name), ' '), '')::tsvector
      FROM (SELECT DISTINCT lower(m[1] COLLATE "C") AS name
              FROM regexp_matches(left(words, 10000),
                                  '([A-Z](?<!\w[A-Z])(?<![A-Za-z][ -][A-Z])[A-Z]{1,4}\M(?![ -][A-Z]{2})|'
                                  '[A-Z](?<=[a-z0-9,;] [A-Z])[a-z]{1,4}\M)', 'g') AS m) n
     WHERE to_tsvector(config, n.name) = ''
$$;
-- The configurations that the lessons of a tenant were cut by, those that are still there; of a tenant without lessons
-- english.
CREATE FUNCTION pgmnemo._tenant_configs(tenant uuid)
RETURNS regconfig[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 50;
    configs regconfig[] := '{}';
    last text := '';
BEGIN
    FOR place IN 1 .. most LOOP
        last := (SELECT l.text_config FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.text_config COLLATE "C" > last
                  ORDER BY l.text_config COLLATE "C" LIMIT 1);
        EXIT WHEN last IS NULL;
        configs := array_remove(configs || pgmnemo._config(last), NULL);
    END LOOP;
    RETURN CASE WHEN configs = '{}' THEN '{pg_catalog.english}' ELSE configs END;
END
$$;
-- The language of texts that a tenant's writers store without one; read once in a statement.
CREATE FUNCTION pgmnemo._tenant_language(tenant uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT t.language FROM pgmnemo.tenant t WHERE t.tenant_id = tenant), 'auto');
END
$$;
-- A query for one lexeme as it stands, whatever characters it has.
CREATE FUNCTION pgmnemo._term(lexeme text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery $$;
-- The text search configuration that the session sets for what it writes; NULL: auto. Also for a session whose other
-- settings may be wrong.
CREATE FUNCTION pgmnemo._text_config()
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(nullif(current_setting('pgmnemo.text_config', true), ''), 'auto');
    config regconfig;
BEGIN
    IF asked = 'auto' THEN
        RETURN NULL;
    END IF;
    config := pgmnemo._config(asked);
    IF config IS NULL THEN
        RAISE EXCEPTION 'pgmnemo.text_config is %, but must be a text search configuration', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT cfgname FROM pg_ts_config lists them, and auto goes by the text; one outside pg_catalog '
                     'needs its schema, a temporary one does not do.';
    END IF;
    RETURN config;
END
$$;
-- A text without what makes no difference: case, blanks, punctuation, forms of Unicode. What numbers and names are
-- told apart by stays: a mark before a digit (-5, 1.5, 10:30), an exclamation mark before a letter or = (a != b), and
-- symbols (C++, %, emoji). Blanks take the place of all else, so that no two words become one.
CREATE FUNCTION pgmnemo._text_form(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(content) <> length(content) AND getdatabaseencoding() = 'UTF8' THEN
        content := normalize(content, NFKC);
        content := regexp_replace(content, '[\u00AD\u034F\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                           '\uFE00-\uFE0F\uFEFF]', '', 'g');
        content := regexp_replace(content, '[\u2018\u2019]', '''', 'g');
        content := regexp_replace(content, '[\u2010-\u2015]', '-', 'g');
        content := regexp_replace(content, '[\u00A1\u00A7\u00AB\u00B6\u00B7\u00BB\u00BF\u055A-\u055F\u0589\u05BE'
                                           '\u05F3\u05F4\u060C\u061B\u061E\u061F\u06D4\u0964\u0965\u0E2F\u0E5A\u0E5B'
                                           '\u1361-\u1368\u2016-\u2027\u2030-\u205E\u2E00-\u2E5D\u3001-\u3003'
                                           '\u3008-\u3011\u3014-\u301F\u30FB]', ' ', 'g');
    END IF;
    RETURN btrim(regexp_replace(lower(content),
                                '(?:[-.,:;/''](?![0-9])|!(?![=[:alnum:]])|[][\s?"(){}_`*\\])+', ' ', 'g'));
END
$$;

COMMENT ON FUNCTION pgmnemo._text_form(text) IS 'a text in NFKC and lower case whose blanks and punctuation are single blanks: two texts of one form are the same to a reader';
-- The same for lessons that say the same: one form of text (of a question without its lead-in), one topic, one speaker
-- (nobody named is the user). Long texts are the same only to the letter.
CREATE FUNCTION pgmnemo._text_key(content text, topic text, role text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.hashtextextended(
        pg_catalog.concat_ws(E'\n', CASE WHEN octet_length(content) <= 8000 AND length(content) <= 2000
                                         THEN pgmnemo._text_form(CASE WHEN pgmnemo._bare_question(content)
                                                                      THEN pgmnemo._without_lead_in(content)
                                                                      ELSE content END)
                                         ELSE content END,
                             topic, nullif(role, 'user')), 0)
$$;
-- What else compound tokens are asked for by, as words to add to a text: the parts of hosts, addresses, paths,
-- parameters of URLs, identifiers (snake, kebab and camel case) and tickets; such a token without its separators
-- (PROJ-137 as PROJ137, get_name as getname); amounts without theirs (1,250.00 as 1250). '' where there are none.
CREATE FUNCTION pgmnemo._token_parts(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter constant text := '[0-9A-Za-z\u00C0-\u1FFF]';
    -- an amount with the marks behind it, or else a whole run of digits with such marks: the longer one is found
    amount constant text := '(?:([0-9]{1,3}(?:[,.''][0-9]{2,3})*[,.''][0-9]{3})([.,][0-9]{1,2})?'
                            '|([0-9]+)([.,][0-9]{1,2}))([.,'']*)|([.,'']*[0-9]+[.,'']+[0-9][0-9.,'']*)';
    amounts text;
    tokens  text;
    parts   text;
    joined  text;
BEGIN
    SELECT string_agg(concat_ws(' ', a.whole, translate(concat(m[1], m[3], m[4]), ',.''', '   '),
                                CASE WHEN m[2] ~ '[1-9]' THEN a.whole || translate(m[2], ',', '.') END), ' ')
      INTO amounts
      FROM regexp_matches(words, amount, 'g') AS m
     CROSS JOIN LATERAL (SELECT translate(coalesce(m[1], m[3]), ',.''', '')) AS a (whole)
     WHERE m[6] IS NULL;
    IF amounts IS NOT NULL THEN  -- each becomes a blank; a mark behind what is none goes
        words := regexp_replace(translate(words, E'\x01', ' '), amount, E'\\6\x01\\5', 'g');
        words := translate(regexp_replace(words, E'([0-9.,''])\x01', '\1', 'g'), E'\x01', ' ');
    END IF;
    SELECT string_agg(m[1], ' ') INTO tokens
      FROM regexp_matches(words,
                          '(' || letter || '+(?:(?:[-_./@:=&?#%+~,;|\\]+|[''\u2019](?=[A-Z]))' || letter || '+)*'
                          '(?:\+\+|#)?)|(?:[A-Z]?[a-z]+[.,:;?]?\s+)+', 'g') AS m
     WHERE m[1] ~ '[_./@=#+,&''\u2019]|[0-9][^0-9]|[^0-9][0-9]|[a-z][A-Z]';
    IF tokens IS NOT NULL THEN
        tokens := replace(regexp_replace(tokens, '#(?= |$)', 'sharp', 'g'), '++', 'plusplus');
        parts := regexp_replace(tokens, '[^0-9A-Za-z\u00C0-\u1FFF]+', ' ', 'g');
        parts := regexp_replace(parts, '([a-z]{2})(?=[A-Z][a-z])|([A-Z]{2})(?=[A-Z][a-z])', '\1\2 ', 'g');
        parts := regexp_replace(parts, '\m([^0-9 ]+)([0-9]+)\M|\m([0-9]+)([^0-9 ]+)\M', '\1\3 \2\4', 'g');
        joined := (SELECT string_agg(regexp_replace(m[1], '[^0-9A-Za-z\u00C0-\u1FFF]+', '', 'g'), ' ')
                     FROM regexp_matches(tokens, '(' || letter || '+(?:[-_.&''\u2019]+' || letter || '+)+)', 'g') AS m);
    END IF;
    RETURN concat_ws(' ', amounts, parts, joined);
END
$$;

COMMENT ON FUNCTION pgmnemo._token_parts(text) IS 'words to add to a text, so that its compound tokens are found by their parts, joined, and amounts without separators; linear in the text';
-- A question without what leads to it: a date in brackets, and up to two clauses of three words at most (Ada: Hey, ...;
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
-- The same for lessons with the same lexemes, and for one question with another lead-in, cheaply: only where two have
-- one mark their texts are compared. Of long vectors the length and the bytes are enough.
CREATE FUNCTION pgmnemo._words_mark(content text, lexemes tsvector, token_count integer)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pgmnemo._bare_question(content)
                THEN hashtextextended(pgmnemo._text_form(pgmnemo._without_lead_in(content)), 0)
                WHEN pg_column_size(lexemes) <= 2000 AND pg_column_compression(lexemes) IS NULL
                THEN hash_array_extended(tsvector_to_array(lexemes), 0)
                ELSE token_count::bigint * 4294967296 + pg_column_size(lexemes) END
$$;
-- The configuration of a text that is written in this language. NULL: the session's, else that of `usual`, the tenant's
-- language, which is a configuration, auto, or auto: and the configuration of a text that is not recognized.
CREATE FUNCTION pgmnemo._written_config(language text, words text, usual text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    recognized constant boolean := usual = 'auto' OR starts_with(usual, 'auto:');
    own constant regconfig := CASE WHEN usual <> 'auto' THEN pgmnemo._config(regexp_replace(usual, '^auto:', '')) END;
    config regconfig;
BEGIN
    IF language IS NULL THEN
        config := coalesce(pgmnemo._text_config(), CASE WHEN NOT recognized THEN own END);
    ELSIF language <> 'auto' THEN
        config := pgmnemo._config(nullif(pgmnemo._language_config(language), 'auto'));
    END IF;
    RETURN coalesce(config, pgmnemo._recognized_config(words, coalesce(own, 'pg_catalog.english')));
END
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
      FROM unnest(CASE WHEN year IS NULL
                       THEN ARRAY[extract(year FROM now)::integer, extract(year FROM now)::integer - 1]
                       WHEN year > 0 THEN ARRAY[year] END) AS y (number)
     CROSS JOIN LATERAL (
            SELECT make_timestamp(y.number, coalesce(month, 1), 1, 0, 0, 0) + (coalesce(day, 1) - 1) * interval '1 day')
                   AS b (since)
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
                WHEN word IN ('half a', 'half an') THEN 0.5
                WHEN word IN ('fifteen', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'ninety', 'hundred')
                THEN ('{"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,'
                      ' "hundred": 100}'::jsonb ->> word)::float8
                ELSE array_position('{one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}', word) END
$$;
-- What is told comes after what happened, so a memory fits longer after an interval than ahead of it. Powers are held
-- at a thousand halvings: PostgreSQL calls a smaller one an error. The end does not belong to an interval: midnight is
-- of the next day.
CREATE FUNCTION pgmnemo._temporal(happened timestamptz, since timestamptz[], until timestamptz[])
RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment float8 := date_part('epoch', happened);
    halvings float8 := 'Infinity';
    after float8;
BEGIN
    IF happened IS NULL OR since IS NULL OR until IS NULL THEN
        RETURN 0;
    END IF;
    FOR place IN 1 .. cardinality(since) LOOP
        after := moment - date_part('epoch', until[place]);
        halvings := least(halvings, greatest(CASE WHEN after >= 0 THEN greatest(after / (7 * 86400), 0.1) ELSE 0 END,
                                             (date_part('epoch', since[place]) - moment) / (2 * 86400)));
    END LOOP;
    RETURN CASE WHEN halvings = 'Infinity' THEN 0 ELSE power(0.5::float8, least(halvings, 1000)) END;
END
$$;

COMMENT ON FUNCTION pgmnemo._temporal(timestamptz, timestamptz[], timestamptz[]) IS 'how well a time fits the nearest of these intervals, 0 to 1: 1 within; 0.5 ^ (days / 7), at most 0.5 ^ 0.1, from its end on, 0.5 ^ (days / 2) ahead of its start; 0 without an interval or a time';
-- How a question in English names a time: tried in this order, what matched is taken out of the question.
-- `names` says what the groups of the pattern hold; MONTH stands for the group of the months' names. What looks
-- ahead (tonight, next week) and what has two readings (the winter of 2022) is left out: "on Monday" is read where the
-- question asks of the past. A date in figures is read where it has one reading: dots put the day first, a year ahead
-- of it the month, and of slashes one part is above 12; of 5/8/2023 the year is left. What is loose counts only where
-- nothing else is named. Each is tried only where the question is LIKE its hint, and names a month if it needs one:
-- PostgreSQL keeps no more than 32 patterns compiled.
CREATE FUNCTION pgmnemo._time_patterns()
RETURNS TABLE (kind text, hints text[], months boolean, pattern text, names text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind, p.hints::text[], p.pattern LIKE '%MONTH%',
           '\m(' || replace(p.pattern, 'MONTH', '(january|february|march|april|may|june|july|august|september|october|'
                            'november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)') || ')',
           p.names::text[]
      FROM (VALUES
        ('date', '{%____-%-%,%____/%/%,%____.%.%}',
         '([0-9]{4})[-/.](0?[1-9]|1[0-2])[-/.]([0-9]{1,2})\M', '{year,month,day}'),
        ('date', '{%____-%}', '([0-9]{4})-(0?[1-9]|1[0-2])\M(?!-)', '{year,month}'),
        ('date', '{%.%.%}', '([0-9]{1,2})\. ?(0?[1-9]|1[0-2])\. ?([0-9]{4})\M', '{day,month,year}'),
        ('date', '{%/%/%}', '(1[3-9]|2[0-9]|3[01])/(0?[1-9]|1[0-2])/([0-9]{4})\M', '{day,month,year}'),
        ('date', '{%/%/%}', '(0?[1-9]|1[0-2])/(1[3-9]|2[0-9]|3[01])/([0-9]{4})\M', '{month,day,year}'),
        ('lastweek', '{%day%last week%}',
         '(monday|tuesday|wednesday|thursday|friday|saturday|sunday) (?:of )?last week\M', '{weekday}'),
        ('lastweek', '{%last week%day%}',
         'last week,? (?:on )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('since', '{%since %}', 'since MONTH\M(?! i\M)', '{month}'),
        ('week', '{%week %}',
         '(first|second|third|fourth|last) week (?:of|in) MONTH\M\.?,?(?: (?:of )?([0-9]{4})\M)?', '{week,month,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}',
         '([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? MONTH\M\.?,? ?([0-9]{4})?', '{day,month,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}',
         'MONTH\.? ([0-9]{1,2})(?:st|nd|rd|th)?\M(?:,? ([0-9]{4})\M)?', '{month,day,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}', 'MONTH\.?,? (?:of )?([0-9]{4})\M', '{month,year}'),
        ('date', '{%}',
         '(?:in|of|during|since|by|before|after|until|late|early|mid|last|this|on|week of)[ -]'
         'MONTH\M(?! i\M)', '{month}'),
        ('date', '{%in m%}', 'in m([0-9]{1,2})\M(?: ([0-9]{1,2})[RH])?', '{month,day}'),
        ('feast', '{%valentine%,%christmas%,%halloween%,%new year%}',
         '(valentine|christmas eve|christmas|halloween|new year''?s eve|new year''?s day)\M(?:''?s? day\M)?'
         '(?:,? (?:of |in )?([0-9]{4})\M)?', '{feast,year}'),
        ('quarter', '{%q_ %}', 'q([1-4])(?: of)? ([0-9]{4})\M', '{quarter,year}'),
        ('quarter', '{% q_%}', '(?:in|during|since) q([1-4])\M', '{quarter}'),
        ('quarter', '{%quarter of %}', '(first|second|third|fourth|last) quarter of ([0-9]{4})\M', '{quarter,year}'),
        ('season', '{%spring %,%summer %,%autumn %,%fall %}',
         '(spring|summer|autumn|fall) (?:of |in )?([0-9]{4})\M', '{season,year}'),
        ('season', '{%last spring%,%last summer%,%last autumn%,%last fall%,%last winter%}',
         'last (spring|summer|autumn|fall|winter)\M', '{season}'),
        ('ago', '{% ago%,% back%,% earlier%}',
         '(half an?|\w+(?<!half))(?: of)? (day|week|fortnight|month|year)s? (?:ago|back|earlier)\M', '{count,unit}'),
        ('near', '{%today%,%yesterday%,%this %,%last %}',
         '(day before yesterday|yesterday|today|this morning|this afternoon|last night|last weekend)'
         '\M(?! before| after)', '{day}'),
        ('past', '{%last %,%past %,%previous %}',
         '(?:last|past|previous) (\w+)(?: of)? (day|week|month|quarter|year)s?\M(?! of)', '{count,unit}'),
        ('past', '{%last day%,%past day%,%previous day%}', '(?:last|past|previous) (day)s?\M(?! of)', '{unit}'),
        ('past', '{%past %,%last %}',
         '(?:(?:in|over|during|within) the (?:last|past)|this past) (week|month|quarter|year)\M', '{unit}'),
        ('span', '{%last %,%past %,%previous %,%this %}',
         '(last|past|previous|this) (week|month|quarter|year)\M(?! of)', '{which,unit}'),
        ('weekday', '{%last %day%,%past %day%}',
         '(?:last|this past|past) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('date', '{%19__%,%20__%}',
         '(?:in|of|since|by|before|after|during|until|year|from|to|'
         'and|early|late|mid|for)[ -]((?:19|20)[0-9][0-9])\M', '{year}'),
        ('loose', '{% on %day%}',
         '(?<=\m(?:did|was|were|had)\M.*)on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('loose', '{%20__%}', '(20[0-9][0-9])\M', '{year}'),
        ('loose', '{%recently%,%lately%,%other day%}', '(recently|lately|the other day)\M', '{day}')
      ) AS p (kind, hints, pattern, names)
$$;
-- The interval of one expression, its words by name, counted from `now` in the zone that is asked in; NULL for a date
-- that does not exist. A date without a year is the latest that is not after `now`; what is told only roughly is as
-- wide as it is vague.
CREATE FUNCTION pgmnemo._time_span(kind text, said jsonb, now timestamp)
RETURNS tsrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    today timestamp := date_trunc('day', now);
    unit text := said ->> 'unit';
    unit_days float8 := CASE unit WHEN 'day' THEN 1 WHEN 'week' THEN 7 WHEN 'fortnight' THEN 14 WHEN 'month' THEN 30.4
                                     WHEN 'quarter' THEN 91.3 WHEN 'year' THEN 365 END;
    many float8 := pgmnemo._small_number(said ->> 'count');
    since timestamp;
    slack interval;
BEGIN
    IF kind = 'date' OR kind = 'loose' AND said ? 'year' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, pgmnemo._month(said ->> 'month'),
                                      (said ->> 'day')::integer, NULL, now);
    ELSIF kind = 'since' THEN
        RETURN tsrange(lower(m.days), now + interval '24 hours')
          FROM pgmnemo._calendar_span(NULL, pgmnemo._month(said ->> 'month'), NULL, NULL, now) AS m (days);
    ELSIF kind = 'lastweek' THEN
        since := date_trunc('week', now) - interval '8 days'
                 + array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3)) * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
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
         WHERE replace(said ->> 'quarter', 'last', 'fourth') IN (q.name, q.place::text);
    ELSIF kind = 'week' THEN
        RETURN CASE said ->> 'week'
               WHEN 'last' THEN tsrange(upper(m.days) - interval '7 days', upper(m.days))
               ELSE tsrange(lower(m.days) + w.place * interval '7 days',
                            lower(m.days) + (w.place + 1) * interval '7 days') END
          FROM pgmnemo._calendar_span((said ->> 'year')::integer, pgmnemo._month(said ->> 'month'), NULL, NULL, now)
               AS m (days)
         CROSS JOIN LATERAL (
                SELECT array_position('{first,second,third,fourth}', said ->> 'week') - 1) AS w (place);
    ELSIF kind = 'ago' THEN
        IF unit = 'day' THEN
            since := today - many * interval '1 day';
            slack := round(0.12 * many) * interval '1 day';
            RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + interval '1 day' + slack) END;
        END IF;
        since := now - many * unit_days * interval '24 hours';
        slack := (0.12 * many * unit_days + 2) * interval '24 hours';
        RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + slack) END;
    ELSIF kind = 'past' THEN
        IF many IS NULL AND said ? 'count' AND unit IN ('quarter', 'year') THEN
            RETURN NULL;  -- "the last school year"
        END IF;
        unit_days := CASE unit WHEN 'month' THEN 31 ELSE unit_days END;
        since := now - (coalesce(many, 1) * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 3 END) * interval '24 hours';
        RETURN tsrange(since, now + interval '24 hours');
    ELSIF kind = 'span' AND said ->> 'which' <> 'this' THEN
        RETURN tsrange(date_trunc(unit, now) - CASE unit WHEN 'quarter' THEN interval '3 months'
                                                         ELSE ('1 ' || unit)::interval END, date_trunc(unit, now));
    ELSIF kind = 'span' THEN
        RETURN tsrange(date_trunc(unit, now), today + interval '1 day');
    ELSIF said ? 'weekday' THEN
        since := today - (1 + (extract(isodow FROM today)::integer + 6
                               - array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3))) % 7)
                         * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
    END IF;
    RETURN CASE said ->> 'day'
        WHEN 'day before yesterday' THEN tsrange(today - interval '2 days', today - interval '1 day')
        WHEN 'yesterday' THEN tsrange(today - interval '1 day', today)
        WHEN 'last night' THEN tsrange(today - interval '12 hours', today + interval '12 hours')
        WHEN 'the other day' THEN tsrange(now - interval '7 days', now - interval '12 hours')
        WHEN 'recently' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'lately' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'last weekend' THEN tsrange(date_trunc('week', now) - interval '2 days', date_trunc('week', now))
        ELSE tsrange(today, today + interval '1 day') END;
END
$$;
-- How times are put together in German, French, Spanish, Chinese and Japanese, and how English says it: tried in this
-- order on a question whose words are English already (pgmnemo._times_in_english), each only where the question is LIKE
-- one of its hints, since PostgreSQL keeps no more than 32 patterns compiled. Another language is added here, to the
-- words of that function, and to the two tests of _times.
CREATE FUNCTION pgmnemo._time_words()
RETURNS TABLE (hints text[], pattern text, says text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.hints::text[],
           replace(replace(replace(w.pattern, 'UNIT', 'day|week|month|quarter|year'),
                           'DAY', 'monday|tuesday|wednesday|thursday|friday|saturday|sunday'),
                   'MONTH', 'january|february|march|april|may|june|july|august|september|october|november|december'),
           w.says
      FROM (VALUES
        ('{%avant-hier%,%antes de yesterday%}', '\m(?:avant-hier|antes de yesterday)\M', 'day before yesterday'),
        ('{%aujourd_hui%}', '\maujourd.hui\M', 'today'),
        ('{%wochenende%}', '\mletzte[sn]? wochenende\M', 'last weekend'),
        ('{%week%end%}', '\mweek-?end (?:dernier|passe)\M', 'last weekend'),
        ('{%fin de week%}', '\mfin de week pasado\M', 'last weekend'),
        ('{%vor %,%hace %,%il y a %}', '\m(?:vor|hace|il y a) ([0-9]+) (UNIT)', '\1 \2 ago'),
        ('{%letzte%,%vorige%,%vergangene%}', '\m(?:letzte|vorige|vergangene)[nrsm]? ([0-9]+ )?(UNIT)', 'last \1\2'),
        ('{%letzte%day%,%vorige%day%,%vergangene%day%}', '\m(?:letzte|vorige|vergangene)[nrsm]? (DAY)', 'last \1'),
        ('{%derni%}', '([0-9]+) derniere?s (UNIT)', 'last \1 \2'),
        ('{%ultimos%,%ultimas%}', '\multim[oa]s ([0-9]+) (UNIT)', 'last \1 \2'),
        ('{% derni%,% passe%,% pasad_%}', '\m(UNIT) (?:derniere?|passee?|pasad[oa])\M', 'last \1'),
        ('{%day derni%,%day passe%,%day pasado%}', '\m(DAY) (?:dernier|passe|pasado)\M', 'last \1'),
        ('{%pasad_ %day%}', '\mpasad[oa] (DAY)', 'last \1'),
        ('{%diese%,%cette %,%ce %,%est_ %}', '\m(?:diese[nrsm]?|cette|ce|est[ea]) (UNIT)', 'this \1'),
        ('{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}', '\m([0-9]{1,2})(?:\.|er)? (?:de )?(?=MONTH)', '\1 '),
        ('{% de %,% del %}', '(MONTH) del? (?=[0-9]{4})', '\1 '),
        ('{%anfang%,%mitte%,%ende%,%debut%,%mi_%,%fin%,%principios de%}',
         '\m(?:anfang|mitte|ende|debut|mi|fin|finales de|principios de)[ -](?=MONTH)', 'early '),
        ('{%im %,%en %}', '\m(?:im|en) (?=MONTH)', 'in '),
        ('{%Y%M%}', '([0-9]{4}) *Y *([0-9]{1,2}) *M *([0-9]{1,2}) *[RH]', ' \1-\2-\3 '),
        ('{%Y%M%}', '([0-9]{4}) *Y *([0-9]{1,2}) *MK?', ' \1-\2 '),
        ('{%Y%}', '([0-9]{4}) *Y', ' \1 '),
        ('{%D%F%,%R%F%}', '([0-9]+) *G?[DR]Z?F', ' \1 day ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?[DR]', ' last \1 day '),
        ('{%W%F%,%XQ%F%}', '([0-9]+) *G?(?:XQ|W)Z?F', ' \1 week ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?(?:XQ|W)', ' last \1 week '),
        ('{%M%F%}', '([0-9]+) *G?G?MZ?F', ' \1 month ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?G?M', ' last \1 month '),
        ('{%Y%F%}', '([0-9]+) *G?YZ?F', ' \1 year ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?Y', ' last \1 year '),
        ('{%M%}', '(?<![0-9])(1[0-2]|0?[1-9])M(?!K?Z?F)K?', ' in m\1 '),
        ('{%S%1%}', 'SG?(?:XQ|W)1', ' monday of last week '),
        ('{%S%2%}', 'SG?(?:XQ|W)2', ' tuesday of last week '),
        ('{%S%3%}', 'SG?(?:XQ|W)3', ' wednesday of last week '),
        ('{%S%4%}', 'SG?(?:XQ|W)4', ' thursday of last week '),
        ('{%S%5%}', 'SG?(?:XQ|W)5', ' friday of last week '),
        ('{%S%6%}', 'SG?(?:XQ|W)6', ' saturday of last week '),
        ('{%S%7%,%S%R%,%S%D%}', 'SG?(?:XQ|W)[7DR]', ' sunday of last week '),
        ('{%S%O%,%LWO%}', 'SG?WO|LWO', ' last weekend '),
        ('{%S%,%LW%}', 'SG?(?:XQ|W)|LW', ' last week '),
        ('{%S%M%,%LM%}', 'SG?M|LM', ' last month '),
        ('{%S%J%}', 'SG?J', ' last quarter '),
        ('{%UY%,%AY%}', '(?<!1)AY|UY', ' last year '),
        ('{%FY%,%1AY%}', '1AY|FY', ' 2 years ago '),
        ('{%CY%}', 'CY', ' this year '),
        ('{%CW%}', 'CW', ' this week '),
        ('{%CM%}', 'CM', ' this month '),
        ('{%B%}', 'BG?(?:XQ|W)', ' this week '),
        ('{%B%M%}', 'BG?M', ' this month '),
        ('{%CD%,%CR%}', 'C[DR]', ' today '),
        ('{%1AR%,%@++!%}', '1AR|@\+\+!', ' day before yesterday '),
        ('{%IFD%}', 'IFD', ' 3 days ago '),
        ('{%AD%,%AR%}', 'A[DR]', ' yesterday '),
        ('{%FD%,%FR%}', '(?<!I)F[DR]', ' day before yesterday ')
      ) AS w (hints, pattern, says)
$$;
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
        || far_words;
    other boolean;
    month_named boolean;
    way record;
    found text[];
    span tsrange;
BEGIN
    since := '{}';
    until := '{}';
    share := 1;
    IF remaining !~ ('(19|20)[0-9][0-9]|[0-9]-|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|christmas|halloween|'
                    'valentine|'
                    'new year|ago|back|earlier|yesterday|today|last|past|previous|this |recently|lately|other day|'
                    'on [mtwfs]| q[1-4]|' || other_words)
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
                    'weekend|week-end|wochenende|fin de semana|'
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
                     'today|recently|lately|the other day|on (mon|tues|wednes|thurs|fri|satur|sun)day|'
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

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz, text) IS 'the intervals that a question in English, German, French, Spanish, Chinese or Japanese names, as of a moment, by the days of a zone: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years, and where nothing else is named "on Tuesday" of the past, "recently", "the other day" (pgmnemo._time_patterns); at most 20, of its first 10,000 characters; both arrays empty if it names none. share: what the times count for, below 1 where they are told loosely';
-- A question with the times of other languages put as English says them; good for reading times alone. First each
-- character of Chinese and Japanese that tells a time becomes a figure or a capital, which the small letters of the
-- question lack, then each word that stands for itself becomes English, and numbers before a unit of time figures.
CREATE FUNCTION pgmnemo._times_in_english(question text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    way record;
BEGIN
    IF question ~ '[\u4e00-\u9fff\u304a]' AND getdatabaseencoding() = 'UTF8' THEN
        -- "two or three days ago" is no date
        question := regexp_replace(question, '(?<![\u4e00\u4e8c\u4e24\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])'
                                             '[\u4e00\u4e8c\u4e24\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d]{2}'
                                             '(?=\u4e2a?[\u5929\u65e5\u5468\u661f\u793c\u6708\u5e74])', '', 'g');
        question := (
            SELECT string_agg(coalesce(t.letter, c.letter), '' ORDER BY c.place)
              FROM string_to_table(question, NULL) WITH ORDINALITY AS c (letter, place)
              LEFT JOIN (VALUES
                    ('0', '{38646,12295}'), ('1', '{19968}'), ('2', '{20108,20004}'), ('3', '{19977}'),
                    ('4', '{22235}'), ('5', '{20116}'), ('6', '{20845}'), ('7', '{19971}'), ('8', '{20843}'),
                    ('9', '{20061}'), ('T', '{21313}'), ('S', '{19978}'), ('W', '{21608,36913}'),
                    ('X', '{26143,31036}'), ('Q', '{26399,25308}'), ('M', '{26376}'), ('Y', '{24180}'),
                    ('D', '{22825}'), ('R', '{26085}'), ('H', '{21495}'), ('F', '{21069}'), ('Z', '{20043,20197}'),
                    ('G', '{20010}'), ('P', '{36807}'), ('U', '{21435}'), ('V', '{26368}'), ('N', '{36817}'),
                    ('E', '{30340}'), ('K', '{20221}'), ('O', '{26411}'), ('J', '{23395}'), ('', '{24230}'),
                    ('A', '{26152}'), ('C', '{20170}'), ('L', '{20808}'), ('B', '{36825,26412}'), ('I', '{22823}'),
                    ('@', '{12362}'), ('+', '{12392}'), ('!', '{12356}')
                   ) AS t (letter, codes) ON ascii(c.letter) = ANY (t.codes::integer[]));
        IF strpos(question, 'T') > 0 THEN  -- ten
            question := regexp_replace(question, '([1-9])T([1-9])', '\1\2', 'g');
            question := regexp_replace(question, 'T([1-9])', '1\1', 'g');
            question := replace(regexp_replace(question, '([1-9])T', '\10', 'g'), 'T', '10');
        END IF;
    END IF;
    question := (
        WITH piece AS (
            SELECT m.part[1] AS word, lead(m.part[1]) OVER (ORDER BY m.place) AS after,
                   lead(m.part[1], 2) OVER (ORDER BY m.place) AS next, m.place
              FROM regexp_matches(pgmnemo._folded(question), '\w+|\W+', 'g') WITH ORDINALITY AS m (part, place)
        ), english (says, words) AS (
            VALUES
            ('january', '{januar,janner,janvier,enero}'), ('february', '{februar,fevrier,febrero}'),
            ('march', '{marz,maerz,mars,marzo}'), ('april', '{avril,abril}'), ('may', '{mai,mayo}'),
            ('june', '{juni,juin,junio}'), ('july', '{juli,juillet,julio}'), ('august', '{aout,agosto}'),
            ('september', '{septembre,septiembre}'), ('october', '{oktober,octobre,octubre}'),
            ('november', '{novembre,noviembre}'), ('december', '{dezember,decembre,diciembre}'),
            ('monday', '{montag,lundi,lunes}'), ('tuesday', '{dienstag,mardi,martes}'),
            ('wednesday', '{mittwoch,mercredi,miercoles}'), ('thursday', '{donnerstag,jeudi,jueves}'),
            ('friday', '{freitag,vendredi,viernes}'), ('saturday', '{samstag,sonnabend,samedi,sabado}'),
            ('sunday', '{sonntag,dimanche,domingo}'), ('day', '{tag,tage,tagen,jour,jours,dia,dias}'),
            ('week', '{woche,wochen,semaine,semaines,semana,semanas}'),
            ('month', '{monat,monate,monaten,monats,mois,mes,meses}'),
            ('quarter', '{quartal,quartale,quartalen,trimestre,trimestres}'),
            ('year', '{jahr,jahre,jahren,jahres,an,ans,annee,annees,ano,anos}'),
            ('day before yesterday', '{vorgestern,anteayer,antier}'), ('yesterday', '{gestern,ayer}'),
            ('today', '{heute,hoy}')
        ), number (says, words) AS (
            VALUES
            ('1', '{ein,eine,einem,einen,einer,eines,un,une,una}'), ('2', '{zwei,deux,dos}'),
            ('3', '{drei,trois,tres}'), ('4', '{vier,quatre,cuatro}'), ('5', '{funf,cinq,cinco}'),
            ('6', '{sechs,six,seis}'), ('7', '{sieben,sept,siete}'), ('8', '{acht,huit,ocho}'),
            ('9', '{neun,neuf,nueve}'), ('10', '{zehn,dix,diez}')
        )
        SELECT string_agg(coalesce(n.says, e.says, p.word), '' ORDER BY p.place)
          FROM piece p
          LEFT JOIN english e ON p.word = ANY (e.words::text[])
          LEFT JOIN english u ON p.next = ANY (u.words::text[]) AND p.after = ' '
          LEFT JOIN number n ON p.word = ANY (n.words::text[]) AND p.after = ' '
               AND coalesce(u.says, p.next) ~ '^(?:derni|day|week|month|quarter|year)');
    FOR way IN SELECT w.* FROM pgmnemo._time_words() w WHERE question LIKE ANY (w.hints) LOOP
        question := regexp_replace(question, way.pattern, way.says, 'g');
    END LOOP;
    RETURN question;
END
$$;
-- The first text in C order that begins otherwise, as near as the encoding lets one say; NULL: there is none. What is
-- taken too far is sieved by whoever asks.
CREATE FUNCTION pgmnemo._after_prefix(prefix text)
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
        code := CASE WHEN unicode OR octet_length(right(head, 1)) = 1 THEN ascii(right(head, 1)) END;
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
CREATE FUNCTION pgmnemo._asked_entries(conditions jsonb)
RETURNS TABLE (entry bigint, place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._entry('.' || ltrim(c.key, '.'), f.value), c.place::integer
      FROM jsonb_each(conditions) WITH ORDINALITY AS c (key, value, place)
     CROSS JOIN LATERAL (
            SELECT c.value WHERE jsonb_typeof(c.value) NOT IN ('object', 'array')
             UNION ALL
            SELECT c.value -> 'eq' WHERE c.value ? 'eq' AND jsonb_typeof(c.value) = 'object'
             UNION ALL
            SELECT i FROM jsonb_array_elements(CASE WHEN jsonb_typeof(c.value) = 'object' AND NOT c.value ? 'eq'
                                                    THEN c.value -> 'in' END) i) AS v (value)
     CROSS JOIN LATERAL unnest(pgmnemo._value_forms(v.value)) AS f (value)
     WHERE c.key NOT IN ('and', 'or', 'not')
$$;
-- Whether a lesson held at the scope's moment by what was known at another time: stored by then, and not known to be
-- superseded. It fixes no search path, so that it becomes a part of the statement that asks.
CREATE FUNCTION pgmnemo._believed(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (l).stored_at <= (scope).known_at
       AND CASE WHEN (scope).ended IS NOT NULL THEN NOT (scope).ended @> (l).id
                ELSE NOT pgmnemo._superseded_then((l).tenant_id, (l).id, (scope).moment, (scope).known_at) END
$$;
-- One condition on what stands at a path of metadata, as a predicate of jsonpath. `exists` makes each of them true or
-- false, never unknown, so that not means not; a list counts as each of its elements.
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
-- The lessons that were known to be superseded at a moment, by what was known at a time: to look one up in them costs
-- a tenth of a call. NULL where the tenant has so many supersessions that reading all would cost more.
CREATE FUNCTION pgmnemo._ended(tenant uuid, moment timestamptz, known_at timestamptz)
RETURNS int8multirange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 20000;
    counted integer;
    ended int8multirange;
BEGIN
    SELECT count(*), range_agg(int8range(x.old_id, x.old_id, '[]'))
                     FILTER (WHERE x.valid_from <= moment AND pgmnemo._link_known(x, known_at))
      INTO counted, ended
      FROM (SELECT x.* FROM pgmnemo.supersession x WHERE x.tenant_id = tenant LIMIT most + 1) x;
    RETURN CASE WHEN counted <= most THEN coalesce(ended, '{}') END;
END
$$;
-- The entries of one lesson's metadata: of each scalar, those in lists under the path of the list. One that is too
-- deep or too large has the entry 0, which every search asks for as well.
CREATE FUNCTION pgmnemo._entries(metadata jsonb)
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
CREATE FUNCTION pgmnemo._entry(path text, value jsonb)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT jsonb_hash_extended(jsonb_build_array(path, value), 0) $$;

COMMENT ON FUNCTION pgmnemo._entry IS 'what pgmnemo.lesson_entry keeps of one scalar in metadata: a hash of its keys, joined by dots, and of itself';
-- A filter that is malformed is an error, never ignored: one that says less than its writer meant would show, or
-- forget, what it should not.
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
            f.topic_prefix := pgmnemo._composed(one.value #>> '{}');
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

COMMENT ON FUNCTION pgmnemo._filter IS 'a filter: an object of which every key must hold. projects, role, topic: a text or a list, one of which; topic_prefix: how the topic begins; since, until: when it happened (occurred_at, else stored_at), until excluded; metadata: an object of conditions {"path.to.key": value or {"eq": ..., "ne": ..., "in": [...], "gt": ..., "gte": ..., "lt": ..., "lte": ..., "prefix": "...", "exists": true}}, with and: [...], or: [...], not: {...}, and at its top contains: {...} (@>). A list in metadata counts as each of its elements; a text of eq, ne, in and prefix meets what was stored in Unicode''s composed form (NFC) and in its decomposed one, a text of the others is compared as it is';
-- How every complaint about a filter is made.
CREATE FUNCTION pgmnemo._filter_error(item text, problem text, advice text)
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
CREATE FUNCTION pgmnemo._filter_texts(item text, given jsonb)
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
    RETURN ARRAY(SELECT DISTINCT pgmnemo._composed(i) FROM jsonb_array_elements_text(items) i);
END
$$;
-- A time that a filter gives: a date, which begins in UTC, or a time of day with its offset; no other reading depends
-- on what the session has set.
CREATE FUNCTION pgmnemo._filter_time(item text, given jsonb)
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
CREATE FUNCTION pgmnemo._holds_unprintable(metadata jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (SELECT FROM jsonb_path_query(metadata, 'strict $.** ? (@.type() == "number")') n
                    WHERE pgmnemo._unprintable(n))
$$;
-- Whether a project is one of those that a call looks in: the interval for the index, and of a set its members.
CREATE FUNCTION pgmnemo._in_scope(project uuid, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT project BETWEEN (scope).first_project AND (scope).last_project
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL
            OR project = ANY (((scope).filter).projects))
$$;
-- Whether a supersession was known at a time (NULL: now). It fixes no search path, so that it becomes a part of the
-- statement that asks.
CREATE FUNCTION pgmnemo._link_known(x pgmnemo.supersession, known_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN known_at IS NULL THEN x.undone_at IS NULL
                ELSE x.recorded_at <= known_at AND (x.undone_at IS NULL OR x.undone_at > known_at) END
$$;
-- What a filter asks of metadata, as one predicate of jsonpath. The keys of a document are paths, levels joined by
-- dots; a dot in front tells a key named and, or, not or contains from the word.
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
-- What a filter asks of a lesson. It becomes a part of each statement that asks: a call for each row would cost more
-- than what it asks.
CREATE FUNCTION pgmnemo._passes(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((filter).roles IS NULL OR l.role = ANY ((filter).roles))
       AND ((filter).topics IS NULL OR l.topic = ANY ((filter).topics))
       AND ((filter).topic_prefix IS NULL OR starts_with(l.topic, (filter).topic_prefix))
       AND ((filter).since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= (filter).since)
       AND ((filter).until IS NULL OR coalesce(l.occurred_at, l.stored_at) < (filter).until)
       AND ((filter).contained IS NULL OR l.metadata @> (filter).contained)
       AND ((filter).matching IS NULL OR l.metadata @@ (filter).matching)
$$;
-- pgmnemo._passes as a call: within a recall's statements, which few calls filter, the whole of it would be made ready
-- for nothing.
CREATE FUNCTION pgmnemo._passing(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes(l, filter);
END
$$;
-- A scalar as jsonpath writes it.
CREATE FUNCTION pgmnemo._scalar_path(item text, given jsonb)
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
-- Whether a lesson was known to be superseded at a moment, by what was known at a time. It takes no lesson as a whole,
-- which would be copied at each call, and fixes no search path, for recall asks it of every lesson that it finds.
CREATE FUNCTION pgmnemo._superseded_then(tenant uuid, lesson bigint, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.supersession x
                    WHERE x.tenant_id = tenant AND x.old_id = lesson AND x.valid_from <= moment
                      AND pgmnemo._link_known(x, known_at));
END
$$;
-- Whether a number takes few bytes in jsonb, but very many when it is written out: a handful would fill a server's
-- memory and stop pg_dump.
CREATE FUNCTION pgmnemo._unprintable(number jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT abs(number::numeric) > 1e308 OR scale(number::numeric) > 400 $$;
-- A value with which metadata are compared, in each form in which a text may have been stored: metadata are kept as
-- they are given. Most have one form.
CREATE FUNCTION pgmnemo._value_forms(given jsonb)
RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said text := CASE WHEN jsonb_typeof(given) = 'string' THEN given #>> '{}' END;
BEGIN
    IF said IS NULL OR octet_length(said) = length(said) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN ARRAY[given];
    END IF;
    RETURN ARRAY(SELECT DISTINCT to_jsonb(f) FROM unnest(ARRAY[said, normalize(said, NFC), normalize(said, NFD)]) f);
END
$$;
-- Whether a call looks in all projects of its tenant.
CREATE FUNCTION pgmnemo._whole(scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (scope).first_project = '00000000-0000-0000-0000-000000000000'
       AND (scope).last_project = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
       AND ((scope).filtered IS NOT TRUE OR ((scope).filter).projects IS NULL)
$$;
-- What the policies go by: the tenant of the verb that runs, and between verbs none. Nobody but the extension's owner
-- may call it, so that whoever reads all data by some other right is refused, whatever he sets. It becomes a part of
-- each statement that asks the policies, so it names the schema of all that it uses in place of a search path.
CREATE FUNCTION pgmnemo._acting_tenant()
RETURNS uuid
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_catalog.current_setting('pgmnemo.acting_tenant', true) OPERATOR(pg_catalog.<>) ''
                THEN pg_catalog.current_setting('pgmnemo.acting_tenant', true)::pg_catalog.uuid END
$$;
-- The default of the verbs' last argument: PostgreSQL evaluates it with the rights of whoever calls.
CREATE FUNCTION pgmnemo._caller()
RETURNS pgmnemo.caller
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT ROW(c.name, c.proof)::pgmnemo.caller FROM pgmnemo.calling c);
END
$$;
-- REPEATABLE READ and SERIALIZABLE show grants as they were when the transaction, or the one whose snapshot it
-- imported, began. A row that somebody has deleted since says so in its xmax; of a revoke that was rolled back before
-- the snapshot that mark may be left, so the last one must have been under way then or have come later.
CREATE FUNCTION pgmnemo._check_revoked(role name, tenant uuid)
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
CREATE FUNCTION pgmnemo._enter(tenant uuid, caller pgmnemo.caller)
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
CREATE FUNCTION pgmnemo._entered(tenant uuid, caller pgmnemo.caller)
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
-- As pgmnemo._write_tenant, for who puts together anew what is derived from lessons: under an older snapshot it fails
-- where one of them was changed since, too. Who changes one locks the tenant's row and does not write it.
CREATE FUNCTION pgmnemo._fresh_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._write_tenant(tenant);
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM pgmnemo.lesson l WHERE l.tenant_id = tenant FOR SHARE;
    END IF;
END
$$;
-- How every verb ends: no session state survives a call.
CREATE FUNCTION pgmnemo._leave()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT set_config('pgmnemo.acting_tenant', '', true) $$;
-- Whoever takes out or merges postings holds the tenant's row to the end of its transaction; whoever appends needs no
-- lock. Verbs that change lessons take it before any row of theirs, so that they cannot deadlock.
CREATE FUNCTION pgmnemo._lock_tenant(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO pgmnemo.tenant VALUES (tenant) ON CONFLICT DO NOTHING;
        PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE;
    END IF;
END
$$;
-- The role that calls; an error for a caller whose proof is none. The proof is made as pgmnemo.calling makes it.
CREATE FUNCTION pgmnemo._proved(caller pgmnemo.caller)
RETURNS name
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    proof bytea := (SELECT sha256(k.key || int4send(pg_backend_pid()) || timestamptz_send(now())
                                  || convert_to(caller.name::text, 'UTF8'))
                      FROM pgmnemo.caller_key k);
BEGIN
    IF NOT coalesce(caller.proof = proof, false) THEN
        RAISE EXCEPTION 'the argument caller does not prove that role % calls',
              coalesce(quote_ident(caller.name), 'NULL')
        USING ERRCODE = 'insufficient_privilege', HINT = 'Leave it out: its default names whoever calls.';
    END IF;
    RETURN caller.name;
END
$$;
-- Whether a grant of a tenant reaches a role, directly or by an inherited membership.
CREATE FUNCTION pgmnemo._reaches(role name, tenant uuid)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.tenant_grant g
                    WHERE g.tenant_id = tenant AND pg_has_role(role, g.grantee::oid, 'USAGE'));
END
$$;
-- The tenant for verbs that do not name one. Whether the caller may work for it is the verb's own question.
CREATE FUNCTION pgmnemo._session_tenant()
RETURNS uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(current_setting('pgmnemo.tenant_id', true), '');
BEGIN
    IF asked = '' THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is not set'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    ELSIF NOT pg_input_is_valid(asked, 'uuid') THEN
        RAISE EXCEPTION 'pgmnemo.tenant_id is %, but must be a uuid', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SET pgmnemo.tenant_id to the uuid of your tenant.';
    END IF;
    RETURN asked::uuid;
END
$$;
-- As pgmnemo._lock_tenant where nobody holds the lock; whether it is held now. Another session's new row is waited for
-- as shortly as can be.
CREATE FUNCTION pgmnemo._try_lock_tenant(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 1
AS $$
BEGIN
    PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND NOT EXISTS (SELECT FROM pgmnemo.tenant t WHERE t.tenant_id = tenant) THEN
        INSERT INTO pgmnemo.tenant VALUES (tenant) ON CONFLICT DO NOTHING;
        PERFORM FROM pgmnemo.tenant t WHERE t.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    END IF;
    RETURN FOUND;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$$;
-- As pgmnemo._lock_tenant, for verbs that decide by what stands in several rows: the tenant's row is written as well,
-- so that under REPEATABLE READ whoever took his snapshot before fails rather than decide by what no longer holds.
CREATE FUNCTION pgmnemo._write_tenant(tenant uuid)
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
CREATE FUNCTION pgmnemo._bequeath(tenant uuid, forgotten bigint[], revive boolean)
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
-- The space of a tenant whose embedder is being changed, for who ends that: nobody writes a vector from here on, and
-- what was written before shows in the next statement, which an older snapshot would hide. NULL: none is being changed.
CREATE FUNCTION pgmnemo._changed_space(tenant uuid)
RETURNS pgmnemo.embedding_space
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a change of embedder cannot end under %', upper(current_setting('transaction_isolation'))
        USING ERRCODE = 'feature_not_supported',
              HINT = 'Others'' last writes would not show: call it under READ COMMITTED.';
    END IF;
    SELECT s.* INTO space
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL FOR UPDATE;
    RETURN space;
END
$$;
-- What a writer sets to nothing, by name.
CREATE FUNCTION pgmnemo._check_clear(clear text[], allowed text[])
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
-- What a caller says of an embedder; NULL says nothing.
CREATE FUNCTION pgmnemo._check_embedder(name text, dimensions integer)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 4000;  -- dimensions that an HNSW index takes
BEGIN
    IF dimensions NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'dimensions is %, but must be from 1 to %', dimensions, most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'No index takes others: choose another embedder.';
    ELSIF name !~ '\S' OR octet_length(name) > 1000 THEN
        RAISE EXCEPTION 'the name of an embedder has % bytes, but must have 1 to 1000 and not be blank',
              octet_length(name)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give its model and revision, say.';
    END IF;
END
$$;
-- Whoever forgets by a filter must have one.
CREATE FUNCTION pgmnemo._check_forgetting(filter jsonb)
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
-- list lessons pass by one by one, and none is copied. One lesson needs no query.
CREATE FUNCTION pgmnemo._check_input(lessons pgmnemo.lesson_input[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 10000;  -- lessons
    wrong record;
    problem text;
BEGIN
    IF cardinality(lessons) = 1 THEN
        problem := pgmnemo._lesson_problem(lessons[1]);
        IF problem IS NOT NULL THEN
            PERFORM pgmnemo._refuse_lesson(1, (lessons[1]).external_id, problem);
        END IF;
        RETURN;
    ELSIF cardinality(lessons) > most THEN
        RAISE EXCEPTION 'the set has % lessons, but may have %', cardinality(lessons), most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Store it in parts; nothing of the set was stored.';
    END IF;
    SELECT u.ordinal, (u.i).external_id, p.problem INTO wrong
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL pgmnemo._lesson_problem(u.i) AS p (problem)
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
-- A moment of the world from which on something holds, and the words that say why.
CREATE FUNCTION pgmnemo._check_moment(at timestamptz, reason text)
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
CREATE FUNCTION pgmnemo._check_patch(metadata jsonb, patch jsonb)
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
CREATE FUNCTION pgmnemo._check_provenance(tenant uuid, lessons pgmnemo.lesson_input[], clear text[], gate text)
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
-- What a caller gives to pgmnemo.reembed is refused whole where a part of it cannot be stored.
CREATE FUNCTION pgmnemo._check_reembedded(tenant uuid, space pgmnemo.embedding_space, lesson_ids bigint[],
                                          numbers smallint[], embeddings @extschema:vector@.vector[], marks bigint[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 10000;  -- vectors
    count constant integer := coalesce(cardinality(lesson_ids), -1);
    wrong text;
BEGIN
    IF space.next_generation IS NULL THEN
        RAISE EXCEPTION 'the embedder of tenant % is not being changed', quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Call pgmnemo.begin_reembedding first.';
    ELSIF count NOT BETWEEN 0 AND most OR (count, count, count) IS DISTINCT FROM
          (cardinality(numbers), cardinality(embeddings), cardinality(marks)) THEN
        RAISE EXCEPTION 'lesson_ids, numbers, embeddings and marks must have as many elements each, at most %', most
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Give more in parts; nothing was stored.';
    END IF;
    SELECT format('vector %s of the set, %s', g.ordinal, CASE
               WHEN (g.lesson_id, g.number, g.embedding, g.mark) IS NULL OR g.lesson_id IS NULL OR g.number IS NULL
                    OR g.embedding IS NULL OR g.mark IS NULL THEN 'lacks a lesson, a number, a mark or the vector'
               WHEN g.place > 1 THEN format('is another one of text %s of lesson %s', g.number, g.lesson_id)
               WHEN NOT pgmnemo._fits(g.embedding, space.next_dimensions)
               THEN format('has %s dimensions, and is to have %s', @extschema:vector@.vector_dims(g.embedding),
                           space.next_dimensions)
               WHEN @extschema:vector@.vector_norm(g.embedding) NOT BETWEEN 1e-15 AND 1e15
               THEN 'must have a norm from 1e-15 to 1e15' END) INTO wrong
      FROM (SELECT u.*, row_number() OVER (PARTITION BY u.lesson_id, u.number ORDER BY u.ordinal) AS place
              FROM unnest(lesson_ids, numbers, embeddings, marks) WITH ORDINALITY
                   AS u (lesson_id, number, embedding, mark, ordinal)) g
     WHERE g.lesson_id IS NULL OR g.number IS NULL OR g.embedding IS NULL OR g.mark IS NULL OR g.place > 1
        OR NOT pgmnemo._fits(g.embedding, space.next_dimensions)
        OR @extschema:vector@.vector_norm(g.embedding) NOT BETWEEN 1e-15 AND 1e15
     ORDER BY g.ordinal LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '%', wrong
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of the set was stored.';
    END IF;
END
$$;
-- Makes room for _write_passages: takes away what these lessons are given anew, what `clear` names, and the vector of
-- a text that is another one now. Passages of such a text go with it (pgmnemo._lesson_after_update).
CREATE FUNCTION pgmnemo._clear_passages(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM pgmnemo.passage p
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE p.tenant_id = tenant AND p.lesson_id = l.id AND (i.passages IS NOT NULL OR 'passages' = ANY (clear));
    DELETE FROM pgmnemo.lesson_vector v
     USING unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     WHERE v.tenant_id = tenant AND v.lesson_id = l.id
       AND CASE WHEN v.number = 0
                THEN i.embedding IS NOT NULL OR 'embedding' = ANY (clear) OR l.content <> i.content
                ELSE i.passages IS NOT NULL OR 'passages' = ANY (clear) END
$$;
-- A set of lessons with its names in their composed form. Most sets have no other, and pass by as they are.
CREATE FUNCTION pgmnemo._composed_input(lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.lesson_input[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place integer;
BEGIN
    FOR place IN
        SELECT u.place
          FROM (SELECT generate_subscripts(lessons, 1) AS place, unnest(lessons) AS i OFFSET 0) u
         CROSS JOIN LATERAL concat_ws(' ', (u.i).external_id, (u.i).role, (u.i).topic) AS names
         WHERE names <> pgmnemo._composed(names)
    LOOP
        lessons[place].external_id := pgmnemo._composed(lessons[place].external_id);
        lessons[place].role := pgmnemo._composed(lessons[place].role);
        lessons[place].topic := pgmnemo._composed(lessons[place].topic);
    END LOOP;
    RETURN lessons;
END
$$;
-- The texts that have a serving vector and none of the next generation, in order.
CREATE FUNCTION pgmnemo._due(space pgmnemo.embedding_space, after bigint, most bigint)
RETURNS TABLE (lesson_id bigint, number smallint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT v.lesson_id, v.number
      FROM pgmnemo.lesson_vector v
     WHERE v.tenant_id = space.tenant_id AND v.lesson_id > after AND v.generation = space.generation
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector n
                        WHERE n.tenant_id = space.tenant_id AND n.lesson_id = v.lesson_id
                          AND n.generation = space.next_generation AND n.number = v.number)
     ORDER BY v.lesson_id, v.number
     LIMIT most;
END
$$;
-- Those of these lessons that have a vector, their own or a passage's.
CREATE FUNCTION pgmnemo._embedded(tenant uuid, ids bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                  WHERE EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant AND v.lesson_id = u.id))
$$;
-- A fact as the metadata of its lesson says it, checked. Blanks around a name and runs of them make no other name;
-- capital letters do.
CREATE FUNCTION pgmnemo._fact(subject text, relation text, object text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT p.name FROM (VALUES ('subject', subject), ('relation', relation), ('object', object))
                                      AS p (name, said)
                    WHERE pgmnemo._blank(p.said) OR octet_length(p.said) > 1000 LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% must have 1 to 1000 bytes and not be blank', wrong
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Name it in a few words; the content of the fact may say more.';
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'subject', pgmnemo._composed(btrim(regexp_replace(subject, '\s+', ' ', 'g'))),
        'relation', pgmnemo._composed(btrim(regexp_replace(relation, '\s+', ' ', 'g'))),
        'object', pgmnemo._composed(btrim(regexp_replace(object, '\s+', ' ', 'g')))));
END
$$;
-- The lessons of a project that state such a fact and hold at a moment (NULL: at any); without an object, whatever it
-- is. Of the lists of lessons with its subject, relation and object the shortest is followed: much may be known of
-- one subject.
CREATE FUNCTION pgmnemo._facts_held(tenant uuid, project uuid, fact jsonb, at timestamptz)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bound integer := 1000;
    one bigint;
    found bigint[];
    shortest bigint[];
BEGIN
    FOR one IN SELECT pgmnemo._entry('.fact.' || f.key, f.value) FROM jsonb_each(fact) f LOOP
        found := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                        WHERE e.tenant_id = tenant AND e.entry IN (one, 0) LIMIT bound);
        IF cardinality(found) < bound THEN
            shortest := found;
            bound := cardinality(found);
        END IF;
    END LOOP;
    IF shortest IS NULL THEN
        shortest := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                           WHERE e.tenant_id = tenant AND e.entry IN (one, 0));
    END IF;
    RETURN QUERY
    SELECT l.*
      FROM (SELECT DISTINCT u.id FROM unnest(shortest) AS u (id)) e
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = e.id OFFSET 0) l
     WHERE l.project_id = project AND l.metadata @> jsonb_build_object('fact', fact) AND l.active
       AND (at IS NULL
            OR coalesce(l.occurred_at, l.stored_at) <= at AND (l.superseded_at IS NULL OR at < l.superseded_at)
               AND (l.expires_at IS NULL OR at < l.expires_at));
END
$$;
-- Every vector that a set gives, of lessons and of passages, beside the lesson's place in the set.
CREATE FUNCTION pgmnemo._given_vectors(lessons pgmnemo.lesson_input[])
RETURNS TABLE (ordinal bigint, external_id text, vector @extschema:vector@.vector)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT u.ordinal, (u.i).external_id, v.vector
      FROM (SELECT generate_series(1, cardinality(lessons)) AS ordinal, unnest(lessons) AS i OFFSET 0) u
     CROSS JOIN LATERAL (SELECT (u.i).embedding UNION ALL SELECT unnest((u.i).passage_embeddings)) AS v (vector)
     WHERE v.vector IS NOT NULL
$$;
-- Whether a lesson of a project has this key.
CREATE FUNCTION pgmnemo._key_taken(tenant uuid, project uuid, key text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pgmnemo.lesson l
                    WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key)
$$;
-- Where pgmnemo.forget_project or forget_tenant took all postings and entries out at once, there is nothing left to
-- do.
CREATE FUNCTION pgmnemo._lesson_after_delete()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(g.id), array_agg(g.lexemes),
                                     array_agg(g.token_count))
       FROM gone g
      WHERE g.active AND (EXISTS (SELECT FROM pgmnemo.posting p
                                   WHERE p.tenant_id = g.tenant_id AND p.lexeme = '' AND p.project_id = g.project_id)
                          OR EXISTS (SELECT FROM pgmnemo.piece_project j
                                      WHERE j.tenant_id = g.tenant_id AND j.project_id = g.project_id))
      GROUP BY g.tenant_id, g.project_id;
    IF EXISTS (SELECT FROM pgmnemo.lesson_entry e WHERE e.tenant_id = (SELECT g.tenant_id FROM gone g LIMIT 1)) THEN
        DELETE FROM pgmnemo.lesson_entry e
         USING gone g CROSS JOIN LATERAL pgmnemo._entries(g.metadata) AS was (entry)
         WHERE g.metadata <> '{}' AND e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_delete AFTER DELETE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_delete();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_delete;
-- With its two siblings keeps postings and entries true to lessons, whichever statement wrote them.
CREATE FUNCTION pgmnemo._lesson_after_insert()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
    described boolean := false;
BEGIN
    FOR one IN
        SELECT w.tenant_id, array_agg(w.id) FILTER (WHERE w.active) AS ids, bool_or(w.metadata <> '{}') AS described
          FROM written w GROUP BY w.tenant_id
    LOOP
        IF cardinality(one.ids) < pgmnemo._piece_size() / 4 THEN
            PERFORM pgmnemo._add_postings(one.tenant_id, one.ids);
        ELSIF one.ids IS NOT NULL THEN
            PERFORM pgmnemo._settle(one.tenant_id, one.ids, pgmnemo._piece_size(), pgmnemo._piece_size() / 4);
        END IF;
        described := described OR one.described;
    END LOOP;
    IF described THEN
        INSERT INTO pgmnemo.lesson_entry
        SELECT w.tenant_id, e.entry, w.id FROM written w CROSS JOIN LATERAL pgmnemo._entries(w.metadata) AS e (entry)
         WHERE w.metadata <> '{}';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_insert AFTER INSERT ON pgmnemo.lesson
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_insert();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_insert;
-- A row that stays as its postings know it is left alone; a changed one is taken out as it was and put in as it is.
-- Passages and vectors follow their lesson into another project; those of passages go when its text becomes another,
-- and passages are cut anew when its language does. A vector that moves leaves the graph and waits for the next merge.
-- The two states are compared as sets: a join would be planned once, for the first statement's row, and take the
-- square of the next's.
CREATE FUNCTION pgmnemo._lesson_after_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(g.id), array_agg(g.lexemes),
                                     array_agg(g.token_count))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written) g
      WHERE g.active
      GROUP BY g.tenant_id, g.project_id;
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone) w
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
    WITH other AS MATERIALIZED (
        SELECT tenant_id, id, content FROM written EXCEPT SELECT tenant_id, id, content FROM gone
    ), texts AS (
        DELETE FROM pgmnemo.passage p USING other o WHERE p.tenant_id = o.tenant_id AND p.lesson_id = o.id
    )
    DELETE FROM pgmnemo.lesson_vector v
     USING other o WHERE v.tenant_id = o.tenant_id AND v.lesson_id = o.id AND v.number > 0;
    UPDATE pgmnemo.passage p SET lexemes = pgmnemo._lexemes(pgmnemo._config(w.text_config), p.content)
      FROM (SELECT tenant_id, id, text_config FROM written EXCEPT SELECT tenant_id, id, text_config FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.passage p SET project_id = w.project_id
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.lesson_vector v SET project_id = w.project_id, indexed = false
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE v.tenant_id = w.tenant_id AND v.lesson_id = w.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_after_update AFTER UPDATE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_update();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_update;
-- Derives what a lesson is found by. A row that brings lexemes along comes from a dump: they are derived anew under its
-- text_config; where that configuration is no longer there, or no longer takes the text, the dumped ones stay, for
-- nothing that one tenant did to a configuration must keep the others' lessons from being loaded.
-- Otherwise text_config is the writer's; where its configuration is gone, that of a text without a language.
CREATE FUNCTION pgmnemo._lesson_before_write()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    words constant text := concat_ws(E'\n', NEW.topic, NEW.content);
    config regconfig;
BEGIN
    IF TG_OP = 'INSERT' AND NEW.lexemes <> '' AND NEW.text_config IS NOT NULL THEN
        config := pgmnemo._config(NEW.text_config);
        IF config IS NULL THEN
            RETURN NEW;
        END IF;
        NEW.text_config := config;
        BEGIN
            NEW.lexemes := pgmnemo._lexemes(config, words);
            NEW.token_count := pgmnemo._positions(NEW.lexemes);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'lesson % keeps its lexemes, for text search configuration % refuses its text: %',
                  quote_literal(left(NEW.external_id, 100)), NEW.text_config, SQLERRM;
        END;
        RETURN NEW;
    END IF;
    config := coalesce(pgmnemo._config(NEW.text_config),
                       pgmnemo._written_config(NULL, words, pgmnemo._tenant_language(NEW.tenant_id)));
    NEW.text_config := config;
    NEW.lexemes := pgmnemo._lexemes(config, words);
    NEW.token_count := pgmnemo._positions(NEW.lexemes);
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
-- Also for who loads with session_replication_role = replica. Not what changes: of that logical replication brings the
-- lexemes along, cut by a setting that is not known here.
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_before_insert;
CREATE FUNCTION pgmnemo._lesson_id(tenant uuid, project uuid, external text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key constant text := pgmnemo._stored_key(tenant, project, external);
    found_id bigint;
BEGIN
    SELECT l.id INTO found_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'project % has no lesson %', coalesce(project::text, 'NULL'), quote_nullable(external)
        USING ERRCODE = 'no_data_found', HINT = 'Store it first.';
    END IF;
    RETURN found_id;
END
$$;
-- What keeps a lesson from being stored; NULL: nothing.
CREATE FUNCTION pgmnemo._lesson_problem(i pgmnemo.lesson_input)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    farthest constant integer := 1000000000;  -- position, either way
    size text;
BEGIN
    IF i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL THEN
        RETURN 'lacks project_id, external_id or content';
    ELSIF octet_length(i.external_id) > 1000 THEN
        RETURN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id));
    END IF;
    size := pgmnemo._size_problem(i.content, i.topic, i.role, i.commit_sha, i.artifact_hash, i.metadata, i.passages);
    RETURN CASE
        WHEN size IS NOT NULL THEN size
        WHEN pgmnemo._blank(i.content) THEN 'has no text in its content'
        WHEN CASE WHEN i.metadata <> '{}' THEN pgmnemo._holds_unprintable(i.metadata) END
        THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
        WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
        WHEN i.language IS NOT NULL AND pgmnemo._language_config(i.language) IS NULL
        THEN format('has the language %s, which is neither auto, a text search configuration nor a code of ISO 639',
                    quote_literal(left(i.language, 100)))
        WHEN i.position NOT BETWEEN -farthest AND farthest
        THEN format('must have a position from -%s to %s', farthest, farthest)
        WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
        WHEN @extschema:vector@.vector_dims(i.embedding) > 4000
        THEN 'must have an embedding of at most 4,000 dimensions'
        WHEN @extschema:vector@.vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
        THEN 'must have an embedding with a norm from 1e-15 to 1e15'
        ELSE pgmnemo._passages_problem(i.passages, i.passage_embeddings) END;
END
$$;
-- These lessons as they are to stand, beside what they were: of one that is there already what the set leaves out
-- stays, but for what `clear` names. Passages that are given again without their vectors stay with those that they
-- have.
CREATE FUNCTION pgmnemo._merged(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
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
                                WHERE p.tenant_id = tenant AND p.lesson_id = l.id ORDER BY p.number)
                    THEN i.passages END,
               i.passage_embeddings,
               coalesce(i.position, CASE WHEN 'position' <> ALL (clear) THEN l.position END),
               i.language)::pgmnemo.lesson_input,
           l
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
$$;
-- Where a project's conversation goes on, and a key for what comes there.
CREATE FUNCTION pgmnemo._next_turn(tenant uuid, project uuid, prefix text, apart boolean)
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
    step bigint := 1;
    taken bigint := 0;
    middle bigint;
BEGIN
    IF prefix IS NULL OR octet_length(prefix) NOT BETWEEN 1 AND 900 THEN
        RAISE EXCEPTION 'prefix has % bytes, but must have 1 to 900', coalesce(octet_length(prefix), 0)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for ''turn''.';
    ELSIF next > last THEN
        RAISE EXCEPTION 'project % has a lesson at position %, and none comes after %', project, greatest_yet, last
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Store that lesson at another position.';
    END IF;
    -- steps that double lead past keys that are taken, and halving ones back to the last of them: a log of their number
    WHILE pgmnemo._key_taken(tenant, project, prefix || '/' || number) LOOP
        taken := number;
        number := number + step;
        step := 2 * step;
    END LOOP;
    WHILE number - taken > 1 AND taken > 0 LOOP
        middle := (taken + number) / 2;
        IF pgmnemo._key_taken(tenant, project, prefix || '/' || middle) THEN
            taken := middle;
        ELSE
            number := middle;
        END IF;
    END LOOP;
    RETURN QUERY SELECT prefix || '/' || number, next::integer;
END
$$;
-- Whether the set gives a lesson a vector or passages other than those that it has, or takes them away.
CREATE FUNCTION pgmnemo._passages_differ(tenant uuid, lesson bigint, given @extschema:vector@.vector, passages text[],
                                         vectors @extschema:vector@.vector[], clear text[],
                                         space pgmnemo.embedding_space)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (given IS NOT NULL
            AND ARRAY(SELECT v.embedding FROM pgmnemo.lesson_vector v
                       WHERE v.tenant_id = tenant AND v.lesson_id = lesson AND v.generation = (space).generation
                         AND v.number = 0)
                <> ARRAY[pgmnemo._aligned(given, (space).dimensions)])
        OR (passages IS NOT NULL
            AND (ARRAY(SELECT p.content FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson ORDER BY p.number),
                 ARRAY(SELECT v.embedding
                         FROM pgmnemo.passage p
                         LEFT JOIN pgmnemo.lesson_vector v
                           ON v.tenant_id = tenant AND v.lesson_id = lesson AND v.generation = (space).generation
                          AND v.number = p.number
                        WHERE p.tenant_id = tenant AND p.lesson_id = lesson ORDER BY p.number))
                IS DISTINCT FROM
                (passages, ARRAY(SELECT pgmnemo._aligned(vectors[n], (space).dimensions)
                                   FROM generate_series(1, cardinality(passages)) n ORDER BY n)))
        OR ('embedding' = ANY (clear)
            AND EXISTS (SELECT FROM pgmnemo.lesson_vector v
                         WHERE v.tenant_id = tenant AND v.lesson_id = lesson AND v.number = 0))
        OR ('passages' = ANY (clear)
            AND EXISTS (SELECT FROM pgmnemo.passage p WHERE p.tenant_id = tenant AND p.lesson_id = lesson))
$$;
-- What is wrong with the passages of one lesson; NULL: nothing.
CREATE FUNCTION pgmnemo._passages_problem(passages text[], vectors @extschema:vector@.vector[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF passages IS NULL AND vectors IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN CASE
        WHEN array_ndims(passages) > 1 OR array_ndims(vectors) > 1
        THEN 'must have passages and passage_embeddings in lists, not in tables'
        WHEN vectors IS NOT NULL AND coalesce(cardinality(passages), -1) <> cardinality(vectors)
        THEN format('has %s passages, but %s passage_embeddings', coalesce(cardinality(passages), 0),
                    cardinality(vectors))
        WHEN (SELECT sum(octet_length(p)) FROM unnest(passages) p) > 20000000
        THEN 'has passages of more than 20,000,000 bytes together'
        WHEN array_position(passages, NULL) IS NOT NULL
        THEN format('has no text in passage %s', array_position(passages, NULL))
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_dims(v) > 4000)
        THEN 'must have passage_embeddings of at most 4,000 dimensions'
        WHEN EXISTS (SELECT FROM unnest(vectors) v WHERE @extschema:vector@.vector_norm(v) NOT BETWEEN 1e-15 AND 1e15)
        THEN 'must have passage_embeddings with a norm from 1e-15 to 1e15'
    END;
END
$$;
-- How every complaint about a lesson that is to be stored is made.
CREATE FUNCTION pgmnemo._refuse_lesson(ordinal bigint, external_id text, problem text)
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
-- Vectors of another dimension than those of the space are refused; such as fit into it are none.
CREATE FUNCTION pgmnemo._refuse_vectors(tenant uuid, lessons pgmnemo.lesson_input[], space pgmnemo.embedding_space)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong record;
BEGIN
    SELECT g.ordinal, g.external_id, @extschema:vector@.vector_dims(g.vector) AS dims INTO wrong
      FROM pgmnemo._given_vectors(lessons) g WHERE NOT pgmnemo._fits(g.vector, space.dimensions) LIMIT 1;
    IF FOUND AND EXISTS (SELECT FROM pgmnemo._given_vectors(lessons) g
                          WHERE NOT pgmnemo._fits(g.vector, space.dimensions)
                            AND pgmnemo._fits(g.vector, space.next_dimensions)) THEN
        RAISE EXCEPTION 'lesson % of the set, %, has a vector of the % dimensions to which tenant % is being changed',
              wrong.ordinal, quote_literal(left(coalesce(wrong.external_id, ''), 100)), space.next_dimensions,
              quote_literal(tenant)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Until pgmnemo.finish_reembedding vectors of ' || space.dimensions || ' dimensions are stored; '
                     'nothing of the set was stored.';
    ELSIF wrong.dims IS NOT NULL THEN
        RAISE EXCEPTION 'lesson % of the set, %, has a vector of % dimensions, but those of tenant % have %',
              wrong.ordinal, quote_literal(left(coalesce(wrong.external_id, ''), 100)), wrong.dims,
              quote_literal(tenant), space.dimensions
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Embed it as the others were embedded, or change the embedder of the tenant with '
                     'pgmnemo.begin_reembedding; nothing of the set was stored.';
    END IF;
END
$$;
-- What is too long in what a writer gives for one lesson; NULL: nothing. Lengths are read off what came, before
-- anything is made of it, so that what is refused costs little more than to send it. Of passages the whole array
-- counts, which is a little larger; the sum is pgmnemo._passages_problem's.
CREATE FUNCTION pgmnemo._size_problem(content text, topic text, role text, commit_sha text, artifact_hash text,
                                      metadata jsonb, passages text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem constant text := CASE
        WHEN octet_length(content) > 10000000
        THEN format('has a content of %s bytes, but may have 10,000,000', octet_length(content))
        WHEN greatest(octet_length(topic), octet_length(role), octet_length(commit_sha),
                      octet_length(artifact_hash)) > 10000
        THEN 'has a topic, role, commit_sha or artifact_hash of more than 10,000 bytes'
        WHEN pg_column_size(metadata) > 1000000 OR pg_column_size(jsonb_build_array(metadata)) > 1000100
        THEN 'has metadata of more than 1,000,000 bytes'
        WHEN cardinality(passages) > 1000 THEN format('has %s passages, but may have 1,000', cardinality(passages))
        WHEN pg_column_size(passages) > 20010000 THEN 'has passages of more than 20,000,000 bytes together'
    END;
BEGIN
    IF problem IS NULL AND pg_column_size(metadata) > 10000 THEN
        RETURN (SELECT 'has metadata of more than 10,000 values'
                  FROM jsonb_path_query(metadata, 'strict $.**') v HAVING count(*) > 10000);
    END IF;
    RETURN problem;
END
$$;
-- The space of the tenant that these lessons' vectors enter, held to the end of the transaction; made with the first
-- ones; NULL where the set has none. Vectors of another dimension are refused. Where vectors are there without a
-- space, they say what it is.
CREATE FUNCTION pgmnemo._space(tenant uuid, lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.embedding_space
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
    least integer;
    most integer;
BEGIN
    IF cardinality(lessons) = 1 AND (lessons[1]).passage_embeddings IS NULL THEN
        least := @extschema:vector@.vector_dims((lessons[1]).embedding);
        most := least;
    ELSE
        SELECT min(@extschema:vector@.vector_dims(g.vector)), max(@extschema:vector@.vector_dims(g.vector))
          INTO least, most FROM pgmnemo._given_vectors(lessons) g;
    END IF;
    IF most IS NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR KEY SHARE;
        EXIT WHEN FOUND;
        INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
        SELECT tenant, coalesce(v.generation, 1), coalesce(v.dims, g.dims)
          FROM (SELECT max(pgmnemo._dimensions(g.vector)) AS dims FROM pgmnemo._given_vectors(lessons) g) g
          LEFT JOIN (SELECT v.generation, @extschema:vector@.vector_dims(v.embedding) AS dims
                       FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant LIMIT 1) v ON true
            ON CONFLICT DO NOTHING;
    END LOOP;
    IF least <> space.dimensions OR most <> space.dimensions THEN
        PERFORM pgmnemo._refuse_vectors(tenant, lessons, space);
    END IF;
    PERFORM pgmnemo._check_maker(tenant, space.embedder);
    RETURN space;
END
$$;
-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed: writers
-- who all keep to this sequence wait for one another but never in a circle. Only a key that is there already is passed
-- over: an id that is taken, by a sequence that was set back, is an error. What the set leaves out of a lesson that is
-- there stays (pgmnemo._merged), read anew under the lock. A lesson that was superseded and gets another text is in
-- force again: whoever stores a text wants it found.
CREATE FUNCTION pgmnemo._store(tenant uuid, lessons pgmnemo.lesson_input[], clear text[] DEFAULT NULL,
                               only_new boolean DEFAULT false)
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings := pgmnemo._settings();
    gone text[] := coalesce(clear, '{}');
    usual text COLLATE "default" := pgmnemo._tenant_language(tenant);
    space pgmnemo.embedding_space;
    inserted bigint[];
    changed bigint[];
    outcomes text[];
    final pgmnemo.lesson_input[];
    embedded bigint[];
    revived bigint[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    IF clear IS NOT NULL THEN
        PERFORM pgmnemo._check_clear(clear, '{embedding,passages,role,topic,importance,metadata,occurred_at,expires_at,'
                                            'commit_sha,artifact_hash,verified_at,position}');
    END IF;
    IF s.gate_strict <> 'off' THEN
        PERFORM pgmnemo._check_provenance(tenant, lessons, gone, s.gate_strict);
    END IF;
    space := pgmnemo._space(tenant, lessons);

    WITH given AS MATERIALIZED (  -- ids follow the set, by which list and newest order, and inserts follow the keys
        SELECT nextval('pgmnemo.lesson_id_seq') AS new_id, i.* FROM unnest((SELECT lessons)) i  -- a plan for any set
    ), fresh AS (
        INSERT INTO pgmnemo.lesson (
               id, tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at,
               expires_at, commit_sha, artifact_hash, verified_at, position, text_config)
        OVERRIDING SYSTEM VALUE
        SELECT i.new_id, tenant, i.project_id, i.external_id, i.role, i.topic, i.content,
               coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at,
               i.position,
               pgmnemo._written_config(i.language, concat_ws(E'\n', i.topic, i.content), usual)::text
          FROM given i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    IF cardinality(inserted) > 0 THEN
        PERFORM pgmnemo._write_passages(tenant, inserted, lessons, space,
                                        pgmnemo._awaits_graph(tenant, space.generation, cardinality(inserted)));
    END IF;

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
                OR (m.given).language IS NOT NULL
                   AND (m.was).text_config <> pgmnemo._written_config(
                        (m.given).language, concat_ws(E'\n', (m.given).topic, (m.given).content), usual)::text
                OR pgmnemo._passages_differ(tenant, m.id, (m.given).embedding, (m.given).passages,
                                            (m.given).passage_embeddings, gone, space));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        embedded := pgmnemo._embedded(tenant, changed);
        SELECT array_agg(m.given),
               coalesce(array_agg(m.id) FILTER (WHERE (m.was).superseded_at IS NOT NULL
                                                      AND (m.given).content <> (m.was).content), '{}')
          INTO final, revived
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
               artifact_hash = i.artifact_hash, verified_at = i.verified_at, position = i.position, active = true,
               text_config = CASE WHEN i.language IS NULL AND l.content = i.content THEN l.text_config
                                  ELSE pgmnemo._written_config(
                                       i.language, concat_ws(E'\n', i.topic, i.content), usual)::text END
          FROM unnest(final) i
         WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._write_passages(tenant, changed, final, space);
        IF cardinality(revived) > 0 THEN
            PERFORM pgmnemo._undo_supersede(tenant, revived);
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (revived) THEN 'restored' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
        IF 'embedding' <> ALL (gone) AND cardinality(embedded) > 0 THEN
            embedded := ARRAY(SELECT unnest(embedded) EXCEPT SELECT unnest(pgmnemo._embedded(tenant, changed)));
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (embedded) THEN 'unembedded' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
    END IF;
    IF space.generation IS NOT NULL AND cardinality(inserted) + coalesce(cardinality(changed), 0) > 0 THEN
        PERFORM pgmnemo._share_merging(tenant, space.generation, cardinality(lessons), s.exact_scan_limit);
    END IF;

    IF cardinality(lessons) = 1 AND cardinality(inserted) = 1 THEN
        project_id := (lessons[1]).project_id;
        external_id := (lessons[1]).external_id;
        lesson_id := inserted[1];
        outcome := 'inserted';
        RETURN NEXT;
        RETURN;
    END IF;
    -- under REPEATABLE READ a lesson is still seen that another session has deleted, beside the new one of its key
    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM ROWS FROM (unnest(lessons)) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position, language,
                 ordinal)
     CROSS JOIN LATERAL (
            SELECT max(l.id) AS id FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id) l
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;
-- The key under which a lesson is kept that is asked for by this one: its composed form, but where an upgrade has left
-- a lesson under the very key (pgmnemo._compose_names), that.
CREATE FUNCTION pgmnemo._stored_key(tenant uuid, project uuid, given text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    composed constant text := pgmnemo._composed(given);
BEGIN
    IF composed = given OR EXISTS (
        SELECT FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = given) THEN
        RETURN given;
    END IF;
    RETURN composed;
END
$$;
-- Lets one lesson take the place of another, or with NULL nothing take it, from a moment on; the tenant is locked.
-- What was known before is not overwritten: the row that held is marked as undone, and another one says what holds
-- now.
CREATE FUNCTION pgmnemo._supersede(tenant uuid, old bigint, new bigint, reason text, at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old = new OR EXISTS (
        WITH RECURSIVE after (id) AS (
            SELECT new
             UNION
            SELECT x.new_id
              FROM after a
             CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                                  WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.undone_at IS NULL
                                    AND x.new_id IS NOT NULL OFFSET 0) x)
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
-- By which a text is known again.
CREATE FUNCTION pgmnemo._text_mark(content text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pg_catalog.hashtextextended(content, 0) $$;
-- Takes back that these lessons are superseded; the tenant is locked. How many were.
CREATE FUNCTION pgmnemo._undo_supersede(tenant uuid, old bigint[])
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
-- As pgmnemo._write_passages for one lesson, without its own vector: no plan depends on how many passages there are.
CREATE FUNCTION pgmnemo._write_parts(tenant uuid, lesson bigint, given pgmnemo.lesson_input,
                                     space pgmnemo.embedding_space)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, content, lexemes)
    SELECT tenant, l.project_id, l.id, p.number, p.content, pgmnemo._lexemes(pgmnemo._config(l.text_config), p.content)
      FROM pgmnemo.lesson l CROSS JOIN LATERAL unnest(given.passages) WITH ORDINALITY AS p (content, number)
     WHERE l.tenant_id = tenant AND l.id = lesson;
    IF given.passage_embeddings IS NOT NULL AND space.dimensions IS NOT NULL THEN
        INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding)
        SELECT tenant, space.generation, given.project_id, lesson, p.number,
               pgmnemo._aligned(p.vector, space.dimensions)
          FROM unnest(given.passage_embeddings) WITH ORDINALITY AS p (vector, number)
         WHERE p.vector IS NOT NULL;
    END IF;
END
$$;
-- The passages and vectors of these lessons of one tenant, as the set gives them. A lesson whose passages the set
-- leaves open keeps those that it has. Vectors stay out of the graph, and pgmnemo._merge brings them in; or they are
-- `marked` as being in one that is still to be made.
CREATE FUNCTION pgmnemo._write_passages(tenant uuid, ids bigint[], lessons pgmnemo.lesson_input[],
                                        space pgmnemo.embedding_space, marked boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cardinality(lessons) = 1 AND cardinality(ids) = 1 THEN
        IF (lessons[1]).embedding IS NOT NULL AND space.dimensions IS NOT NULL THEN
            INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, indexed, embedding)
            VALUES (tenant, space.generation, (lessons[1]).project_id, ids[1], 0, marked,
                    pgmnemo._aligned((lessons[1]).embedding, space.dimensions));
        END IF;
        IF (lessons[1]).passages IS NOT NULL THEN
            PERFORM pgmnemo._write_parts(tenant, ids[1], lessons[1], space);
        END IF;
        RETURN;
    END IF;
    INSERT INTO pgmnemo.passage (tenant_id, project_id, lesson_id, number, content, lexemes)
    SELECT tenant, l.project_id, l.id, p.number, p.content, u.lexemes
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL unnest(i.passages) WITH ORDINALITY AS p (content, number)
     CROSS JOIN LATERAL (SELECT pgmnemo._lexemes(pgmnemo._config(l.text_config), p.content) OFFSET 0) AS u (lexemes)
     WHERE l.id = ANY (ids);
    INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, indexed, embedding)
    SELECT tenant, space.generation, l.project_id, l.id, v.number, marked,
           pgmnemo._aligned(v.vector, space.dimensions)
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
     CROSS JOIN LATERAL (
            SELECT 0, i.embedding
             UNION ALL
            SELECT p.number, p.vector FROM unnest(i.passage_embeddings) WITH ORDINALITY AS p (vector, number)
             WHERE i.passages IS NOT NULL) AS v (number, vector)
     WHERE l.id = ANY (ids) AND v.vector IS NOT NULL AND space.dimensions IS NOT NULL;
END
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
        SELECT tenant, l.project_id, u.lexeme, ids, ARRAY[u.frequency], l.token_counts, 1,
               l.token_count, u.frequency, l.token_count, ids[1]
          FROM (SELECT l.project_id, l.lexemes, l.token_count, ARRAY[l.token_count] AS token_counts
                  FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ids[1] AND l.active OFFSET 0) l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions)::smallint FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0::smallint) AS u (lexeme, frequency);
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
-- Pairs of a lesson of `ids` and an older one in scope that may share the `at_least` part of their lexemes. Lessons so
-- alike lack few of each other's lexemes, so of the rarest ones they share all but as many: the lists of these are
-- read, as far as `read_most` postings for a lesson go, and those who share most are told. Lists of unknown length are
-- joined by hashing.
CREATE FUNCTION pgmnemo._alike_words(scope pgmnemo.scope, ids bigint[], at_least float8)
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
      FROM (SELECT h.lexeme, sum(h.held) AS held
              FROM (SELECT p.lexeme, p.lesson_count AS held FROM pgmnemo.posting p
                     WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (ARRAY(SELECT DISTINCT unnest(lexemes)))
                       AND p.project_id BETWEEN scope.first_project AND scope.last_project
                     UNION ALL
                    SELECT s.lexeme, s.held
                      FROM pgmnemo._sealed_counts(scope, ARRAY(SELECT DISTINCT unnest(lexemes))) s) h
             WHERE h.lexeme <> '' GROUP BY h.lexeme) c;
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
                 WHERE p.tenant_id = scope.tenant AND p.lexeme = t.lexeme AND p.lesson_count > 0
                   AND p.project_id BETWEEN scope.first_project AND scope.last_project
                   AND p.lesson_ids[1] < t.id
                 UNION ALL
                SELECT s.lesson_id FROM pgmnemo._sealed_holders(scope, t.lexeme) s OFFSET 0) x
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
CREATE FUNCTION pgmnemo._ask(scope pgmnemo.scope, words text, embedding @extschema:vector@.vector, moment timestamptz,
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
    numbers integer[];
    lexemes text[] := '{}';
    word_count integer;
    idf_unknown float8;
BEGIN
    asked.pivot := s.length_pivot;
    IF NOT pgmnemo._blank(words) THEN
        asked.configs := pgmnemo._tenant_configs(scope.tenant);
        SELECT q.lexemes, q.numbers INTO lexemes, numbers FROM pgmnemo._question_words(words, asked.configs) q;
    END IF;
    word_count := cardinality(lexemes);
    WITH listed AS (
        SELECT p.lexeme, sum(p.lesson_count) AS lessons, sum(p.token_total) AS tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside) AS held,
               sum(p.token_total) FILTER (WHERE i.inside) AS held_tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside AND p.lesson_count > 0) AS listed,
               max(p.max_frequency) FILTER (WHERE i.inside AND p.lesson_count > 0) AS frequency,
               min(p.min_tokens) FILTER (WHERE i.inside AND p.lesson_count > 0) AS shortest
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT p.project_id BETWEEN scope.first_project AND scope.last_project
                       AND (projects IS NULL OR p.project_id = ANY (projects))) AS i (inside)
         WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (lexemes || ''::text)
         GROUP BY p.lexeme
    ), counts AS (
        SELECT coalesce(l.lexeme, c.lexeme) COLLATE "C" AS lexeme,
               (coalesce(l.lessons, 0) + coalesce(c.lessons, 0))::float8 AS lessons,
               (coalesce(l.held, 0) + coalesce(c.held, 0))::bigint AS held,
               (CASE WHEN inside_part < 1 THEN coalesce(l.tokens, 0) + coalesce(c.tokens, 0)
                     ELSE coalesce(l.held_tokens, 0) + coalesce(c.held_tokens, 0) END)::float8 AS tokens,
               coalesce(l.listed, 0) AS listed, l.frequency, l.shortest,
               c.frequency AS sealed_frequency, c.shortest AS sealed_shortest
          FROM listed l FULL JOIN pgmnemo._sealed_counts(scope, lexemes) c ON c.lexeme COLLATE "C" = l.lexeme
    ), everything AS (
        SELECT c.held, c.lessons, k1 * (1 - b) AS flat,
               k1 * b / greatest(c.tokens / nullif(CASE WHEN inside_part < 1 THEN c.lessons ELSE c.held END, 0),
                                 asked.pivot) AS per_token
          FROM counts c WHERE c.lexeme = ''
    ), terms AS (
        SELECT c.*, i.idf, pgmnemo._unit() * i.idf * (k1 + 1) AS scale
          FROM counts c
         CROSS JOIN everything e
         CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, c.lessons)
                                    + inside_part * pgmnemo._idf(e.held, c.held)) AS i (idf)
         WHERE c.lexeme <> '' AND c.lessons > 0
    )
    SELECT e.held, e.flat, e.per_token, u.idf, coalesce(k.idf_sum, 0) + (cardinality(lexemes) - k.known) * u.idf,
           coalesce(t.found, '{}'), coalesce(t.queries, '{}'), coalesce(t.idfs, '{}'), coalesce(t.scales, '{}'),
           coalesce(t.peaks, '{}'), coalesce(t.postings, '{}'), coalesce(t.listed, '{}'), coalesce(t.tops, '{}')
      INTO asked.held, asked.flat, asked.per_token, idf_unknown, idf_sum,
           asked.terms, asked.queries, asked.idfs, asked.scales, asked.peaks, asked.postings, asked.listed, asked.tops
      FROM everything e
     CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, 0)
                                + inside_part * pgmnemo._idf(e.held, 0)) AS u (idf)
     CROSS JOIN LATERAL (
            SELECT sum(t.idf ORDER BY t.idf, t.lexeme) AS idf_sum, count(*) AS known FROM terms t) k
     CROSS JOIN LATERAL (
            SELECT array_agg(t.lexeme) AS found, array_agg(pgmnemo._term(t.lexeme)) AS queries,
                   array_agg(t.idf) AS idfs,
                   array_agg(t.scale) AS scales, array_agg(t.held) AS postings, array_agg(t.listed) AS listed,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.frequency, e.flat, e.per_token, t.shortest,
                                                      asked.pivot) + 1, 0)) AS peaks,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.sealed_frequency, e.flat, e.per_token,
                                                      t.sealed_shortest, asked.pivot) + 1, 0)) AS tops
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
          FROM pgmnemo._times(words, moment, pgmnemo._zone(s.time_zone)) t;
    END IF;
    IF numbers IS NOT NULL THEN
        -- several lexemes are forms of one word, of which the rarest counts
        SELECT count(*), sum(w.idf ORDER BY w.idf) INTO word_count, idf_sum
          FROM (SELECT coalesce(max(t.idf), idf_unknown) AS idf
                  FROM unnest(lexemes, numbers) AS n (lexeme, number)
                  LEFT JOIN unnest(asked.terms, asked.idfs) AS t (term, idf) ON t.term = n.lexeme
                 GROUP BY n.number) w;
    END IF;
    asked.reach := (s.bm25_weight + s.passage_terms_weight) * coalesce(idf_sum, 0)
                   + s.passage_terms_weight * s.passage_term_bonus * word_count;
    asked.brevity := pgmnemo._brevity(word_count);
    asked.ideal := pgmnemo._ideal(asked, s, word_count);
    RETURN asked;
END
$$;
-- The whole BM25 (in units of 2^-40) of the most promising of these lessons that may be recalled, best first: of those
-- `most` that have the highest totals so far, or of all.
CREATE FUNCTION pgmnemo._best_sums(scope pgmnemo.scope, asked pgmnemo.question, ids bigint[], totals float8[],
                                   most integer)
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id, t.total
      FROM (SELECT h.id FROM (SELECT unnest(ids) AS id, unnest(totals) AS total) h
             ORDER BY CASE WHEN most IS NOT NULL THEN h.total END DESC LIMIT most) h
      JOIN pgmnemo.lesson l ON l.tenant_id = (scope).tenant AND l.id = h.id
     CROSS JOIN LATERAL pgmnemo._lesson_terms(l.lexemes, l.token_count, asked, 0, NULL) t
     WHERE pgmnemo._recallable(l, scope)
     ORDER BY t.total DESC, l.external_id, l.project_id
$$;
-- A bitmap of places, as it is kept: as bits, or as the places that are set in a bitmap of zeros. To unpack the bits is
-- to join them with nothing.
CREATE FUNCTION pgmnemo._bits(bits varbit, places smallint[], zeros varbit)
RETURNS varbit
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found varbit := zeros;
    place smallint;
BEGIN
    IF places IS NULL THEN
        RETURN bits || '';
    END IF;
    FOREACH place IN ARRAY places LOOP
        found := set_bit(found, place, 1);
    END LOOP;
    RETURN found;
END
$$;
-- The share that words count with in a question of so many. Of a long question one lesson holds a part, so that part is
-- taken to grow with the root of the length.
CREATE FUNCTION pgmnemo._brevity(words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN words > 12 THEN sqrt(12.0::float8 / words) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._brevity(integer) IS 'from 0 to 1: sqrt(12 / words) for more than 12 words, else 1';
-- What pgmnemo.compact does for a tenant that is locked; how many blocks fewer there are. After a time it begins with
-- no further piece and no further lists, which wait for the next call.
CREATE FUNCTION pgmnemo._compact(tenant uuid, enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant bigint := (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
    more boolean := true;
BEGIN
    WHILE more LOOP
        more := pgmnemo._seal_pieces(tenant, pgmnemo._piece_size());
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    WHILE NOT more LOOP
        more := NOT pgmnemo._merge_blocks(tenant);
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    RETURN before - (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
END
$$;
-- Takes these pieces of a tenant away, with what takes their lessons back; the lessons that they held as they are.
CREATE FUNCTION pgmnemo._drop_pieces(tenant uuid, numbers bigint[])
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids constant bigint[] := ARRAY(SELECT unnest(r.lesson_ids) FROM pgmnemo.piece_lesson r
                                    WHERE r.tenant_id = tenant AND r.piece = ANY (numbers));
    gone constant bigint[] := ARRAY(SELECT unnest(ids) INTERSECT SELECT unnest(pgmnemo._taken_back(tenant)));
BEGIN
    DELETE FROM pgmnemo.piece_term t WHERE t.tenant_id = tenant AND t.piece = ANY (numbers);
    DELETE FROM pgmnemo.piece_project j WHERE j.tenant_id = tenant AND j.piece = ANY (numbers);
    DELETE FROM pgmnemo.piece_lesson r WHERE r.tenant_id = tenant AND r.piece = ANY (numbers);
    DELETE FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.number = ANY (numbers);
    WITH touched AS MATERIALIZED (
        SELECT DISTINCT p.ctid AS block
          FROM pgmnemo.posting p CROSS JOIN LATERAL unnest(p.lesson_ids) AS u (id)
          JOIN unnest(gone) AS g (id) ON g.id = u.id
         WHERE p.tenant_id = tenant AND p.lesson_count < 0
    ), back AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), kept AS (
        SELECT b.project_id, b.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM back b, unnest(b.lesson_ids, b.frequencies, b.token_counts) AS x (id, frequency, tokens)
         WHERE x.id NOT IN (SELECT unnest(gone))
         GROUP BY b.project_id, b.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, k.project_id, k.lexeme, b.lesson_ids, b.frequencies, b.token_counts, -b.lesson_count,
           -b.token_total, b.max_frequency, b.min_tokens, -b.first_id
      FROM kept k CROSS JOIN LATERAL pgmnemo._posting_blocks(k.ids, k.frequencies, k.token_counts) b;
    RETURN ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(gone));
END
$$;
-- The score of a lesson that answers a question well: what makes scores of different questions comparable. Words that
-- no lesson holds count as well, for a question of such words is about something else. One lesson does not hold all
-- words of a long question, and the best of many lessons is nearer by chance: hence the two roots. Their constants
-- were chosen on LoCoMo and BEAM (benchmarks/floor.py).
CREATE FUNCTION pgmnemo._ideal(asked pgmnemo.question, s pgmnemo.settings, words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (1 + (s).context_weight)
           * (coalesce((asked).reach * (asked).brevity * least(1, sqrt(4.0::float8 / nullif(words, 0))), 0)
              + CASE WHEN (asked).direction IS NULL THEN 0
                     ELSE ((s).passage_cosine_weight + (s).pair_cosine_weight + (s).cosine_weight)
                          * 0.5 * sqrt(pgmnemo._idf((asked).held, 0) / 5) END
              + CASE WHEN cardinality((asked).since) > 0 THEN (s).temporal_weight * (asked).share ELSE 0 END)
$$;

COMMENT ON FUNCTION pgmnemo._ideal IS 'words: how many the question has; 0 or more, in units of the score';
CREATE FUNCTION pgmnemo._idf(lessons float8, holding float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ln(1 + (lessons - holding + 0.5) / (holding + 0.5)) $$;

COMMENT ON FUNCTION pgmnemo._idf(float8, float8) IS 'inverse document frequency, in nats, above 0: ln(1 + (N - n + 0.5) / (n + 0.5)), N lessons of which n hold the term';
-- In whole units of 2^-40 (1e-12), so that a sum below 8,192 is exact in any order: equal content gives equal
-- bits, whichever way a lesson was found. scale = 2^40 * idf * (k1 + 1), flat = k1 * (1 - b), and
-- per_token = k1 * b / mean length are the same for all lessons; no length below the pivot counts as shorter.
CREATE FUNCTION pgmnemo._impact(scale float8, frequency float8, flat float8, per_token float8,
                                tokens float8, pivot float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT round(scale * frequency / (frequency + flat + per_token * greatest(tokens, pivot))) $$;

COMMENT ON FUNCTION pgmnemo._impact IS 'what one term adds to the BM25 of one lesson, in units of 2^-40: idf * f * (k1 + 1) / (f + k1 * (1 - b + b * tokens / mean tokens)), f times the term, both lengths at least the pivot';
-- The `depth` lessons in scope with the highest BM25 (in units of 2^-40), exactly, ties by external id: those of pieces
-- first, then, of what no piece holds, those that could be among them. MaxScore: the lists of the rarest terms are read
-- whole; once the terms that are left cannot lift a lesson that holds none of them to the depth-th score found so far,
-- they matter for those few lessons alone that they could still lift.
-- Without enable_sort the planner sums up by hashing: it takes a few hundred postings for three, and would sort.
CREATE FUNCTION pgmnemo._keyword_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer)
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
    sealed_ids bigint[] := '{}';
    sealed_totals float8[] := '{}';
    floor float8 := -1;
BEGIN
    IF last = 0 THEN
        RETURN;
    ELSIF scope.ids IS NOT NULL THEN
        RETURN QUERY
        SELECT x.lesson_id, x.total FROM pgmnemo._best_sums(scope, asked, scope.ids, NULL, NULL) x
         WHERE x.total > 0 LIMIT depth;
        RETURN;
    END IF;
    IF (SELECT max(t) FROM unnest(asked.tops) t) > 0 THEN
        SELECT s.ids, s.totals INTO sealed_ids, sealed_totals FROM pgmnemo._sealed_leg(scope, asked, depth) s;
        floor := coalesce(sealed_totals[depth], -1);
    END IF;
    IF last > many_terms OR (SELECT sum(n) FROM unnest(asked.listed) n) <= at_once THEN
        read := last;
    ELSE
        LOOP
            read := read + 1;
            lists := lists + asked.listed[read];
            EXIT WHEN lists >= first_lists * depth OR read = last
                   OR floor > (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        END LOOP;
    END IF;
    SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
      FROM (SELECT u.lesson_id, sum(u.part) AS total FROM pgmnemo._list_parts(scope, asked, 1, read) u
             GROUP BY u.lesson_id) x;
    WHILE read < last LOOP
        rest := (SELECT sum(p) FROM unnest(asked.peaks[read + 1:]) p);
        least_of_best := (SELECT greatest(floor, coalesce(min(x.total) FILTER (WHERE x.place = depth), -1))
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
                more := more + asked.listed[wanted];
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
            SELECT coalesce(array_agg(h.lesson_id), '{}'), coalesce(array_agg(h.total), '{}') INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h WHERE h.total + rest >= least_of_best;
            EXIT WHEN lesson_cost * cardinality(ids) <= asked.listed[read + 1];
            SELECT array_agg(h.lesson_id), array_agg(h.total + coalesce(x.part, 0)) INTO ids, totals
              FROM (SELECT unnest(ids) AS lesson_id, unnest(totals) AS total) h
              LEFT JOIN pgmnemo._list_parts(scope, asked, read + 1, read + 1) x ON x.lesson_id = h.lesson_id;
            read := read + 1;
        END IF;
    END LOOP;
    IF read < last THEN
        SELECT coalesce(array_agg(x.lesson_id), '{}'), coalesce(array_agg(x.total), '{}') INTO ids, totals
          FROM pgmnemo._best_sums(scope, asked, ids, totals, NULL) x;
    END IF;
    RETURN QUERY
    SELECT w.lesson_id, w.total
      FROM (SELECT * FROM unnest(ids || sealed_ids, totals || sealed_totals) AS h (lesson_id, total)
             WHERE h.total >= floor ORDER BY h.total DESC OFFSET 0) w
     CROSS JOIN LATERAL (
            SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
             WHERE l.tenant_id = scope.tenant AND l.id = w.lesson_id AND pgmnemo._recallable(l, scope) OFFSET 0) l
     ORDER BY w.total DESC, l.external_id, l.project_id
     LIMIT depth;
END
$$;
-- Of a lesson as a whole its BM25 (in units of 2^-40) unless that is known already, and what the question's terms in
-- it are worth where it has no passages: it may be long for good reason, so its length is held against it by half only
-- (pgmnemo._terms_within). Its vector of lexemes is unpacked once: to join it with nothing does that. With weights of
-- 1 the cover density of one term is the number of times that it stands there.
CREATE FUNCTION pgmnemo._lesson_terms(lexemes tsvector, tokens integer, asked pgmnemo.question, bonus float8,
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
-- The greatest sum that at least `wanted` places of all pieces reach, or 1, and of each piece the places that do.
CREATE FUNCTION pgmnemo._level(planes varbit[], digits integer, wanted bigint,
                               OUT level bigint, OUT reached varbit[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pieces constant integer := cardinality(planes) / digits;
    equal varbit[];   -- places whose digits so far are those of the level
    further varbit[];
    above bigint := 0;
    more bigint;
BEGIN
    level := 0;
    FOR piece IN 1 .. pieces LOOP
        reached[piece] := planes[piece * digits] # planes[piece * digits];
        equal[piece] := ~ reached[piece];
    END LOOP;
    FOR digit IN REVERSE digits .. 1 LOOP
        more := 0;
        FOR piece IN 1 .. pieces LOOP
            further[piece] := equal[piece] & planes[(piece - 1) * digits + digit];
            more := more + bit_count(further[piece]);
        END LOOP;
        IF above + more >= wanted THEN
            level := level + (1::bigint << (digit - 1));
            equal := further;
        ELSE
            above := above + more;
            FOR piece IN 1 .. pieces LOOP
                reached[piece] := reached[piece] | further[piece];
                equal[piece] := equal[piece] & ~ planes[(piece - 1) * digits + digit];
            END LOOP;
        END IF;
    END LOOP;
    IF level = 0 THEN
        level := 1;  -- fewer have any at all: the others are not among them
    ELSE
        FOR piece IN 1 .. pieces LOOP
            reached[piece] := reached[piece] | equal[piece];
        END LOOP;
    END IF;
END
$$;
-- For every lesson in scope that no piece holds and that holds one of the question's terms from place `first` to
-- `last`, and each such term, its part of the lesson's BM25, read from the term's list; in units of 2^-40.
CREATE FUNCTION pgmnemo._list_parts(scope pgmnemo.scope, asked pgmnemo.question, first integer, last integer)
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
                     WHERE p.tenant_id = (scope).tenant AND p.lexeme = t.term AND p.lesson_count > 0
                       AND p.project_id BETWEEN (scope).first_project AND (scope).last_project
                       AND (a.projects IS NULL OR p.project_id = ANY (a.projects)) OFFSET 0) p) x
$$;
-- How many small blocks of lessons single writes have left in a tenant's postings, beyond the one that each project
-- has for what fills none.
CREATE FUNCTION pgmnemo._loose_blocks(tenant uuid)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(sum(b.blocks - 1), 0)
              FROM (SELECT count(*) AS blocks FROM pgmnemo.posting p
                     WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count BETWEEN 1 AND 127
                     GROUP BY p.project_id) b);
END
$$;
-- The pieces of a tenant that hold lessons of a scope, each with a bitmap of zeros and one of the places that are in
-- it; NULL: all are.
CREATE FUNCTION pgmnemo._masks(scope pgmnemo.scope)
RETURNS TABLE (piece bigint, zeros varbit, mask varbit, lesson_count bigint, token_total bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pgmnemo._whole(scope) THEN
        RETURN QUERY
        SELECT c.number, c.zeros, NULL::varbit, c.lesson_count::bigint, c.token_total
          FROM pgmnemo.piece c WHERE c.tenant_id = scope.tenant;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT j.piece, c.zeros,
           bit_or((~ c.zeros >> j.first_place) # (~ c.zeros >> (j.first_place + j.lesson_count)))::varbit,
           sum(j.lesson_count), sum(j.token_total)::bigint
      FROM pgmnemo.piece_project j
     CROSS JOIN LATERAL (
            SELECT c.zeros || '' AS zeros FROM pgmnemo.piece c
             WHERE c.tenant_id = scope.tenant AND c.number = j.piece OFFSET 0) c
     WHERE j.tenant_id = scope.tenant AND pgmnemo._in_scope(j.project_id, scope)
     GROUP BY j.piece, c.zeros;
END
$$;
-- Merges the small blocks of some of a tenant's posting lists; whether there may be more.
CREATE FUNCTION pgmnemo._merge_blocks(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    full_block constant integer := 128;
    at_once    constant integer := 20000;  -- lists
BEGIN
    WITH small AS (
        DELETE FROM pgmnemo.posting p
         USING (SELECT q.project_id, q.lexeme FROM pgmnemo.posting q
                 WHERE q.tenant_id = tenant AND q.lesson_count BETWEEN 1 AND full_block - 1
                 GROUP BY 1, 2 HAVING count(*) > 1 LIMIT at_once) f
         WHERE p.tenant_id = tenant AND p.project_id = f.project_id AND p.lexeme = f.lexeme
           AND p.lesson_count BETWEEN 1 AND full_block - 1
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), lists AS (
        SELECT m.project_id, m.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM small m, unnest(m.lesson_ids, m.frequencies, m.token_counts) AS x (id, frequency, tokens)
         GROUP BY m.project_id, m.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
    RETURN FOUND;
END
$$;
-- How many lessons a whole piece holds: bitmaps of 2 kB, of which some stand in a page.
CREATE FUNCTION pgmnemo._piece_size()
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 16384 $$;
-- The places that are set in a bitmap, ascending.
CREATE FUNCTION pgmnemo._places(bits varbit)
RETURNS TABLE (place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (sum(octet_length(g.gap) + 1) OVER (ORDER BY g.number))::integer - 1
      FROM (SELECT trim_array(string_to_array(bits::text, '1'), 1) AS gaps OFFSET 0) s
     CROSS JOIN LATERAL unnest(s.gaps) WITH ORDINALITY AS g (gap, number)
$$;
-- Cuts one posting list into blocks of at most 128 lessons: a block stays in line in its row.
CREATE FUNCTION pgmnemo._posting_blocks(lesson_ids bigint[], frequencies smallint[], token_counts integer[])
RETURNS TABLE (lesson_ids bigint[], frequencies smallint[], token_counts integer[],
               lesson_count integer, token_total bigint,
               max_frequency smallint, min_tokens integer, first_id bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT $1[s:s + 127], $2[s:s + 127], $3[s:s + 127], cardinality($1[s:s + 127]), t.total, f.highest, t.least, $1[s]
      FROM generate_series(1, cardinality($1), 128) s
     CROSS JOIN LATERAL (SELECT max(n) AS highest FROM unnest($2[s:s + 127]) n) f
     CROSS JOIN LATERAL (SELECT sum(n) AS total, min(n) AS least FROM unnest($3[s:s + 127]) n) t
$$;
-- Of each piece the places whose sum reaches a level, above 0.
CREATE FUNCTION pgmnemo._reaching(planes varbit[], digits integer, level bigint)
RETURNS varbit[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found varbit[];
    plane varbit;
    above varbit;
    equal varbit;
BEGIN
    FOR piece IN 1 .. cardinality(planes) / digits LOOP
        above := planes[piece * digits] # planes[piece * digits];
        equal := ~ above;
        FOR digit IN REVERSE digits .. 1 LOOP
            plane := planes[(piece - 1) * digits + digit];
            IF (level >> (digit - 1)) & 1 = 1 THEN
                equal := equal & plane;
            ELSE
                above := above | (equal & plane);
                equal := equal & ~ plane;
            END IF;
        END LOOP;
        found[piece] := above | equal;
    END LOOP;
    RETURN found;
END
$$;
-- Takes these lessons of a project, as they were, out of the keyword index: out of the blocks that hold them, and where
-- a piece does, by blocks of negative numbers. Ids ascend within a block, so its ends tell most blocks apart that hold
-- none of them.
CREATE FUNCTION pgmnemo._remove_postings(tenant uuid, project uuid, gone bigint[], lexemes tsvector[], tokens integer[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first constant bigint := (SELECT min(g) FROM unnest(gone) g);
    last  constant bigint := (SELECT max(g) FROM unnest(gone) g);
    terms constant text[] := ARRAY(SELECT DISTINCT t FROM unnest(lexemes) AS u (v), unnest(tsvector_to_array(u.v)) t);
    sealed bigint[] := '{}';
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    IF EXISTS (SELECT FROM pgmnemo.piece_project j WHERE j.tenant_id = tenant AND j.project_id = project) THEN
        sealed := ARRAY(
            SELECT g FROM unnest(gone) g
            EXCEPT
            SELECT unnest(p.lesson_ids) FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id = project AND p.lesson_count > 0
               AND p.lesson_ids[1] <= last AND p.lesson_ids[p.lesson_count] >= first);
    END IF;
    WITH touched AS MATERIALIZED (
        SELECT p.ctid AS block, p.lesson_count AS lessons_before, kept.*
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT array_agg(x.id) AS ids, array_agg(x.frequency) AS frequencies,
                       array_agg(x.tokens) AS token_counts, count(*) AS lessons, sum(x.tokens) AS total,
                       max(x.frequency) AS highest, min(x.tokens) AS least
                  FROM unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
                 WHERE x.id NOT IN (SELECT g FROM unnest(gone) AS g)) AS kept
         WHERE p.tenant_id = tenant AND p.project_id = project AND p.lexeme = ANY (terms || ''::text)
           AND p.lesson_count > 0 AND p.lesson_ids[1] <= last AND p.lesson_ids[p.lesson_count] >= first
    ), emptied AS (
        DELETE FROM pgmnemo.posting p USING touched t WHERE p.ctid = t.block AND t.lessons = 0
    )
    UPDATE pgmnemo.posting p
       SET lesson_ids = t.ids, frequencies = t.frequencies, token_counts = t.token_counts,
           lesson_count = t.lessons, token_total = t.total, max_frequency = t.highest, min_tokens = t.least,
           first_id = t.ids[1]
      FROM touched t
     WHERE p.ctid = t.block AND t.lessons > 0 AND t.lessons < t.lessons_before;
    INSERT INTO pgmnemo.posting
    SELECT tenant, project, t.lexeme, b.lesson_ids, b.frequencies, b.token_counts, -b.lesson_count, -b.token_total,
           b.max_frequency, b.min_tokens, -b.first_id
      FROM (SELECT v.lexeme, array_agg(g.id ORDER BY g.id) AS ids,
                   array_agg(v.frequency ORDER BY g.id) AS frequencies,
                   array_agg(g.tokens ORDER BY g.id) AS token_counts
              FROM unnest(gone, lexemes, tokens) AS g (id, lexemes, tokens)
             CROSS JOIN LATERAL (SELECT u.lexeme, cardinality(u.positions)::smallint FROM unnest(g.lexemes) u
                                 UNION ALL SELECT '', 0::smallint) AS v (lexeme, frequency)
             WHERE g.id = ANY (sealed)
             GROUP BY v.lexeme) t
     CROSS JOIN LATERAL pgmnemo._posting_blocks(t.ids, t.frequencies, t.token_counts) b;
END
$$;
-- Makes a piece of these active lessons of one tenant, which neither postings nor another piece hold. Postings are
-- gathered by hash, place and frequency in one number (a lexeme has 256 positions at most), and sorted term by term.
CREATE FUNCTION pgmnemo._seal(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    size constant integer := cardinality(ids);
    few  constant integer := greatest(2, size / 256);  -- places that are listed: as quickly read as bits
    piece constant bigint := (SELECT min(i) FROM unnest(ids) i);
    sorted bigint[];
    zeros constant varbit := repeat('0', size)::varbit;
BEGIN
    INSERT INTO pgmnemo.piece
    SELECT tenant, piece, size, sum(l.token_count), zeros
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    sorted := ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids)
                     ORDER BY l.project_id, l.id);
    INSERT INTO pgmnemo.piece_lesson
    SELECT tenant, piece, (s.place - 1) / 128, array_agg(l.id ORDER BY s.place),
           array_agg(l.token_count ORDER BY s.place)
      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
     GROUP BY 3;
    INSERT INTO pgmnemo.piece_project
    SELECT tenant, l.project_id, piece, min(s.place) - 1, count(*), sum(l.token_count)
      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
     GROUP BY l.project_id;
    INSERT INTO pgmnemo.piece_term
    SELECT tenant, t.lexeme, piece, cardinality(t.places), t.highest, t.least,
           CASE WHEN cardinality(t.places) > few THEN pgmnemo._bits(NULL, t.places, zeros) END,
           CASE WHEN cardinality(t.places) <= few THEN t.places END,
           CASE WHEN cardinality(t.repeaters) > few THEN pgmnemo._bits(NULL, t.repeaters, zeros) END,
           CASE WHEN cardinality(t.repeaters) <= few THEN t.repeaters END, t.frequencies
      FROM (SELECT p.lexeme, p.least, o.*
              FROM (SELECT v.lexeme, min(l.token_count) AS least,
                           array_agg(((s.place - 1)::integer << 9) + cardinality(v.positions)) AS packed
                      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
                      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
                     CROSS JOIN LATERAL unnest(l.lexemes) v
                     GROUP BY v.lexeme) p
             CROSS JOIN LATERAL (
                    SELECT max(f.frequency) AS highest, array_agg(f.place ORDER BY u.pair) AS places,
                           array_agg(f.place ORDER BY u.pair) FILTER (WHERE f.frequency > 1) AS repeaters,
                           array_agg(f.frequency ORDER BY u.pair) FILTER (WHERE f.frequency > 1) AS frequencies
                      FROM unnest(p.packed) AS u (pair)
                     CROSS JOIN LATERAL (SELECT (u.pair >> 9)::smallint, (u.pair & 511)::smallint)
                                AS f (place, frequency)) o) t
     ORDER BY t.lexeme COLLATE "C";
END
$$;
-- Makes a piece of what postings hold where it is enough for one: of a tenant that has pieces a sixteenth of a whole
-- one, else a fourth. With it go pieces that are not whole, if it is half as much as they hold at least, or they make
-- a whole one together, so that there are few of them; and those of which a part was taken back. It takes no more than
-- make three pieces, of the smallest pieces and the first lessons of the postings; whether there may be more to do. One
-- statement takes the postings away and lists the lessons: what another session stores meanwhile keeps its own.
CREATE FUNCTION pgmnemo._seal_pieces(tenant uuid, size integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken_back_most constant integer := size / 32;  -- lessons of a piece
    least constant integer := CASE WHEN EXISTS (SELECT FROM pgmnemo.piece c WHERE c.tenant_id = tenant)
                                   THEN size / 16 ELSE size / 4 END;
    loose constant bigint := (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                               WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0);
    upto bigint;
    more boolean := false;
    worn bigint[];
    taken bigint[];
    ids bigint[];
    listed bigint[];
BEGIN
    PERFORM pgmnemo._fresh_tenant(tenant);
    worn := ARRAY(
        SELECT r.piece FROM pgmnemo.piece_lesson r CROSS JOIN LATERAL unnest(r.lesson_ids) AS u (id)
          JOIN unnest(pgmnemo._taken_back(tenant)) AS g (id) ON g.id = u.id
         WHERE r.tenant_id = tenant
         GROUP BY r.piece HAVING count(*) > taken_back_most
         UNION
        SELECT c.number
          FROM (SELECT c.number, c.lesson_count, sum(c.lesson_count) OVER () AS together
                  FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.lesson_count < size) c
         WHERE c.together >= size OR loose >= least AND c.lesson_count <= 2 * loose);
    IF loose < least AND worn = '{}' THEN
        RETURN false;
    END IF;
    taken := ARRAY(
        SELECT c.number
          FROM (SELECT c.number,
                       sum(c.lesson_count) OVER (ORDER BY c.lesson_count, c.number) - c.lesson_count AS smaller
                  FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.number = ANY (worn)) c
         WHERE c.smaller < size);
    ids := pgmnemo._drop_pieces(tenant, taken);
    IF loose > size THEN
        SELECT min(f.id), count(*) > 1 INTO upto, more
          FROM (SELECT u.id FROM pgmnemo.posting p CROSS JOIN LATERAL unnest(p.lesson_ids) AS u (id)
                 WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0
                   AND u.id NOT IN (SELECT unnest(pgmnemo._taken_back(tenant)))
                 ORDER BY u.id OFFSET size - 1 LIMIT 2) f;
    END IF;
    WITH gone AS (
        DELETE FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.lesson_count > 0 AND (upto IS NULL OR p.first_id <= upto)
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), kept AS (
        SELECT g.project_id, g.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM gone g, unnest(g.lesson_ids, g.frequencies, g.token_counts) AS x (id, frequency, tokens)
         WHERE x.id > upto
         GROUP BY g.project_id, g.lexeme
    ), back AS (
        INSERT INTO pgmnemo.posting
        SELECT tenant, k.project_id, k.lexeme, b.*
          FROM kept k, LATERAL pgmnemo._posting_blocks(k.ids, k.frequencies, k.token_counts) b
    )
    SELECT array_agg(u.id) INTO listed
      FROM gone g CROSS JOIN LATERAL unnest(g.lesson_ids) AS u (id)
     WHERE g.lexeme = '' AND (upto IS NULL OR u.id <= upto);
    PERFORM pgmnemo._settle(tenant, ids || listed, size, least);
    RETURN more OR cardinality(taken) < cardinality(worn);
END
$$;
-- What pieces hold of these lexemes, and under the empty one of lessons: in the tenant, and in scope; and how often and
-- in how short a lesson at most.
CREATE FUNCTION pgmnemo._sealed_counts(scope pgmnemo.scope, lexemes text[])
RETURNS TABLE (lexeme text, lessons bigint, tokens bigint, held bigint, held_tokens bigint, frequency smallint,
               shortest integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pgmnemo.piece c WHERE c.tenant_id = scope.tenant) THEN
        RETURN;
    ELSIF pgmnemo._whole(scope) THEN
        RETURN QUERY
        SELECT '', sum(c.lesson_count), sum(c.token_total)::bigint, sum(c.lesson_count), sum(c.token_total)::bigint,
               NULL::smallint, NULL::integer
          FROM pgmnemo.piece c WHERE c.tenant_id = scope.tenant;
        RETURN QUERY
        SELECT t.lexeme, sum(t.lesson_count), NULL::bigint, sum(t.lesson_count), NULL::bigint, max(t.max_frequency),
               min(t.min_tokens)
          FROM pgmnemo.piece_term t WHERE t.tenant_id = scope.tenant AND t.lexeme = ANY (lexemes)
         GROUP BY t.lexeme;
        RETURN;
    END IF;
    RETURN QUERY
    WITH masks AS MATERIALIZED (
        SELECT * FROM pgmnemo._masks(scope)
    )
    SELECT '', (SELECT sum(c.lesson_count) FROM pgmnemo.piece c WHERE c.tenant_id = scope.tenant),
           (SELECT sum(c.token_total) FROM pgmnemo.piece c WHERE c.tenant_id = scope.tenant)::bigint,
           (SELECT sum(m.lesson_count) FROM masks m)::bigint, (SELECT sum(m.token_total) FROM masks m)::bigint,
           NULL::smallint, NULL::integer
     UNION ALL
    SELECT t.lexeme, sum(t.lesson_count), NULL,
           sum(bit_count(pgmnemo._bits(t.holders, t.held_at, m.zeros) & m.mask))::bigint, NULL,
           max(t.max_frequency) FILTER (WHERE m.piece IS NOT NULL), min(t.min_tokens) FILTER (WHERE m.piece IS NOT NULL)
      FROM pgmnemo.piece_term t LEFT JOIN masks m ON m.piece = t.piece
     WHERE t.tenant_id = scope.tenant AND t.lexeme = ANY (lexemes)
     GROUP BY t.lexeme;
END
$$;
-- The lessons in scope that pieces hold under a lexeme, and that were not taken back.
CREATE FUNCTION pgmnemo._sealed_holders(scope pgmnemo.scope, of_lexeme text)
RETURNS TABLE (lesson_id bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.lesson_ids[w.place % 128 + 1]
      FROM pgmnemo.piece_term t
      JOIN pgmnemo._masks(scope) m ON m.piece = t.piece
     CROSS JOIN LATERAL pgmnemo._places(pgmnemo._bits(t.holders, t.held_at, m.zeros) & coalesce(m.mask, ~ m.zeros)) w
      JOIN pgmnemo.piece_lesson r
        ON r.tenant_id = scope.tenant AND r.piece = t.piece AND r.row_number = w.place / 128
     WHERE t.tenant_id = scope.tenant AND t.lexeme = of_lexeme COLLATE "C"
       AND r.lesson_ids[w.place % 128 + 1] NOT IN (SELECT unnest(pgmnemo._taken_back(scope.tenant)));
END
$$;
-- Of the lessons that pieces hold the `depth` with the highest BM25 (in units of 2^-40), exactly, and those that tie
-- with the last. What each could have at most is counted in whole units, for a whole piece at once: `planes` are the
-- binary digits of these sums. Then the lessons that could have most are looked at, enough of them, and at last all
-- others that could have what the depth-th of those has.
CREATE FUNCTION pgmnemo._sealed_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer,
                                    OUT ids bigint[], OUT totals float8[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    digits constant integer := greatest(7, ceil(log(2, 16 * cardinality(asked.terms)::numeric)));
    -- a sum is rounded up by two units for each term at most: by an eighth of all units, or few lessons stand out
    unit   constant float8 := (SELECT sum(t) FROM unnest(asked.tops) t)
                              / ((1 << digits) - 1 - 2 * cardinality(asked.terms));
    wanted constant bigint := depth * CASE WHEN scope.plain THEN 2 ELSE 4 END;
    taken_back constant bigint[] := pgmnemo._taken_back(scope.tenant);
    pieces bigint[] := '{}';
    planes varbit[] := '{}';
    last bigint;
    base integer := -digits;
    bits varbit;
    plane varbit;
    carry varbit;
    half varbit;
    units bigint;
    level bigint;
    chosen varbit[];
    seen varbit[];
    r record;
BEGIN
    ids := '{}';
    totals := '{}';
    FOR r IN
        SELECT t.piece, CASE WHEN u.kind = 1 THEN pgmnemo._bits(t.holders, t.held_at, m.zeros)
                             ELSE pgmnemo._bits(t.repeaters, t.repeated_at, m.zeros) END AS bits, m.zeros, m.mask,
               CASE WHEN w.more <= 1 THEN w.once + w.more WHEN u.kind = 1 THEN w.once ELSE w.more END AS units
          FROM unnest(asked.terms, asked.scales) AS a (term, scale)
         CROSS JOIN LATERAL (
                SELECT t.* FROM pgmnemo.piece_term t
                 WHERE t.tenant_id = scope.tenant AND t.lexeme = a.term COLLATE "C" OFFSET 0) t
          JOIN pgmnemo._masks(scope) m ON m.piece = t.piece
         CROSS JOIN LATERAL (
                SELECT pgmnemo._impact(a.scale, 1, asked.flat, asked.per_token, t.min_tokens, asked.pivot) + 1,
                       pgmnemo._impact(a.scale, t.max_frequency, asked.flat, asked.per_token, t.min_tokens,
                                       asked.pivot) + 1) AS i (once, often)
         CROSS JOIN LATERAL (
                SELECT ceil(i.once / unit)::bigint,
                       (ceil(i.often / unit) - ceil(i.once / unit))::bigint) AS w (once, more)
         CROSS JOIN (VALUES (1), (2)) AS u (kind)
         WHERE u.kind = 1 OR w.more > 1
         ORDER BY t.piece
    LOOP
        IF last IS DISTINCT FROM r.piece THEN
            last := r.piece;
            pieces := pieces || last;
            base := base + digits;
            FOR digit IN base + 1 .. base + digits LOOP
                planes[digit] := r.zeros;
            END LOOP;
        END IF;
        bits := CASE WHEN r.mask IS NULL THEN r.bits ELSE r.bits & r.mask END;
        units := r.units;
        carry := NULL;
        FOR digit IN base + 1 .. base + digits LOOP
            IF units & 1 = 1 THEN
                plane := planes[digit];
                half := plane # bits;
                IF carry IS NULL THEN
                    planes[digit] := half;
                    carry := plane & bits;
                ELSE
                    planes[digit] := half # carry;
                    carry := (plane & bits) | (half & carry);
                END IF;
            ELSIF carry IS NOT NULL THEN
                plane := planes[digit];
                planes[digit] := plane # carry;
                carry := plane & carry;
            ELSE
                EXIT WHEN units = 0;
            END IF;
            units := units >> 1;
        END LOOP;
    END LOOP;
    IF pieces = '{}' THEN
        RETURN;
    END IF;
    SELECT l.level, l.reached INTO level, chosen FROM pgmnemo._level(planes, digits, wanted) l;
    LOOP
        SELECT ids || coalesce(array_agg(s.lesson_id), '{}'), totals || coalesce(array_agg(s.total), '{}')
          INTO ids, totals
          FROM pgmnemo._sealed_sums(scope, asked, pieces,
                                    ARRAY(SELECT coalesce(c & ~ s, c)
                                            FROM unnest(chosen, seen) WITH ORDINALITY AS u (c, s, place)
                                           ORDER BY place), taken_back) s;
        SELECT coalesce(array_agg(b.id), '{}'), coalesce(array_agg(b.total), '{}') INTO ids, totals
          FROM (SELECT u.id, u.total
                  FROM (SELECT * FROM unnest(ids, totals) AS u (id, total) ORDER BY u.total DESC OFFSET 0) u
                 CROSS JOIN LATERAL (
                        SELECT FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = u.id AND pgmnemo._recallable(l, scope) OFFSET 0) l
                 ORDER BY u.total DESC FETCH FIRST (depth) ROWS WITH TIES) b;
        last := level;
        -- where too few may be answered with, it goes further down step by step
        level := CASE WHEN cardinality(ids) >= depth THEN least(last, greatest(1, ceil(totals[depth] / unit)))
                      ELSE greatest(1, last / 2) END;
        EXIT WHEN level = last;
        seen := chosen;
        chosen := pgmnemo._reaching(planes, digits, level);
    END LOOP;
END
$$;
-- What pieces hold, posting by posting, whatever was taken back; under the empty lexeme every lesson. NULL: of all
-- lexemes. What stands at a place is looked up in arrays of its piece: of tables that were never analyzed a join by
-- places could be planned as one of all with all.
CREATE FUNCTION pgmnemo._sealed_postings(tenant uuid, of_lexeme text DEFAULT NULL)
RETURNS TABLE (project_id uuid, lexeme text, lesson_id bigint, frequency integer, tokens integer)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH place AS MATERIALIZED (
        SELECT r.piece, (r.row_number * 128 + u.place - 1)::integer AS place, u.id, u.tokens, j.project_id
          FROM pgmnemo.piece_lesson r
         CROSS JOIN LATERAL unnest(r.lesson_ids, r.token_counts) WITH ORDINALITY AS u (id, tokens, place)
          LEFT JOIN pgmnemo.piece_project j ON j.tenant_id = tenant AND j.piece = r.piece
                                           AND r.row_number * 128 + u.place - 1 >= j.first_place
                                           AND r.row_number * 128 + u.place - 1 < j.first_place + j.lesson_count
         WHERE r.tenant_id = tenant
    ), listed AS MATERIALIZED (
        SELECT p.piece, array_agg(p.id ORDER BY p.place) AS ids, array_agg(p.tokens ORDER BY p.place) AS tokens,
               array_agg(p.project_id ORDER BY p.place) AS projects
          FROM place p GROUP BY p.piece
    )
    SELECT p.project_id, '', p.id, 0, p.tokens FROM place p WHERE of_lexeme IS NULL
     UNION ALL
    SELECT l.projects[h.place + 1], h.lexeme, l.ids[h.place + 1],
           CASE WHEN get_bit(h.repeaters, h.place) = 1
                THEN h.frequencies[bit_count(substring(h.repeaters FROM 1 FOR h.place + 1))] ELSE 1 END,
           l.tokens[h.place + 1]
      FROM (SELECT t.piece, t.lexeme, b.repeaters, t.frequencies, w.place
              FROM pgmnemo.piece_term t
              JOIN (SELECT c.number, c.zeros FROM pgmnemo.piece c
                     WHERE c.tenant_id = tenant OFFSET 0) c ON c.number = t.piece
             CROSS JOIN LATERAL (
                    SELECT pgmnemo._bits(t.holders, t.held_at, c.zeros) AS holders,
                           CASE WHEN t.frequencies IS NOT NULL
                                THEN pgmnemo._bits(t.repeaters, t.repeated_at, c.zeros) END AS repeaters OFFSET 0) b
             CROSS JOIN LATERAL pgmnemo._places(b.holders) w
             WHERE t.tenant_id = tenant AND (of_lexeme IS NULL OR t.lexeme = of_lexeme COLLATE "C") OFFSET 0) h
      JOIN listed l ON l.piece = h.piece
     WHERE l.ids[h.place + 1] IS NOT NULL
$$;
-- The BM25 (in units of 2^-40) of the lessons at these places of these pieces, but for those that were taken back.
CREATE FUNCTION pgmnemo._sealed_sums(scope pgmnemo.scope, asked pgmnemo.question, pieces bigint[], chosen varbit[],
                                     taken_back bigint[])
RETURNS TABLE (lesson_id bigint, total float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.lesson_id, sum(pgmnemo._impact(x.scale, x.frequency, (asked).flat, (asked).per_token, x.tokens,
                                            (asked).pivot))
      FROM (SELECT p.piece, p.place, t.scale,
                   CASE WHEN t.repeaters IS NOT NULL AND get_bit(t.repeaters, p.place) = 1
                        THEN t.frequencies[bit_count(substring(t.repeaters FROM 1 FOR p.place + 1))] ELSE 1
                   END AS frequency,
                   p.lesson_id, p.tokens
              FROM (SELECT c.piece, w.place, r.lesson_ids[w.place % 128 + 1] AS lesson_id,
                           r.token_counts[w.place % 128 + 1] AS tokens
                      FROM unnest(pieces, chosen) AS c (piece, bits)
                     CROSS JOIN LATERAL pgmnemo._places(c.bits) w
                     CROSS JOIN LATERAL (
                            SELECT r.lesson_ids, r.token_counts FROM pgmnemo.piece_lesson r
                             WHERE r.tenant_id = (scope).tenant AND r.piece = c.piece AND r.row_number = w.place / 128
                            OFFSET 0) r
                    OFFSET 0) p
              JOIN (SELECT t.piece, a.scale, pgmnemo._bits(t.holders, t.held_at, c.zeros) AS holders,
                           CASE WHEN t.frequencies IS NOT NULL
                                THEN pgmnemo._bits(t.repeaters, t.repeated_at, c.zeros) END AS repeaters,
                           t.frequencies
                      FROM (SELECT c.piece, (c.bits # c.bits)::varbit AS zeros
                              FROM unnest(pieces, chosen) AS c (piece, bits)
                             WHERE bit_count(c.bits) > 0) c
                     CROSS JOIN unnest((asked).terms, (asked).scales) AS a (term, scale)
                      JOIN pgmnemo.piece_term t
                        ON t.tenant_id = (scope).tenant AND t.lexeme = a.term COLLATE "C" AND t.piece = c.piece
                    OFFSET 0) t ON t.piece = p.piece AND get_bit(t.holders, p.place) = 1
             WHERE p.lesson_id NOT IN (SELECT unnest(taken_back))) x
     GROUP BY x.lesson_id
$$;
-- Puts these active lessons of a tenant, which neither postings nor pieces hold, into pieces of `size`, the last one of
-- `least_size` at least, and what is left over into postings. One that is taken back from a piece stays out of others
-- until that piece is made anew.
CREATE FUNCTION pgmnemo._settle(tenant uuid, ids bigint[], size integer, least_size integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fit bigint[] := '{}';
    sealed integer := 0;
BEGIN
    IF cardinality(ids) >= least_size THEN
        fit := ARRAY(SELECT u.id FROM unnest(ids) AS u (id)
                      WHERE u.id NOT IN (SELECT unnest(pgmnemo._taken_back(tenant))) ORDER BY u.id);
    END IF;
    WHILE cardinality(fit) - sealed >= least_size LOOP
        PERFORM pgmnemo._seal(tenant, fit[sealed + 1 : sealed + size]);
        sealed := least(sealed + size, cardinality(fit));
    END LOOP;
    PERFORM pgmnemo._add_postings(tenant, CASE WHEN sealed = 0 THEN ids
                                               ELSE ARRAY(SELECT unnest(ids) EXCEPT SELECT unnest(fit[: sealed])) END);
END
$$;
-- The lessons that pieces hold as they no longer are.
CREATE FUNCTION pgmnemo._taken_back(tenant uuid)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(SELECT unnest(p.lesson_ids) FROM pgmnemo.posting p
                  WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count < 0);
END
$$;
-- What sums of BM25 are counted in: 2^40 to one, so that a sum below 8,192 is exact in any order.
CREATE FUNCTION pgmnemo._unit()
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 1099511627776::float8 $$;
-- How alike the words of two texts are. A difference is taken, for a union may be larger than a tsvector can be.
CREATE FUNCTION pgmnemo._words_shared(one tsvector, other tsvector)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (length(other) - d.more)::float8 / nullif(length(one) + d.more, 0)
      FROM (SELECT length(ts_delete(other, tsvector_to_array(one))) AS more OFFSET 0) d
$$;

COMMENT ON FUNCTION pgmnemo._words_shared IS 'lexemes that both have / lexemes that either has, from 0 to 1; NULL where neither has any';
-- Whether so many small blocks of lessons, each with one for every lexeme of its lessons, are worth a compaction: one
-- for every fourth lesson, but a hundred at least, for few are soon read, and five hundred at most.
CREATE FUNCTION pgmnemo._worth_compacting(tenant uuid, loose bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF loose <= 100 OR loose > 500 THEN
        RETURN loose > 500;
    END IF;
    RETURN 4 * loose > (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                         WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0)
                       + (SELECT coalesce(sum(c.lesson_count), 0) FROM pgmnemo.piece c WHERE c.tenant_id = tenant);
END
$$;
-- What the policy of a graph goes by. It names the graph and no tenant, for any login may read policies; nobody but
-- the extension's owner may call it (pgmnemo._acting_tenant).
CREATE FUNCTION pgmnemo._acting_graph(graph name)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.vector_graph g
                    WHERE g.tenant_id = pgmnemo._acting_tenant() AND g.name = graph);
END
$$;
-- How many vectors of a tenant wait for its graph: all of them, where it is gone.
CREATE FUNCTION pgmnemo._awaiting(tenant uuid, generation smallint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
    all_of_them constant bigint := 2000000000;
    waiting bigint := pgmnemo._tail(tenant, generation, all_of_them);
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant AND g.generation = generation
                  AND NOT pgmnemo._graph_stands(g.name)) THEN
        waiting := waiting + (SELECT count(*) FROM pgmnemo.lesson_vector v
                               WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
    END IF;
    RETURN waiting;
END
$$;
-- Whether a set of so many lessons is marked as being in the tenant's graph at once, for that is still to be made: then
-- its vectors are written once, and enter with all others. Until the end of the transaction nobody makes it, as
-- nobody waits for who writes. Where a snapshot could be too old to tell, the vectors wait like any.
CREATE FUNCTION pgmnemo._awaits_graph(tenant uuid, generation smallint, lessons integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lessons < 1000 OR current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN false;
    END IF;
    PERFORM FROM pgmnemo.vector_graph g
      WHERE g.tenant_id = tenant AND g.generation = _awaits_graph.generation AND NOT g.built FOR SHARE SKIP LOCKED;
    RETURN FOUND;
END
$$;
-- Lets a tenant have a graph from now on; the next merge makes it. The lock on the space keeps a second session from
-- waiting for this one; whether this one did it.
CREATE FUNCTION pgmnemo._begin_graph(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO pgmnemo.vector_graph (tenant_id, generation, name)
    SELECT tenant, _begin_graph.generation, pgmnemo._graph_name()
     WHERE NOT EXISTS (SELECT FROM pgmnemo.vector_graph g
                        WHERE g.tenant_id = tenant AND g.generation = _begin_graph.generation)
        ON CONFLICT DO NOTHING;
    RETURN FOUND;
END
$$;
-- Takes from everybody the right that PostgreSQL gives on the type of a table's rows, and no dump takes away: what
-- depends on it would keep the table from being dropped.
CREATE FUNCTION pgmnemo._close_type(relation name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON TYPE pgmnemo.%I FROM PUBLIC', relation);
END
$$;
-- The dimension of a generation of a tenant's vectors; NULL: it is none of its space.
CREATE FUNCTION pgmnemo._dimensions_of(tenant uuid, generation smallint)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE _dimensions_of.generation WHEN s.generation THEN s.dimensions
                                          WHEN s.next_generation THEN s.next_dimensions END
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant
$$;
-- Vectors that no longer serve, or never will, go with their graph. A graph that another session is changing just now
-- is left empty for pgmnemo.upkeep. Writers who take vectors out hold one before they ask for the graph's row, so they
-- wait for the tenant instead.
CREATE FUNCTION pgmnemo._drop_generation(tenant uuid, generation smallint)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    graph name;
BEGIN
    PERFORM pgmnemo._lock_tenant(tenant);
    SELECT g.name INTO graph
      FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = tenant AND g.generation = _drop_generation.generation FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        DELETE FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant AND g.generation = _drop_generation.generation;
    END IF;
    DELETE FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant AND v.generation = _drop_generation.generation;
    PERFORM pgmnemo._drop_graph(graph) WHERE graph IS NOT NULL;
END
$$;
-- Drops a graph that vector_graph no longer names, unless somebody is reading it just now: nobody is waited for, and
-- pgmnemo.upkeep drops what is left. Whether it is gone.
CREATE FUNCTION pgmnemo._drop_graph(graph name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pgmnemo._graph_stands(graph) THEN
        EXECUTE format('LOCK TABLE pgmnemo.%I IN ACCESS EXCLUSIVE MODE NOWAIT', graph);
        EXECUTE format('DROP TABLE pgmnemo.%I', graph);
    END IF;
    RETURN true;
EXCEPTION
    WHEN undefined_table THEN
        RETURN true;
    WHEN lock_not_available OR object_in_use OR dependent_objects_still_exist OR insufficient_privilege THEN
        RETURN false;
END
$$;
-- Drops the graphs that no tenant has any more.
CREATE FUNCTION pgmnemo._drop_unnamed()
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._drop_graph(c.relname)
      FROM pg_class c
     WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname ~ '^graph_[0-9]+$'
       AND pgmnemo._graph_stands(c.relname)
       AND NOT EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.name = c.relname)
$$;
-- Brings so many of the vectors that wait into a tenant's graph, and begins with no more after a time; how many. NULL:
-- another session changes the graph just now, or the tenant has none. A build cannot be stopped and gone on with: where
-- there is a time and it would take longer, the graph begins empty and the vectors enter one by one, over many calls.
CREATE FUNCTION pgmnemo._enter_graph(tenant uuid, generation smallint, most bigint,
                                     enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at_once constant bigint := 100;
    graph name := pgmnemo._locked_graph(tenant, generation);
    waiting bigint := pgmnemo._tail(tenant, generation, most);
    entered bigint := 0;
    more bigint;
BEGIN
    IF graph IS NULL THEN
        RETURN NULL;
    ELSIF pgmnemo._graph_anew(tenant, generation, waiting) THEN
        IF enough = 'infinity' OR pgmnemo._soon_built(tenant, generation, waiting) THEN
            RETURN pgmnemo._rebuild(tenant, generation, waiting);
        ELSIF NOT pgmnemo._graph_stands(graph) THEN
            IF NOT pgmnemo._unmark(tenant, generation, enough) THEN
                RETURN 0;
            END IF;
            graph := pgmnemo._make_graph(tenant, generation);
            waiting := pgmnemo._tail(tenant, generation, most);
        END IF;
    END IF;
    WHILE entered < waiting LOOP
        more := pgmnemo._merge(tenant, generation, graph, least(at_once, waiting - entered));
        entered := entered + more;
        EXIT WHEN more = 0 OR clock_timestamp() > enough;
    END LOOP;
    RETURN entered;
END
$$;
-- Takes a tenant's graphs away from it, but for those that another session changes just now. Whoever deletes vectors
-- afterwards need not take them out one by one.
CREATE FUNCTION pgmnemo._give_up_graphs(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH free AS MATERIALIZED (
        SELECT g.generation FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant FOR UPDATE SKIP LOCKED
    )
    DELETE FROM pgmnemo.vector_graph g USING free f WHERE g.tenant_id = tenant AND g.generation = f.generation
$$;
-- Lets the next vector of a tenant without any say anew of which dimension they are, unless somebody is writing one.
-- Locked first, and looked at in another statement, which sees whatever was written before.
CREATE FUNCTION pgmnemo._give_up_space(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        DELETE FROM pgmnemo.embedding_space s
         WHERE s.tenant_id = tenant AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant);
    END IF;
END
$$;
-- Whether a tenant's graph is made anew when so many vectors enter: it is not there, or holds less than twice as many
-- and these are many, so that it is faster.
CREATE FUNCTION pgmnemo._graph_anew(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    worth_it constant integer := 1000;  -- vectors for which tables come and go
BEGIN
    RETURN NOT EXISTS (SELECT FROM pgmnemo.vector_graph g
                        WHERE g.tenant_id = tenant AND g.generation = _graph_anew.generation
                          AND pgmnemo._graph_stands(g.name))
           OR entering >= worth_it AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                                    WHERE v.tenant_id = tenant AND v.generation = _graph_anew.generation
                                                      AND v.indexed OFFSET 2 * entering);
END
$$;
-- Outside of the verbs a row comes when a dump is restored: then the graph that it names becomes the owner's of the
-- schema pgmnemo, who may be another now, and nobody else's.
CREATE FUNCTION pgmnemo._graph_comes()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keeper constant name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'pgmnemo');
BEGIN
    IF pgmnemo._acting_tenant() IS NULL
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('pgmnemo.' || quote_ident(NEW.name))
                      AND c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhastriggers
                      AND pg_has_role(c.relowner, 'USAGE')) THEN
        EXECUTE format('ALTER TABLE pgmnemo.%I OWNER TO %I', NEW.name, keeper);
        PERFORM pgmnemo._close_type(NEW.name);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER vector_graph_after_insert AFTER INSERT ON pgmnemo.vector_graph
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._graph_comes();
ALTER TABLE pgmnemo.vector_graph ENABLE ALWAYS TRIGGER vector_graph_after_insert;
-- A graph that is named no more is dropped when the transaction ends, and not before: who reads it would wait. At that
-- time PostgreSQL may run the trigger as whoever commits. A name that came from another server may be taken anew
-- meanwhile.
CREATE FUNCTION pgmnemo._graph_leaves()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._drop_graph(OLD.name)
      WHERE NOT EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.name = OLD.name);
    RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER vector_graph_after_delete AFTER DELETE ON pgmnemo.vector_graph
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pgmnemo._graph_leaves();
CREATE CONSTRAINT TRIGGER vector_graph_after_update AFTER UPDATE OF name ON pgmnemo.vector_graph
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION pgmnemo._graph_leaves();
-- A name for a graph that no other relation has.
CREATE FUNCTION pgmnemo._graph_name()
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    free name;
BEGIN
    LOOP
        free := 'graph_' || nextval('pgmnemo.graph_seq');
        EXIT WHEN to_regclass('pgmnemo.' || free) IS NULL;
    END LOOP;
    RETURN free;
END
$$;
-- Whether a tenant's graph is that table, as others have it by now.
CREATE FUNCTION pgmnemo._graph_named(tenant uuid, generation smallint, graph name)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.vector_graph g
                    WHERE g.tenant_id = tenant AND g.generation = _graph_named.generation AND g.name = graph);
END
$$;
-- Whether a graph's table is there, and belongs to the owner of the schema pgmnemo: pg_upgrade gives the extension to a
-- superuser, and plain SQL has none. To a snapshot that is older than its drop its name still shows, and who was let to
-- create in the schema may have taken the name.
CREATE FUNCTION pgmnemo._graph_stands(graph name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.nspowner = c.relowner
                    WHERE n.nspname = 'pgmnemo' AND c.relkind = 'r'
                      AND c.oid = to_regclass('pgmnemo.' || quote_ident(graph)))
$$;
-- Whether a tenant may have a new graph. Any role may lower pgmnemo.exact_scan_limit, so after the first some hundred
-- graphs of a database one is of a thousand vectors at least: else each tenant could fill the catalogue with four
-- relations, or have them come and go so often that no pg_dump gets through.
CREATE FUNCTION pgmnemo._graph_worth(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first_names constant integer := 2000;  -- a graph takes two
    least_size  constant integer := 1000;
BEGIN
    RETURN (SELECT s.last_value FROM pgmnemo.graph_seq s) < first_names
           OR pgmnemo._holds_vectors(tenant, generation, least_size);
END
$$;
-- Whether pgvector's HNSW indexes may be trusted: before 0.8.4 a parallel build or a vacuum could spoil them. With an
-- older one every scope is read exactly, whatever its size, and no vector enters a graph.
CREATE FUNCTION pgmnemo._graphs_sound()
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_to_array(substring(e.extversion FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.')::integer[] >= '{0,8,4}'
      FROM pg_extension e WHERE e.extname = 'vector'
$$;
-- Whether a tenant has more vectors of a generation than that.
CREATE FUNCTION pgmnemo._holds_vectors(tenant uuid, generation smallint, than bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.lesson_vector v
                    WHERE v.tenant_id = tenant AND v.generation = _holds_vectors.generation OFFSET than);
END
$$;
-- The indexes of a graph's table. Of unit vectors the inner product is the cosine. A build takes all rows at once, in
-- parallel where max_parallel_maintenance_workers allows, and is fastest while it fits into maintenance_work_mem.
CREATE FUNCTION pgmnemo._index_graph(graph name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('ALTER TABLE pgmnemo.%I ADD PRIMARY KEY (lesson_id, number)', graph);
    EXECUTE format('CREATE INDEX %I ON pgmnemo.%I (project_id)', graph || '_project', graph);
    EXECUTE format('CREATE INDEX %I ON pgmnemo.%I USING hnsw (embedding @extschema:vector@.halfvec_ip_ops)',
                   graph || '_hnsw', graph);
END
$$;
-- Whether a tenant has a graph of a generation, or shall have one from now on: its vectors are more than
-- pgmnemo.exact_scan_limit.
CREATE FUNCTION pgmnemo._large(tenant uuid, generation smallint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g
                WHERE g.tenant_id = tenant AND g.generation = _large.generation) THEN
        RETURN true;
    ELSIF pgmnemo._holds_vectors(tenant, generation, (pgmnemo._settings()).exact_scan_limit)
          AND pgmnemo._graph_worth(tenant, generation) THEN
        PERFORM pgmnemo._begin_graph(tenant, generation);
        RETURN true;
    END IF;
    RETURN false;
END
$$;
-- The name of a tenant's graph for who may change it: one session at a time, and no other waits. NULL: another does,
-- or there is none.
CREATE FUNCTION pgmnemo._locked_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT g.name FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = tenant AND g.generation = _locked_graph.generation
       FOR NO KEY UPDATE SKIP LOCKED
$$;
-- Gives a tenant, whose row of vector_graph the caller has locked, an empty graph: none of its vectors is marked as
-- being in it.
CREATE FUNCTION pgmnemo._make_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._new_graph(tenant, generation);
BEGIN
    PERFORM pgmnemo._index_graph(made);
    RETURN made;
END
$$;
-- Brings so many of the vectors that wait into a graph, which the caller has locked, one by one; how many. What
-- another session is changing just now is left for the next time. A nested loop is right for few rows as for many.
CREATE FUNCTION pgmnemo._merge(tenant uuid, generation smallint, graph name, most bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    ids bigint[];
    numbers smallint[];
    projects uuid[];
    vectors @extschema:vector@.halfvec[];
BEGIN
    WITH chosen AS MATERIALIZED (
        SELECT n.* FROM (SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                            AND @extschema:vector@.vector_dims(v.embedding) <= 1250
                          LIMIT most FOR UPDATE SKIP LOCKED) n
         UNION ALL
        SELECT w.* FROM (SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                            AND @extschema:vector@.vector_dims(v.embedding) > 1250
                          LIMIT most FOR UPDATE SKIP LOCKED) w
    ), moved AS (
        UPDATE pgmnemo.lesson_vector v SET indexed = true
          FROM chosen c
         WHERE v.tenant_id = tenant AND v.lesson_id = c.lesson_id AND v.generation = generation
           AND v.number = c.number AND NOT v.indexed
        RETURNING v.lesson_id, v.number, v.project_id, v.embedding
    )
    SELECT array_agg(m.lesson_id), array_agg(m.number), array_agg(m.project_id), array_agg(m.embedding)
      INTO ids, numbers, projects, vectors FROM moved m;
    IF ids IS NOT NULL THEN
        EXECUTE format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '
                       'SELECT * FROM unnest($1, $2, $3, $4)', graph)
          USING ids, numbers, projects, vectors;
    END IF;
    RETURN coalesce(cardinality(ids), 0);
END
$$;
-- An empty table for a tenant's graph, whose row of vector_graph the caller has locked, and from now on its name there.
-- It is behind the second wall like every table: its rows show while a verb acts for the tenant. No member of the
-- extension, so that a dump takes it along; its owner is that of the other tables, for as plain SQL there is no
-- extension.
CREATE FUNCTION pgmnemo._new_graph(tenant uuid, generation smallint)
RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made constant name := pgmnemo._graph_name();
    keeper constant name := (SELECT pg_get_userbyid(c.relowner) FROM pg_class c
                              WHERE c.oid = 'pgmnemo.lesson_vector'::regclass);
    other text;
BEGIN
    EXECUTE format('CREATE TABLE pgmnemo.%I (lesson_id bigint NOT NULL, number smallint NOT NULL, '
                   'project_id uuid NOT NULL, embedding @extschema:vector@.halfvec(%s) STORAGE PLAIN NOT NULL)',
                   made, pgmnemo._dimensions_of(tenant, generation));
    EXECUTE format('ALTER TABLE pgmnemo.%I OWNER TO %I, ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
                   made, keeper);
    EXECUTE format('CREATE POLICY acting_tenant ON pgmnemo.%I USING ((SELECT pgmnemo._acting_graph(%L)))',
                   made, made);
    PERFORM pgmnemo._close_type(made);
    -- what the owner's default privileges gave to others
    FOR other IN
        SELECT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
          FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
         WHERE c.oid = to_regclass('pgmnemo.' || made) AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('REVOKE ALL ON pgmnemo.%I FROM %s CASCADE', made, other);
    END LOOP;
    UPDATE pgmnemo.vector_graph g SET name = made, built = true
     WHERE g.tenant_id = tenant AND g.generation = _new_graph.generation;
    RETURN made;
END
$$;
-- Makes a graph anew, of what is marked as being in it and of so many more that wait; the caller has locked it. How
-- many entered. Meanwhile readers have the old one, and writers go on: what they change is compared at the end, when
-- they are held up for as long as that takes. Whatever is expected of a table that was never
-- analyzed, all rows are compared at once, by hashing: other plans compare each with each.
CREATE FUNCTION pgmnemo._rebuild(tenant uuid, generation smallint, most bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = on
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
    fresh constant name := pgmnemo._new_graph(tenant, generation);
    entered bigint;
BEGIN
    EXECUTE format('INSERT INTO pgmnemo.%I (lesson_id, number, project_id, embedding) '
                   'SELECT v.lesson_id, v.number, v.project_id, v.embedding FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND v.indexed UNION ALL '
                   '(SELECT v.lesson_id, v.number, v.project_id, v.embedding FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND NOT v.indexed LIMIT $3)', fresh)
      USING tenant, generation, most;
    PERFORM pgmnemo._index_graph(fresh);
    PERFORM pgmnemo._fresh_tenant(tenant);
    EXECUTE format('UPDATE pgmnemo.lesson_vector v SET indexed = true FROM pgmnemo.%I g '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND NOT v.indexed AND v.lesson_id = g.lesson_id '
                   'AND v.number = g.number AND v.project_id = g.project_id '
                   'AND v.embedding OPERATOR(@extschema:vector@.=) g.embedding', fresh)
      USING tenant, generation;
    GET DIAGNOSTICS entered = ROW_COUNT;
    EXECUTE format('DELETE FROM pgmnemo.%I g WHERE NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v '
                   'WHERE v.tenant_id = $1 AND v.generation = $2 AND v.indexed AND v.lesson_id = g.lesson_id '
                   'AND v.number = g.number AND v.project_id = g.project_id '
                   'AND v.embedding OPERATOR(@extschema:vector@.=) g.embedding)', fresh)
      USING tenant, generation;
    RETURN entered;
END
$$;
-- A writer's share in the upkeep of his tenant's graph, where no scheduler does it: past a tail of about a thousand
-- each stored lesson brings in about as many vectors as it adds. To count costs time: whether a tenant has become
-- large, and whether the tail is past its bound, is looked at by chance, the seldomer, the more there is to count, and
-- the latter kept for those who write meanwhile. Where it would be no more than a conflict, it is left to others.
CREATE FUNCTION pgmnemo._share_merging(tenant uuid, generation smallint, lessons integer, exact_scan_limit integer)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    looked_at constant integer := 125;   -- vectors that each lesson stored counts, on average, at most
    each      constant integer := 4;     -- vectors that each brings into the graph
    at_once   constant integer := 16;    -- lessons of a set that do
    tail_most constant bigint := pgmnemo._tail_most(exact_scan_limit);
    known boolean;
    late boolean;
    graph name;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN;
    END IF;
    SELECT g.behind INTO known FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation;
    IF known IS NULL AND (random() * exact_scan_limit > lessons * looked_at
                          OR NOT pgmnemo._holds_vectors(tenant, generation, exact_scan_limit)
                          OR NOT pgmnemo._graph_worth(tenant, generation)
                          OR NOT pgmnemo._graphs_sound()
                          OR NOT pgmnemo._begin_graph(tenant, generation)) THEN
        RETURN;
    END IF;
    IF lessons >= 1000 AND EXISTS (SELECT FROM pgmnemo.vector_graph g
                                    WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation
                                      AND NOT g.built) THEN
        RETURN;  -- a load goes on: it is made at its end
    END IF;
    late := CASE WHEN random() * tail_most > lessons * looked_at THEN coalesce(known, false)
                 ELSE pgmnemo._tail(tenant, generation, tail_most + 1) > tail_most END;
    IF NOT late AND known IS NOT TRUE THEN
        RETURN;
    END IF;
    graph := pgmnemo._locked_graph(tenant, generation);
    IF graph IS NULL OR NOT pgmnemo._graphs_sound() THEN
        RETURN;
    ELSIF late <> coalesce(known, false) THEN
        UPDATE pgmnemo.vector_graph g SET behind = late
         WHERE g.tenant_id = tenant AND g.generation = _share_merging.generation;
    END IF;
    IF late AND NOT pgmnemo._graph_stands(graph) THEN
        IF EXISTS (SELECT FROM pgmnemo.lesson_vector v
                    WHERE v.tenant_id = tenant AND v.generation = _share_merging.generation AND v.indexed) THEN
            RETURN;  -- one that was lost is too much for a writer
        END IF;
        graph := pgmnemo._make_graph(tenant, generation);
    END IF;
    IF late THEN
        PERFORM pgmnemo._merge(tenant, generation, graph, each * least(lessons, at_once));
    END IF;
END
$$;
-- Whether a graph of what is marked as being in it and of so many more vectors is built in about five seconds: 10,000
-- of 384 dimensions on one core.
CREATE FUNCTION pgmnemo._soon_built(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    numbers constant bigint := 4000000;
    room constant bigint := numbers / pgmnemo._dimensions_of(tenant, generation) - entering;
BEGIN
    RETURN room >= 0 AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                      WHERE v.tenant_id = tenant AND v.generation = _soon_built.generation AND v.indexed
                                     OFFSET room);
END
$$;
-- How many vectors of a tenant wait to enter the graph, counted up to so many.
CREATE FUNCTION pgmnemo._tail(tenant uuid, generation smallint, most bigint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
    counted bigint;
BEGIN
    SELECT count(*) INTO counted
      FROM (SELECT FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
               AND @extschema:vector@.vector_dims(v.embedding) <= 1250 LIMIT most) narrow;
    IF counted = 0 THEN
        SELECT count(*) INTO counted
          FROM (SELECT FROM pgmnemo.lesson_vector v
                 WHERE v.tenant_id = tenant AND v.generation = generation AND NOT v.indexed
                   AND @extschema:vector@.vector_dims(v.embedding) > 1250 LIMIT most) wide;
    END IF;
    RETURN counted;
END
$$;
-- How many vectors may wait before writers bring them in: a scan of a thousand takes about a millisecond.
CREATE FUNCTION pgmnemo._tail_most(exact_scan_limit bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT least(1000, exact_scan_limit) $$;
-- Marks the vectors of a tenant, whose graph is gone and whose row of vector_graph the caller has locked, as waiting
-- for the next one, until a time; whether none is left. What another session is changing just now is left.
CREATE FUNCTION pgmnemo._unmark(tenant uuid, generation smallint, enough timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    at_once constant integer := 1000;
BEGIN
    LOOP
        WITH chosen AS MATERIALIZED (
            SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed LIMIT at_once
               FOR UPDATE SKIP LOCKED
        )
        UPDATE pgmnemo.lesson_vector v SET indexed = false
          FROM chosen c
         WHERE v.tenant_id = tenant AND v.lesson_id = c.lesson_id AND v.generation = generation
           AND v.number = c.number;
        EXIT WHEN NOT FOUND OR clock_timestamp() > enough;
    END LOOP;
    RETURN NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                        WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
END
$$;
-- A vector that is deleted, or no longer marked as being in the graph, is taken out of it. Of vectors that are in none
-- no writer pays for this. The row that names the graph is held, so that none is dropped meanwhile.
CREATE FUNCTION pgmnemo._vector_leaves()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    graph name;
BEGIN
    SELECT g.name INTO graph FROM pgmnemo.vector_graph g
     WHERE g.tenant_id = OLD.tenant_id AND g.generation = OLD.generation FOR KEY SHARE;
    IF FOUND AND pgmnemo._graph_stands(graph) THEN
        EXECUTE format('DELETE FROM pgmnemo.%I WHERE lesson_id = $1 AND number = $2', graph)
          USING OLD.lesson_id, OLD.number;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER lesson_vector_after_delete AFTER DELETE ON pgmnemo.lesson_vector
    FOR EACH ROW WHEN (OLD.indexed) EXECUTE FUNCTION pgmnemo._vector_leaves();
CREATE TRIGGER lesson_vector_after_update AFTER UPDATE OF indexed ON pgmnemo.lesson_vector
    FOR EACH ROW WHEN (OLD.indexed AND NOT NEW.indexed) EXECUTE FUNCTION pgmnemo._vector_leaves();
-- A vector as it is kept, and as it is asked with: its direction alone, in half precision, without the zeros that it
-- has beyond the tenant's dimensions (pgmnemo._fits).
CREATE FUNCTION pgmnemo._aligned(given @extschema:vector@.vector, dimensions integer)
RETURNS @extschema:vector@.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN @extschema:vector@.vector_dims(d.whole) = dimensions THEN d.whole
                ELSE @extschema:vector@.subvector(d.whole, 1, dimensions) END
      FROM (SELECT @extschema:vector@.l2_normalize(given)::@extschema:vector@.halfvec AS whole OFFSET 0) d
$$;
-- Pairs of a lesson of `ids` and an older one in scope whose vectors as a whole have at least this cosine. Exact: the
-- scope is read once, and each vector is compared with all of `ids`.
CREATE FUNCTION pgmnemo._alike_vectors(scope pgmnemo.scope, ids bigint[], at_least float8)
RETURNS TABLE (older bigint, newer bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    told_most constant integer := 50;  -- older lessons for one
    lessons   bigint[];
    serving   constant smallint := pgmnemo._generation(scope.tenant);
    vectors   @extschema:vector@.halfvec[];
    last      constant bigint := (SELECT max(i) FROM unnest(ids) i);
BEGIN
    SELECT array_agg(v.lesson_id), array_agg(v.embedding) INTO lessons, vectors
      FROM unnest(ids) AS u (id)
     CROSS JOIN LATERAL (SELECT v.lesson_id, v.embedding FROM pgmnemo.lesson_vector v
                          WHERE v.tenant_id = scope.tenant AND v.lesson_id = u.id AND v.generation = serving
                            AND v.number = 0 OFFSET 0) v;
    IF at_least IS NULL OR lessons IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.older, r.newer
      FROM (SELECT o.lesson_id AS older, n.newer,
                   row_number() OVER (PARTITION BY n.newer ORDER BY n.cosine DESC, o.lesson_id DESC) AS place
              FROM pgmnemo.lesson_vector o
             CROSS JOIN LATERAL (
                    SELECT v.id AS newer, -(v.vector OPERATOR(@extschema:vector@.<#>) o.embedding) AS cosine
                      FROM unnest(lessons, vectors) AS v (id, vector)
                     WHERE v.id > o.lesson_id OFFSET 0) n
             WHERE o.tenant_id = scope.tenant AND o.generation = serving AND o.number = 0 AND o.lesson_id < last
               AND o.project_id BETWEEN scope.first_project AND scope.last_project AND n.cosine >= at_least) r
     WHERE r.place <= told_most;
END
$$;
-- A cosine of vectors in half precision, whose lengths are 1 but for rounding.
CREATE FUNCTION pgmnemo._bounded(cosine float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN cosine > 1 THEN 1 WHEN cosine < -1 THEN -1 ELSE cosine END $$;
-- Vectors by another embedder than the tenant's, where its dimension alone would let them pass: whoever went on while
-- it was changed is told.
CREATE FUNCTION pgmnemo._check_maker(tenant uuid, embedder text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    maker constant text := nullif(current_setting('pgmnemo.embedder', true), '');
BEGIN
    IF maker <> embedder THEN
        RAISE EXCEPTION 'the vectors of tenant % are by %, and this one is by %', quote_literal(tenant),
              quote_literal(embedder), quote_literal(left(maker, 1000))
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed with that one from now on.';
    END IF;
END
$$;
-- The cosine of a stored vector and a direction of unit length: in half precision lengths are 1 but for rounding.
CREATE FUNCTION pgmnemo._cosine(stored @extschema:vector@.halfvec, direction @extschema:vector@.halfvec)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT pgmnemo._bounded(-(stored OPERATOR(@extschema:vector@.<#>) direction)) $$;
-- Of how many dimensions a tenant's first vector says that his are: clients of 0.5.0 filled those of 384 and 768 up to
-- 1,024 with zeros.
CREATE FUNCTION pgmnemo._dimensions(given @extschema:vector@.vector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN d.dims <> 1024 THEN d.dims
                WHEN pgmnemo._zero_from(given, 385) THEN 384
                WHEN pgmnemo._zero_from(given, 769) THEN 768
                ELSE d.dims END
      FROM (SELECT @extschema:vector@.vector_dims(given) AS dims) d
$$;
-- hnsw.ef_search with which a graph of so many vectors gives the told part of the `depth` nearest, on average: a line
-- on the safe side of what was measured with MiniLM (the README's table). Between what was tried, 46, 66, 81 and 117
-- give 0.95 of 50 out of 3,000, 10,000, 30,000 and 100,000; what is missed shrinks with the power 1.4 or more.
CREATE FUNCTION pgmnemo._ef_search(vectors float8, depth integer, vector_recall float8)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT least(1000, ceil(128 * power(greatest(vectors, 1) / 100000, 0.28)
                            * power(0.05 / (1 - vector_recall), 0.7) * depth / 50))::integer
$$;

COMMENT ON FUNCTION pgmnemo._ef_search IS '128 * (vectors / 100,000) ^ 0.28 * (0.05 / (1 - vector_recall)) ^ 0.7 * depth / 50, at most 1,000';
-- A caller's vector. pgvector itself refuses NULL, NaN and infinity within it.
CREATE FUNCTION pgmnemo._embedding(given real[])
RETURNS @extschema:vector@.vector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 4000;  -- dimensions that an HNSW index takes
    norm float8;
BEGIN
    IF coalesce(array_ndims(given), 1) <> 1 OR cardinality(given) NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'embedding has % numbers in % dimension(s), but must have 1 to % in one',
              cardinality(given), coalesce(array_ndims(given), 1), most
        USING ERRCODE = 'array_subscript_error', HINT = 'Pass NULL where there is no embedding.';
    END IF;
    norm := @extschema:vector@.vector_norm(given::@extschema:vector@.vector);
    IF norm NOT BETWEEN 1e-15 AND 1e15 THEN
        RAISE EXCEPTION 'embedding has norm %, but must have one from 1e-15 to 1e15', norm
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'A vector of zeros has no direction: pass NULL where there is no embedding.';
    END IF;
    RETURN given::@extschema:vector@.vector;
END
$$;
-- Whether a vector is one of so many dimensions: it has as many, or nothing but zeros beyond them, as clients of 0.5.0
-- fill theirs up to 1,024.
CREATE FUNCTION pgmnemo._fits(given @extschema:vector@.vector, dimensions integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN @extschema:vector@.vector_dims(given) > dimensions THEN pgmnemo._zero_from(given, dimensions + 1)
                ELSE @extschema:vector@.vector_dims(given) = dimensions END
$$;
-- Which of a tenant's vectors serve; NULL: it has none.
CREATE FUNCTION pgmnemo._generation(tenant uuid)
RETURNS smallint
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.generation FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant $$;
-- The `most` vectors in scope nearest to a direction through the tenant's graph: approximate, and NULL where the graph
-- was dropped since this snapshot. enable_sort is off because only the index gives the order without it. What the
-- caller has set for HNSW must not decide how far a scan goes.
CREATE FUNCTION pgmnemo._graph_rows(graph text, scope pgmnemo.scope, direction @extschema:vector@.halfvec,
                                    ef_search integer, most integer, OUT lessons bigint[], OUT distances float8[])
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
    projects constant uuid[] := (scope.filter).projects;
BEGIN
    PERFORM set_config('hnsw.ef_search', greatest(ef_search, least(most, widest))::text, true),
            set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.max_scan_tuples', '20000', true), set_config('hnsw.scan_mem_multiplier', '1', true);
    BEGIN
        EXECUTE format('SELECT array_agg(n.lesson_id), array_agg(n.distance)'
                       '  FROM (SELECT g.lesson_id, g.embedding OPERATOR(@extschema:vector@.<#>) $1 AS distance'
                       '          FROM pgmnemo.%I g %s'
                       '         ORDER BY g.embedding OPERATOR(@extschema:vector@.<#>) $1 LIMIT $2) n', graph,
                       CASE WHEN projects IS NOT NULL THEN 'WHERE g.project_id = ANY ($5)'
                            WHEN scope.first_project = scope.last_project
                            THEN 'WHERE g.project_id BETWEEN $3 AND $4' ELSE '' END)
           INTO lessons, distances USING direction, most, scope.first_project, scope.last_project, projects;
        lessons := coalesce(lessons, '{}');
        distances := coalesce(distances, '{}');
    EXCEPTION WHEN undefined_table THEN
        lessons := NULL;
    END;
    PERFORM set_config(n, value, true) FROM unnest(names, before) AS u (n, value);
END
$$;
-- The `depth` of a scope's few lessons that have the nearest vector, exactly.
CREATE FUNCTION pgmnemo._nearest_of(scope pgmnemo.scope, asked pgmnemo.question, depth integer)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        SELECT l.id
          FROM (SELECT v.lesson_id, min(v.embedding OPERATOR(@extschema:vector@.<#>) asked.direction) AS distance
                  FROM pgmnemo.lesson_vector v
                 WHERE v.tenant_id = scope.tenant AND v.generation = asked.generation AND v.lesson_id = ANY (scope.ids)
                 GROUP BY v.lesson_id ORDER BY distance OFFSET 0) v
         CROSS JOIN LATERAL (
                SELECT l.id, l.external_id, l.project_id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.id = v.lesson_id OFFSET 0) l
         ORDER BY v.distance, l.external_id, l.project_id
         LIMIT depth);
END
$$;
-- The vector of a question, as long as those of the tenant are, which of these it is compared with, and the graph
-- that holds them; of a tenant without any as it is.
CREATE FUNCTION pgmnemo._question_vector(tenant uuid, given @extschema:vector@.vector,
                                         OUT vector @extschema:vector@.vector, OUT generation smallint,
                                         OUT graph text)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    dims integer;
    embedder text;
BEGIN
    vector := given;
    IF given IS NULL THEN
        RETURN;
    END IF;
    SELECT s.generation, s.dimensions, s.embedder, g.name INTO generation, dims, embedder, graph
      FROM pgmnemo.embedding_space s
      LEFT JOIN pgmnemo.vector_graph g ON g.tenant_id = s.tenant_id AND g.generation = s.generation
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._check_maker(tenant, embedder);
    IF dims IS NULL OR @extschema:vector@.vector_dims(given) = dims THEN
        RETURN;
    ELSIF NOT pgmnemo._fits(given, dims) THEN
        RAISE EXCEPTION 'the question has an embedding of % dimensions, but the vectors of tenant % have %',
              @extschema:vector@.vector_dims(given), quote_literal(tenant), dims
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed it as the lessons were embedded.';
    END IF;
    vector := @extschema:vector@.subvector(given, 1, dims);
END
$$;
-- The graph through which a scope is read, and how far it is searched; NULL: it is read exactly, for it holds few
-- vectors: as many as it has lessons times those that its first lessons have each. Within a graph the vectors of a
-- project are met the later the smaller its part of it: so the limit grows with the square root of what the graph
-- holds, from 100,000 vectors on (by the planner's count of them).
CREATE FUNCTION pgmnemo._serving_graph(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings,
                                       OUT graph text, OUT ef_search integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sample constant integer := 200;
    each float8;
    inside float8;
BEGIN
    SELECT c.reltuples INTO inside FROM pg_class c
     WHERE c.oid = to_regclass('pgmnemo.' || quote_ident(asked.graph)) AND pgmnemo._graph_stands(asked.graph)
       AND pgmnemo._graphs_sound();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT count(*)::float8 / greatest(count(DISTINCT v.lesson_id), 1) INTO each
      FROM (SELECT v.lesson_id FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = scope.tenant AND v.generation = asked.generation AND v.indexed
               AND v.project_id BETWEEN scope.first_project AND scope.last_project LIMIT sample) v;
    IF asked.held * greatest(each, 1) > s.exact_scan_limit * sqrt(greatest(1, inside / 100000)) THEN
        graph := asked.graph;
        ef_search := CASE WHEN s.ef_search > 0 THEN s.ef_search
                          ELSE pgmnemo._ef_search(greatest(inside, asked.held * each), depth, s.vector_recall) END;
    END IF;
END
$$;
-- The `depth` lessons in scope with the nearest vector, their own or a passage's: exact where the scope is small,
-- through the tenant's graph where it is large, joined with an exact scan of what is not in it yet. Vectors are asked
-- for first and lessons counted then, only until there are enough: should too few be left, by a filter or because many
-- vectors are of one lesson, more are asked for, at last the whole scope, exactly.
CREATE FUNCTION pgmnemo._vector_leg(scope pgmnemo.scope, asked pgmnemo.question, depth integer, s pgmnemo.settings)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    vectors_each constant integer := 4;    -- vectors asked for at first for each lesson wanted
    spare        constant integer := 14;   -- and of a scope where each lesson has one, and none is left out, these more
    more_times   constant integer := 4;    -- how many times as many a graph is asked for where they were too few
    graph_most   constant integer := 16;   -- vectors for each lesson wanted up to which it is asked
    all_of_them  constant integer := 2000000000;
    projects     constant uuid[] := (scope.filter).projects;
    direction    constant @extschema:vector@.halfvec := asked.direction;
    graph text;
    ef_search integer;
    lessons bigint[] := '{}';
    distances float8[];
    most integer := vectors_each * depth;
    seen bigint;
    farthest float8;
    farthest_found float8;
    found_ids bigint[];
BEGIN
    IF asked.direction IS NULL OR asked.generation IS NULL THEN
        RETURN '{}';
    ELSIF scope.ids IS NOT NULL THEN
        RETURN pgmnemo._nearest_of(scope, asked, depth);
    END IF;
    IF asked.graph IS NOT NULL THEN
        SELECT g.graph, g.ef_search INTO graph, ef_search FROM pgmnemo._serving_graph(scope, asked, depth, s) g;
    END IF;
    IF scope.plain AND NOT EXISTS (SELECT FROM pgmnemo.passage p WHERE p.tenant_id = scope.tenant) THEN
        most := depth + spare;
    END IF;
    LOOP
        IF graph IS NOT NULL THEN
            SELECT * INTO lessons, distances
              FROM pgmnemo._graph_rows(graph, scope, direction, ef_search, most);
            IF lessons IS NULL THEN
                graph := NULL;
                lessons := '{}';
            END IF;
        END IF;
        WITH near AS MATERIALIZED (
            SELECT v.* FROM pgmnemo._vector_rows(scope, projects, asked.generation, direction, graph IS NULL, most) v
        )
        SELECT (SELECT count(*) FROM near) + cardinality(lessons), (SELECT max(n.distance) FROM near n),
               array_agg(f.lesson_id), max(f.distance)
          INTO seen, farthest, found_ids, farthest_found
          FROM (SELECT n.lesson_id, n.distance
                  FROM (SELECT n.lesson_id, min(n.distance) AS distance
                          FROM (SELECT * FROM near UNION ALL SELECT * FROM unnest(lessons, distances)) n
                         GROUP BY n.lesson_id ORDER BY distance OFFSET 0) n
                 CROSS JOIN LATERAL (
                        SELECT l.external_id, l.project_id FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant AND l.id = n.lesson_id AND pgmnemo._recallable(l, scope)
                        OFFSET 0) l
                 ORDER BY n.distance, l.external_id, l.project_id
                 LIMIT depth) f;
        EXIT WHEN CASE WHEN graph IS NOT NULL THEN cardinality(found_ids) >= depth
                       ELSE seen < most OR cardinality(found_ids) >= depth AND farthest_found < farthest END;
        IF graph IS NULL OR most >= graph_most * depth OR seen < most THEN
            graph := NULL;
            lessons := '{}';
            most := all_of_them;
        ELSE
            most := most * more_times;
        END IF;
    END LOOP;
    RETURN coalesce(found_ids, '{}');
END
$$;
-- The `most` vectors in scope nearest to a direction, by reading them all: exact. Narrow ones are in the index itself.
-- Without `merged` those alone that no graph holds. It becomes a part of each statement that asks.
CREATE FUNCTION pgmnemo._vector_rows(scope pgmnemo.scope, projects uuid[], generation smallint,
                                     direction @extschema:vector@.halfvec, merged boolean, most integer)
RETURNS TABLE (lesson_id bigint, distance float8)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT a.lesson_id, a.distance
      FROM (SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction AS distance
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _vector_rows.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) <= 1250
             UNION ALL
            SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _vector_rows.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND NOT v.indexed AND @extschema:vector@.vector_dims(v.embedding) > 1250
             UNION ALL
            SELECT v.lesson_id, v.embedding OPERATOR(@extschema:vector@.<#>) direction
              FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = (scope).tenant AND v.generation = _vector_rows.generation
               AND v.project_id BETWEEN (scope).first_project AND (scope).last_project
               AND (projects IS NULL OR v.project_id = ANY (projects))
               AND v.indexed AND merged) a
     ORDER BY a.distance, a.lesson_id
     LIMIT most
$$;
-- Whether a vector holds nothing but zeros from a place on, counted from 1.
CREATE FUNCTION pgmnemo._zero_from(given @extschema:vector@.vector, place integer)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
AS $$
    SELECT @extschema:vector@.vector_norm(
               @extschema:vector@.subvector(given, place, @extschema:vector@.vector_dims(given) - place + 1)) = 0
$$;
-- The question with what unrelated lessons have in common with it and with each other, from the first lessons in scope
-- by key, so that equal lessons have equal scores in whatever order they came. `center` is the mean cosine of these and
-- the question: it differs between embedders, languages and questions. The answer may be among them, and of few it
-- lifts the mean: on average it lies about 0.3 of the way from the others to 1, so as much is taken away. `common` is
-- the direction of their mean vector and `commonness` its length; unknown where nothing is asked in words, for then
-- lessons are to rank by their cosines.
CREATE FUNCTION pgmnemo._against_background(scope pgmnemo.scope, asked pgmnemo.question)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mean @extschema:vector@.halfvec;
BEGIN
    IF asked.direction IS NOT NULL THEN
        SELECT avg(f.cosine) - 0.3 * (1 - avg(f.cosine)) / nullif(count(*), 0),
               @extschema:vector@.avg(f.embedding)
          INTO asked.center, mean
          FROM (SELECT v.embedding, pgmnemo._cosine(v.embedding, asked.direction) AS cosine
                  FROM (SELECT l.id, l.active FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant
                           AND l.project_id BETWEEN scope.first_project AND scope.last_project
                         ORDER BY l.project_id, l.external_id LIMIT 100) l
                 CROSS JOIN LATERAL (
                        SELECT v.embedding FROM pgmnemo.lesson_vector v
                         WHERE v.tenant_id = scope.tenant AND v.lesson_id = l.id AND v.generation = asked.generation
                         ORDER BY v.number LIMIT 1) v
                 WHERE l.active
                 LIMIT 16) f;
        IF asked.reach > 0 THEN
            asked.common := @extschema:vector@.l2_normalize(mean);
            asked.commonness := @extschema:vector@.l2_norm(mean);
        END IF;
    END IF;
    RETURN asked;
END
$$;

COMMENT ON FUNCTION pgmnemo._against_background(pgmnemo.scope, pgmnemo.question) IS 'asked with center, common and commonness of at most 16 lessons in scope (of each its first vector); NULL without any, common and commonness also without a word';
-- An answer that is empty because of the gate alone is an error: it would look like an empty memory, and drivers
-- swallow notices.
CREATE FUNCTION pgmnemo._all_hidden(scope pgmnemo.scope, hidden integer)
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
CREATE FUNCTION pgmnemo._asked_scope(tenant uuid, project uuid, gate text, role text, valid_at timestamptz,
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
-- passages is its own; so is a vector that stands for passages which have none. Each table is read once for all of
-- them, and joined by hashing: a look-up for each would cost more than what it finds. Long vectors of lexemes are
-- unpacked once: to join one with nothing does that. With weights of 1 the cover density of one term is the number of
-- times that it stands there.
CREATE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
    unpacked constant integer := 2000;  -- bytes up to which a vector of lexemes may stand in its row as it is
    direction constant @extschema:vector@.halfvec := asked.direction;
    common constant @extschema:vector@.halfvec := asked.common;
    timed boolean := cardinality(asked.since) > 0;
    -- what has more tokens says more than the question
    repeat_tokens constant integer := coalesce(cardinality(asked.repeated) + 24, -1000000);
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   v.own,
                   w.bm25, w.terms,
                   coalesce(v.best, v.own),
                   coalesce((v.best + CASE WHEN cardinality(v.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(v.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE v.best END) / 2, v.own),
                   CASE WHEN timed THEN asked.share * pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                        ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0,
                   pgmnemo._coverage(s.bm25_weight * w.bm25 + s.passage_terms_weight * w.terms, asked.reach,
                                     s.full_coverage, asked.brevity),
                   pgmnemo._center(asked, v.common), l.mark, l.repeats,
                   pgmnemo._share(l.repeats, l.role = 'assistant', l.asks, s))::pgmnemo.candidate
          FROM (SELECT l.id, l.project_id, l.external_id, l.occurred_at, l.stored_at, l.position, l.token_count, l.role,
                       l.importance,
                       CASE WHEN pg_column_size(l.lexemes) <= unpacked AND pg_column_compression(l.lexemes) IS NULL
                            THEN l.lexemes ELSE l.lexemes || '' END AS whole,
                       pgmnemo._bare_question(l.content) AS asks,
                       CASE WHEN asked.collapse
                            THEN pgmnemo._words_mark(l.content, l.lexemes, l.token_count) END AS mark,
                       l.token_count <= repeat_tokens + coalesce(length(l.topic), 0)
                       AND pgmnemo._repeats_question(l.content, l.topic, l.text_config, l.lexemes, asked.repeated)
                       AS repeats
                  FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = ANY (ids) OFFSET 0) l
          JOIN unnest(ids, totals) AS g (id, total) ON g.id = l.id
          LEFT JOIN (SELECT c.lesson_id, max(c.cosine) FILTER (WHERE c.number = 0) AS own,
                            max(c.cosine) FILTER (WHERE c.number > 0) AS best,
                            array_agg(c.cosine) FILTER (WHERE c.number > 0) AS cosines,
                            coalesce(max(c.common) FILTER (WHERE c.number = 0), max(c.common)) AS common
                       FROM (SELECT v.lesson_id, v.number, pgmnemo._cosine(v.embedding, direction) AS cosine,
                                    pgmnemo._cosine(v.embedding, common) AS common
                               FROM pgmnemo.lesson_vector v
                              WHERE v.tenant_id = scope.tenant AND v.lesson_id = ANY (ids)
                                AND v.generation = asked.generation) c
                      GROUP BY c.lesson_id) v ON v.lesson_id = l.id
          LEFT JOIN (SELECT p.lesson_id, max(t.worth) AS terms
                       FROM (SELECT p.lesson_id, p.lexemes FROM pgmnemo.passage p
                              WHERE p.tenant_id = scope.tenant AND p.lesson_id = ANY (ids) OFFSET 0) p
                       LEFT JOIN LATERAL pgmnemo._terms_within(p.lexemes, asked, s.passage_term_bonus) t ON by_words
                      GROUP BY p.lesson_id) p ON p.lesson_id = l.id
          LEFT JOIN LATERAL (
                SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', l.whole, t.query), asked.flat,
                                                    asked.per_token, l.token_count, asked.pivot))
                                FILTER (WHERE g.total IS NULL), 0) AS total,
                       coalesce(sum(t.idf + s.passage_term_bonus), 0)
                       * sqrt(least(1, asked.pivot / greatest(length(l.whole), 1))) AS worth
                  FROM unnest(asked.queries, asked.scales, asked.idfs) AS t (query, scale, idf)
                 WHERE l.whole @@ t.query) t ON by_words AND (g.total IS NULL OR p.lesson_id IS NULL)
         CROSS JOIN LATERAL (
                SELECT coalesce(g.total, t.total) / pgmnemo._unit() AS bm25,
                       CASE WHEN p.lesson_id IS NOT NULL THEN p.terms ELSE t.worth END AS terms) w);
END
$$;
-- The cosine that question and lesson would have if they were unrelated. A text that is near to all texts, such as a
-- greeting, is near to the question, too, whatever it says: so the center of a lesson is higher by a part of how much
-- nearer than others it lies to the mean of the lessons. The whole of that would take away what a topic shares.
CREATE FUNCTION pgmnemo._center(asked pgmnemo.question, common float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (asked).center + coalesce(0.3 * (asked).commonness * (common - (asked).commonness), 0) $$;

COMMENT ON FUNCTION pgmnemo._center(pgmnemo.question, float8) IS 'asked.center + 0.3 * commonness * (common - commonness), asked.center without one of them; common: the cosine of the lesson and asked.common';
CREATE FUNCTION pgmnemo._check_alike(least_cosine float8, least_words float8)
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
CREATE FUNCTION pgmnemo._check_most(most integer, allowed integer)
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
-- Every part of the score in the order of the sum, for those who show or fit it.
CREATE FUNCTION pgmnemo._contributions(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (contributions float8[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ARRAY[o.bm25, o.passage_terms, o.passage_cosine, o.pair_cosine, o.cosine, o.temporal,
                 l.context, l.neighbours, l.recency, l.importance, l.graph]
      FROM pgmnemo._own_parts(c, s) o CROSS JOIN pgmnemo._lent_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._contributions IS 'what bm25, passage_terms, passage_cosine, pair_cosine, cosine, temporal, context, neighbours, recency, importance and graph add to the score of a candidate, in this order';
-- The share that a lesson's words count with. A few words of a long question stand in many lessons by chance, so what
-- holds a small part of the question counts in proportion to that part; from `enough` on it counts whole. And the more
-- words a question has, the more the sum over them outgrows what their meaning can add: hence brevity.
CREATE FUNCTION pgmnemo._coverage(words float8, reach float8, enough float8, brevity float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT brevity * CASE WHEN words < enough * reach THEN words / (enough * reach) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._coverage(float8, float8, float8, float8) IS 'from 0 to 1: brevity, times words / (enough * reach), both in units of the score, where that is below 1';
-- By what lessons say the same (pgmnemo._text_key); the texts are read only of those whose lexemes are the same.
CREATE FUNCTION pgmnemo._equal_keys(scope pgmnemo.scope, ids bigint[])
RETURNS TABLE (lesson_id bigint, text_key bigint, alone boolean, asks boolean, happened timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT m.id, CASE WHEN m.times = 1 THEN m.mark ELSE pgmnemo._text_key(m.content, m.topic, m.role) END,
           m.times = 1, m.times > 1 AND pgmnemo._asks(m.content), m.happened
      FROM (SELECT l.id, l.content, l.topic, l.role, coalesce(l.occurred_at, l.stored_at) AS happened, w.mark,
                   count(*) OVER (PARTITION BY w.mark) AS times
              FROM (SELECT DISTINCT unnest(ids) AS id) u
              JOIN pgmnemo.lesson l ON l.tenant_id = scope.tenant AND l.id = u.id
             CROSS JOIN LATERAL (SELECT pgmnemo._words_mark(l.content, l.lexemes, l.token_count)) AS w (mark)) m;
END
$$;

COMMENT ON FUNCTION pgmnemo._equal_keys IS 'for each of these lessons a number that those which say the same share; alone: no other has its lexemes; asks: it is one of several and a question (pgmnemo._asks)';
-- The candidates that say the same: for each text the lesson that ranks first (`leads`), the one that is shown in its
-- place, the newest and rather a statement than a question, and how many others there are; `left_out`: all candidates
-- but the first, and for each which that is.
CREATE FUNCTION pgmnemo._equal_lessons(scope pgmnemo.scope, candidates pgmnemo.candidate[], copies bigint[],
                                       near bigint[], nears float8[], linked bigint[], graphs float8[],
                                       s pgmnemo.settings, OUT leads bigint[], OUT shown bigint[], OUT others integer[],
                                       OUT left_out bigint[], OUT first_of bigint[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH same AS MATERIALIZED (
        SELECT array_agg(k.lesson_id ORDER BY r.repeats, r.score DESC, r.external_id, r.project_id)
               FILTER (WHERE r.score IS NOT NULL) AS members,
               (array_agg(k.lesson_id ORDER BY k.asks, k.happened DESC, k.lesson_id DESC))[1] AS newest,
               count(*)::integer - 1 AS others
          FROM pgmnemo._equal_keys(scope, ARRAY(SELECT c.lesson_id FROM unnest(candidates) c) || copies) k
          LEFT JOIN (SELECT r.score, (r.own).* FROM pgmnemo._ranked(candidates, near, nears, linked, graphs, s) r) r
                 ON r.lesson_id = k.lesson_id
         WHERE NOT k.alone
         GROUP BY k.text_key HAVING count(*) > 1 AND count(r.score) > 0
    )
    SELECT coalesce(array_agg(m.members[1]), '{}'), array_agg(m.newest), array_agg(m.others),
           ARRAY(SELECT unnest(m.members[2:]) FROM same m),
           ARRAY(SELECT m.members[1] FROM same m CROSS JOIN LATERAL unnest(m.members[2:]))
      INTO leads, shown, others, left_out, first_of
      FROM same m;
END
$$;
-- The lessons that a filter leaves in a scope, where they are few: then those alone are read, exactly. NULL where they
-- may be many, or where no index knows a condition. Of the conditions that one knows, the rarest is followed, and none
-- is read further than `read_most` rows, nor than one that was read before.
CREATE FUNCTION pgmnemo._few(scope pgmnemo.scope)
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
CREATE FUNCTION pgmnemo._fill(scope pgmnemo.scope, have bigint[], wanted integer)
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
-- Of each way the first lesson of each text, `most` at most, and as copies the lessons that say the same as one of
-- these.
CREATE FUNCTION pgmnemo._first_of_each(scope pgmnemo.scope, by_keyword bigint[], totals float8[], by_vector bigint[],
                                       filled bigint[], most integer,
                                       OUT ids bigint[], OUT totals float8[], OUT copies bigint[])
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT f.way, f.place, f.lesson_id, f.total, k.text_key
          FROM (SELECT 1 AS way, u.* FROM unnest(by_keyword, totals) WITH ORDINALITY AS u (lesson_id, total, place)
                 UNION ALL
                SELECT 2, u.lesson_id, NULL, u.place FROM unnest(by_vector) WITH ORDINALITY AS u (lesson_id, place)
                 UNION ALL
                SELECT 3, u.lesson_id, NULL, u.place FROM unnest(filled) WITH ORDINALITY AS u (lesson_id, place)) f
          JOIN pgmnemo._equal_keys(scope, by_keyword || by_vector || filled) k ON k.lesson_id = f.lesson_id
    ), kept AS (
        SELECT k.text_key, min(k.way * 1000000000::bigint + k.place) AS place
          FROM (SELECT e.*, row_number() OVER (PARTITION BY e.way ORDER BY e.place) AS turn
                  FROM (SELECT DISTINCT ON (f.way, f.text_key) f.way, f.text_key, f.place
                          FROM found f ORDER BY f.way, f.text_key, f.place) e) k
         WHERE k.turn <= most
         GROUP BY k.text_key
    ), firsts AS (
        SELECT f.* FROM kept k JOIN found f ON f.way * 1000000000::bigint + f.place = k.place
    )
    SELECT coalesce((SELECT array_agg(f.lesson_id ORDER BY f.way, f.place) FROM firsts f), '{}'),
           coalesce((SELECT array_agg(f.total ORDER BY f.way, f.place) FROM firsts f), '{}'),
           ARRAY(SELECT DISTINCT f.lesson_id FROM found f JOIN firsts o ON o.text_key = f.text_key
                  WHERE f.lesson_id NOT IN (SELECT o.lesson_id FROM firsts o))
$$;
-- A score on the scale of its question (pgmnemo._ideal).
CREATE FUNCTION pgmnemo._fit(score float8, ideal float8)
RETURNS TABLE (fit float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN ideal > 0 THEN greatest(0, least(1, score / ideal)) ELSE 0 END $$;

COMMENT ON FUNCTION pgmnemo._fit IS 'score / ideal, from 0 to 1; 0 for a question of stop words alone';
-- Graph proximity of every lesson that an edge joins, directly or not, to one of the seeds, and from which it flows.
CREATE FUNCTION pgmnemo._graph_leg(scope pgmnemo.scope, candidates pgmnemo.candidate[],
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
CREATE FUNCTION pgmnemo._graph_proximity(scope pgmnemo.scope, seed_ids bigint[], seed_relevances float8[],
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
CREATE FUNCTION pgmnemo._hidden(scope pgmnemo.scope)
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
CREATE FUNCTION pgmnemo._importance(level integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (level - 3) / 2.0::float8 $$;

COMMENT ON FUNCTION pgmnemo._importance(integer) IS 'from -1 to 1: (level - 3) / 2, level from 1 to 5';
-- What leads where nothing is asked: of the 10,000 recallable lessons in scope that happened last, the `wanted` to
-- which recency and importance add most.
CREATE FUNCTION pgmnemo._leading(scope pgmnemo.scope, s pgmnemo.settings, moment timestamptz, wanted integer)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT n.id
      FROM (SELECT l.id, l.project_id, l.external_id, l.importance, coalesce(l.occurred_at, l.stored_at) AS happened
              FROM pgmnemo.lesson l
             WHERE l.tenant_id = (scope).tenant AND pgmnemo._in_scope(l.project_id, scope)
               AND ((scope).ids IS NULL OR l.id = ANY ((scope).ids))
               AND pgmnemo._recallable(l, scope)
             ORDER BY CASE WHEN l.occurred_at IS NULL THEN l.stored_at ELSE l.occurred_at END DESC
             LIMIT greatest(wanted, 10000)) n
     ORDER BY (s).recency_weight * pgmnemo._recency(moment, n.happened, (s).recency_half_life)
              + (s).importance_weight * pgmnemo._importance(n.importance) DESC,
           n.external_id, n.project_id
     LIMIT wanted
$$;
-- The other half of the score: what comes to a candidate from others, and what it has whatever is asked.
CREATE FUNCTION pgmnemo._lent_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (context float8, neighbours float8, recency float8, importance float8, graph float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (s).context_weight * (c).context,
           (s).neighbours_weight * (c).neighbours,
           (s).recency_weight * (c).recency,
           (s).importance_weight * (c).importance,
           (s).graph_weight * (c).graph
$$;
-- Which lessons a verb that lists, counts or forgets may mean: those of a recall, or with `everything` whatever is
-- kept.
CREATE FUNCTION pgmnemo._listed(l pgmnemo.lesson, scope pgmnemo.scope)
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
       AND ((scope).known_at IS NULL OR pgmnemo._believed(l, scope))
       AND ((scope).filtered IS NOT TRUE OR pgmnemo._passes(l, (scope).filter))
$$;
-- The scope of verbs that list: what a recall could answer with now, or everything that is kept.
CREATE FUNCTION pgmnemo._listed_scope(tenant uuid, project uuid, gate text, given jsonb, valid_at timestamptz,
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
-- How far a cosine lies from that of unrelated texts, 0, to that of equal ones, 1: so one set of weights serves every
-- embedder, whether its unrelated texts have cosines near 0.1 or near 0.8. What is farther away than unrelated texts
-- keeps its order but hardly counts.
CREATE FUNCTION pgmnemo._nearness(cosine float8, center float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT coalesce(greatest(cosine - center, 0.01 * (cosine - center)) / greatest(1 - center, 0.01), 0) $$;

COMMENT ON FUNCTION pgmnemo._nearness(float8, float8) IS '(cosine - center) / (1 - center), a hundredth of it where negative; 0 where either is NULL';
-- The relevance that reaches candidates from those up to two places before and after (pgmnemo._passed): an answer
-- often follows its question, and a thought goes on in the next turn. An assistant's lesson gains nothing, for it
-- repeats; and nothing comes from an assistant's lesson to those after it, only to the ones that it answers.
CREATE FUNCTION pgmnemo._neighbours(candidates pgmnemo.candidate[], s pgmnemo.settings)
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
CREATE FUNCTION pgmnemo._own_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (bm25 float8, passage_terms float8, passage_cosine float8, pair_cosine float8, cosine float8,
               temporal float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (c).share * (c).coverage * (s).bm25_weight * coalesce((c).bm25, 0),
           (c).share * (c).coverage * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
           (c).share * (s).passage_cosine_weight * pgmnemo._nearness((c).passage_cosine, (c).center),
           (c).share * (s).pair_cosine_weight * pgmnemo._nearness((c).pair_cosine, (c).center),
           (c).share * (s).cosine_weight * pgmnemo._nearness((c).cosine, (c).center),
           (c).share * (s).temporal_weight * (c).temporal
$$;
-- By what the best passage of a lesson is told: the less the better.
CREATE FUNCTION pgmnemo._passage_worth(lexemes tsvector, embedding @extschema:vector@.halfvec, asked pgmnemo.question,
                                       s pgmnemo.settings)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT -(s).passage_cosine_weight * pgmnemo._nearness(pgmnemo._cosine(embedding, (asked).direction), (asked).center)
           - (s).passage_terms_weight * (SELECT t.worth FROM pgmnemo._terms_within(
                lexemes, asked, (s).passage_term_bonus) t)
$$;
-- The relevance that comes from one side: from the candidate next to a lesson, and across it from the one two places
-- away, the less of it, the longer the one between is. A `step` is how many places away one is; a place without a
-- candidate lets nothing pass.
CREATE FUNCTION pgmnemo._passed(near_step bigint, near float8, near_words integer, far_step bigint, far float8,
                                half_length float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN near_step = 1 THEN near ELSE 0 END
         + CASE WHEN near_step = 1 AND far_step = 2 THEN far * power(0.5::float8, least(near_words / half_length, 1000))
                ELSE 0 END
$$;
-- The candidates of one recall with what they are worth by themselves, and by which way each came: the best of each
-- leg, others in key order where both find fewer (those that lead where nothing is asked), neighbours of the most
-- relevant, and what the graph adds: the same for every k up to pool_depth.
-- `lesson` joins them last, where none did, to see what it would be worth. Where equal lessons are one hit
-- (asked.collapse), those that say the same count once, and those that are the question itself never: where too few
-- others are left, the legs are asked for more, and of the lessons that say the same the first is a candidate, the rest
-- `copies`.
CREATE FUNCTION pgmnemo._pool(
    scope pgmnemo.scope, asked pgmnemo.question, s pgmnemo.settings, k integer, by_words boolean, moment timestamptz,
    lesson bigint,
    OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT added bigint[],
    OUT near bigint[], OUT nears float8[], OUT linked bigint[], OUT graphs float8[], OUT seeds bigint[],
    OUT copies bigint[], OUT equal boolean, OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reach constant bigint := 2;    -- places before and after a lesson at which its neighbours are
    most  constant integer := 32;  -- lessons that are looked at there, in the order of their places
    beyond constant integer := 3200;  -- lessons of each leg that are looked through for others at most
    depth integer := greatest(s.pool_depth, k);
    looked integer := depth;
    different integer;
    marks bigint[];
    fresh pgmnemo.candidate[];
    found integer;
    ids bigint[];
    totals float8[];
    more bigint[];
    placed boolean;
BEGIN
    LOOP
        filled := NULL;
        SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
          FROM pgmnemo._keyword_leg(scope, asked, looked) t;
        by_vector := pgmnemo._vector_leg(scope, asked, looked, s);
        ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
        IF cardinality(asked.terms) = 0 AND asked.direction IS NULL THEN
            filled := ARRAY(SELECT pgmnemo._leading(scope, s, moment, looked));
            ids := filled;
        ELSIF cardinality(ids) < looked THEN
            filled := ARRAY(SELECT pgmnemo._fill(scope, ids, looked - cardinality(ids)));
            ids := ids || filled;
        END IF;
        found := cardinality(ids);
        IF looked > depth THEN
            SELECT f.ids, f.totals, f.copies INTO ids, totals, copies
              FROM pgmnemo._first_of_each(scope, by_keyword, totals, by_vector, filled, 2 * depth) f;
        END IF;
        candidates := pgmnemo._candidates(scope, ids, totals, asked, s, by_words, moment);
        SELECT bool_or(c.place IS NOT NULL), array_agg(c.mark), count(DISTINCT c.mark) FILTER (WHERE NOT c.repeats)
          INTO placed, marks, different FROM unnest(candidates) c;
        EXIT WHEN NOT asked.collapse OR found < looked OR looked >= depth + beyond;
        EXIT WHEN different >= depth;
        looked := least(depth + beyond, looked + 4 * (found - different));
    END LOOP;
    placed := placed AND s.neighbours_weight > 0;
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
            fresh := pgmnemo._candidates(scope, added, '{}', asked, s, by_words, moment);
            candidates := candidates || fresh;
            marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
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
        fresh := pgmnemo._candidates(scope, more, '{}', asked, s, by_words, moment);
        candidates := candidates || fresh;
        marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
    END IF;
    IF placed THEN
        SELECT array_agg(n.lesson_id), array_agg(n.neighbours) INTO near, nears
          FROM pgmnemo._neighbours(candidates, s) n;
    END IF;
    equal := asked.collapse
             AND (copies <> '{}' OR cardinality(marks) > (SELECT count(DISTINCT m) FROM unnest(marks) m));
END
$$;
-- Every candidate with what comes to it from others and its score, by which it ranks; ties go by external id, then by
-- project. context: the greatest relevance among those of the same project and the same moment; alone: the score with
-- the lesson's own relevance in place of that, since what only shares a moment with an answer is none. In one query
-- with whoever calls it, so that nothing is made into records and taken apart again.
CREATE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (score float8, alone float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.score, x.score - (s).context_weight * (d.around - d.relevance), o.own
      FROM (SELECT v.*,
                   CASE WHEN v.occurred_at IS NULL THEN v.relevance
                        ELSE max(v.relevance) OVER (PARTITION BY v.project_id, v.occurred_at) END AS around,
                   coalesce(n.neighbours, 0) AS beside, coalesce(g.graph, 0) AS along
              FROM (SELECT c.*, r.relevance FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                    OFFSET 0) v
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id) d
     CROSS JOIN LATERAL (
            SELECT ROW(d.lesson_id, d.project_id, d.external_id, d.occurred_at, d.place, d.words, d.assistant, d.cosine,
                       d.bm25, d.passage_terms, d.passage_cosine, d.pair_cosine, d.temporal, d.around, d.beside,
                       d.recency, d.importance, d.along, d.coverage, d.center, d.mark,
                       d.repeats, d.share)::pgmnemo.candidate) AS o (own)
     CROSS JOIN LATERAL pgmnemo._score(d.relevance, o.own, s) x
$$;
-- Which lessons a call may answer with; the same in every leg. It becomes a part of each statement that asks, and most
-- calls ask for no more than is tested first.
CREATE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, scope pgmnemo.scope)
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
               AND ((scope).known_at IS NULL OR pgmnemo._believed(l, scope))
               AND ((scope).filtered IS NOT TRUE OR pgmnemo._passing(l, (scope).filter)))
$$;
-- Those of these lessons that a call may answer with, at most so many. The sub-select keeps the planner to their ids:
-- without statistics it takes an interval of projects for rarer.
CREATE FUNCTION pgmnemo._recallable_of(scope pgmnemo.scope, ids bigint[], most integer)
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
-- Held at a thousand half-lives: PostgreSQL calls a smaller power an error. Moments are subtracted as numbers, for the
-- distance of two of them may be longer than an interval.
CREATE FUNCTION pgmnemo._recency(as_of timestamptz, happened timestamptz, half_life_days float8)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT power(0.5::float8, least(greatest(date_part('epoch', as_of) - date_part('epoch', happened), 0)
                                    / (86400 * half_life_days), 1000))
$$;

COMMENT ON FUNCTION pgmnemo._recency(timestamptz, timestamptz, float8) IS 'above 0, at most 1: 0.5 ^ (age in days / half-life in days); what lies after as_of has age 0';
-- What a candidate is worth by itself: the first six of its contributions.
CREATE FUNCTION pgmnemo._relevance(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (relevance float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT o.bm25 + o.passage_terms + o.passage_cosine + o.pair_cosine + o.cosine + o.temporal
      FROM pgmnemo._own_parts(c, s) o
$$;

COMMENT ON FUNCTION pgmnemo._relevance IS 'what a candidate is worth without context, neighbours, recency, importance and graph';
-- Of which lexemes a lesson is that repeats the question: those of the question under every configuration that lessons
-- were cut by, in mode vector, too. NULL where lessons rank by their score alone, or nothing is asked in words.
CREATE FUNCTION pgmnemo._repeated(scope pgmnemo.scope, asked pgmnemo.question, words text, mode text,
                                  duplicates boolean)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    configs regconfig[];
BEGIN
    IF duplicates IS NULL OR words IS NULL OR mode <> 'vector' AND asked.configs IS NULL THEN
        RETURN NULL;
    END IF;
    configs := coalesce(asked.configs, pgmnemo._tenant_configs(scope.tenant));
    IF mode <> 'vector' AND cardinality(configs) = 1 THEN
        RETURN nullif(asked.terms, '{}');
    END IF;
    RETURN (SELECT array_agg(DISTINCT w.lexeme)
              FROM unnest(configs) AS c (config)
             CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._lexemes(c.config, words))) AS w (lexeme));
END
$$;
-- Whether a lesson restates an older one that fits about as well: it is newer, at most fifteen in a hundred of
-- the score below (another wording of the same statement makes as much), and a quarter of their words or more are the
-- same.
CREATE FUNCTION pgmnemo._restates(score float8, happened timestamptz, lexemes tsvector,
                                  older_score float8, older_happened timestamptz, older_lexemes tsvector)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN happened > older_happened AND score >= 0.85 * older_score
                THEN coalesce(pgmnemo._words_shared(older_lexemes, lexemes) >= 0.25::float8, false)
                ELSE false END
$$;
-- The scope of a recall: one project, or with NULL all of the tenant. Nothing in it depends on the search path, so it
-- fixes none and costs no call.
CREATE FUNCTION pgmnemo._scope(tenant uuid, project uuid, gate text DEFAULT 'off', role text DEFAULT NULL,
                               valid_at timestamptz DEFAULT NULL, moment timestamptz DEFAULT NULL,
                               known_at timestamptz DEFAULT NULL, filter pgmnemo.filter DEFAULT NULL)
RETURNS pgmnemo.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ROW(tenant, coalesce(project, '00000000-0000-0000-0000-000000000000'),
               coalesce(project, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), gate, role, valid_at,
               coalesce(valid_at, moment), known_at, filter IS DISTINCT FROM NULL, NULL,
               filter, NULL,
               role IS NULL AND valid_at IS NULL AND gate <> 'enforce' AND known_at IS NULL
               AND filter IS NOT DISTINCT FROM NULL, NULL)::pgmnemo.scope
$$;
-- The sum of all contributions in their order, of which the first six are summed up already.
CREATE FUNCTION pgmnemo._score(relevance float8, c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (score float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT relevance + l.context + l.neighbours + l.recency + l.importance + l.graph
      FROM pgmnemo._lent_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._score IS 'the score by which recall ranks: the sum of a candidate''s contributions';
-- What an assistant says counts for less: much of it repeats what it was told. So does what only asks; and the question
-- itself is worth nothing, and lends nothing to its neighbours.
CREATE FUNCTION pgmnemo._share(repeats boolean, assistant boolean, asks boolean, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN repeats THEN 0
                ELSE CASE WHEN assistant THEN (s).assistant_weight ELSE 1 END
                     * CASE WHEN asks THEN (s).question_weight ELSE 1 END END
$$;
-- The lessons of one project that a call may answer with, where it holds few; else NULL.
CREATE FUNCTION pgmnemo._small_project(scope pgmnemo.scope)
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
-- What the question's terms that stand in a passage are worth. In one with more different words than the pivot they
-- stand by chance the more often, the longer it is, and are worth as much less.
CREATE FUNCTION pgmnemo._terms_within(lexemes tsvector, asked pgmnemo.question, bonus float8)
RETURNS TABLE (worth float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(sum(t.idf + bonus), 0) * least(1, (asked).pivot / greatest(length(lexemes), 1))
      FROM unnest((asked).queries, (asked).idfs) AS t (query, idf)
     WHERE lexemes @@ t.query
$$;
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
                   (cardinality(p.frequencies), cardinality(p.token_counts))
                   = (cardinality(p.lesson_ids), cardinality(p.lesson_ids))
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
            ('block with wrong lesson_count', p.lesson_count::text, b.n::text, b.alike AND abs(p.lesson_count) <> b.n),
            ('block with wrong token_total', p.token_total::text, b.total::text,
             b.alike AND abs(p.token_total) <> b.total),
            ('block with wrong first_id', p.first_id::text, p.lesson_ids[1]::text,
             abs(p.first_id) IS DISTINCT FROM p.lesson_ids[1] OR (p.first_id < 0) <> (p.lesson_count < 0)),
            ('block with wrong max_frequency', p.max_frequency::text, b.highest::text,
             b.alike AND p.max_frequency <> b.highest),
            ('block with wrong min_tokens', p.min_tokens::text, b.least::text, b.alike AND p.min_tokens <> b.least)
           ) AS w (problem, found, wanted, so)
     WHERE p.tenant_id = tenant AND w.so
$$;
-- Brings the names of a tenant that an older version has stored into their composed form. Where two keys of a project
-- would become one, both lessons stay as they are, and a WARNING names them. Items of LangGraph, to which two forms are
-- two names, get keys and topics as pgmnemo/adapters/langgraph_items.py writes such names.
CREATE FUNCTION pgmnemo._compose_names(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- bytes of a key
    one record;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN;
    END IF;
    UPDATE pgmnemo.lesson l
       SET external_id = CASE WHEN l.external_id IS NFC NORMALIZED THEN l.external_id
                              WHEN octet_length(pgmnemo._ascii_text(l.external_id)) <= longest
                              THEN pgmnemo._ascii_text(l.external_id)
                              ELSE 'sha256 ' || encode(sha256(convert_to(l.external_id, 'UTF8')), 'hex') END,
           topic = (SELECT 'langgraph.' || string_agg(
                               CASE WHEN p IS NFC NORMALIZED THEN p
                                    ELSE '.' || pgmnemo._ascii_text(left(substr(to_json(p)::text, 2), -1)) END || '.',
                               '' ORDER BY n)
                      FROM string_to_table(left(substr(l.topic, 11), -1), '.') WITH ORDINALITY AS u (p, n))
     WHERE l.tenant_id = tenant AND starts_with(l.topic, 'langgraph.')
       AND concat_ws(' ', l.external_id, l.topic) IS NOT NFC NORMALIZED
       AND jsonb_typeof(l.metadata -> 'key') = 'string' AND jsonb_typeof(l.metadata -> 'value') = 'object';

    WITH other AS MATERIALIZED (
        SELECT l.id, l.project_id, l.external_id, normalize(l.external_id, NFC) AS composed
          FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
    )
    UPDATE pgmnemo.lesson l SET external_id = a.composed
      FROM (SELECT o.project_id, o.composed, min(o.id) AS id FROM other o GROUP BY 1, 2 HAVING count(*) = 1) a
     WHERE l.tenant_id = tenant AND l.id = a.id AND octet_length(a.composed) <= longest
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson x
                        WHERE x.tenant_id = tenant AND x.project_id = a.project_id AND x.external_id = a.composed);
    UPDATE pgmnemo.lesson l SET topic = normalize(l.topic, NFC), role = normalize(l.role, NFC)
     WHERE l.tenant_id = tenant AND (l.topic IS NOT NFC NORMALIZED OR l.role IS NOT NFC NORMALIZED);
    UPDATE pgmnemo.lesson l
       SET metadata = jsonb_set(l.metadata, '{fact}', normalize((l.metadata -> 'fact')::text, NFC)::jsonb)
     WHERE l.tenant_id = tenant AND l.metadata #> '{fact,subject}' IS NOT NULL
       AND (l.metadata -> 'fact')::text IS NOT NFC NORMALIZED;

    FOR one IN
        SELECT l.project_id, pgmnemo._ascii_text(to_json(l.external_id)::text) AS key,
               (SELECT pgmnemo._ascii_text(to_json(o.external_id)::text) FROM pgmnemo.lesson o
                 WHERE o.tenant_id = tenant AND o.project_id = l.project_id AND o.id <> l.id
                   AND normalize(o.external_id, NFC) = normalize(l.external_id, NFC)
                 ORDER BY o.external_id COLLATE "C" DESC LIMIT 1) AS twin
          FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
         ORDER BY l.project_id, l.external_id
    LOOP
        RAISE WARNING 'tenant %, project %: the lesson % keeps its key, %', tenant, one.project_id, one.key,
              coalesce('which is that of the lesson ' || one.twin || ' in Unicode''s composed form',
                       format('for that is longer than %s bytes in Unicode''s composed form', longest))
        USING HINT = 'Store it under another key, and forget it under this.';
    END LOOP;
END
$$;
-- What the index of metadata holds against what the lessons say.
CREATE FUNCTION pgmnemo._entry_problems(tenant uuid)
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
-- What a tenant's graph holds against the vectors that are marked as being in it. One that was given up since this
-- snapshot is no problem.
CREATE FUNCTION pgmnemo._graph_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT v.generation, g.name, count(*) AS marked, coalesce(pgmnemo._graph_stands(g.name), false) AS stands
                 FROM pgmnemo.lesson_vector v
                 LEFT JOIN pgmnemo.vector_graph g ON g.tenant_id = tenant AND g.generation = v.generation
                WHERE v.tenant_id = tenant AND v.indexed AND g.built IS NOT FALSE GROUP BY v.generation, g.name
                UNION ALL
               SELECT g.generation, g.name, 0, pgmnemo._graph_stands(g.name) FROM pgmnemo.vector_graph g
                WHERE g.tenant_id = tenant AND g.built
                  AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant
                                     AND v.generation = g.generation AND v.indexed)
    LOOP
        IF NOT one.stands THEN
            RETURN QUERY SELECT 'graph missing', NULL::uuid, NULL::bigint, one.name::text, '0', one.marked::text
                          WHERE one.marked > 0
                            AND (one.name IS NULL OR pgmnemo._graph_named(tenant, one.generation, one.name));
            CONTINUE;
        END IF;
        BEGIN
            RETURN QUERY EXECUTE format(
                'SELECT CASE WHEN g.lesson_id IS NULL THEN ''vector missing in the graph'' '
                'WHEN v.lesson_id IS NULL THEN ''vector surplus in the graph'' '
                'ELSE ''vector otherwise in the graph'' END, '
                'coalesce(v.project_id, g.project_id), coalesce(v.lesson_id, g.lesson_id), '
                'coalesce(v.number, g.number)::text, NULL::text, NULL::text FROM pgmnemo.%I g '
                'FULL JOIN (SELECT w.* FROM pgmnemo.lesson_vector w '
                'WHERE w.tenant_id = $1 AND w.generation = $2 AND w.indexed) v '
                'ON v.lesson_id = g.lesson_id AND v.number = g.number WHERE g.lesson_id IS NULL OR v.lesson_id IS NULL '
                'OR v.project_id <> g.project_id OR v.embedding OPERATOR(@extschema:vector@.<>) g.embedding', one.name)
              USING tenant, one.generation;
        EXCEPTION WHEN undefined_table THEN
            CONTINUE;
        END;
    END LOOP;
END
$$;
-- The tenant's greatest id where the sequence of ids would give it, or a smaller one, again. Servers that share tenants
-- draw from blocks of 2^40 numbers, one each: an id of another block came with its lesson from elsewhere.
CREATE FUNCTION pgmnemo._id_behind(tenant uuid)
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
-- Each piece against itself: recall trusts its sums, its extremes and the order of its places. What a lesson of a place
-- counts is looked up in one array a piece, and no plan is made by statistics that may be missing.
CREATE FUNCTION pgmnemo._piece_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
AS $$
    WITH place AS MATERIALIZED (
        SELECT r.piece, r.row_number * 128 + u.place - 1 AS place, u.id, u.tokens
          FROM pgmnemo.piece_lesson r
         CROSS JOIN LATERAL unnest(r.lesson_ids, r.token_counts) WITH ORDINALITY AS u (id, tokens, place)
         WHERE r.tenant_id = tenant
    ), counted AS MATERIALIZED (
        SELECT p.piece, array_agg(p.tokens ORDER BY p.place) AS tokens FROM place p GROUP BY p.piece
    )
    SELECT w.problem, NULL::uuid, NULL::bigint, w.item, w.found, w.wanted
      FROM pgmnemo.piece c
     CROSS JOIN LATERAL (
            SELECT count(*) AS n, sum(p.tokens) AS total, max(p.place) + 1 AS places FROM place p
             WHERE p.piece = c.number) t
     CROSS JOIN LATERAL (
            SELECT sum(j.lesson_count) AS n, sum(j.token_total) AS total,
                   bool_and(j.first_place = j.due) AS side_by_side
              FROM (SELECT j.*, coalesce(sum(j.lesson_count) OVER (ORDER BY j.first_place
                                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS due
                      FROM pgmnemo.piece_project j WHERE j.tenant_id = tenant AND j.piece = c.number) j) j
     CROSS JOIN LATERAL (VALUES
            ('piece with wrong lesson_count', c.number::text, c.lesson_count::text, t.n::text,
             (c.lesson_count, c.lesson_count, c.lesson_count) IS DISTINCT FROM (t.n, t.places, j.n)),
            ('piece with wrong token_total', c.number::text, c.token_total::text, t.total::text,
             (c.token_total, c.token_total) IS DISTINCT FROM (t.total, j.total)),
            ('piece whose projects do not stand side by side', c.number::text, NULL, NULL, NOT j.side_by_side)
           ) AS w (problem, item, found, wanted, so)
     WHERE c.tenant_id = tenant AND w.so
     UNION ALL
    SELECT w.problem, NULL, NULL, t.lexeme, w.found, w.wanted
      FROM (SELECT t.lexeme, t.piece, t.lesson_count, t.max_frequency, t.min_tokens, t.frequencies,
                   c.lesson_count AS size, k.tokens, pgmnemo._bits(t.holders, t.held_at, c.zeros) AS holders,
                   CASE WHEN t.frequencies IS NOT NULL
                        THEN pgmnemo._bits(t.repeaters, t.repeated_at, c.zeros) END AS repeaters
              FROM pgmnemo.piece_term t
              LEFT JOIN pgmnemo.piece c ON c.tenant_id = tenant AND c.number = t.piece
              LEFT JOIN counted k ON k.piece = t.piece
             WHERE t.tenant_id = tenant OFFSET 0) t
     CROSS JOIN LATERAL (SELECT min(t.tokens[h.place + 1]) AS least FROM pgmnemo._places(t.holders) h) b
     CROSS JOIN LATERAL (VALUES
            ('term of a piece with a wrong bitmap', length(t.holders)::text, t.size::text,
             length(t.holders) IS DISTINCT FROM t.size OR length(t.repeaters) <> t.size
             OR bit_count(t.repeaters & ~ t.holders) > 0),
            ('term of a piece with wrong lesson_count', t.lesson_count::text, bit_count(t.holders)::text,
             t.lesson_count <> bit_count(t.holders)),
            ('term of a piece with wrong frequencies', cardinality(t.frequencies)::text, bit_count(t.repeaters)::text,
             cardinality(t.frequencies) <> bit_count(t.repeaters)
             OR t.max_frequency <> coalesce((SELECT max(f) FROM unnest(t.frequencies) f), 1)),
            ('term of a piece with wrong min_tokens', t.min_tokens::text, b.least::text,
             t.min_tokens IS DISTINCT FROM b.least)) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
-- What the keyword index holds, in postings and pieces and less what is taken back, against what the tenant's active
-- lessons hold, entry by entry: all are counted at once, for a join could be planned by statistics that are not there.
CREATE FUNCTION pgmnemo._posting_problems(tenant uuid)
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH entry AS (
        SELECT l.project_id, l.id, u.lexeme COLLATE "C" AS lexeme, u.frequency, l.token_count AS tokens, 1 AS due,
               0 AS times, false AS loose
          FROM pgmnemo.lesson l
         CROSS JOIN LATERAL (SELECT v.lexeme, cardinality(v.positions) FROM unnest(l.lexemes) v
                             UNION ALL SELECT '', 0) AS u (lexeme, frequency)
         WHERE l.tenant_id = tenant AND l.active
         UNION ALL
        SELECT p.project_id, x.id, p.lexeme, x.frequency, x.tokens, 0, CASE WHEN p.lesson_count < 0 THEN -1 ELSE 1 END,
               p.lesson_count > 0
          FROM pgmnemo.posting p, unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, frequency, tokens)
         WHERE p.tenant_id = tenant
         UNION ALL
        SELECT s.project_id, s.lesson_id, s.lexeme, s.frequency, s.tokens, 0, 1, false
          FROM pgmnemo._sealed_postings(tenant) s
    ), counted AS (
        SELECT e.project_id, e.id, e.lexeme, sum(e.due) > 0 AS due, sum(e.due * e.frequency) AS due_frequency,
               sum(e.due * e.tokens) AS due_tokens, sum(e.times) AS times,
               sum(e.times * e.frequency) AS frequency, sum(e.times * e.tokens) AS tokens,
               count(*) FILTER (WHERE e.loose) AS loose,
               (sum(e.times), sum(e.times * e.frequency), sum(e.times * e.tokens)) IS DISTINCT FROM (0, 0, 0) AS held
          FROM entry e
         GROUP BY e.project_id, e.lexeme, e.id
        HAVING (sum(e.times), sum(e.times * e.frequency), sum(e.times * e.tokens))
               IS DISTINCT FROM (sum(e.due), sum(e.due * e.frequency), sum(e.due * e.tokens))
            OR count(*) FILTER (WHERE e.loose) > 1
    )
    SELECT w.problem, c.project_id, c.id, c.lexeme, w.found, w.wanted
      FROM counted c
     CROSS JOIN LATERAL (VALUES
            ('posting missing', NULL, c.due_frequency::text, c.due AND NOT c.held),
            ('posting surplus', c.frequency::text, NULL, NOT c.due),
            ('posting more than once', greatest(c.times, c.loose)::text, '1', greatest(c.times, c.loose) > 1),
            ('posting with wrong frequency', c.frequency::text, c.due_frequency::text,
             c.due AND c.held AND c.frequency IS DISTINCT FROM c.due_frequency * c.times),
            ('posting with wrong token count', c.tokens::text, c.due_tokens::text,
             c.due AND c.held AND c.tokens IS DISTINCT FROM c.due_tokens * c.times)) AS w (problem, found, wanted, so)
     WHERE w.so
$$;
-- A tenant whose graph is not what it should be gets another.
CREATE FUNCTION pgmnemo._repair_graphs(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_of_them constant bigint := 2000000000;
    serving constant smallint := pgmnemo._generation(tenant);
BEGIN
    IF NOT EXISTS (SELECT FROM pgmnemo._graph_problems(tenant)) THEN
        RETURN;
    END IF;
    PERFORM pgmnemo._give_up_graphs(tenant);
    UPDATE pgmnemo.lesson_vector v SET indexed = false WHERE v.tenant_id = tenant AND v.indexed;
    IF pgmnemo._graphs_sound() AND pgmnemo._large(tenant, serving) THEN
        PERFORM pgmnemo._enter_graph(tenant, serving, all_of_them);
    END IF;
END
$$;
-- The trigger derives lexemes anew under each lesson's own configuration, or that of a new lesson where it is no longer
-- there. The tenant's postings must be away: the siblings of that trigger would stumble over damaged ones.
CREATE FUNCTION pgmnemo._repair_lessons(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1
     WHERE l.tenant_id = tenant AND l.id IN (SELECT s.lesson_id FROM pgmnemo._stale_lessons(tenant) s)
$$;
CREATE FUNCTION pgmnemo._repair_passages(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE pgmnemo.passage p
       SET project_id = u.in_project, lexemes = u.fresh
      FROM pgmnemo._unsound_passages(tenant) u
     WHERE p.tenant_id = tenant AND p.lesson_id = u.lesson_id AND p.number = u.number
$$;
-- The space of a tenant that has vectors and none, as most of them say.
CREATE FUNCTION pgmnemo._repair_space(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
    SELECT tenant, v.generation, @extschema:vector@.vector_dims(v.embedding)
      FROM pgmnemo.lesson_vector v WHERE v.tenant_id = tenant
     GROUP BY 2, 3 ORDER BY count(*) DESC, 3 DESC LIMIT 1
        ON CONFLICT DO NOTHING
$$;
-- What is longer than the tenant's vectors loses its zeros, and what is shorter gets some; what says more than they
-- can, stands for no passage, or is of an embedder that the space does not know, goes. Whatever changes leaves the
-- graph.
CREATE FUNCTION pgmnemo._repair_vectors(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM pgmnemo._repair_space(tenant);
    DELETE FROM pgmnemo.lesson_vector v
     USING pgmnemo._unsound_vectors(tenant) u
     WHERE v.tenant_id = tenant AND v.lesson_id = u.lesson_id AND v.generation = u.generation AND v.number = u.number
       AND (u.bare OR u.dims IS NULL OR u.found_dims > u.dims
                                        AND NOT pgmnemo._fits(v.embedding::@extschema:vector@.vector, u.dims));
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone > 0 THEN
        RAISE WARNING '% vectors could not be mended and are gone', gone
        USING HINT = 'Give their lessons embeddings again; pgmnemo.check named them.';
    END IF;
    UPDATE pgmnemo.lesson_vector v
       SET project_id = u.in_project, indexed = false, embedding = @extschema:vector@.l2_normalize(
               CASE WHEN u.found_dims > u.dims THEN @extschema:vector@.subvector(v.embedding, 1, u.dims)
                    WHEN u.found_dims < u.dims
                    THEN v.embedding OPERATOR(@extschema:vector@.||)
                         array_fill(0::real, ARRAY[u.dims - u.found_dims])::@extschema:vector@.halfvec
                    ELSE v.embedding END)
      FROM pgmnemo._unsound_vectors(tenant) u
     WHERE v.tenant_id = tenant AND v.lesson_id = u.lesson_id AND v.generation = u.generation AND v.number = u.number;
END
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
     CROSS JOIN LATERAL (SELECT pgmnemo._config(l.text_config)) AS c (config)
     CROSS JOIN LATERAL (
            SELECT pgmnemo._lexemes(c.config, concat_ws(E'\n', l.topic, l.content)) OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (SELECT coalesce(pgmnemo._positions(f.fresh), 0)) AS n (tokens)
     WHERE l.tenant_id = tenant
       AND (c.config IS NULL OR (l.lexemes, l.token_count) IS DISTINCT FROM (f.fresh, n.tokens))
$$;
-- The tenant's greatest number of a supersession where the sequence would give it, or a smaller one, again: a sequence
-- does not come along with replicated rows.
CREATE FUNCTION pgmnemo._supersession_behind(tenant uuid)
RETURNS TABLE (last_number bigint, greatest_number bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.last_value, m.number
      FROM pgmnemo.supersession_number_seq s
     CROSS JOIN LATERAL (SELECT max(u.number) FROM pgmnemo.supersession u WHERE u.tenant_id = tenant) AS m (number)
     WHERE s.last_value < m.number OR s.last_value = m.number AND NOT s.is_called
$$;
-- Lessons whose superseded_at is not what the supersession that holds says.
CREATE FUNCTION pgmnemo._supersession_problems(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, superseded_at timestamptz, valid_from timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.superseded_at, x.valid_from
      FROM pgmnemo.lesson l
      LEFT JOIN pgmnemo.supersession x ON x.tenant_id = tenant AND x.old_id = l.id AND x.undone_at IS NULL
     WHERE l.tenant_id = tenant AND l.superseded_at IS DISTINCT FROM x.valid_from
$$;
-- Passages that are not as the verbs write them, beside what they should be.
CREATE FUNCTION pgmnemo._unsound_passages(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, number smallint, in_project uuid, fresh tsvector,
               lexemes_differ boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.project_id, p.lesson_id, p.number, l.project_id, f.fresh, p.lexemes <> f.fresh
      FROM pgmnemo.passage p
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = p.lesson_id
     CROSS JOIN LATERAL (SELECT pgmnemo._config(l.text_config)) AS c (config)
     CROSS JOIN LATERAL (
            SELECT CASE WHEN c.config IS NULL THEN p.lexemes ELSE pgmnemo._lexemes(c.config, p.content) END
            OFFSET 0) AS f (fresh)
     WHERE p.tenant_id = tenant AND (p.project_id, p.lexemes) IS DISTINCT FROM (l.project_id, f.fresh)
$$;
-- Vectors that are not as the verbs write them. Half precision leaves a unit vector at most 0.0005 too long or too
-- short. Of generations that are none of the tenant's space `dims` is NULL.
CREATE FUNCTION pgmnemo._unsound_vectors(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, generation smallint, number smallint, in_project uuid, norm float8,
               found_dims integer, dims integer, bare boolean)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.project_id, v.lesson_id, v.generation, v.number, l.project_id, n.norm, n.dims, s.dims, b.bare
      FROM pgmnemo.lesson_vector v
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = v.lesson_id
      LEFT JOIN (SELECT u.generation, u.dims
                   FROM pgmnemo.embedding_space e
                  CROSS JOIN LATERAL (VALUES (e.generation, e.dimensions), (e.next_generation, e.next_dimensions))
                                     AS u (generation, dims)
                  WHERE e.tenant_id = tenant) s ON s.generation = v.generation
     CROSS JOIN LATERAL (
            SELECT @extschema:vector@.l2_norm(v.embedding), @extschema:vector@.vector_dims(v.embedding)
            OFFSET 0) AS n (norm, dims)
     CROSS JOIN LATERAL (
            SELECT v.number > 0 AND NOT EXISTS (
                       SELECT FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = v.lesson_id AND p.number = v.number)
            OFFSET 0) AS b (bare)
     WHERE v.tenant_id = tenant
       AND (v.project_id <> l.project_id OR n.norm NOT BETWEEN 0.999 AND 1.001 OR n.dims IS DISTINCT FROM s.dims
            OR b.bare)
$$;
-- Lessons whose metadata cannot be written out: of 0.3.1 and before, for later versions refuse them.
CREATE FUNCTION pgmnemo._unwritable_lessons(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, external_id text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, l.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.metadata <> '{}' AND pgmnemo._holds_unprintable(l.metadata)
$$;
-- How a run ends: what no tenant has any more goes, and what it left is written down and returned.
CREATE FUNCTION pgmnemo._upkeep_end(run pgmnemo.upkeep_run)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM pgmnemo._drop_unnamed();
    -- a dump, and so pg_upgrade, leaves these open
    PERFORM pgmnemo._close_type(c.relname) FROM pg_class c
      WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'v')
        AND has_type_privilege('public', c.reltype, 'USAGE');
    UPDATE pgmnemo.upkeep_run u
       SET began = run.began, seconds = extract(epoch FROM clock_timestamp() - run.began),
           merged = coalesce(run.merged, u.merged), vectors_waiting = run.vectors_waiting,
           blocks_waiting = run.blocks_waiting, "left" = run."left", skipped = run.skipped
     WHERE u.ctid IN (SELECT r.ctid FROM pgmnemo.upkeep_run r FOR UPDATE SKIP LOCKED);
    RETURN run."left";
END
$$;
-- Adds a row of pgmnemo._upkeep_waiting to what the run counts and, where it is due and `most` is above 0, mends it:
-- brings so many vectors into a graph, or compacts the postings, and begins with nothing more after five seconds. What
-- is left waits for the next run. What its writers hold or what is spoilt stays.
CREATE FUNCTION pgmnemo._upkeep_one(
    run        pgmnemo.upkeep_run,
    tenant     uuid,
    generation smallint,
    waiting    bigint,
    due        boolean,
    most       bigint
)
RETURNS pgmnemo.upkeep_run
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '5 seconds';
    fewer bigint := 0;
BEGIN
    IF due AND most > 0 THEN
        BEGIN
            PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
            IF generation IS NULL THEN
                IF pgmnemo._try_lock_tenant(tenant) THEN
                    PERFORM pgmnemo._compact(tenant, enough);
                    fewer := waiting - pgmnemo._loose_blocks(tenant);
                END IF;
            ELSIF pgmnemo._dimensions_of(tenant, generation) IS NULL THEN
                PERFORM pgmnemo._drop_generation(tenant, generation) WHERE pgmnemo._try_lock_tenant(tenant);
            ELSE
                PERFORM pgmnemo._enter_graph(tenant, generation, most, enough);
                fewer := waiting - pgmnemo._awaiting(tenant, generation);
            END IF;
            PERFORM pgmnemo._leave();
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
            WHEN OTHERS THEN
                RAISE WARNING '% of tenant % stays as it is: %',
                              CASE WHEN generation IS NULL THEN 'the index of words' ELSE 'the graph' END,
                              quote_literal(tenant), SQLERRM;
        END;
    END IF;
    fewer := greatest(fewer, 0);  -- others may have stored more meanwhile
    IF generation IS NULL THEN
        run.blocks_waiting := run.blocks_waiting + waiting - fewer;
    ELSE
        run.vectors_waiting := run.vectors_waiting + waiting - fewer;
    END IF;
    IF due THEN
        run."left" := run."left" + waiting - fewer;
        run.skipped := run.skipped + (fewer = 0 AND waiting > 0)::integer;
    END IF;
    IF fewer > 0 THEN
        run.merged := clock_timestamp();
    END IF;
    RETURN run;
END
$$;
-- What waits for each graph and in each tenant's postings (generation NULL), and whether it is due. The policies show
-- rows of the acting tenant alone, so it acts for one after another, in no order: a large one must not keep the others
-- waiting. Of one tenant a graph that is to be made comes first, as in pgmnemo.index. It locks nothing.
CREATE FUNCTION pgmnemo._upkeep_waiting()
RETURNS TABLE (tenant uuid, generation smallint, waiting bigint, due boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    tail_most constant bigint := pgmnemo._tail_most((pgmnemo._settings()).exact_scan_limit);
    graph name;
BEGIN
    FOR tenant, generation, graph IN
        SELECT g.tenant_id, g.generation, g.name FROM pgmnemo.vector_graph g
         WHERE pgmnemo._graphs_sound()
         ORDER BY md5(g.tenant_id::text || now()), pgmnemo._graph_stands(g.name)
    LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := 0;
        due := true;
        IF pgmnemo._dimensions_of(tenant, generation) IS NOT NULL THEN  -- else of an embedder that was changed
            waiting := pgmnemo._awaiting(tenant, generation);
            due := waiting > tail_most OR NOT pgmnemo._graph_stands(graph);
        END IF;
        RETURN NEXT;
    END LOOP;
    generation := NULL;
    FOR tenant IN SELECT g.tenant_id FROM pgmnemo.tenant_grant g GROUP BY g.tenant_id ORDER BY random() LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := pgmnemo._loose_blocks(tenant);
        due := pgmnemo._worth_compacting(tenant, waiting);
        RETURN NEXT;
    END LOOP;
    PERFORM pgmnemo._leave();
END
$$;
-- Whose relevance a candidate's context is.
CREATE FUNCTION pgmnemo._context_seed(candidates pgmnemo.candidate[], own pgmnemo.candidate,
                                      s pgmnemo.settings)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.external_id
      FROM unnest(candidates) c
     CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
     WHERE c.project_id = (own).project_id
       AND (c.lesson_id = (own).lesson_id OR c.occurred_at = (own).occurred_at)
     ORDER BY r.relevance DESC, c.external_id
     LIMIT 1
$$;
-- The passage that recall shows and those that decide passage_terms, passage_cosine and pair_cosine, by number.
CREATE FUNCTION pgmnemo._explain_passages(l pgmnemo.lesson, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH each AS (
        SELECT p.number, p.content, c.cosine, t.terms, t.lexemes,
               row_number() OVER (ORDER BY pgmnemo._passage_worth(p.lexemes, v.embedding, asked, s), p.number) AS shown,
               row_number() OVER (ORDER BY c.cosine DESC NULLS LAST, p.number) AS by_cosine,
               row_number() OVER (ORDER BY t.terms DESC, p.number) AS by_terms
          FROM pgmnemo.passage p
          LEFT JOIN pgmnemo.lesson_vector v ON v.tenant_id = (l).tenant_id AND v.lesson_id = (l).id
                                           AND v.number = p.number AND v.generation = (asked).generation
         CROSS JOIN LATERAL (SELECT pgmnemo._cosine(v.embedding, (asked).direction)) AS c (cosine)
         CROSS JOIN LATERAL (
                SELECT t.worth, (SELECT string_agg(i.lexeme, ', ')
                                 FROM unnest((asked).terms, (asked).queries) AS i (lexeme, query)
                                  WHERE p.lexemes @@ i.query)
                  FROM pgmnemo._terms_within(p.lexemes, asked, (s).passage_term_bonus) t) AS t (terms, lexemes)
         WHERE p.tenant_id = (l).tenant_id AND p.lesson_id = (l).id
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
-- The tests of pgmnemo._recallable and of the scope, one by one.
CREATE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, scope pgmnemo.scope)
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
                                    ELSE pgmnemo._believed(l, scope) END,
             format('superseded %s, recall as of %s, by what was known %s', coalesce((l).superseded_at::text, 'never'),
                    (scope).moment, coalesce((scope).known_at::text, 'last'))),
            ('filter', (scope).filtered IS NOT TRUE OR pgmnemo._passes(l, (scope).filter),
             CASE WHEN (scope).filtered IS NOT TRUE THEN 'none' END),
            ('gate', (scope).gate <> 'enforce' OR (l).commit_sha IS NOT NULL OR (l).artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', (scope).gate,
                    CASE WHEN coalesce((l).commit_sha, (l).artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
-- The contributions in the order of the sum: added up one after another they are the score to the last bit.
CREATE FUNCTION pgmnemo._explain_score(l pgmnemo.lesson, c pgmnemo.candidate, context_from text, graph_seed text,
                                       s pgmnemo.settings, moment timestamptz)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'score', t.item, t.value::text, (to_jsonb(s) ->> (t.item || '_weight'))::float8,
           a.contributions[t.place], t.note
      FROM ROWS FROM (unnest(
               ARRAY['bm25', 'passage_terms', 'passage_cosine', 'pair_cosine', 'cosine', 'temporal',
                     'context', 'neighbours',
                     'recency', 'importance', 'graph'],
               ARRAY[(c).bm25, (c).passage_terms, (c).passage_cosine, (c).pair_cosine, (c).cosine,
                     (c).temporal, (c).context,
                     (c).neighbours, (c).recency, (c).importance, (c).graph],
               ARRAY[format('%s words; by its coverage of the question %s of its worth counts', (l).token_count,
                            round((c).coverage::numeric, 3)),
                     'by its coverage, too',
                     'unrelated texts have ' || round((c).center::numeric, 3), NULL, NULL,
                     coalesce('occurred at ' || (l).occurred_at, 'without occurred_at'),
                     CASE WHEN context_from = (l).external_id THEN 'its own relevance'
                          ELSE 'relevance of ' || quote_literal(context_from) END,
                     coalesce('position ' || (l).position, 'without position'),
                     format('age %s days, half-life %s days',
                            round((greatest(date_part('epoch', moment)
                                            - date_part('epoch', coalesce((l).occurred_at, (l).stored_at)), 0)
                                            / 86400)::numeric,
                                  2), (s).recency_half_life),
                     format('importance %s of 1 to 5', (l).importance),
                     'flows in from ' || quote_literal(graph_seed)])) WITH ORDINALITY AS t (item, value, note, place)
     CROSS JOIN pgmnemo._contributions(c, s) a
     ORDER BY t.place
$$;
-- The question's lexemes, rarest first; those that no lesson in scope holds come last.
CREATE FUNCTION pgmnemo._explain_terms(l pgmnemo.lesson, words text, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'term', q.lexeme, coalesce(cardinality(h.positions), 0)::text, a.idf,
           CASE WHEN h.lexeme IS NOT NULL
                THEN (s).bm25_weight
                     * pgmnemo._impact(a.scale, cardinality(h.positions),
                                       (asked).flat, (asked).per_token, (l).token_count,
                                       (asked).pivot)
                     / pgmnemo._unit()
                ELSE 0 END,
           format('in %s of %s lessons', coalesce(a.lessons, 0), (asked).held)
           || coalesce('; in passage ' || p.numbers, '')
      FROM unnest((SELECT w.lexemes FROM pgmnemo._question_words(words, pgmnemo._tenant_configs((l).tenant_id)) w))
           AS q (lexeme)
      LEFT JOIN unnest((asked).terms, (asked).idfs, (asked).scales, (asked).postings) AS a (lexeme, idf, scale, lessons)
             ON a.lexeme = q.lexeme
      LEFT JOIN unnest((l).lexemes) h ON h.lexeme = q.lexeme
     CROSS JOIN LATERAL (
            SELECT string_agg(p.number::text, ', ' ORDER BY p.number)
              FROM pgmnemo.passage p
             WHERE p.tenant_id = (l).tenant_id AND p.lesson_id = (l).id
               AND p.lexemes @@ pgmnemo._term(q.lexeme)) AS p (numbers)
     ORDER BY a.idf DESC NULLS LAST, q.lexeme COLLATE "C"
$$;
-- From which seed the relevance comes that reaches a lesson along edges; NULL: from none.
CREATE FUNCTION pgmnemo._graph_seed(scope pgmnemo.scope, candidates pgmnemo.candidate[], seeds bigint[], lesson bigint,
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
CREATE FUNCTION pgmnemo._ways(l pgmnemo.lesson, scope pgmnemo.scope, by_keyword bigint[], by_vector bigint[],
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
CREATE FUNCTION pgmnemo.add_passages(lesson_id bigint, passages text[],
                                     passage_embeddings @extschema:vector@.vector[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store_passages(pgmnemo._session_tenant(), lesson_id, passages, passage_embeddings);
END
$$;

COMMENT ON FUNCTION pgmnemo.add_passages IS 'store_passages for the session''s tenant';
CREATE FUNCTION pgmnemo.append(
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
    language      text        DEFAULT NULL,
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
        append.project_id, NULL, append.content, pgmnemo._embedding(append.embedding), pgmnemo._composed(append.role),
        pgmnemo._composed(append.topic),
        CASE WHEN append.importance BETWEEN 1 AND 5 THEN append.importance
             WHEN append.importance IS NOT NULL THEN 0 END, append.metadata,
        append.occurred_at, append.expires_at, append.commit_sha, append.artifact_hash,
        append.verified_at, append.passages, append.passage_embeddings, NULL, append.language);
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT n.key, n.place INTO one.external_id, one.position
      FROM pgmnemo._next_turn(tenant, append.project_id, pgmnemo._composed(append.prefix COLLATE "default"),
                              coalesce(apart, false)) n;
    RETURN QUERY
    SELECT s.external_id, one.position, s.lesson_id FROM pgmnemo._store(tenant, ARRAY[one], NULL, true) s;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.append IS 'stores a lesson at the end of a project''s conversation, so that no writer need count: its position is the one after the project''s greatest, from 1 on (apart: one place is left free before it, where a session begins), its key prefix/position, or with the next number whose key is not taken; the other arguments are those of pgmnemo.store. Calls for one tenant wait for one another to the end of their transactions; under REPEATABLE READ one that waited is a serialization error to repeat. Returns key, position and id. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.assert_fact(
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
        one.content := coalesce(assert_fact.content,
                                concat_ws(' ', fact ->> 'subject', fact ->> 'relation', fact ->> 'object'));
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

COMMENT ON FUNCTION pgmnemo.assert_fact IS 'stores that subject, relation and object hold together from at on (NULL: now), as a lesson whose metadata has them under fact, and returns its key. Blanks around the three and runs of blanks do not count, capital letters do. unchanged where the same holds then already. single: the caller''s word that a subject has one object of this relation at a time: whatever else holds at that moment is superseded by the new one, and the new one by what holds later; superseded says how many were. source: the key of a lesson that it was learned from, linked to it as asserts. content: what recall finds it by, NULL: the three joined. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.begin_reembedding(
    tenant     uuid,
    dimensions integer,
    embedder   text DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told text COLLATE "default" := begin_reembedding.embedder;
    space pgmnemo.embedding_space;
    due bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_embedder(told, coalesce(begin_reembedding.dimensions, 0));
    SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tenant % has no vectors', quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Its first may be of any embedder: store it.';
    ELSIF space.next_dimensions <> begin_reembedding.dimensions OR space.next_embedder <> told THEN
        RAISE EXCEPTION 'the embedder of tenant % is being changed already, for % dimensions%', quote_literal(tenant),
              space.next_dimensions, coalesce(' by ' || quote_literal(space.next_embedder), '')
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Go on with that one, or call pgmnemo.cancel_reembedding first.';
    ELSIF space.next_generation IS NULL THEN
        space.next_generation := space.generation % 32767 + 1;
        PERFORM pgmnemo._drop_generation(tenant, space.next_generation);
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET next_generation = space.next_generation, next_dimensions = begin_reembedding.dimensions,
           next_embedder = coalesce(told, s.next_embedder)
     WHERE s.tenant_id = tenant;
    due := (SELECT count(*) FROM pgmnemo._due(space, 0, NULL));
    PERFORM pgmnemo._leave();
    RETURN due;
END
$$;

COMMENT ON FUNCTION pgmnemo.begin_reembedding IS 'begins to change the embedder of a tenant''s vectors, or goes on with it: the new ones will have so many dimensions (1 to 4,000). The old ones serve, and are stored, until pgmnemo.finish_reembedding. Take what is due from pgmnemo.reembedding_due, embed it, give it to pgmnemo.reembed. Returns how many texts are due. Refused for another embedder or dimension than the change that is going on. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.cancel_reembedding(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    space := pgmnemo._changed_space(tenant);
    IF space.next_generation IS NULL THEN
        PERFORM pgmnemo._leave();
        RETURN false;
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET next_generation = NULL, next_dimensions = NULL, next_embedder = NULL
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._drop_generation(tenant, space.next_generation);
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.cancel_reembedding IS 'gives a change of embedder up: the old vectors serve on, those of the new one are deleted; false: none was going on. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.check(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
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
            ('passage with stale lexemes', NULL, p.fresh::text, p.lexemes_differ)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT w.problem, v.project_id, v.lesson_id, v.number::text, w.found, w.wanted
      FROM pgmnemo._unsound_vectors(tenant) v
     CROSS JOIN LATERAL (VALUES
            ('vector in another project', v.project_id::text, v.in_project::text, v.project_id <> v.in_project),
            ('vector not of unit length', v.norm::text, '1', v.norm NOT BETWEEN 0.999 AND 1.001),
            ('vector of another dimension', v.found_dims::text, v.dims::text, v.found_dims IS DISTINCT FROM v.dims),
            ('vector without its passage', NULL, NULL, v.bare)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY SELECT * FROM pgmnemo._graph_problems(tenant);
    RETURN QUERY
    SELECT 'lesson with metadata that cannot be written out', u.project_id, u.lesson_id, u.external_id, NULL, NULL
      FROM pgmnemo._unwritable_lessons(tenant) u;
    RETURN QUERY
    SELECT 'sequence of ids behind the greatest id', NULL::uuid, NULL::bigint, NULL, b.last_id::text,
           b.greatest_id::text
      FROM pgmnemo._id_behind(tenant) b;
    RETURN QUERY
    SELECT 'sequence of supersessions behind the greatest number', NULL::uuid, NULL::bigint, NULL,
           b.last_number::text, b.greatest_number::text
      FROM pgmnemo._supersession_behind(tenant) b;
    RETURN QUERY
    SELECT 'lesson with wrong superseded_at', s.project_id, s.lesson_id, NULL, s.superseded_at::text,
           s.valid_from::text
      FROM pgmnemo._supersession_problems(tenant) s;
    RETURN QUERY SELECT * FROM pgmnemo._entry_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._block_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._piece_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._posting_problems(tenant);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.check IS 'what is wrong in what the tenant''s lessons are found by, one row a problem, none when all is well. lesson: lexemes or token_count are not what the text gives under the lesson''s text_config, or its metadata (item: its external_id) hold a number beyond 1e308 or with more than 400 decimals, which no dump can hold, or superseded_at is not what its supersession says; entry (item: its number): missing or surplus in the index of metadata; sequence of ids or of supersessions: behind the greatest; passage (item: its number): in another project than its lesson, or lexemes not those of its text; vector (item: its number, 0 for the lesson as a whole): in another project than its lesson, not of unit length, not of the tenant''s dimension, without its passage, or missing, surplus or otherwise in the graph, the tenant''s HNSW index; graph (item: its name): missing, though vectors are marked as being in it; block (item: its lexeme, lesson_id: its first): order, sums or extremes wrong; piece (item: its number) and term of a piece (item: its lexeme): likewise; posting (item: the lexeme, empty for the list of all lessons): missing, surplus, more than once, or with wrong numbers. Reads everything of the tenant; pgmnemo.repair mends it';
CREATE FUNCTION pgmnemo.check_index()
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM pgmnemo.check(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.check_index IS 'check for the session''s tenant';
CREATE FUNCTION pgmnemo.compact(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    merged bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._lock_tenant(tenant);
    merged := pgmnemo._compact(tenant);
    PERFORM pgmnemo._leave();
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.compact IS 'merges the many small blocks that single writes leave in pgmnemo.posting, and seals what is enough for it into pieces (pgmnemo.piece); answers stay the same, recall gets faster. It does all that there is to do (pgmnemo.upkeep_each: for five seconds a call). Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
CREATE FUNCTION pgmnemo.compact_postings()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.compact(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.compact_postings IS 'compact for the session''s tenant';
-- The gate is taken off to see what it hides.
CREATE FUNCTION pgmnemo.count(
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
CREATE FUNCTION pgmnemo.current_tenant(caller pgmnemo.caller DEFAULT pgmnemo._caller())
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
CREATE FUNCTION pgmnemo.embedder(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (name text, dimensions integer, generation smallint, next_name text, next_dimensions integer)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    RETURN QUERY
    SELECT s.embedder, s.dimensions, s.generation, s.next_embedder, s.next_dimensions
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.embedder IS 'what the tenant''s vectors are of: the name of their embedder (NULL: nobody said), their dimension, and their generation in pgmnemo.list_vectors; next_name and next_dimensions while it is being changed. No row: the tenant has no vectors, and the first may be of any. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.end_fact(
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
CREATE FUNCTION pgmnemo.explain(
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
    duplicates  boolean     DEFAULT false,
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
    from_role text COLLATE "default" := pgmnemo._composed(explain.role);
    key text COLLATE "default" := explain.external_id;
    home uuid := coalesce(explain.in_project, explain.project_id);
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    first_of bigint[];
    found record;
    ways text;
    first bigint;
    ahead integer;
    notes text;
    meant record;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(explain.k, explain.mode, meaning IS NOT NULL, words, moment, NULL);
    IF home IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := pgmnemo._asked_scope(tenant, explain.project_id, s.gate_strict, from_role, explain.valid_at, moment,
                                  explain.known_at, explain.filter);
    wanted := pgmnemo._lesson_id(tenant, home, key);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    asked := pgmnemo._ask(scope, words, meant.vector, moment, s, explain.windows);
    asked.generation := meant.generation;
    asked.collapse := explain.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._against_background(scope, asked);
    asked.graph := meant.graph;
    asked.repeated := pgmnemo._repeated(scope, asked, explain.query_text, explain.mode, explain.duplicates);
    pool := pgmnemo._pool(scope, asked, s, explain.k, words IS NOT NULL, moment, l.id);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out, e.first_of INTO leads, shown, others, left_out, first_of
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    first := coalesce(first_of[array_position(left_out, l.id)], l.id);
    ahead := CASE WHEN explain.duplicates IS NULL OR cardinality(asked.since) > 0 THEN 0 ELSE 3 END;
    WITH ranked AS MATERIALIZED (
        SELECT r.score, r.alone, r.own
          FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
    ), best AS MATERIALIZED (
        SELECT (r.own).lesson_id, (r.own).repeats, r.score, o.lexemes, coalesce(o.occurred_at, o.stored_at) AS happened,
               row_number() OVER (ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id,
                                           (r.own).project_id) AS turn
          FROM ranked r
          JOIN pgmnemo.lesson o ON o.tenant_id = tenant
               AND o.id = coalesce(shown[array_position(leads, (r.own).lesson_id)], (r.own).lesson_id)
         WHERE (r.own).lesson_id <> ALL (left_out)
    ), placed AS (
        SELECT b.lesson_id, count(*) OVER () AS all_of_them,
               row_number() OVER (ORDER BY b.repeats,
                                           coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn),
                                           b.happened DESC, b.turn) AS rank
          FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                       array_agg(b.lexemes) OVER w AS texts_ahead
                  FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
         CROSS JOIN LATERAL (
                SELECT min(o.place) AS place
                  FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                        AS o (score, happened, lexemes, place)
                 WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
    )
    SELECT p.rank, p.all_of_them, r.score, r.alone, r.own INTO found
      FROM ranked r JOIN placed p ON p.lesson_id = first WHERE (r.own).lesson_id = l.id;
    notes := CASE WHEN (found.own).repeats THEN '; it only repeats the question: behind all that does not' ELSE '' END
             || coalesce((SELECT format('; one hit with %s equal lessons, shown as %L', e.others, o.external_id)
                            FROM unnest(leads, shown, others) AS e (lead, id, others)
                            JOIN pgmnemo.lesson o ON o.tenant_id = tenant AND o.id = e.id WHERE e.lead = first), '');
    ways := pgmnemo._ways(l, scope, pool.by_keyword, pool.by_vector, pool.filled, pool.added, pool.linked);

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN found.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', found.rank, found.all_of_them)
              ELSE format('of %s candidates', found.all_of_them)
                   || CASE WHEN found.rank > explain.k THEN '; beyond k = ' || explain.k ELSE '' END END || notes),
        ('answer', 'score', found.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'fit', (SELECT CASE WHEN (found.own).repeats THEN '0' ELSE f.fit::text END
                             FROM pgmnemo._fit(found.alone, asked.ideal) f),
         NULL, NULL,
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
                                  as_of, valid_at, role, mode, k, in_project, filter, known_at, windows,
                                  NULL);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'explain for the session''s tenant, of how pgmnemo.recall_lessons ranks: with duplicates NULL';
CREATE FUNCTION pgmnemo.facts(
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
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._link_known(x, facts.known_at) OFFSET 0) x ON true
     ORDER BY l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}', l.occurred_at, l.external_id
     LIMIT most;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.facts IS 'the facts of a subject, a relation, an object (NULL: any) that hold at a time (NULL: now) by what was known at another (NULL: now), at most so many (1 to 10,000), by subject, relation and time; history: whenever they held. valid_to and reason: from when on they no longer do, and why; recorded_at: when they were stored. tenant NULL: the session''s, project_id NULL: all of it';
CREATE FUNCTION pgmnemo.finish_reembedding(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
    due bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    space := pgmnemo._changed_space(tenant);
    IF space.next_generation IS NULL THEN
        PERFORM pgmnemo._leave();
        RETURN false;
    END IF;
    due := (SELECT count(*) FROM pgmnemo._due(space, 0, NULL));
    IF due > 0 THEN
        RAISE EXCEPTION '% texts of tenant % lack a vector of the new embedder', due, quote_literal(tenant)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Go on: embed what pgmnemo.reembedding_due returns, and give it to pgmnemo.reembed.';
    END IF;
    UPDATE pgmnemo.embedding_space s
       SET generation = s.next_generation, dimensions = s.next_dimensions, embedder = s.next_embedder,
           next_generation = NULL, next_dimensions = NULL, next_embedder = NULL
     WHERE s.tenant_id = tenant;
    PERFORM pgmnemo._drop_generation(tenant, space.generation);
    PERFORM pgmnemo._leave();
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.finish_reembedding IS 'lets the vectors of the new embedder serve, and deletes the old ones; false: no change is going on. Refused while a text lacks one (55000). Who stores vectors waits until the transaction ends, readers never. For a tenant with more than pgmnemo.exact_scan_limit vectors call pgmnemo.index before, so that there is an HNSW index of the new ones already. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.forget(
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
    key := pgmnemo._stored_key(tenant, forget.project_id, key);
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
-- The postings go at once, where no piece holds lessons of the project: taking them out of blocks one by one would
-- cost far more. So does the graph of a tenant that keeps nothing, whose next vector may be of another dimension;
-- whoever writes vectors meanwhile is not waited for, and then what he has is what counts. An older snapshot would not
-- show his, so it leaves the dimension.
CREATE FUNCTION pgmnemo.forget_all(tenant uuid, project_id uuid DEFAULT NULL,
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
    PERFORM pgmnemo._write_tenant(tenant);
    IF project_id IS NULL THEN
        PERFORM pgmnemo._drop_pieces(tenant, ARRAY(SELECT c.number FROM pgmnemo.piece c WHERE c.tenant_id = tenant));
    END IF;
    IF NOT EXISTS (SELECT FROM pgmnemo.piece_project j
                    WHERE j.tenant_id = tenant AND j.project_id = forget_all.project_id) THEN
        DELETE FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.project_id BETWEEN scope.first_project AND scope.last_project;
    END IF;
    IF project_id IS NULL THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
        PERFORM pgmnemo._give_up_graphs(tenant);
    END IF;
    DELETE FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN scope.first_project AND scope.last_project;
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF project_id IS NULL AND current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM pgmnemo._give_up_space(tenant);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN gone;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_all IS 'every lesson of one project, or with NULL of the tenant, gone for good; returns how many there were, softly forgotten ones included. A tenant without any gives up its HNSW index, and its next vector may be of another dimension';
CREATE FUNCTION pgmnemo.forget_lesson(project_id uuid, external_id text, hard boolean DEFAULT false,
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
CREATE FUNCTION pgmnemo.forget_matching(
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
CREATE FUNCTION pgmnemo.forget_project(project_id uuid)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN project_id IS NULL THEN 0 ELSE pgmnemo.forget_all(pgmnemo._session_tenant(), project_id) END;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_project IS 'forget_all for one project of the session''s tenant; NULL is no project';
CREATE FUNCTION pgmnemo.forget_tenant()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.forget_all(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.forget_tenant IS 'forget_all for the session''s tenant';
-- One way to the row, whatever the tables' statistics say.
CREATE FUNCTION pgmnemo.get(
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
    key := pgmnemo._stored_key(tenant, get.project_id, key);
    RETURN QUERY
    SELECT l.* FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = get.project_id AND l.external_id = key;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.get IS 'the lesson of a key as it is kept, whatever its state: softly forgotten (active false), superseded, expired or without provenance, too; no row where there is none. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    role oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = grant_tenant.grantee);
BEGIN
    IF tenant IS NULL OR role IS NULL THEN
        RAISE EXCEPTION 'there is no %', CASE WHEN tenant IS NULL THEN 'tenant NULL'
                                              ELSE 'role ' || coalesce(quote_ident(grantee), 'NULL') END
        USING ERRCODE = 'undefined_object', HINT = 'Name the tenant by its uuid and a role that exists (CREATE ROLE).';
    END IF;
    INSERT INTO pgmnemo.tenant_grant (tenant_id, grantee) VALUES (tenant, role) ON CONFLICT DO NOTHING;
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.grant_tenant(uuid, name) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant(uuid, name) IS 'lets a role, and the members that inherit from it, reach a tenant; only the extension''s owner may; granting twice is granting once';
-- What is made anew comes first: it ends by locking the tenant, whose writers may wait for what a merge holds.
CREATE FUNCTION pgmnemo.index(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    all_of_them constant bigint := 2000000000;
    entered bigint;
    "all" bigint := 0;
    one smallint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    IF NOT pgmnemo._graphs_sound() THEN
        RAISE NOTICE 'pgvector is older than 0.8.4, so every scope is read exactly'
        USING HINT = 'Install a later one and run ALTER EXTENSION vector UPDATE.';
    ELSE
        FOR one IN SELECT g.generation
                     FROM pgmnemo.embedding_space s, unnest(ARRAY[s.generation, s.next_generation]) AS g (generation)
                    WHERE s.tenant_id = tenant AND pgmnemo._large(tenant, g.generation)
                    ORDER BY NOT pgmnemo._graph_anew(tenant, g.generation,
                                                     pgmnemo._tail(tenant, g.generation, all_of_them)) LOOP
            entered := pgmnemo._enter_graph(tenant, one, all_of_them);
            "all" := "all" + coalesce(entered, 0);
            IF entered IS NULL THEN
                RAISE NOTICE 'another session brings vectors of this tenant into its graph just now'
                USING HINT = 'Call again when it is done.';
            END IF;
        END LOOP;
    END IF;
    PERFORM pgmnemo._leave();
    RETURN "all";
END
$$;

COMMENT ON FUNCTION pgmnemo.index IS 'brings all vectors of a tenant with more than pgmnemo.exact_scan_limit of them into its HNSW index, which is made where there is none; returns how many entered, 0 for a smaller tenant. While an embedder is being changed, those of the new one get an index of their own, too. Worth it after a bulk load: raise maintenance_work_mem and max_parallel_maintenance_workers before. Recall is right without it, but scans what has not entered. Writers and readers go on meanwhile';
CREATE FUNCTION pgmnemo.index_lessons()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.index(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.index_lessons IS 'index for the session''s tenant';
CREATE FUNCTION pgmnemo.language(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    found := pgmnemo._tenant_language(tenant);
    PERFORM pgmnemo._leave();
    RETURN found;
END
$$;

COMMENT ON FUNCTION pgmnemo.language IS 'the language of texts that are written without one, as pgmnemo.set_language set it: auto where nobody did. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.link(
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
BEGIN
    RETURN pgmnemo.link(pgmnemo._session_tenant(), project_id, source, target, kind, weight, valid_from,
                        valid_to, target_project);
END
$$;

COMMENT ON FUNCTION pgmnemo.link_lessons IS 'link for the session''s tenant';
-- Pages by id. The settings keep to the keys, however the tables have grown since the plan was made.
CREATE FUNCTION pgmnemo.list(
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
-- In batches by id, so that whoever gives passages to a whole tenant reads each lesson once. Sub-select and settings
-- keep to the two keys, however the tables have grown since the plan was made.
CREATE FUNCTION pgmnemo.list_bare(
    tenant uuid,
    after  bigint  DEFAULT 0,
    most   integer DEFAULT 100,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT t.* FROM pgmnemo.lesson t
     WHERE t.tenant_id = tenant AND t.id > after AND t.active
       AND NOT EXISTS (SELECT FROM pgmnemo.passage p
                        WHERE p.tenant_id = tenant AND p.lesson_id = t.id OFFSET 0)
     ORDER BY t.id LIMIT most;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_bare IS 'the active lessons of a tenant that have no passages, in order of id: those after an id, at most so many';
CREATE FUNCTION pgmnemo.list_edges(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.lesson_edge
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.lesson_edge t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_edges IS 'the links of a tenant as they are kept; pgmnemo.edges shows those of the session''s tenant';
CREATE FUNCTION pgmnemo.list_grants(caller pgmnemo.caller DEFAULT pgmnemo._caller())
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
CREATE FUNCTION pgmnemo.list_lessons(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.lesson t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_lessons IS 'the lessons of a tenant as they are kept; pgmnemo.lessons shows those of the session''s tenant';
CREATE FUNCTION pgmnemo.list_passages(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.passage
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.passage t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_passages IS 'the passages of lessons of a tenant as they are kept; pgmnemo.passages shows those of the session''s tenant';
CREATE FUNCTION pgmnemo.list_postings(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.posting
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.posting t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_postings IS 'the postings of a tenant as they are kept; pgmnemo.postings shows those of the session''s tenant';
CREATE FUNCTION pgmnemo.list_settings()
RETURNS TABLE (name text, value text, initial text, range text, meaning text, warning text)
LANGUAGE sql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'pgmnemo.' || c.name, v.value, c.initial, pgmnemo._setting_range(c.kind, c.low, c.high, c.choices),
           c.meaning,
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
CREATE FUNCTION pgmnemo.list_vectors(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS SETOF pgmnemo.lesson_vector
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT t.* FROM pgmnemo.lesson_vector t WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.list_vectors IS 'the vectors of lessons and passages of a tenant as they are kept; pgmnemo.vectors shows those of the session''s tenant';
-- A table of the caller's own: no other role reads it, and it ends with the transaction, so that nothing of one client
-- is left to the next of a pooled session. Its comment says for which tenant it is.
CREATE FUNCTION pgmnemo.open_staging(tenant uuid DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF to_regclass('pg_temp.lesson_staging') IS NOT NULL THEN
        DROP TABLE pg_temp.lesson_staging;
    END IF;
    CREATE TEMPORARY TABLE lesson_staging ON COMMIT DROP AS SELECT (NULL::pgmnemo.lesson_input).* LIMIT 0;
    EXECUTE format('COMMENT ON TABLE pg_temp.lesson_staging IS %L', coalesce(tenant, pgmnemo._session_tenant()));
END
$$;

COMMENT ON FUNCTION pgmnemo.open_staging IS 'makes, for this transaction, role and tenant (NULL: the session''s), the temporary table lesson_staging, whose columns are those of pgmnemo.lesson_input: COPY a large set into it and call pgmnemo.store_staged()';
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE FUNCTION pgmnemo.recall(
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
    duplicates boolean     DEFAULT false,
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
    hidden         integer,
    equal_lessons  integer,
    repeats_question boolean,
    contributions  float8[]
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
    from_role text COLLATE "default" := pgmnemo._composed(recall.role);
    asked pgmnemo.question;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    ahead integer;  -- places that a newer lesson may come before an older one
    hidden integer;
    meant record;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(recall.k, recall.mode, meaning IS NOT NULL, words, moment, recall.floor);
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := CASE WHEN recall.filter IS NULL
                  THEN pgmnemo._scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at, moment,
                                      recall.known_at)
                  ELSE pgmnemo._asked_scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at,
                                            moment, recall.known_at, recall.filter) END;
    IF recall.known_at IS NOT NULL THEN
        scope.ended := pgmnemo._ended(tenant, scope.moment, recall.known_at);
    END IF;
    hidden := pgmnemo._hidden(scope);
    asked := pgmnemo._ask(scope, words, meant.vector, moment, s, recall.windows);
    asked.generation := meant.generation;
    asked.collapse := recall.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._against_background(scope, asked);
    asked.graph := meant.graph;
    asked.repeated := pgmnemo._repeated(scope, asked, recall.query_text, recall.mode, recall.duplicates);
    pool := pgmnemo._pool(scope, asked, s, recall.k, words IS NOT NULL, moment, NULL);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out INTO leads, shown, others, left_out
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    ahead := CASE WHEN recall.duplicates IS NULL OR cardinality(asked.since) > 0 THEN 0 ELSE 3 END;
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT r.*, l.id, l.role, l.topic, l.content, l.metadata, l.occurred_at AS happened_at, l.lexemes,
               l.project_id AS lies_in, l.external_id AS named, coalesce(l.occurred_at, l.stored_at) AS happened,
               row_number() OVER (ORDER BY r.repeats, r.score DESC, r.external_id, r.project_id) AS turn
          FROM (SELECT r.score, (r.own).*, f.fit, coalesce(shown[g.place], (r.own).lesson_id) AS shown,
                       coalesce(others[g.place], 0) AS others, r.own
                  FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
                 CROSS JOIN LATERAL pgmnemo._fit(r.alone, asked.ideal) f
                 CROSS JOIN LATERAL (SELECT array_position(leads, (r.own).lesson_id)) AS g (place)
                 WHERE (recall.floor IS NULL OR f.fit >= recall.floor AND NOT (r.own).repeats)
                   AND (r.own).lesson_id <> ALL (left_out)
                 ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id, (r.own).project_id
                 LIMIT recall.k + ahead) r
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = r.shown OFFSET 0) l
    )
    SELECT r.id, r.lies_in, r.named, r.role, r.topic, r.content, r.metadata, r.happened_at,
           (SELECT p.content
              FROM pgmnemo.passage p
              LEFT JOIN pgmnemo.lesson_vector v ON v.tenant_id = tenant AND v.lesson_id = r.id AND v.number = p.number
                                        AND v.generation = asked.generation
             WHERE p.tenant_id = tenant AND p.lesson_id = r.id
             ORDER BY pgmnemo._passage_worth(p.lexemes, v.embedding, asked, s), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.neighbours, r.recency, r.importance, r.graph,
           CASE WHEN r.repeats THEN 0 ELSE r.fit END, hidden, r.others, r.repeats,
           a.contributions
      FROM (SELECT b.*, coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn) AS rank
              FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                           array_agg(b.lexemes) OVER w AS texts_ahead
                      FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
             CROSS JOIN LATERAL (
                    SELECT min(o.place) AS place
                      FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                            AS o (score, happened, lexemes, place)
                     WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
             ORDER BY b.repeats, rank, b.happened DESC, b.turn LIMIT recall.k) r
     CROSS JOIN LATERAL pgmnemo._contributions(r.own, s) a
     ORDER BY r.repeats, r.rank, r.happened DESC, r.turn;
    IF NOT FOUND AND hidden > 0 AND recall.floor IS NULL THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.recall IS 'the k lessons with the highest score, ties by external id in C order, and after them what only repeats the question, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = share * (coverage * (bm25_weight * bm25 + passage_terms_weight * passage_terms) + passage_cosine_weight * near(passage_cosine) + pair_cosine_weight * near(pair_cosine) + cosine_weight * near(cosine) + temporal_weight * temporal), share assistant_weight for a lesson of role assistant, else 1; coverage how much of the question its words hold (pgmnemo._coverage); near how far a cosine lies from that of unrelated texts to 1 (pgmnemo._nearness, pgmnemo._center);
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
fit: the score, with the lesson''s own relevance in place of context, as a part of what a lesson that answers the question well would have, 0 to 1, comparable between questions (pgmnemo._ideal); hidden: lessons in scope that pgmnemo.gate_strict hides, counted to 1,000.
duplicates: false: lessons that say the same (pgmnemo._text_key) are one row, the newest of them (occurred_at, else stored_at; rather a statement than a question) with the score of the best, and equal_lessons the number of the others; true: each is a row of its own; NULL: so, and ranked by score alone, as pgmnemo.recall_lessons does;
a lesson that restates an older one that ranks up to three places before it (pgmnemo._restates: newer, at least 0.85 of its score, a quarter of the words) comes just before that, unless the question names a time or duplicates is NULL;
repeats_question: the lesson is the question itself (pgmnemo._repeats_question): it ranks last, and its fit is 0; contributions: what each component from bm25 to graph in the order of the formula adds to the score (pgmnemo._contributions), together the score;
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector, of the tenant''s dimension; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; what has expired or is superseded at valid_at, else at as_of, is left out; valid_at: only what had happened then; known_at: by what was stored, superseded and undone then; role: only lessons of that role; mode: hybrid, vector or keyword; filter: only lessons that match it (pgmnemo._filter); windows: times that count in place of those that query_text names, at most 100 ranges; floor: only rows whose fit is at least that, 0 to 1, NULL: all.
Candidates are the pool_depth (at least k) best of each leg, the neighbours of the neighbours_seeds most relevant, and what the graph adds, filled up to pool_depth (at least k) in key order, or, where no word of the question occurs and there is no vector, with what recency and importance lift most of the 10,000 lessons that happened last; where fewer than pool_depth (at least k) different texts are among them, of up to 3,200 more of each leg: the same for every k up to pool_depth. Errors: an argument out of range or a malformed filter (22023); all lessons in scope hidden by the gate (55000).';
CREATE FUNCTION pgmnemo.recall_lessons(
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
    SELECT r.lesson_id, r.in_project, r.external_id, r.said_by, r.topic, r.content, r.metadata, r.occurred_at,
           r.passage, r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal,
           r.context, r.neighbours, r.recency, r.importance, r.graph, r.fit, r.hidden
      FROM pgmnemo.recall(pgmnemo._session_tenant(), embedding, k, query_text, project_id, as_of, valid_at, role,
                          mode, filter, known_at, windows, floor, NULL) r;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'recall for the session''s tenant with duplicates NULL, as the protocol measures it: every lesson is a row of its own, ranked by its score alone';
-- Lessons in order of id, so that the work may stop at any time and go on from where it was.
CREATE FUNCTION pgmnemo.recut(
    tenant   uuid,
    language text    DEFAULT NULL,
    after    bigint  DEFAULT 0,
    most     integer DEFAULT 1000,
    dry_run  boolean DEFAULT false,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (changed integer, next_after bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    wanted text COLLATE "default" := recut.language;
    usual text COLLATE "default";
    ids bigint[];
    due bigint[];
    configs text[] COLLATE "default";
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    PERFORM pgmnemo._checked_language(wanted) WHERE wanted IS NOT NULL;
    IF dry_run IS DISTINCT FROM true THEN
        PERFORM pgmnemo._lock_tenant(tenant);
    END IF;
    usual := pgmnemo._tenant_language(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(recut.after, 0) ORDER BY l.id LIMIT most);
    SELECT coalesce(array_agg(c.id), '{}'), array_agg(c.config) INTO due, configs
      FROM (SELECT l.id, l.text_config,
                   pgmnemo._written_config(wanted, concat_ws(E'\n', l.topic, l.content), usual)::text AS config
              FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids) OFFSET 0) c
     WHERE c.text_config <> c.config;
    IF dry_run IS DISTINCT FROM true THEN
        UPDATE pgmnemo.lesson l SET text_config = d.config FROM unnest(due, configs) AS d (id, config)
         WHERE l.tenant_id = tenant AND l.id = d.id;
    END IF;
    changed := cardinality(due);
    next_after := ids[cardinality(ids)];
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.recut IS 'cuts the next lessons in order of id (after; at most so many, 1 to 10,000) into words anew, by a language: NULL is that of a text which is written now without one (pgmnemo.set_language), auto recognizes that of each, a text search configuration or a code of ISO 639 is that of all. Returns how many changed, or with dry_run would, and from where to go on: call again with after => next_after until that is NULL. Also lessons whose writer named a language. Waits for the tenant''s writers. tenant NULL: the session''s';
-- No vector of a former text gets through: changes of texts wait for the tenant, whose written row fails those with an
-- older snapshot; and where the snapshot here is older, the locks on the lessons fail.
CREATE FUNCTION pgmnemo.reembed(
    tenant     uuid,
    lesson_ids bigint[],
    numbers    smallint[],
    embeddings @extschema:vector@.vector[],
    marks      bigint[],
    embedder   text DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    space pgmnemo.embedding_space;
    written bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    SELECT s.* INTO space
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL FOR KEY SHARE;
    IF space.next_embedder <> reembed.embedder COLLATE "default" THEN
        RAISE EXCEPTION 'the new vectors of tenant % are by %, and not by %', quote_literal(tenant),
              quote_literal(space.next_embedder), quote_literal(reembed.embedder)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Somebody else has begun another change.';
    END IF;
    PERFORM pgmnemo._check_reembedded(tenant, space, lesson_ids, numbers, embeddings, marks);
    PERFORM pgmnemo._write_tenant(tenant);
    PERFORM FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (lesson_ids) ORDER BY l.id FOR SHARE;
    INSERT INTO pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number, embedding)
    SELECT tenant, space.next_generation, v.project_id, v.lesson_id, v.number,
           pgmnemo._aligned(g.embedding, space.next_dimensions)
      FROM unnest(lesson_ids, numbers, embeddings, marks) AS g (lesson_id, number, embedding, mark)
     CROSS JOIN LATERAL (
            SELECT v.lesson_id, v.number, v.project_id FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.lesson_id = g.lesson_id AND v.generation = space.generation
               AND v.number = g.number OFFSET 0) v
     CROSS JOIN LATERAL (
            SELECT l.content FROM pgmnemo.lesson l
             WHERE v.number = 0 AND l.tenant_id = tenant AND l.id = v.lesson_id
             UNION ALL
            SELECT p.content FROM pgmnemo.passage p
             WHERE v.number > 0 AND p.tenant_id = tenant AND p.lesson_id = v.lesson_id AND p.number = v.number
            OFFSET 0) t
     WHERE pgmnemo._text_mark(t.content) = g.mark
        ON CONFLICT (tenant_id, lesson_id, generation, number) DO UPDATE
       SET project_id = EXCLUDED.project_id, indexed = false, embedding = EXCLUDED.embedding;
    GET DIAGNOSTICS written = ROW_COUNT;
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g
                WHERE g.tenant_id = tenant AND g.generation = space.generation) THEN
        PERFORM pgmnemo._begin_graph(tenant, space.next_generation);
    END IF;
    PERFORM pgmnemo._leave();
    RETURN written;
END
$$;

COMMENT ON FUNCTION pgmnemo.reembed IS 'stores vectors of the new embedder of texts that pgmnemo.reembedding_due gave, at most 10,000 of them, with their marks, in the place of any that were stored before; what has another text by now, or is gone, is passed over; with embedder only if that is the new one. Returns how many were stored. Writers of changes wait meanwhile, readers do not. tenant NULL: the session''s. Errors: no change is going on (55000), vectors of another dimension, or what no lesson could be stored with (22023)';
CREATE FUNCTION pgmnemo.reembedding_due(
    tenant uuid,
    after  bigint  DEFAULT 0,
    most   integer DEFAULT 100,
    hold   boolean DEFAULT false,
    caller pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (lesson_id bigint, number smallint, content text, mark bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    space pgmnemo.embedding_space;
    last bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    IF hold THEN
        space := pgmnemo._changed_space(tenant);
    ELSE
        SELECT s.* INTO space
          FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL;
    END IF;
    last := (SELECT max(d.lesson_id) FROM pgmnemo._due(space, coalesce(after, 0), most) d);
    RETURN QUERY
    SELECT d.lesson_id, d.number, t.content, pgmnemo._text_mark(t.content)
      FROM (SELECT * FROM pgmnemo._due(space, coalesce(after, 0), most + 1000)) d
     CROSS JOIN LATERAL (
            SELECT l.content FROM pgmnemo.lesson l
             WHERE d.number = 0 AND l.tenant_id = tenant AND l.id = d.lesson_id
             UNION ALL
            SELECT p.content FROM pgmnemo.passage p
             WHERE d.number > 0 AND p.tenant_id = tenant AND p.lesson_id = d.lesson_id AND p.number = d.number
            OFFSET 0) t
     WHERE d.lesson_id <= last
     ORDER BY d.lesson_id, d.number;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.reembedding_due IS 'while a tenant''s embedder is being changed: the texts that have a vector of the old one and none of the new, of lessons (number 0: the content) and of passages (from 1), whether active, forgotten, superseded or expired; of the next lessons after the id after, until they are at least most (1 to 10,000), a lesson''s always together. mark tells pgmnemo.reembed of which text a vector is. No rows: none is due after that id, or no change is going on. With hold whoever stores vectors waits until the transaction ends, so that nothing more becomes due before pgmnemo.finish_reembedding: for the last few. tenant NULL: the session''s';
-- With the rights of whoever calls, who is the extension's owner or a superuser.
CREATE FUNCTION pgmnemo.renew_caller_key()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pgmnemo.caller_key SET key = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.renew_caller_key() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.renew_caller_key() IS 'makes a new secret by which callers are proved; after a copy of the database with its files or from a template, which holds the old one. A call that is under way may end with insufficient_privilege: repeat it. Only the extension''s owner may';
-- One statement takes the postings away and lists the lessons to build them from: a lesson that another session
-- stores between two would otherwise keep its own postings and get them again. Changes of those listed wait.
CREATE FUNCTION pgmnemo.repair(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
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
    PERFORM pgmnemo._fresh_tenant(tenant);
    PERFORM pgmnemo._drop_pieces(tenant, ARRAY(SELECT c.number FROM pgmnemo.piece c WHERE c.tenant_id = tenant));
    IF EXISTS (SELECT FROM pgmnemo._stale_lessons(tenant)) THEN
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
        PERFORM pgmnemo._repair_lessons(tenant);
    END IF;
    PERFORM pgmnemo._repair_passages(tenant);
    PERFORM pgmnemo._repair_vectors(tenant);
    PERFORM pgmnemo._repair_graphs(tenant);
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
    IF EXISTS (SELECT FROM pgmnemo._supersession_behind(tenant)) THEN
        ALTER SEQUENCE pgmnemo.supersession_number_seq NO CYCLE;
        PERFORM setval('pgmnemo.supersession_number_seq', b.greatest_number)
           FROM pgmnemo._supersession_behind(tenant) b;
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

COMMENT ON FUNCTION pgmnemo.repair IS 'mends what pgmnemo.check finds: derives stale lexemes and unsound passages and vectors anew, makes a graph anew that does not hold what it should, and rebuilds the entries of metadata and all postings of the tenant from its lessons, in one transaction, sorted and in full blocks; sets the sequences of ids and of supersessions forward where they are behind. Metadata that cannot be written out stay, and a WARNING names the first: to store such a lesson with other metadata mends it. Holds the tenant''s writers up, readers never. Returns how many active lessons there are; VACUUM pgmnemo.posting afterwards';
CREATE FUNCTION pgmnemo.repair_index()
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.repair(pgmnemo._session_tenant());
END
$$;

COMMENT ON FUNCTION pgmnemo.repair_index IS 'repair for the session''s tenant';
-- One revoke at a time, so that of the last one's transaction may be told whether any came after a snapshot.
CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name)
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
CREATE FUNCTION pgmnemo.set_embedder(
    tenant     uuid,
    name       text,
    dimensions integer DEFAULT NULL,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told text COLLATE "default" := set_embedder.name;
    space pgmnemo.embedding_space;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_embedder(coalesce(told, ''), set_embedder.dimensions);
    LOOP
        SELECT s.* INTO space FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        IF set_embedder.dimensions IS NULL THEN
            RAISE EXCEPTION 'tenant % has no vectors', quote_literal(tenant)
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Say of which dimension they will be.';
        END IF;
        INSERT INTO pgmnemo.embedding_space (tenant_id, generation, dimensions)
        VALUES (tenant, 1, set_embedder.dimensions) ON CONFLICT DO NOTHING;
    END LOOP;
    IF space.dimensions <> set_embedder.dimensions OR space.embedder <> told THEN
        RAISE EXCEPTION 'the vectors of tenant % are of % dimensions, by %, and not of %, by %', quote_literal(tenant),
              space.dimensions, coalesce(quote_literal(space.embedder), 'nobody said whom'),
              coalesce(set_embedder.dimensions, space.dimensions), quote_literal(told)
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Embed with that one, or change it with pgmnemo.begin_reembedding.';
    END IF;
    UPDATE pgmnemo.embedding_space s SET embedder = told WHERE s.tenant_id = tenant AND s.embedder IS NULL;
    PERFORM pgmnemo._leave();
    RETURN space.embedder IS NULL;
END
$$;

COMMENT ON FUNCTION pgmnemo.set_embedder IS 'notes what the tenant''s vectors are made by, and of a tenant without any of which dimension they will be; false: it was noted. The engine compares names alone. Refused where another embedder or dimension is noted. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.set_language(
    tenant   uuid,
    language text,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given text COLLATE "default" := set_language.language;
    own text;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    own := pgmnemo._checked_language(regexp_replace(given, '^auto:', ''));
    IF own <> 'auto' AND starts_with(given, 'auto:') THEN
        own := 'auto:' || own;
    END IF;
    PERFORM pgmnemo._lock_tenant(tenant);
    UPDATE pgmnemo.tenant t SET language = nullif(own, 'auto') WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
    RETURN own;
END
$$;

COMMENT ON FUNCTION pgmnemo.set_language IS 'sets the language of texts that are written without one, by a session whose pgmnemo.text_config is auto: a text search configuration or a code of ISO 639 is that of all, auto recognizes the language of each, and auto:LANGUAGE, such as auto:de, takes LANGUAGE (else english) for texts that are too short to tell. Returns it as pgmnemo.language tells it. What is there stays as it is cut: pgmnemo.recut changes it. Waits for the tenant''s writers. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.similar_pairs(
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
    serving smallint;
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
    serving := pgmnemo._generation(tenant);
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
              FROM pgmnemo.lesson_vector a
              JOIN pgmnemo.lesson_vector b ON b.tenant_id = tenant AND b.lesson_id = n.id AND b.generation = serving
                                   AND b.number = 0
             WHERE a.tenant_id = tenant AND a.lesson_id = o.id AND a.generation = serving AND a.number = 0) c
     WHERE c.cosine >= least_cosine OR w.words >= least_words
     ORDER BY n.id, o.id;
    IF NOT FOUND AND last IS NOT NULL THEN
        RETURN QUERY SELECT NULL::bigint, NULL::bigint, NULL, NULL, NULL::float8, NULL::float8, last;
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.similar_pairs IS 'lessons that say nearly the same, for whoever merges them; nothing is changed. Looks at the next lessons in order of id (after; at most so many, 1 to 1,000) that a recall could answer with, and pairs each with older ones of the project, or with NULL of the tenant: cosine of the lessons as a whole at least least_cosine, or words, lexemes that both have / lexemes that either has, at least least_words (0.5 to 1; NULL: not by this; lessons of more than 2,000 different lexemes are not compared so). first_id is the older, so each pair comes once. Call again with after => next_after until no row comes; a row without ids says that these lessons had no pair. cosine is NULL where one of them has no vector; vectors are kept at half precision, so ask for 0.999 where they should be equal. Not found: beyond the 50 nearest of one lesson by vector, and the 50 that share most of its rarest lexemes; by words, those of a lesson each of whose lexemes is in more than 2,000 others. A call compares each of its lessons with every vector in scope: 100 lessons of 10,000 take about a second. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.store(
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
    language      text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one pgmnemo.lesson_input;
    outcome text;
    problem text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    problem := pgmnemo._size_problem(content, topic, role, commit_sha, artifact_hash, metadata, passages);
    IF problem IS NOT NULL THEN
        PERFORM pgmnemo._refuse_lesson(1, external_id, problem);
    END IF;
    one := ROW(
        project_id, pgmnemo._composed(external_id), content, pgmnemo._embedding(embedding), pgmnemo._composed(role),
        pgmnemo._composed(topic),
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        language);
    outcome := (SELECT s.outcome FROM pgmnemo._store(tenant, ARRAY[one], clear) s);
    PERFORM pgmnemo._leave();
    RETURN outcome;
END
$$;

COMMENT ON FUNCTION pgmnemo.store IS 'stores one lesson as store_set stores a set; returns inserted, unchanged, updated, unembedded or restored. clear names what shall have no value afterwards, among embedding, passages, role, topic, importance, metadata, occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position: what is left out stays. embedding is real[] or vector, passage_embeddings a vector for each of passages: of 1 to 4,000 dimensions, all of a tenant of as many as its first. language: what the text is cut into words by (pgmnemo._language_config): auto, a text search configuration, or a code of ISO 639 such as de; NULL: pgmnemo.text_config';
CREATE FUNCTION pgmnemo.store_lesson(
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
    language      text        DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store(
        pgmnemo._session_tenant(), project_id, external_id, content, embedding, role, topic, importance, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        clear, language);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'store for the session''s tenant';
CREATE FUNCTION pgmnemo.store_lessons(lessons pgmnemo.lesson_input[])
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY SELECT * FROM pgmnemo.store_set(pgmnemo._session_tenant(), lessons);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lessons IS 'store_set for the session''s tenant';
-- The lesson's row is written as well, so that whoever changes its text at the same time meets a conflict, whatever
-- the isolation level.
CREATE FUNCTION pgmnemo.store_passages(
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
    space pgmnemo.embedding_space;
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
                         WHERE p.tenant_id = tenant AND p.lesson_id = store_passages.lesson_id);
    IF bare THEN
        one.passages := passages;
        one.passage_embeddings := passage_embeddings;
        space := pgmnemo._space(tenant, ARRAY[one]);
        PERFORM pgmnemo._write_passages(tenant, ARRAY[store_passages.lesson_id], ARRAY[one], space);
        IF space.generation IS NOT NULL THEN
            PERFORM pgmnemo._share_merging(tenant, space.generation, 1, (pgmnemo._settings()).exact_scan_limit);
        END IF;
    END IF;
    PERFORM pgmnemo._leave();
    RETURN bare;
END
$$;

COMMENT ON FUNCTION pgmnemo.store_passages IS 'gives a lesson that has no passages these, with a vector of the tenant''s dimension for each or none; returns false, and changes nothing, where it has some';
CREATE FUNCTION pgmnemo.store_set(tenant uuid, lessons pgmnemo.lesson_input[],
                                  caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT * FROM pgmnemo._store(tenant, pgmnemo._composed_input(lessons));
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.store_set IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, and nothing that is given differs: nothing is written); updated (same key, other attributes); unembedded (updated, and the vector of the old text is gone with it, for none was given for the new); restored (softly forgotten before, or superseded and given another text). What is NULL stays as it is';
-- In the order in which they were copied, with one batch at a time in memory. Two sessions that load some of the same
-- keys in different orders, in more than one batch each, may end in a deadlock, after which the loser repeats it. It
-- reads the table with the rights of whoever calls: what somebody has put in its place must not run with more.
CREATE FUNCTION pgmnemo.store_staged(batch_size integer DEFAULT 5000)
RETURNS TABLE (outcome text, lessons bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    most constant integer := 10000;
    most_bytes constant bigint := 20000000;  -- of a batch
    bytes bigint := 0;
    tenant uuid;
    one pgmnemo.lesson_input;
    batch pgmnemo.lesson_input[] := '{}';
    counts jsonb := '{}';
    rest bigint;
BEGIN
    tenant := (SELECT d.description FROM pg_class c
                 JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
                WHERE c.oid = to_regclass('pg_temp.lesson_staging')
                  AND c.relowner = to_regrole(quote_ident(current_user))
                  AND pg_input_is_valid(d.description, 'uuid'));
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'role % has no staging table in this transaction', quote_ident(current_user)
        USING ERRCODE = 'undefined_table',
              HINT = 'BEGIN, call pgmnemo.open_staging() and COPY into lesson_staging first: it ends with the '
                     'transaction.';
    ELSIF batch_size IS NULL OR batch_size NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'batch_size is %, but must be from 1 to %', coalesce(batch_size::text, 'NULL'), most
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    rest := (SELECT count(*) FROM pg_temp.lesson_staging);
    FOR one IN SELECT i.* FROM pg_temp.lesson_staging i ORDER BY i.ctid LOOP
        batch := batch || one;
        rest := rest - 1;
        bytes := bytes + pg_column_size(one);
        IF cardinality(batch) = batch_size OR bytes > most_bytes OR rest = 0 THEN
            SELECT counts || jsonb_object_agg(t.outcome, t.n + coalesce((counts ->> t.outcome)::bigint, 0)) INTO counts
              FROM (SELECT o.outcome, count(*) AS n FROM pgmnemo.store_set(tenant, batch) o GROUP BY 1) t;
            batch := '{}';
            bytes := 0;
        END IF;
    END LOOP;
    TRUNCATE pg_temp.lesson_staging;
    RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c ORDER BY c.key COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.store_staged IS 'stores what was copied into lesson_staging for the tenant that open_staging was called for, as store_set does, batch by batch (1 to 10,000 lessons, 20,000,000 bytes) in one transaction; empties the table; returns how many lessons had each outcome';
CREATE FUNCTION pgmnemo.supersede(
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
CREATE FUNCTION pgmnemo.sweep(
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
CREATE FUNCTION pgmnemo.timeline(
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
    -- each step looks its links up by an index (OFFSET 0): a join could be planned by statistics that are not there
    WITH RECURSIVE before (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.old_id, b.step - 1
          FROM before b
         CROSS JOIN LATERAL (SELECT x.old_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.new_id = b.id
                                AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x
    ), after (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.new_id, a.step + 1
          FROM after a
         CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.new_id IS NOT NULL
                                AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x
    )
    SELECT w.step, l.id, l.project_id, l.external_id, l.content, l.active, coalesce(l.occurred_at, l.stored_at),
           x.valid_from, x.reason, l.stored_at, x.recorded_at
      FROM (SELECT * FROM before UNION SELECT * FROM after) w
     CROSS JOIN LATERAL (SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = w.id OFFSET 0) l
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x ON true
     WHERE timeline.known_at IS NULL OR l.stored_at <= timeline.known_at
     ORDER BY w.step, l.external_id, l.project_id;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.timeline IS 'a lesson, those whose place it took and those that took its own, oldest first, as known at a time (NULL: now): step below 0: before it, 0: itself, above 0: after it; valid_from: when it happened (occurred_at, else stored_at); valid_to: from when on it no longer holds, with the reason, and recorded_at: when the memory learned that; NULL: it holds. active: not softly forgotten. tenant NULL: the session''s';
CREATE FUNCTION pgmnemo.undo_supersede(tenant uuid, project_id uuid, old text,
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
CREATE FUNCTION pgmnemo.unlink(
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
CREATE FUNCTION pgmnemo.unlink_lessons(project_id uuid, source text, target text, kind text,
                                       target_project uuid DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.unlink(pgmnemo._session_tenant(), project_id, source, target, kind, target_project);
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink_lessons IS 'unlink for the session''s tenant';
-- What a lesson says besides its text. The whole of it is checked as if it were stored.
CREATE FUNCTION pgmnemo.update(
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
    one.topic := pgmnemo._composed(update.topic);
    one.role := pgmnemo._composed(update.role);
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
-- With the rights of whoever calls, who is the extension's owner or a superuser.
CREATE FUNCTION pgmnemo.upkeep(most integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '10 seconds';
    budget bigint := most;
    run pgmnemo.upkeep_run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    one record;
BEGIN
    PERFORM pgmnemo._check_most(most, 1000000);
    FOR one IN SELECT * FROM pgmnemo._upkeep_waiting() LOOP
        run := pgmnemo._upkeep_one(run, one.tenant, one.generation, one.waiting, one.due,
                                   CASE WHEN clock_timestamp() < enough THEN budget ELSE 0 END);
        IF one.due THEN
            budget := budget - one.waiting;
        END IF;
    END LOOP;
    RETURN pgmnemo._upkeep_end(run);
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.upkeep(integer) FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.upkeep(integer) IS 'what pgmnemo.upkeep_each does, in one transaction: what it changes it holds to its end. Of vectors and small blocks at most so many together (1 to 1,000,000), and it begins nothing after ten seconds. Returns how many are left: call again until it is 0. Only the extension''s owner may';
-- As pgmnemo.upkeep, but what it holds of a tenant it gives back before it turns to the next, and the tenants with
-- least to do come first. A procedure that commits has no settings of its own: what is called before the first SET
-- names its schema.
CREATE PROCEDURE pgmnemo.upkeep_each(most integer DEFAULT 1000, INOUT "left" bigint DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    run pgmnemo.upkeep_run;
    one record;
BEGIN
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM pgmnemo._check_most(most, 1000000);
    run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    FOR one IN SELECT w.* FROM pgmnemo._upkeep_waiting() WITH ORDINALITY AS w
                ORDER BY max(w.waiting) OVER (PARTITION BY w.tenant), w.tenant, w.ordinality LOOP
        run := pgmnemo._upkeep_one(run, one.tenant, one.generation, one.waiting, one.due, most);
        IF one.due THEN
            COMMIT;
            SET LOCAL search_path = pg_catalog, pg_temp;
        END IF;
    END LOOP;
    "left" := pgmnemo._upkeep_end(run);
END
$$;

REVOKE ALL ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) FROM PUBLIC;
COMMENT ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, of each at most so many (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.compact), unless their writers are at work, each in a transaction of its own, those with least to do first, and drops indexes that no tenant has any more. It begins nothing more of one after five seconds (100 vectors, up to three pieces of 16,384 lessons, 20,000 lists of small blocks): the next call goes on; a lost index of more than 4,000,000 numbers is filled so from the empty one, which pgmnemo.index builds at once. "left" is how many such vectors and blocks are left, with all vectors of a lost index. Only the extension''s owner may, and not within a transaction';
CREATE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '1.0.0' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
-- Within a verb current_user is the extension's owner. A view reads its tables with its owner's rights, but
-- current_user in it stays the role that reads it: so nobody can get a proof of being somebody else, not even code of
-- a stranger that a superuser's ANALYZE or REINDEX runs. Bound to the server process and the transaction, a proof is
-- worth nothing elsewhere or later. The key goes into functions in C alone: as the argument of one in SQL it would
-- stand in that one's plan, which debug_print_plan shows.
CREATE VIEW pgmnemo.calling AS
SELECT current_user AS name,
       sha256(k.key || int4send(pg_backend_pid()) || timestamptz_send(now())
              || convert_to(current_user::text, 'UTF8')) AS proof
  FROM pgmnemo.caller_key k;

COMMENT ON VIEW pgmnemo.calling IS 'the role that reads it, with a proof for the verbs, which holds in this transaction alone';
-- Behind a function, so that no plan of a reader's own counts other tenants' rows.
CREATE VIEW pgmnemo.edges AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c CROSS JOIN LATERAL pgmnemo.list_edges(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.edges IS 'the links of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
-- Reads with its owner's rights what a role in pg_monitor may know: figures alone, of no tenant, and no text.
CREATE VIEW pgmnemo.health AS
SELECT pgmnemo.version() AS version, u.began AS upkeep_began, u.seconds AS upkeep_seconds, u.merged AS last_merge,
       u.vectors_waiting, u.blocks_waiting, u."left" AS upkeep_left, u.skipped AS tenants_skipped,
       (SELECT count(DISTINCT g.tenant_id) FROM pgmnemo.tenant_grant g) AS tenants,
       (SELECT count(*) FROM pgmnemo.vector_graph) AS graphs,
       (SELECT count(*) FROM pgmnemo.vector_graph g
         WHERE NOT EXISTS (SELECT FROM pg_class c
                            WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname = g.name AND c.relkind = 'r'))
           AS graphs_missing,
       s.lessons, s.live_rows, s.dead_rows, s.bytes, s.graph_bytes, s.last_vacuum
  FROM pgmnemo.upkeep_run u
 CROSS JOIN (
        SELECT (sum(t.n_live_tup) FILTER (WHERE t.relname = 'lesson'))::bigint AS lessons,
               sum(t.n_live_tup)::bigint AS live_rows, sum(t.n_dead_tup)::bigint AS dead_rows,
               sum(pg_total_relation_size(t.relid))::bigint AS bytes,
               coalesce(sum(pg_total_relation_size(t.relid)) FILTER (WHERE t.relname ~ '^graph_\d+$'), 0)::bigint
               AS graph_bytes,
               min(greatest(t.last_vacuum, t.last_autovacuum)) FILTER (WHERE t.n_dead_tup > 1000) AS last_vacuum
          FROM pg_stat_user_tables t WHERE t.schemaname = 'pgmnemo') s;

COMMENT ON VIEW pgmnemo.health IS 'one row for monitoring, for members of pg_monitor: what the last upkeep left, how many tenants and HNSW indexes there are, rows and bytes of all tables as PostgreSQL''s statistics estimate them';
-- Behind a function, so that no plan of a reader's own counts other tenants' rows.
CREATE VIEW pgmnemo.lessons AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_lessons(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.lessons IS 'the lessons of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
-- Behind a function, so that no plan of a reader's own counts other tenants' rows.
CREATE VIEW pgmnemo.passages AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_passages(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.passages IS 'the passages of lessons of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
-- Behind a function, so that no plan of a reader's own counts other tenants' rows.
CREATE VIEW pgmnemo.postings AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_postings(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.postings IS 'the postings of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
-- Behind a function, so that no plan of a reader's own counts other tenants' rows.
CREATE VIEW pgmnemo.vectors AS
SELECT t.* FROM (SELECT pgmnemo.current_tenant() AS tenant OFFSET 0) c
 CROSS JOIN LATERAL pgmnemo.list_vectors(c.tenant) t
 WHERE c.tenant IS NOT NULL;

COMMENT ON VIEW pgmnemo.vectors IS 'the vectors of lessons and passages of the tenant that pgmnemo.tenant_id names, read only; nothing without a grant of it';
-- Where lessons change all day a fifth of dead rows, at which PostgreSQL begins, is much to read. What somebody has set
-- on a table stays.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT c.oid::regclass AS name FROM pg_catalog.pg_class c
         WHERE c.relnamespace = 'pgmnemo'::regnamespace
           AND c.relname IN ('lesson', 'lesson_entry', 'lesson_vector', 'passage', 'piece_term', 'posting')
           AND NOT EXISTS (SELECT FROM unnest(c.reloptions) o WHERE starts_with(o, 'autovacuum_'))
    LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.05, '
                       'autovacuum_analyze_scale_factor = 0.05)', item.name);
    END LOOP;
END
$$;
-- What pg_dump takes along: grants of roles that exist, and what lessons are. Postings are not dumped: the triggers
-- build them anew from the lessons. Graphs are tables of no extension: a dump has them as they are.
SELECT pg_catalog.pg_extension_config_dump(
    'pgmnemo.tenant_grant', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = grantee)');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant', 'WHERE language IS NOT NULL');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.passage', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.embedding_space', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_vector', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_edge', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession_number_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.vector_graph', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.graph_seq', '');
-- The second wall behind the verbs. Forced, so that the tables' owner, who is the verbs' own role, is bound as well;
-- only superusers and BYPASSRLS roles are not. The sub-select makes PostgreSQL ask once a statement, not once a row.
ALTER TABLE pgmnemo.lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_edge ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.passage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_vector ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.embedding_space ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_project ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.piece_term ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.supersession ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.tenant ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Not forced and without a policy: nobody but the owner sees a row, not even who may read all data.
ALTER TABLE pgmnemo.caller_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.tenant_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.vector_graph ENABLE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.lesson USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_edge USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.passage USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_vector USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.embedding_space USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.posting USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_lesson USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_project USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.piece_term USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_entry USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.supersession USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.tenant USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
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
GRANT SELECT ON
    pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.vectors, pgmnemo.edges, pgmnemo.postings
    TO PUBLIC;
GRANT SELECT ON pgmnemo.health TO pg_monitor;
-- Run with the rights of whoever calls, before or beside a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._session_tenant,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config, pgmnemo._zone,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number, pgmnemo._time_words, pgmnemo._times_in_english, pgmnemo._folded
    TO PUBLIC;
