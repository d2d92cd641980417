-- Return the lessons that a filter leaves in a scope where they are few: the caller then reads only these, exactly.
-- NULL: they may be many, or no index covers a condition. The rarest indexed condition is used, and none is read
-- further than `read_most` rows, nor further than a rarer condition before it.
CREATE FUNCTION pgmnemo._candidate_ids_by_filter(scope pgmnemo.scope)
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
        found := pgmnemo._recallable_ids(scope, rarest, few + 1);
    END IF;
    RETURN CASE WHEN rarest IS NOT NULL AND cardinality(found) <= few THEN found END;
END
$$;
