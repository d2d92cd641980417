-- What a shard has besides the extension: the doors (generated, shards/doors.py) through which the router calls, and
-- what they ask. Only the router may log in on a shard: whoever calls the extension there past the doors is not held up
-- by a move, and what he writes during one may be left behind.
CREATE SCHEMA pgmnemo_shard;

CREATE TABLE pgmnemo_shard.identity (
    name text   NOT NULL,
    seed bigint NOT NULL
);
ALTER TABLE pgmnemo_shard.identity ADD COLUMN IF NOT EXISTS verifier text,
    ADD COLUMN IF NOT EXISTS address text, ADD COLUMN IF NOT EXISTS capacity bigint;
COMMENT ON TABLE pgmnemo_shard.identity IS 'one row: the shard''s name, address and capacity in the directory, what the locks'' keys are made with, and the SCRAM verifier of the password of the logins, which the router alone knows (NULL: none)';
INSERT INTO pgmnemo_shard.identity (name, seed, verifier, address, capacity)
SELECT {name}, ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint, {verifier}, {address}, {capacity}
 WHERE NOT EXISTS (SELECT FROM pgmnemo_shard.identity);

CREATE TABLE pgmnemo_shard.away (
    tenant_id uuid PRIMARY KEY,
    since     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pgmnemo_shard.away IS 'tenants that have left: the doors refuse whoever was still sent here for one';

CREATE TABLE pgmnemo_shard.mark (
    tenant_id uuid   PRIMARY KEY,
    source    text   NOT NULL,
    target    text   NOT NULL,
    number    bigint NOT NULL
);
COMMENT ON TABLE pgmnemo_shard.mark IS 'tenants on their way, on both ends: the source''s row is replicated, so where a number has arrived, all that was committed before it has; while there is a row, changes of the tenant are noted';

CREATE TABLE pgmnemo_shard.changed (
    tenant_id uuid   NOT NULL,
    lesson_id bigint NOT NULL
);
COMMENT ON TABLE pgmnemo_shard.changed IS 'lessons of tenants on their way of which a row was written, and 0 for what is of no lesson: what a mover compares again';

CREATE TABLE pgmnemo_shard.beat (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL
);
INSERT INTO pgmnemo_shard.beat VALUES (true, now()) ON CONFLICT DO NOTHING;
COMMENT ON TABLE pgmnemo_shard.beat IS 'the primary''s clock: a replica that has it has everything that was committed before';

CREATE FUNCTION pgmnemo_shard.beat() RETURNS timestamptz LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ UPDATE pgmnemo_shard.beat SET at = clock_timestamp() RETURNING at $$;

-- The keys are secret, so that nobody can hold a tenant's writers up by taking its lock.
CREATE FUNCTION pgmnemo_shard._key(tenant uuid) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT hashtextextended(tenant::text, i.seed) FROM pgmnemo_shard.identity i $$;

-- Takes the tenant's lock with the others, for whom a grant reaches or the operator. Nobody else gets even a lock, so he
-- is refused here: the verb might see a grant that has come since, and would write past a move. Grants and `away` are
-- read in one snapshot: where the tenant has left, so have its grants, and its callers are to call again.
CREATE FUNCTION pgmnemo_shard._share(tenant uuid) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    may boolean;
    away boolean;
BEGIN
    SELECT r.rolsuper OR pgmnemo._reaches(r.rolname, tenant),
           EXISTS (SELECT FROM pgmnemo_shard.away a WHERE a.tenant_id = tenant) INTO may, away
      FROM pg_roles r WHERE r.rolname = session_user;
    IF may OR tenant IS NULL THEN  -- the verb says what is wrong with NULL, which locks nothing
        PERFORM pg_advisory_xact_lock_shared(pgmnemo_shard._key(tenant));
    ELSIF away THEN
        PERFORM pgmnemo_shard._refuse(tenant);
    ELSE
        RAISE EXCEPTION 'role % has no grant for tenant %', quote_ident(session_user), quote_literal(tenant)
        USING ERRCODE = 'insufficient_privilege',
              HINT = 'The owner of the extension grants it with pgmnemo.grant_tenant(tenant, role).';
    END IF;
END
$$;

-- Whoever moves a tenant holds this lock, on both ends, to the end of its session.
CREATE FUNCTION pgmnemo_shard._mover(tenant uuid) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT hashtextextended('move ' || tenant, i.seed) FROM pgmnemo_shard.identity i $$;

-- Tells what is true now, so it is volatile: its caller's snapshot may be older than the end of the move.
CREATE FUNCTION pgmnemo_shard._refuse(tenant uuid) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moving constant boolean := EXISTS (SELECT FROM pgmnemo_shard.mark m WHERE m.tenant_id = tenant);
    mover constant bigint := pgmnemo_shard._mover(tenant);
    at_work constant boolean := EXISTS (
        SELECT FROM pg_locks k
         WHERE k.locktype = 'advisory' AND k.objsubid = 1 AND k.granted
           AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
           AND (k.classid::bigint << 32 | k.objid::bigint) = mover);
BEGIN
    RAISE EXCEPTION 'tenant % % to another shard', tenant, CASE WHEN moving THEN 'is on its way' ELSE 'has moved' END
    USING ERRCODE = 'serialization_failure', HINT = CASE
        WHEN NOT moving THEN 'Call again: the router knows where it is.'
        WHEN at_work THEN 'Call again: its move is ending just now.'
        ELSE 'Its move was cut short; nothing is lost. The operator ends it with python -m shards recover.' END;
END
$$;

-- How a door for writing begins. Writers of a tenant share a lock; a move takes it alone while it switches, so a writer
-- waits, and is then refused once. The lock is taken in an earlier statement than the table is read in, and READ
-- COMMITTED gives that a snapshot of its own: a writer who waited sees what the move did.
CREATE FUNCTION pgmnemo_shard._enter(tenant uuid) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a door to a shard opens in READ COMMITTED only, not in %', current_setting('transaction_isolation')
        USING ERRCODE = 'invalid_transaction_state', HINT = 'ALTER ROLE … RESET default_transaction_isolation on the shard.';
    END IF;
    PERFORM pgmnemo_shard._share(tenant);
    IF EXISTS (SELECT FROM pgmnemo_shard.away a WHERE a.tenant_id = tenant) THEN
        PERFORM pgmnemo_shard._refuse(tenant);
    END IF;
    PERFORM set_config('pgmnemo_shard.note', CASE WHEN EXISTS (
        SELECT FROM pgmnemo_shard.mark m WHERE m.tenant_id = tenant) THEN 'on' ELSE 'off' END, true);
END
$$;

-- Asked in the same statement and so in the same snapshot as what a door for reading answers: the tenant's rows are
-- there where this says so. While a move switches, a reader who came late waits, so that he is refused once only.
CREATE FUNCTION pgmnemo_shard._here(tenant uuid) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM pgmnemo_shard.away a WHERE a.tenant_id = tenant) THEN
        IF pg_is_in_recovery() THEN
            PERFORM pg_sleep(0.1);
        ELSE
            PERFORM pgmnemo_shard._share(tenant);
        END IF;
        PERFORM pgmnemo_shard._refuse(tenant);
    END IF;
    RETURN true;
