-- Repair a tenant. One statement deletes the postings and lists the lessons to build them from: a lesson that another
-- session stores between two statements would keep its own postings and get them again. Changes of listed lessons wait.
CREATE FUNCTION pgmnemo.repair(tenant uuid DEFAULT NULL, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    told constant integer := 10;
    ids bigint[];
    unwritable text;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._touch_tenant(tenant);
    PERFORM pgmnemo._drop_segments(tenant, ARRAY(SELECT c.number FROM pgmnemo.segment c WHERE c.tenant_id = tenant));
    IF EXISTS (SELECT FROM pgmnemo._stale_lessons(tenant)) THEN
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant;
        PERFORM pgmnemo._repair_lessons(tenant);
    END IF;
    PERFORM pgmnemo._repair_passages(tenant);
    PERFORM pgmnemo._repair_vectors(tenant);
    PERFORM pgmnemo._repair_hnsw(tenant);
    UPDATE pgmnemo.lesson l SET superseded_at = s.valid_from
      FROM pgmnemo._supersession_problems(tenant) s WHERE l.tenant_id = tenant AND l.id = s.lesson_id;
    IF EXISTS (SELECT FROM pgmnemo._entry_problems(tenant)) THEN
        DELETE FROM pgmnemo.lesson_entry e WHERE e.tenant_id = tenant;
        INSERT INTO pgmnemo.lesson_entry
        SELECT tenant, e.entry, l.id
          FROM pgmnemo.lesson l CROSS JOIN LATERAL pgmnemo._metadata_entries(l.metadata) AS e (entry)
         WHERE l.tenant_id = tenant AND l.metadata <> '{}'
         ORDER BY e.entry, l.id
            ON CONFLICT DO NOTHING;
    END IF;
    WITH gone AS (
        DELETE FROM pgmnemo.posting p WHERE p.tenant_id = tenant
    )
    SELECT array_agg(l.id) INTO ids FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.active;
    PERFORM pgmnemo._add_postings(tenant, ids);
    IF EXISTS (SELECT FROM pgmnemo._lesson_id_behind(tenant)) THEN
        -- this takes the lock that lets nobody draw a number until it is set forward
        ALTER SEQUENCE pgmnemo.lesson_id_seq NO CYCLE;
        PERFORM setval('pgmnemo.lesson_id_seq', b.greatest_id) FROM pgmnemo._lesson_id_behind(tenant) b;
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

COMMENT ON FUNCTION pgmnemo.repair IS 'mends what pgmnemo.check finds: derives stale lexemes and unsound passages and vectors anew, rebuilds an HNSW index that does not hold what it should, and rebuilds the entries of metadata and all postings of the tenant from its lessons, in one transaction, sorted and in full blocks; sets the sequences of ids and of supersessions forward where they are behind. Metadata that cannot be written out stay, and a WARNING names the first: to store such a lesson with other metadata mends it. Holds the tenant''s writers up, readers never. Returns how many active lessons there are; VACUUM pgmnemo.posting afterwards';
