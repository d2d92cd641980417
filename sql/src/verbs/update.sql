-- Change a lesson's fields besides its text, and check the whole lesson as if it were stored.
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
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_clear(gone, '{role,topic,importance,metadata,occurred_at,expires_at,commit_sha,'
                                       'artifact_hash,verified_at,position}');
    PERFORM pgmnemo._check_patch(update.metadata, update.patch);
    PERFORM pgmnemo._lock_tenant(tenant);
    wanted := pgmnemo._lesson_id(tenant, update.project_id, update.external_id COLLATE "default");
    SELECT l.project_id, l.external_id, l.content INTO one.project_id, one.external_id, one.content
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = wanted;
    one.topic := pgmnemo._nfc(update.topic);
    one.role := pgmnemo._nfc(update.role);
    one.importance := CASE WHEN update.importance BETWEEN 1 AND 5 THEN update.importance
                           WHEN update.importance IS NOT NULL THEN 0 END;
    one.metadata := update.metadata;
    one.occurred_at := update.occurred_at;
    one.expires_at := update.expires_at;
    one.verified_at := update.verified_at;
    one.position := update.position;
    one := (SELECT m.given FROM pgmnemo._merged_input(tenant, ARRAY[one], gone) m);
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