END
$$;

-- On a replica: waits until it has everything that is older than `staleness`, for a second at most. The replica then
-- answers in a later statement, whose snapshot has it too.
CREATE FUNCTION pgmnemo_shard._fresh(staleness interval) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    patience constant interval := '1 second';
    began constant timestamptz := clock_timestamp();
    beaten timestamptz;
BEGIN
    IF NOT pg_is_in_recovery() THEN
        RETURN;
    END IF;
    LOOP
        SELECT b.at INTO beaten FROM pgmnemo_shard.beat b;
        EXIT WHEN beaten >= clock_timestamp() - staleness;
        IF clock_timestamp() > began + patience THEN
            RAISE EXCEPTION 'the replica of shard % cannot prove to be less than % s behind, and staleness is % s',
                  (SELECT i.name FROM pgmnemo_shard.identity i),
                  round(extract(epoch FROM clock_timestamp() - beaten)::numeric, 1),
                  round(extract(epoch FROM staleness)::numeric, 3)
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Allow more, or leave staleness out to read from the primary.';
        END IF;
        PERFORM pg_sleep(0.005);
    END LOOP;
END
$$;

-- How every door begins: with the caller's settings, for the transaction of this one call. An upgrade holds the table
-- alone, so a call waits here until it is done, before any of the extension's functions is looked up.
CREATE FUNCTION pgmnemo_shard._apply(settings jsonb) RETURNS void LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM pgmnemo_shard.identity;
    IF settings IS NOT NULL THEN
        PERFORM set_config('pgmnemo.' || s.key, s.value, true)
           FROM jsonb_each_text(settings) s
          WHERE s.key = ANY ({names}::text[]);
    END IF;
