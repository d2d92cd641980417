-- The lessons that a filter leaves in a scope, where they are few: then both legs read just those, exactly. NULL where
-- they may be many, or where nothing but the role is asked for. Each condition that an index knows is tried, and read
-- no further than `read_most` rows.
CREATE FUNCTION pgmnemo._few(scope pgmnemo.scope)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few       constant integer := 2000;   -- lessons that are read one by one
    read_most constant integer := 10000;  -- rows of an index that are looked at for them
    f         constant pgmnemo.filter := scope.filter;
    condition integer;
    found     bigint[];
    rows      integer;
BEGIN
    IF f IS NOT DISTINCT FROM NULL THEN
        RETURN NULL;
    END IF;
    FOR condition IN SELECT DISTINCT c FROM unnest(f.conditions) c LOOP
        SELECT array_agg(e.lesson_id), count(*) INTO found, rows
          FROM (SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                 WHERE e.tenant_id = scope.tenant
                   AND e.entry = ANY (ARRAY(SELECT u.entry FROM unnest(f.entries, f.conditions) AS u (entry, place)
                                             WHERE u.place = condition) || 0::bigint)
                 LIMIT read_most) e;
        IF rows < read_most THEN
            found := pgmnemo._recallable_of(scope, found, few + 1);
            IF cardinality(found) <= few THEN
                RETURN found;
            END IF;
        END IF;
    END LOOP;
    IF f.topics IS NOT NULL THEN
        SELECT array_agg(l.id), count(*) INTO found, rows
          FROM (SELECT l.id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.topic COLLATE "C" = ANY (f.topics) LIMIT read_most) l;
    ELSIF f.topic_prefix <> '' THEN
        SELECT array_agg(l.id), count(*) INTO found, rows
          FROM (SELECT l.id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant AND l.topic COLLATE "C" >= f.topic_prefix
                   AND l.topic COLLATE "C" < f.topic_prefix || chr(1114111) LIMIT read_most) l;
    ELSIF f.since IS NOT NULL OR f.until IS NOT NULL THEN
        SELECT array_agg(l.id), count(*) INTO found, rows
          FROM (SELECT l.id FROM pgmnemo.lesson l
                 WHERE l.tenant_id = scope.tenant
                   AND coalesce(l.occurred_at, l.stored_at) >= coalesce(f.since, '-infinity')
                   AND coalesce(l.occurred_at, l.stored_at) < coalesce(f.until, 'infinity') LIMIT read_most) l;
    ELSE
        RETURN NULL;
    END IF;
    IF rows < read_most THEN
        found := pgmnemo._recallable_of(scope, found, few + 1);
        IF cardinality(found) <= few THEN
            RETURN found;
        END IF;
    END IF;
    RETURN NULL;
END
$$;
