-- The router: where each tenant lies, and what the generated functions (shards/routes.py) ask before they connect.
-- Nobody but the operator, a superuser, reaches the tables.
CREATE EXTENSION IF NOT EXISTS plproxy;
CREATE SCHEMA directory;
CREATE SCHEMA pgmnemo;
-- Vectors pass through as text: the router needs no pgvector.
CREATE DOMAIN public.vector AS text;

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
COMMENT ON COLUMN directory.shard.operator IS 'libpq''s words for it as the commands of python -m shards reach it';
COMMENT ON COLUMN directory.shard.capacity IS 'bytes that its database may hold before it takes no other tenant; NULL: no limit';
COMMENT ON COLUMN directory.shard.open IS 'whether new tenants are placed there';

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
COMMENT ON TABLE directory.move IS 'moves that are not done: copying (the source serves; undone by recover) or switched (the target has it; finished by recover)';

CREATE TABLE directory.moved (
    tenant_id uuid        NOT NULL,
    source    text        NOT NULL,
    target    text        NOT NULL,
    outcome   text        NOT NULL CHECK (outcome IN ('moved', 'undone')),
    began_at  timestamptz NOT NULL,
    ended_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE directory.moved IS 'moves that are decided: undone, or moved (the target is proven to hold the tenant; over once it is in directory.move no more)';

-- The last beat of each shard's primary that this router asked for; worth nothing after a crash.
CREATE UNLOGGED TABLE directory.beat (
    shard text PRIMARY KEY,
    at    timestamptz NOT NULL
);
CREATE SEQUENCE directory.version;
COMMENT ON SEQUENCE directory.version IS 'goes up with every change of directory.shard, so that PL/Proxy reads the list again';
CREATE FUNCTION directory.changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$ BEGIN PERFORM nextval('directory.version'); RETURN NULL; END $$;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON directory.shard
    FOR EACH STATEMENT EXECUTE FUNCTION directory.changed();
SELECT nextval('directory.version');

-- Settings of the caller go along with each call: {names} are those of the extension.
CREATE FUNCTION pgmnemo._settings() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(s.name, s.value)
      FROM (SELECT name, current_setting('pgmnemo.' || name, true) AS value FROM unnest({names}::text[]) AS name) s
     WHERE s.value <> ''
$$;

-- Whoever asks for a tenant that the directory does not know is sent to the first shard, which refuses him as it
-- refuses those who ask for one that it has: so the answer does not tell which tenants there are.
CREATE FUNCTION pgmnemo._place(tenant uuid) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_address text;
BEGIN
    SELECT s.address INTO found_address
      FROM directory.tenant t JOIN directory.shard s ON s.name = t.shard WHERE t.tenant_id = tenant;
    IF found_address IS NULL THEN
        SELECT s.address INTO found_address FROM directory.shard s ORDER BY s.number LIMIT 1;
    END IF;
    IF found_address IS NULL THEN
        RAISE EXCEPTION 'the directory of the router names no shard'
        USING ERRCODE = 'undefined_object', HINT = 'The operator adds one with python -m shards add.';
    END IF;
    RETURN found_address;
END
$$;

CREATE FUNCTION pgmnemo._beat(address text) RETURNS timestamptz LANGUAGE plproxy
AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.beat(); $$;
REVOKE ALL ON FUNCTION pgmnemo._beat(text) FROM PUBLIC;

-- A replica, where the tenant has lain long enough and there is one, else the primary. A replica proves its age by
-- the last beat of its primary, so the primary is asked for one when the last is half as old as is allowed; where it
-- does not answer, the replica goes by what it has.
CREATE FUNCTION pgmnemo._place(tenant uuid, staleness interval) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place record;
    last timestamptz;
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
    SELECT b.at INTO last FROM directory.beat b WHERE b.shard = place.name;
    IF last IS NULL OR last < clock_timestamp() - staleness / 2 THEN
        BEGIN
            last := pgmnemo._beat(place.primary_address || ' connect_timeout=2');
            INSERT INTO directory.beat AS b VALUES (place.name, last)
            ON CONFLICT (shard) DO UPDATE SET at = greatest(b.at, excluded.at);
        EXCEPTION WHEN connection_exception OR external_routine_exception OR internal_error THEN
            NULL;
        END;
    END IF;
    RETURN place.address;
END
$$;

-- Where a new tenant goes: the open shard with the fewest tenants that has room, the lowest number first.
CREATE FUNCTION pgmnemo._room(address text) RETURNS bigint LANGUAGE plproxy
AS $$ CONNECT address; SELECT * FROM pgmnemo_shard.bytes(); $$;
REVOKE ALL ON FUNCTION pgmnemo._room(text) FROM PUBLIC;

CREATE FUNCTION pgmnemo.place_tenant(tenant uuid, shard text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    found text := (SELECT t.shard FROM directory.tenant t WHERE t.tenant_id = tenant);
    candidate record;
BEGIN
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'tenant is NULL' USING ERRCODE = 'invalid_parameter_value', HINT = 'Name the tenant by its uuid.';
    ELSIF found = shard OR found IS NOT NULL AND shard IS NULL THEN
        RETURN found;
    ELSIF found IS NOT NULL THEN
        RAISE EXCEPTION 'tenant % lies on shard % already', tenant, found
        USING ERRCODE = 'duplicate_object', HINT = 'Move it with python -m shards move.';
    END IF;
    LOCK TABLE directory.tenant IN SHARE ROW EXCLUSIVE MODE;
    FOR candidate IN
        SELECT s.name, s.address, s.capacity FROM directory.shard s
         WHERE s.name = coalesce(shard, s.name) AND (s.open OR shard IS NOT NULL)
         ORDER BY (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name), s.number
    LOOP
        IF candidate.capacity IS NULL OR pgmnemo._room(candidate.address) < candidate.capacity THEN
            INSERT INTO directory.tenant (tenant_id, shard) VALUES (tenant, candidate.name) ON CONFLICT DO NOTHING;
            RETURN (SELECT t.shard FROM directory.tenant t WHERE t.tenant_id = tenant);
        END IF;
    END LOOP;
    RAISE EXCEPTION 'the directory names no shard%', CASE WHEN shard IS NULL THEN ' that takes a new tenant'
                                                          ELSE ' ' || quote_ident(shard) || ' with room' END
    USING ERRCODE = 'undefined_object', HINT = 'Add one with python -m shards add, or give one of these more capacity.';
END
$$;
REVOKE ALL ON FUNCTION pgmnemo.place_tenant FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.place_tenant IS 'gives a new tenant a shard, that named or the open one with the fewest tenants, and says which; only the operator may';

CREATE FUNCTION pgmnemo._grant_tenant(tenant uuid, grantee name) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT pgmnemo._place(tenant); TARGET pgmnemo_shard.grant_tenant; $$;
CREATE FUNCTION pgmnemo.revoke_tenant(tenant uuid, grantee name) RETURNS boolean LANGUAGE plproxy
AS $$ CONNECT pgmnemo._place(tenant); TARGET pgmnemo_shard.revoke_tenant; $$;
CREATE FUNCTION pgmnemo.grant_tenant(tenant uuid, grantee name) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo.place_tenant(tenant);
    PERFORM pgmnemo._grant_tenant(tenant, grantee);
END
$$;
REVOKE ALL ON FUNCTION pgmnemo._grant_tenant, pgmnemo.revoke_tenant, pgmnemo.grant_tenant FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.grant_tenant IS 'lets a role reach a tenant, which is placed if it is new; only the operator may';

-- Nothing that one tenant does goes to several shards; what follows is the operator's.
CREATE SCHEMA IF NOT EXISTS plproxy;
CREATE FUNCTION plproxy.get_cluster_version(cluster text) RETURNS integer LANGUAGE sql VOLATILE
AS $$ SELECT last_value::integer FROM directory.version $$;
CREATE FUNCTION plproxy.get_cluster_partitions(cluster text) RETURNS SETOF text LANGUAGE sql VOLATILE
AS $$ SELECT s.address FROM directory.shard s ORDER BY s.number $$;
CREATE FUNCTION plproxy.get_cluster_config(cluster text, OUT key text, OUT val text) RETURNS SETOF record LANGUAGE sql STABLE
AS $$ VALUES ('modular_mapping', '1'), ('connection_lifetime', '1800') $$;
REVOKE ALL ON FUNCTION plproxy.get_cluster_version, plproxy.get_cluster_partitions, plproxy.get_cluster_config FROM PUBLIC;

CREATE FUNCTION pgmnemo._on_shards() RETURNS TABLE (shard text, version text, tenants bigint, bytes bigint, away bigint)
LANGUAGE plproxy AS $$ CLUSTER 'shards'; RUN ON ALL; TARGET pgmnemo_shard.state; $$;
CREATE FUNCTION pgmnemo.list_shards()
RETURNS TABLE (shard text, number integer, version text, placed bigint, held bigint, bytes bigint, capacity bigint, open boolean)
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.name, s.number, f.version, (SELECT count(*) FROM directory.tenant t WHERE t.shard = s.name), f.tenants,
           f.bytes, s.capacity, s.open
      FROM directory.shard s LEFT JOIN pgmnemo._on_shards() f ON f.shard = s.name ORDER BY s.number
$$;
COMMENT ON FUNCTION pgmnemo.list_shards IS 'the shards, asked side by side: version, tenants that the directory places there, tenants with lessons or grants there, bytes';
CREATE FUNCTION pgmnemo.list_grants() RETURNS TABLE (tenant_id uuid, grantee text, granted_at timestamptz, granted_by name)
LANGUAGE plproxy AS $$ CLUSTER 'shards'; RUN ON ALL; TARGET pgmnemo_shard.list_grants; $$;
COMMENT ON FUNCTION pgmnemo.list_grants IS 'the grants of all tenants on all shards; only the operator may';
CREATE FUNCTION pgmnemo.upkeep(most integer DEFAULT 1000) RETURNS SETOF bigint
LANGUAGE plproxy AS $$ CLUSTER 'shards'; RUN ON ALL; $$;
COMMENT ON FUNCTION pgmnemo.upkeep IS 'what the extension has a scheduler call, on every shard; what is left on each. Only the operator may';
CREATE FUNCTION pgmnemo._create_login(login text) RETURNS SETOF boolean
LANGUAGE plproxy AS $$ CLUSTER 'shards'; RUN ON ALL; TARGET pgmnemo_shard.create_login; $$;
CREATE FUNCTION pgmnemo.create_login(login text) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._create_login(login);
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = login) THEN
        EXECUTE format('CREATE ROLE %I LOGIN', login);
    END IF;
END
$$;
COMMENT ON FUNCTION pgmnemo.create_login IS 'makes a login on the router and on every shard, where it is missing; give it a password on the router: its password on the shards is theirs and the router''s alone. Only the operator may';
REVOKE ALL ON FUNCTION pgmnemo._on_shards, pgmnemo.list_shards, pgmnemo.list_grants, pgmnemo.upkeep,
    pgmnemo._create_login, pgmnemo.create_login FROM PUBLIC;

CREATE FUNCTION pgmnemo.open_staging(tenant uuid DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION 'staging does not pass a router, where each call is a transaction of its own'
    USING ERRCODE = 'feature_not_supported', HINT = 'Give a set to pgmnemo.store_set(tenant, lessons).';
END
$$;

REVOKE ALL ON SCHEMA directory, plproxy FROM PUBLIC;
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT USAGE ON SCHEMA directory, plproxy TO {router};
GRANT SELECT ON directory.shard, directory.replica, directory.tenant TO {router};
GRANT SELECT, INSERT, UPDATE ON directory.beat TO {router};
GRANT CREATE ON SCHEMA pgmnemo TO {router};
ALTER FUNCTION pgmnemo._place(uuid) OWNER TO {router};
ALTER FUNCTION pgmnemo._place(uuid, interval) OWNER TO {router};
REVOKE CREATE ON SCHEMA pgmnemo FROM {router};
GRANT EXECUTE ON FUNCTION pgmnemo._beat(text) TO {router};