END
$$;

CREATE FUNCTION pgmnemo_shard.bytes() RETURNS bigint LANGUAGE sql VOLATILE
AS $$ SELECT pg_database_size(current_database()) $$;

CREATE FUNCTION pgmnemo_shard.state() RETURNS TABLE (shard text, version text, tenants bigint, bytes bigint, away bigint)
LANGUAGE sql VOLATILE
AS $$
    SELECT i.name, pgmnemo.version(),
           (SELECT count(*) FROM (SELECT tenant_id FROM pgmnemo.tenant_grant UNION SELECT tenant_id FROM pgmnemo.lesson) t),
           pg_database_size(current_database()), (SELECT count(*) FROM pgmnemo_shard.away)
      FROM pgmnemo_shard.identity i
$$;

CREATE FUNCTION pgmnemo_shard.holds(tenant uuid) RETURNS boolean LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pgmnemo.tenant_grant g WHERE g.tenant_id = tenant)
        OR EXISTS (SELECT FROM pgmnemo.lesson l WHERE l.tenant_id = tenant)
$$;

-- Bytes are each tenant's share of the extension's tables by its lessons; `closed`: the doors refuse it.
CREATE FUNCTION pgmnemo_shard.tenants() RETURNS TABLE (tenant_id uuid, lessons bigint, bytes bigint, closed boolean)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    WITH size AS (
        SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c
         WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind = 'r'),
    held AS (
        SELECT t.tenant_id, sum(t.lessons) AS lessons
          FROM (SELECT l.tenant_id, count(*) AS lessons FROM pgmnemo.lesson l GROUP BY 1
                UNION ALL SELECT g.tenant_id, 0 FROM pgmnemo.tenant_grant g) t GROUP BY 1)
    SELECT h.tenant_id, h.lessons::bigint,
           (s.bytes * h.lessons / greatest(sum(h.lessons) OVER (), 1))::bigint,
           EXISTS (SELECT FROM pgmnemo_shard.away a WHERE a.tenant_id = h.tenant_id)
      FROM held h, size s ORDER BY 1
$$;

CREATE FUNCTION pgmnemo_shard.list_grants()
RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name) LANGUAGE sql STABLE
AS $$ SELECT g.tenant_id, g.grantee::text, g.granted_at, g.granted_by FROM pgmnemo.tenant_grant g $$;

CREATE FUNCTION pgmnemo_shard.grant_tenant(tenant uuid, grantee name) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ BEGIN PERFORM pgmnemo_shard._enter(tenant); PERFORM pgmnemo.grant_tenant(tenant, grantee); RETURN true; END $$;

CREATE FUNCTION pgmnemo_shard.revoke_tenant(tenant uuid, grantee name) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ BEGIN PERFORM pgmnemo_shard._enter(tenant); RETURN pgmnemo.revoke_tenant(tenant, grantee); END $$;

CREATE FUNCTION pgmnemo_shard.create_login(login text) RETURNS boolean LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    verifier text := (SELECT i.verifier FROM pgmnemo_shard.identity i);
BEGIN
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = login) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE ROLE %I LOGIN', login) || coalesce(format(' PASSWORD %L', verifier), '');
    RETURN true;
END
$$;

-- What a move needs to know and to derive. Writers note which lessons they change, while _enter has found the tenant on
-- its way: of all others the condition is all that a row costs. Without a key, so that no writer waits for another.
CREATE FUNCTION pgmnemo_shard._note() RETURNS trigger LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
    lesson bigint := 0;
BEGIN
    IF TG_OP = 'DELETE' THEN
        one := OLD;
    ELSE
        one := NEW;
    END IF;
    IF TG_TABLE_NAME = 'lesson' THEN
        lesson := one.id;
    ELSIF TG_TABLE_NAME = 'lesson_edge' THEN
        lesson := one.source_id;
    ELSIF TG_TABLE_NAME = 'supersession' THEN
        lesson := one.old_id;
    ELSIF TG_TABLE_NAME <> 'embedding_space' THEN
        lesson := one.lesson_id;
    END IF;
    INSERT INTO pgmnemo_shard.changed VALUES (one.tenant_id, lesson);
    RETURN NULL;
END
$$;

