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
    fact jsonb := pgmnemo._fact_metadata(subject, relation, object);
    source_id bigint;
    one pgmnemo.lesson_input;
    named text COLLATE "C";
    stored record;
    others bigint[];
    later record;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
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
      FROM pgmnemo._facts_at(tenant, project_id, fact, moment) l ORDER BY l.id LIMIT 1;
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
        one.embedding := pgmnemo._checked_embedding(embedding);
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
        others := ARRAY(SELECT l.id FROM pgmnemo._facts_at(tenant, project_id, fact - 'object', moment) l
                         WHERE l.id <> stored.id AND l.metadata -> 'fact' -> 'object' <> fact -> 'object');
        SELECT l.id, s.since INTO later
          FROM pgmnemo._facts_at(tenant, project_id, fact - 'object', NULL) l
         CROSS JOIN LATERAL (SELECT coalesce(l.occurred_at, l.stored_at)) AS s (since)
         WHERE s.since > moment AND l.id <> stored.id
           AND s.since < least(l.superseded_at, l.expires_at, 'infinity')  -- else it holds at no time
         ORDER BY s.since, l.id LIMIT 1;
        IF later.id IS NOT NULL AND outcome <> 'unchanged' THEN
            PERFORM pgmnemo._supersede(tenant, stored.id, later.id, assert_fact.reason, later.since);
        END IF;
        BEGIN
            PERFORM pgmnemo._supersede(tenant, o, stored.id, assert_fact.reason, moment) FROM unnest(others) o;
        EXCEPTION WHEN invalid_parameter_value THEN
            RAISE EXCEPTION 'the fact holds at % already, and what holds beside it then took its place later', moment
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'End the other with pgmnemo.end_fact, or take its place back with pgmnemo.undo_supersede.';
        END;
    END IF;
    key := named;
    superseded := coalesce(cardinality(others), 0);
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.assert_fact IS 'stores that subject, relation and object hold together from at on (NULL: now), as a lesson whose metadata has them under fact, and returns its key. Blanks around the three and runs of blanks do not count, capital letters do. unchanged where the same holds then already. single: the caller''s word that a subject has one object of this relation at a time: whatever else holds at that moment is superseded by the new one, and the new one by what holds later; superseded says how many were. Refused where one of these took the place of the same fact later (55000). source: the key of a lesson that it was learned from, linked to it as asserts. content: what recall finds it by, NULL: the three joined. tenant NULL: the session''s';
