-- The router: where each tenant lies, and what the generated functions (pgmnemo_shards/router_functions.py) ask before they connect.
-- Nobody but the operator, a superuser, reaches the tables.
-- May be run again: `upgrade` does, and pgmnemo_shards/installing.py has CREATE find what is there.
CREATE EXTENSION IF NOT EXISTS plproxy;
CREATE SCHEMA directory;
CREATE SCHEMA pgmnemo;
-- Vectors pass through as text: the router needs no pgvector.
DO $$ BEGIN IF to_regtype('public.vector') IS NULL THEN CREATE DOMAIN public.vector AS text; END IF; END $$;

CREATE TABLE directory.shard (
    name     text    PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_-]{0,62}$'),
    number   integer NOT NULL UNIQUE CHECK (number BETWEEN 0 AND 8000000),
    address  text    NOT NULL CHECK (address !~ '\m(user|password)\s*='),
    operator text    NOT NULL,
    capacity bigint  CHECK (capacity > 0),
    open     boolean NOT NULL DEFAULT true
);
COMMENT ON TABLE directory.shard IS 'the servers that hold tenants';
COMMENT ON COLUMN directory.shard.number IS 'ids of lessons stored there begin at number * 2^40 + 1, so no id stands twice';
COMMENT ON COLUMN directory.shard.address IS 'libpq''s words for it as the router reaches it; without a user, who is the caller';
COMMENT ON COLUMN directory.shard.operator IS 'libpq''s words for it as the commands of pgmnemo-shards reach it';
COMMENT ON COLUMN directory.shard.capacity IS 'bytes that its database may hold before it takes no other tenant; NULL: no limit';
COMMENT ON COLUMN directory.shard.open IS 'whether new tenants are placed there';

CREATE SEQUENCE directory.number AS integer MINVALUE 0;
COMMENT ON SEQUENCE directory.number IS 'the last number that a shard was given: none is given twice, since ids of its block may live on elsewhere';

CREATE TABLE directory.replica (
    name    text PRIMARY KEY,
    shard   text NOT NULL REFERENCES directory.shard,
    address text NOT NULL CHECK (address !~ '\m(user|password)\s*=')
);
COMMENT ON TABLE directory.replica IS 'streaming replicas of shards, for recalls that allow some staleness';

CREATE TABLE directory.tenant (
    tenant_id uuid        PRIMARY KEY,
    shard     text        NOT NULL REFERENCES directory.shard,
    placed_at timestamptz NOT NULL DEFAULT now(),
    moved_at  timestamptz
);
CREATE INDEX tenant_shard ON directory.tenant (shard);
COMMENT ON TABLE directory.tenant IS 'on which shard each tenant lies';

CREATE TABLE directory.move (
    tenant_id uuid        PRIMARY KEY REFERENCES directory.tenant,
    source    text        NOT NULL REFERENCES directory.shard,
    target    text        NOT NULL REFERENCES directory.shard,
    state     text        NOT NULL DEFAULT 'copying' CHECK (state IN ('copying', 'switched')),
    began_at  timestamptz NOT NULL DEFAULT now(),
    CHECK (source <> target)
);
COMMENT ON TABLE directory.move IS 'moves that are not done; the row''s state decides: copying (the source has the tenant; undone by recover) or switched (the target has it; finished by recover)';

