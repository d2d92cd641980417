-- Return these lessons in their new state, with their former state: fields of a stored lesson that the set leaves out
-- stay, except those in `clear`. Passages given again without vectors keep their vectors.
CREATE FUNCTION pgmnemo._merged_input(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS TABLE (id bigint, given pgmnemo.lesson_input, was pgmnemo.lesson)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.id,
           ROW(l.project_id, l.external_id, i.content, i.embedding,
               coalesce(i.role, CASE WHEN 'role' <> ALL (clear) THEN l.role END),
               coalesce(i.topic, CASE WHEN 'topic' <> ALL (clear) THEN l.topic END),
               coalesce(i.importance, CASE WHEN 'importance' <> ALL (clear) THEN l.importance END, 3),
               coalesce(i.metadata, CASE WHEN 'metadata' <> ALL (clear) THEN l.metadata END, '{}'),
               coalesce(i.occurred_at, CASE WHEN 'occurred_at' <> ALL (clear) THEN l.occurred_at END),
               coalesce(i.expires_at, CASE WHEN 'expires_at' <> ALL (clear) THEN l.expires_at END),
               coalesce(i.commit_sha, CASE WHEN 'commit_sha' <> ALL (clear) THEN l.commit_sha END),
               coalesce(i.artifact_hash, CASE WHEN 'artifact_hash' <> ALL (clear) THEN l.artifact_hash END),
               coalesce(i.verified_at, CASE WHEN 'verified_at' <> ALL (clear) THEN l.verified_at END),
               CASE WHEN i.passage_embeddings IS NOT NULL OR i.content <> l.content OR i.passages IS DISTINCT FROM
                         ARRAY(SELECT p.content FROM pgmnemo.passage p
                                WHERE p.tenant_id = tenant AND p.lesson_id = l.id ORDER BY p.number)
                    THEN i.passages END,
               i.passage_embeddings,
               coalesce(i.position, CASE WHEN 'position' <> ALL (clear) THEN l.position END),
               i.language)::pgmnemo.lesson_input,
           l
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
$$;
