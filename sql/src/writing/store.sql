-- Store lessons: the only write path. New keys are inserted first and in order, then the lock is taken, then rows
-- are changed: writers in this sequence can wait for one another but never deadlock. Only an existing key is
-- skipped: a duplicate id, from a sequence that was set back, is an error. Fields that the set leaves out of an
-- existing lesson stay (pgmnemo._merged_input), read again under the lock. A superseded lesson that gets another
-- text is in force again, because its writer wants it to be found.
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
    lessons := pgmnemo._composed_input(tenant, lessons);
    PERFORM pgmnemo._check_input(lessons);
    IF clear IS NOT NULL THEN
        PERFORM pgmnemo._check_clear(clear, '{embedding,passages,role,topic,importance,metadata,occurred_at,expires_at,'
                                            'commit_sha,artifact_hash,verified_at,position}');
    END IF;
    IF s.gate_strict <> 'off' THEN
        PERFORM pgmnemo._check_provenance(tenant, lessons, gone, s.gate_strict);
    END IF;
    space := pgmnemo._lock_space(tenant, lessons);

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
               pgmnemo._config_of_text(i.language, concat_ws(E'\n', i.topic, i.content), usual)::text
          FROM given i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    IF cardinality(inserted) > 0 THEN
        PERFORM pgmnemo._write_passages(tenant, inserted, lessons, space,
                                        pgmnemo._hnsw_build_pending(tenant, space.generation, cardinality(inserted)));
    END IF;

    IF cardinality(inserted) < cardinality(lessons) THEN
        IF only_new THEN
            RAISE EXCEPTION 'another writer has just taken the key %', quote_literal(lessons[1].external_id)
            USING ERRCODE = 'serialization_failure', HINT = 'Repeat the call.';
        END IF;
        SELECT array_agg(m.id), array_agg(CASE WHEN (m.was).active THEN 'updated' ELSE 'restored' END)
          INTO changed, outcomes
          FROM pgmnemo._merged_input(tenant, lessons, gone) m
         WHERE m.id <> ALL (inserted)
           AND (((m.was).role, (m.was).topic, (m.was).content, (m.was).importance, (m.was).metadata,
                 (m.was).occurred_at, (m.was).expires_at, (m.was).commit_sha, (m.was).artifact_hash,
                 (m.was).verified_at, (m.was).position, (m.was).active)
                IS DISTINCT FROM
                ((m.given).role, (m.given).topic, (m.given).content, (m.given).importance, (m.given).metadata,
                 (m.given).occurred_at, (m.given).expires_at, (m.given).commit_sha, (m.given).artifact_hash,
                 (m.given).verified_at, (m.given).position, true)
                OR (m.given).language IS NOT NULL
                   AND (m.was).text_config <> pgmnemo._config_of_text(
                        (m.given).language, concat_ws(E'\n', (m.given).topic, (m.given).content), usual)::text
                OR pgmnemo._passages_differ(tenant, m.id, (m.given).embedding, (m.given).passages,
                                            (m.given).passage_embeddings, gone, space));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        embedded := pgmnemo._ids_with_vectors(tenant, changed);
        SELECT array_agg(m.given),
               coalesce(array_agg(m.id) FILTER (WHERE (m.was).superseded_at IS NOT NULL
                                                      AND (m.given).content <> (m.was).content), '{}')
          INTO final, revived
          FROM pgmnemo._merged_input(tenant, lessons, gone) m WHERE m.id = ANY (changed);
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
                                  ELSE pgmnemo._config_of_text(
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
            embedded := ARRAY(SELECT unnest(embedded) EXCEPT SELECT unnest(pgmnemo._ids_with_vectors(tenant, changed)));
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (embedded) THEN 'unembedded' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
    END IF;
    IF space.generation IS NOT NULL AND cardinality(inserted) + coalesce(cardinality(changed), 0) > 0 THEN
        PERFORM pgmnemo._hnsw_share_inserts(tenant, space.generation, cardinality(lessons), s.hnsw_min_vectors);
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