-- Logical replication fires row triggers alone, and those alone that are enabled for it; what the extension derives from
-- lessons by triggers on statements is derived here from each row that arrives. The copy before it is an ordinary
-- session's, where these triggers are silent and the extension's own fire.
CREATE FUNCTION pgmnemo_shard._applied() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    worded boolean := true;
    described boolean := true;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        worded := (OLD.active, OLD.project_id, OLD.lexemes, OLD.token_count)
                  IS DISTINCT FROM (NEW.active, NEW.project_id, NEW.lexemes, NEW.token_count);
        described := OLD.metadata <> NEW.metadata;
    END IF;
    IF TG_OP <> 'INSERT' THEN
        IF worded AND OLD.active THEN
            PERFORM pgmnemo._remove_postings(OLD.tenant_id, OLD.project_id, ARRAY[OLD.id], ARRAY[OLD.lexemes],
                                             ARRAY[OLD.token_count]);
        END IF;
        IF described AND OLD.metadata <> '{}' THEN
            DELETE FROM pgmnemo.lesson_entry e USING pgmnemo._entries(OLD.metadata) AS was (entry)
             WHERE e.tenant_id = OLD.tenant_id AND e.entry = was.entry AND e.lesson_id = OLD.id;
        END IF;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        IF worded AND NEW.active THEN
            PERFORM pgmnemo._add_postings(NEW.tenant_id, ARRAY[NEW.id]);
        END IF;
        IF described AND NEW.metadata <> '{}' THEN
            INSERT INTO pgmnemo.lesson_entry
            SELECT NEW.tenant_id, e.entry, NEW.id FROM pgmnemo._entries(NEW.metadata) AS e (entry);
        END IF;
    END IF;
    RETURN NULL;
END
$$;

-- A vector that arrives as another one is not what the graph here holds: it leaves it, and waits for the next merge.
CREATE FUNCTION pgmnemo_shard._other_vector() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ BEGIN NEW.indexed := false; RETURN NEW; END $$;

DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['lesson', 'passage', 'lesson_vector', 'lesson_edge', 'supersession', 'embedding_space'] LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER pgmnemo_shard_note AFTER INSERT OR DELETE OR UPDATE %s ON pgmnemo.%I '
                       'FOR EACH ROW WHEN (current_setting(''pgmnemo_shard.note'', true) = ''on'') '
                       'EXECUTE FUNCTION pgmnemo_shard._note()',
                       CASE WHEN one = 'lesson_vector' THEN 'OF project_id, embedding' END, one);
    END LOOP;
END
$$;
CREATE OR REPLACE TRIGGER pgmnemo_shard_applied AFTER INSERT OR UPDATE OR DELETE ON pgmnemo.lesson
    FOR EACH ROW EXECUTE FUNCTION pgmnemo_shard._applied();
CREATE OR REPLACE TRIGGER pgmnemo_shard_other BEFORE UPDATE ON pgmnemo.lesson_vector FOR EACH ROW
    WHEN (OLD.indexed AND (OLD.project_id, OLD.embedding::text) IS DISTINCT FROM (NEW.project_id, NEW.embedding::text))
    EXECUTE FUNCTION pgmnemo_shard._other_vector();
CREATE OR REPLACE TRIGGER pgmnemo_shard_left AFTER UPDATE ON pgmnemo.lesson_vector FOR EACH ROW
    WHEN (OLD.indexed AND NOT NEW.indexed) EXECUTE FUNCTION pgmnemo._vector_leaves();
CREATE OR REPLACE TRIGGER pgmnemo_shard_gone AFTER DELETE ON pgmnemo.lesson_vector FOR EACH ROW
    WHEN (OLD.indexed) EXECUTE FUNCTION pgmnemo._vector_leaves();
ALTER TABLE pgmnemo.lesson ENABLE REPLICA TRIGGER pgmnemo_shard_applied;
ALTER TABLE pgmnemo.lesson_vector ENABLE REPLICA TRIGGER pgmnemo_shard_other, ENABLE REPLICA TRIGGER pgmnemo_shard_left,
    ENABLE REPLICA TRIGGER pgmnemo_shard_gone;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pgmnemo_shard FROM PUBLIC;
GRANT USAGE ON SCHEMA pgmnemo_shard TO PUBLIC;
GRANT EXECUTE ON FUNCTION pgmnemo_shard._enter, pgmnemo_shard._here, pgmnemo_shard._fresh, pgmnemo_shard._apply TO PUBLIC;
GRANT EXECUTE ON FUNCTION pgmnemo_shard.beat TO {router};