CREATE TABLE directory.moved (
    tenant_id uuid        NOT NULL,
    source    text        NOT NULL,
    target    text        NOT NULL,
    outcome   text        NOT NULL CHECK (outcome IN ('moved', 'undone')),
    began_at  timestamptz NOT NULL,
    ended_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE directory.moved IS 'moves that are decided: undone, or moved (the target is proven to hold the tenant; over once it is in directory.move no more)';

CREATE TABLE directory.seed (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    seed bigint  NOT NULL
);
COMMENT ON TABLE directory.seed IS 'one row: what the movers'' lock is made with, so that no login can hold moves up';
INSERT INTO directory.seed (seed) SELECT ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint
 WHERE NOT EXISTS (SELECT FROM directory.seed);
CREATE FUNCTION directory._mover(tenant uuid) RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$ SELECT hashtextextended('move ' || tenant, s.seed) FROM directory.seed s $$;

-- The last beat of each shard's primary that this router asked for; worth nothing after a crash.
CREATE UNLOGGED TABLE directory.beat (
    shard text PRIMARY KEY,
    at    timestamptz NOT NULL
);
ALTER TABLE directory.shard DROP CONSTRAINT IF EXISTS shard_operator_check,
    ADD CONSTRAINT shard_operator_check CHECK (operator !~* '\mpassword\s*=');

-- What former releases had.
DROP FUNCTION IF EXISTS pgmnemo._on_shards(), pgmnemo.list_shards(), pgmnemo._create_login(text),
    pgmnemo.upkeep(integer), pgmnemo._upkeep(text, integer);
DROP FUNCTION IF EXISTS plproxy.get_cluster_version(text), plproxy.get_cluster_partitions(text), plproxy.get_cluster_config(text);
DROP TRIGGER IF EXISTS changed ON directory.shard;
DROP FUNCTION IF EXISTS directory.changed();
DROP SEQUENCE IF EXISTS directory.version;

-- Settings of the caller go along with each call: {names} are those of the extension.
CREATE FUNCTION pgmnemo._settings() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(s.name, s.value)
      FROM (SELECT name, current_setting('pgmnemo.' || name, true) AS value FROM unnest({names}::text[]) AS name) s
     WHERE s.value <> ''
$$;

-- Whoever asks for a tenant that the directory does not know is sent to a shard that its uuid chooses, which refuses
-- him as it refuses those who ask for one that it has: so neither answer nor address tells which tenants there are.
CREATE FUNCTION pgmnemo._shard(tenant uuid, OUT name text, OUT address text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shards bigint;
BEGIN
    SELECT s.name, s.address INTO name, address
      FROM directory.tenant t JOIN directory.shard s ON s.name = t.shard WHERE t.tenant_id = tenant;
    IF name IS NULL THEN
        SELECT count(*) INTO shards FROM directory.shard;
        SELECT s.name, s.address INTO name, address FROM directory.shard s ORDER BY s.number
        OFFSET (hashtextextended(tenant::text, 0) & 9223372036854775807) % greatest(shards, 1) LIMIT 1;
    END IF;
    IF name IS NULL THEN
        RAISE EXCEPTION 'the directory of the router names no shard'
        USING ERRCODE = 'undefined_object', HINT = 'The operator adds one with pgmnemo-shards add.';
    END IF;
END
$$;

CREATE FUNCTION pgmnemo._place(tenant uuid) RETURNS text LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.address FROM pgmnemo._shard(tenant) s $$;

-- PostgreSQL's own answer to a statement that writes: the shard knows nothing of the transaction here.
CREATE FUNCTION pgmnemo._writing(verb text) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_read_only')::boolean THEN
        RAISE EXCEPTION 'cannot execute pgmnemo.%() in a read-only transaction', verb
        USING ERRCODE = 'read_only_sql_transaction',
              HINT = CASE WHEN pg_is_in_recovery() THEN 'This router is a standby: write on its primary (target_session_attrs=read-write).'
                          ELSE 'Begin a transaction that may write.' END;
    END IF;
END
$$;

-- An error of a call, as one server would give it: the shard's own without PL/Proxy's words around it, and of a shard
-- that does not answer which it is, and what has become of the call.
CREATE FUNCTION pgmnemo._fail(tenant uuid, state text, message text, detail text, hint text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unsent constant boolean := state = 'XX000' AND message ~ '^PL/Proxy .*(PQconnect|connect timeout)';
    lost constant boolean := state = 'XX000' AND message ~ 'REMOTE \(null\)|^PL/Proxy .*(PQ|timeout|Lost result)';
    reason constant text := regexp_replace(btrim(regexp_replace(message, '^.*(PQ\w+|REMOTE \(null\)): ', ''), E' \n\t'), '\s+', ' ', 'g');
BEGIN
    IF unsent THEN
        RAISE EXCEPTION 'shard % does not answer', (SELECT s.name FROM pgmnemo._shard(tenant) s)
        USING ERRCODE = CASE WHEN reason ~ 'the database system is' THEN '57P03'
                             WHEN reason ~ 'too many|connection slots' THEN '53300' ELSE '08001' END,
              DETAIL = reason,
              HINT = 'Nothing was done. Other shards serve meanwhile; call again when this one is back.';
    ELSIF lost THEN
        RAISE EXCEPTION 'the connection to shard % was lost', (SELECT s.name FROM pgmnemo._shard(tenant) s)
        USING ERRCODE = 'connection_failure', DETAIL = reason,
              HINT = 'Whether the call was done is not known: ask, or repeat it with the same key.';
    END IF;
    message := regexp_replace(message, '^\S+\(\d+\): \[[^]]*\] REMOTE \w+: ', '');
    detail := regexp_replace(detail, '^Remote detail: ', '');
    hint := regexp_replace(hint, '^Remote hint: ', '');
    IF detail <> '' THEN
        RAISE EXCEPTION '%', message USING ERRCODE = state, DETAIL = detail, HINT = hint;
    ELSIF hint <> '' THEN
        RAISE EXCEPTION '%', message USING ERRCODE = state, HINT = hint;
    END IF;
    RAISE EXCEPTION '%', message USING ERRCODE = state;
END
$$;

CREATE FUNCTION pgmnemo._beat(address text) RETURNS timestamptz LANGUAGE plproxy
AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.beat(); $$;
REVOKE ALL ON FUNCTION pgmnemo._beat(text) FROM PUBLIC;

-- A replica, where the tenant has lain long enough and there is one, else the primary. A replica proves its age by
-- the last beat of its primary, so the primary is asked for one when the last is half as old as is allowed; where it
-- does not answer, the replica goes by what it has. A standby of the router keeps no beats and asks for each call.
CREATE FUNCTION pgmnemo._place(tenant uuid, staleness interval) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place record;
    last timestamptz;
    standby constant boolean := pg_is_in_recovery();
BEGIN
    IF staleness IS NULL THEN
        RETURN pgmnemo._place(tenant);
    ELSIF staleness <= '0'::interval THEN
        RAISE EXCEPTION 'staleness is %, but must be above 0', staleness
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out to read from the primary.';
    END IF;
    SELECT s.name, s.address AS primary_address, r.address INTO place
      FROM directory.tenant t
      JOIN directory.shard s ON s.name = t.shard
      JOIN directory.replica r ON r.shard = s.name
     WHERE t.tenant_id = tenant AND coalesce(t.moved_at, '-infinity') < clock_timestamp() - staleness
     ORDER BY random() LIMIT 1;
    IF place IS NULL THEN
        RETURN pgmnemo._place(tenant);
    END IF;
    IF NOT standby THEN
        SELECT b.at INTO last FROM directory.beat b WHERE b.shard = place.name;
    END IF;
    IF last IS NULL OR last < clock_timestamp() - staleness / 2 THEN
        BEGIN
            last := pgmnemo._beat(place.primary_address || ' connect_timeout=2');
            IF NOT standby AND NOT current_setting('transaction_read_only')::boolean THEN
                INSERT INTO directory.beat AS b VALUES (place.name, last)
                ON CONFLICT (shard) DO UPDATE SET at = greatest(b.at, excluded.at);
            END IF;
        EXCEPTION WHEN connection_exception OR external_routine_exception OR internal_error THEN
            NULL;
        END;
    END IF;
    RETURN place.address;
END
$$;

-- One shard at a time is asked by what follows, so that one that is down is a row or a warning, and no error.
CREATE FUNCTION pgmnemo._shards() RETURNS TABLE (name text, address text) LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT s.name, s.address || ' connect_timeout=2' FROM directory.shard s ORDER BY s.number $$;
CREATE FUNCTION pgmnemo._state(address text)
RETURNS TABLE (shard text, version text, tenants bigint, bytes bigint, away bigint)
LANGUAGE plproxy AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.state(); $$;
CREATE FUNCTION pgmnemo._room(address text) RETURNS bigint LANGUAGE plproxy
AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.bytes(); $$;
CREATE FUNCTION pgmnemo._holds(address text, tenant uuid) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT address; SELECT pgmnemo_shard.holds(tenant); $$;
CREATE FUNCTION pgmnemo._grants(address text)
RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name, access text)
LANGUAGE plproxy AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.list_grants(); $$;
CREATE FUNCTION pgmnemo._maintain(address text, most integer) RETURNS bigint LANGUAGE plproxy
AS $$ CONNECT address; SELECT pgmnemo.maintain(most); $$;
CREATE FUNCTION pgmnemo._make_login(address text, login text) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT address; SELECT pgmnemo_shard.create_login(login); $$;
REVOKE ALL ON FUNCTION pgmnemo._state, pgmnemo._room, pgmnemo._holds, pgmnemo._grants, pgmnemo._maintain, pgmnemo._make_login,
    pgmnemo._shards FROM PUBLIC;

-- Where a new tenant goes: the shard that holds it already, though the directory does not know, else the open one with
-- the fewest tenants that has room, the lowest number first.
CREATE FUNCTION pgmnemo.place_tenant(tenant uuid, shard text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    found text := (SELECT t.shard FROM directory.tenant t WHERE t.tenant_id = tenant);
    holders text[] := '{}';
    silent text[] := '{}';
    candidate record;
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'tenant is NULL' USING ERRCODE = 'invalid_parameter_value', HINT = 'Name the tenant by its uuid.';
    ELSIF found = coalesce(shard, found) THEN
        RETURN found;
    ELSIF found IS NULL THEN
        FOR candidate IN SELECT * FROM pgmnemo._shards() LOOP
            BEGIN
                IF pgmnemo._holds(candidate.address, tenant) THEN
                    holders := holders || candidate.name;
                END IF;
            EXCEPTION WHEN {silent} THEN
                silent := silent || candidate.name;
            END;
        END LOOP;
        found := holders[1];
    END IF;
    IF cardinality(holders) > 1 THEN
        RAISE EXCEPTION 'shards % hold tenant % both, and the directory does not know it', array_to_string(holders, ' and '), tenant
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'See which one shall have it; delete its rows and grants on the other.';
    ELSIF found IS NOT NULL AND found <> coalesce(shard, found) THEN
        RAISE EXCEPTION 'tenant % lies on shard % already', tenant, found
        USING ERRCODE = 'duplicate_object', HINT = 'Move it with pgmnemo-shards move.';
    ELSIF found IS NULL AND shard IS NULL AND silent <> '{}' THEN
        RAISE EXCEPTION 'shard % does not answer, and may hold tenant %', array_to_string(silent, ', '), tenant
        USING ERRCODE = 'connection_failure', HINT = 'Call again when it is back, or name the tenant''s shard (--shard).';
    END IF;
    LOCK TABLE directory.tenant IN SHARE ROW EXCLUSIVE MODE;
    FOR candidate IN
        SELECT s.name, s.address, s.capacity FROM directory.shard s
         WHERE s.name = coalesce(found, shard, s.name) AND (s.open OR coalesce(found, shard) IS NOT NULL)
         ORDER BY (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name), s.number
    LOOP
        IF found IS NOT NULL OR candidate.capacity IS NULL
           OR pgmnemo._room(candidate.address) < candidate.capacity THEN
            INSERT INTO directory.tenant (tenant_id, shard) VALUES (tenant, candidate.name) ON CONFLICT DO NOTHING;
            RETURN (SELECT t.shard FROM directory.tenant t WHERE t.tenant_id = tenant);
        END IF;
    END LOOP;
    RAISE EXCEPTION 'the directory names no shard%', CASE WHEN shard IS NULL THEN ' that takes a new tenant'
                                                          ELSE ' ' || quote_ident(shard) || ' with room' END
    USING ERRCODE = 'undefined_object', HINT = 'Add one with pgmnemo-shards add, or give one of these more capacity.';
END
$$;
REVOKE ALL ON FUNCTION pgmnemo.place_tenant FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.place_tenant IS 'gives a new tenant a shard, that named, else the one that holds it already, else the open one with the fewest tenants, and says which; only the operator may';

CREATE FUNCTION pgmnemo._grant_tenant(tenant uuid, grantee name, access text) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT pgmnemo._place(tenant); TARGET pgmnemo_shard.grant_tenant; $$;
CREATE FUNCTION pgmnemo._revoke_tenant(tenant uuid, grantee name) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT pgmnemo._place(tenant); TARGET pgmnemo_shard.revoke_tenant; $$;
CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name, access text DEFAULT 'write') RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    PERFORM pgmnemo._writing('grant_tenant');
    PERFORM pgmnemo.place_tenant(tenant);
    -- a login that was made while this shard was down
    PERFORM pgmnemo._make_login(pgmnemo._place(tenant), r.rolname) FROM pg_roles r WHERE r.rolname = grantee AND r.rolcanlogin;
    PERFORM pgmnemo._grant_tenant(tenant, grantee, access);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    PERFORM pgmnemo._fail(tenant, state, message, detail, hint);
END
$$;
CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    PERFORM pgmnemo._writing('revoke_tenant');
    RETURN pgmnemo._revoke_tenant(tenant, grantee);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    PERFORM pgmnemo._fail(tenant, state, message, detail, hint);
END
$$;
REVOKE ALL ON FUNCTION pgmnemo._grant_tenant, pgmnemo._revoke_tenant, pgmnemo.revoke_tenant, pgmnemo.grant_tenant FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant IS 'lets a role reach a tenant, which is placed if it is new; only the operator may';
COMMENT ON FUNCTION pgmnemo.revoke_tenant IS 'takes back what grant_tenant gave, and says whether there was a grant; only the operator may';

CREATE FUNCTION pgmnemo.list_shards()
RETURNS TABLE (shard text, number integer, version text, placed bigint, held bigint, bytes bigint, capacity bigint, open boolean, problem text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    one record;
    told record;
    why text;
BEGIN
    FOR one IN SELECT s.*, (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name) AS tenants
                 FROM directory.shard s ORDER BY s.number LOOP
        SELECT NULL::text AS version, NULL::bigint AS tenants, NULL::bigint AS bytes INTO told;
        why := NULL;
        BEGIN
            SELECT s.version, s.tenants, s.bytes INTO told FROM pgmnemo._state(one.address || ' connect_timeout=2') s;
        EXCEPTION WHEN OTHERS THEN
            why := SQLERRM;
        END;
        RETURN QUERY SELECT one.name, one.number, told.version, one.tenants, told.tenants, told.bytes, one.capacity, one.open, why;
    END LOOP;
END
$$;
COMMENT ON FUNCTION pgmnemo.list_shards IS 'the shards: version, tenants that the directory places there, tenants with lessons or grants there, bytes; problem says why one does not answer (NULL: it does). Only the operator may';

CREATE FUNCTION pgmnemo.list_grants() RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name, access text)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT * FROM pgmnemo._shards() LOOP
        BEGIN
            RETURN QUERY SELECT * FROM pgmnemo._grants(one.address);
        EXCEPTION WHEN {silent} THEN
            RAISE WARNING 'shard % does not answer: its grants are missing here', one.name;
        END;
    END LOOP;
END
$$;
COMMENT ON FUNCTION pgmnemo.list_grants IS 'the grants of all tenants on all shards that answer; only the operator may';

CREATE FUNCTION pgmnemo.maintain(most integer DEFAULT 1000) RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    PERFORM pgmnemo._writing('maintain');
    FOR one IN SELECT * FROM pgmnemo._shards() LOOP
        BEGIN
            RETURN NEXT pgmnemo._maintain(one.address, most);
        EXCEPTION WHEN {silent} THEN
            RAISE WARNING 'shard % does not answer: call maintain again', one.name;
            RETURN NEXT NULL::bigint;
        END;
    END LOOP;
END
$$;
COMMENT ON FUNCTION pgmnemo.maintain IS 'maintenance of the tenants of each shard in turn; what is left on each (NULL: it does not answer). Only the operator may';

CREATE FUNCTION pgmnemo.create_login(login text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one record;
BEGIN
    PERFORM pgmnemo._writing('create_login');
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = login) THEN
        EXECUTE format('CREATE ROLE %I LOGIN', login);
    END IF;
    FOR one IN SELECT * FROM pgmnemo._shards() LOOP
        BEGIN
            PERFORM pgmnemo._make_login(one.address, login);
        EXCEPTION WHEN {silent} THEN
            RAISE WARNING 'shard % does not answer and lacks the login %', one.name, quote_ident(login)
            USING HINT = 'Call again when it is back; a grant makes it there, too.';
        END;
    END LOOP;
END
$$;
COMMENT ON FUNCTION pgmnemo.create_login IS 'makes a login on the router and on every shard that answers, where it is missing; give it a password on the router: its password on the shards is theirs and the router''s alone. Only the operator may';
REVOKE ALL ON FUNCTION pgmnemo.list_shards, pgmnemo.list_grants, pgmnemo.maintain, pgmnemo.create_login FROM PUBLIC;

CREATE FUNCTION pgmnemo.open_staging(tenant uuid DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'staging does not pass a router, where each call is a transaction of its own'
    USING ERRCODE = 'feature_not_supported', HINT = 'Give a set to pgmnemo.store_set(tenant, lessons).';
END
$$;

REVOKE ALL ON SCHEMA directory FROM PUBLIC;
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT USAGE ON SCHEMA directory TO {router};
GRANT SELECT ON directory.shard, directory.replica, directory.tenant TO {router};
GRANT SELECT, INSERT, UPDATE ON directory.beat TO {router};
GRANT CREATE ON SCHEMA pgmnemo TO {router};
ALTER FUNCTION pgmnemo._shard(uuid) OWNER TO {router};
ALTER FUNCTION pgmnemo._place(uuid, interval) OWNER TO {router};
REVOKE CREATE ON SCHEMA pgmnemo FROM {router};
GRANT EXECUTE ON FUNCTION pgmnemo._beat(text) TO {router};
