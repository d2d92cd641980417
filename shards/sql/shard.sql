-- What a shard has besides the extension: the doors (generated, shards/doors.py) through which the router calls, and
-- what they ask. Only the router may log in on a shard: whoever calls the extension there past the doors is not held up
-- by a move, and what he writes during one may be left behind.
CREATE SCHEMA pgmnemo_shard;

CREATE TABLE pgmnemo_shard.identity (
    name   text   NOT NULL,
    seed   bigint NOT NULL,
    secret text
);
COMMENT ON TABLE pgmnemo_shard.identity IS 'one row: the shard''s name in the directory, what the locks'' keys are made with, and the password of the logins, which the router alone knows (NULL: none)';
INSERT INTO pgmnemo_shard.identity
SELECT {name}, ('x' || substr(md5(gen_random_uuid()::text), 1, 16))::bit(64)::bigint, {secret};

CREATE TABLE pgmnemo_shard.away (
    tenant_id uuid PRIMARY KEY,
    since     timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE pgmnemo_shard.away IS 'tenants that have left: the doors refuse whoever was still sent here for one';

CREATE TABLE pgmnemo_shard.beat (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL
);
INSERT INTO pgmnemo_shard.beat VALUES (true, now());
COMMENT ON TABLE pgmnemo_shard.beat IS 'the primary''s clock: a replica that has it has everything that was committed before';

CREATE FUNCTION pgmnemo_shard.beat() RETURNS timestamptz LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$ UPDATE pgmnemo_shard.beat SET at = clock_timestamp() RETURNING at $$;

-- The keys are secret, so that nobody can hold a tenant's writers up by taking its lock.
CREATE FUNCTION pgmnemo_shard._key(tenant uuid) RETURNS bigint LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT hashtextextended(tenant::text, i.seed) FROM pgmnemo_shard.identity i $$;

CREATE FUNCTION pgmnemo_shard._refuse(tenant uuid) RETURNS void LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'tenant % has moved to another shard', tenant
    USING ERRCODE = 'serialization_failure', HINT = 'Call again: the router knows where it is. If that does not help, its move was cut short, and the operator ends it with python -m shards recover.';
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
    PERFORM pg_advisory_xact_lock_shared(pgmnemo_shard._key(tenant));
    IF EXISTS (SELECT FROM pgmnemo_shard.away a WHERE a.tenant_id = tenant) THEN
        PERFORM pgmnemo_shard._refuse(tenant);
    END IF;
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
            PERFORM pg_advisory_xact_lock_shared(pgmnemo_shard._key(tenant));
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

-- The caller's settings, for the transaction of this one call.
CREATE FUNCTION pgmnemo_shard._apply(settings jsonb) RETURNS void LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
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
    secret text := (SELECT i.secret FROM pgmnemo_shard.identity i);
BEGIN
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = login) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE ROLE %I LOGIN', login) || coalesce(format(' PASSWORD %L', secret), '');
    RETURN true;
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pgmnemo_shard FROM PUBLIC;
GRANT USAGE ON SCHEMA pgmnemo_shard TO PUBLIC;
GRANT EXECUTE ON FUNCTION pgmnemo_shard._enter, pgmnemo_shard._here, pgmnemo_shard._fresh, pgmnemo_shard._apply TO PUBLIC;
GRANT EXECUTE ON FUNCTION pgmnemo_shard.beat TO {router};
