-- Return why a lesson cannot be stored; NULL: no problem.
CREATE FUNCTION pgmnemo._lesson_problem(i pgmnemo.lesson_input)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    farthest constant integer := 1000000000;  -- position, either way
    size text;
BEGIN
    IF i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL THEN
        RETURN 'lacks project_id, external_id or content';
    ELSIF octet_length(i.external_id) > 1000 THEN
        RETURN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id));
    END IF;
    size := pgmnemo._size_problem(i.content, i.topic, i.role, i.commit_sha, i.artifact_hash, i.metadata, i.passages);
    RETURN CASE
        WHEN size IS NOT NULL THEN size
        WHEN pgmnemo._is_blank(i.content) THEN 'has no text in its content'
        WHEN CASE WHEN i.metadata <> '{}' THEN pgmnemo._holds_unprintable(i.metadata) END
        THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
        WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
        WHEN i.language IS NOT NULL AND pgmnemo._language_config(i.language) IS NULL
        THEN format('has the language %s, which is neither auto, a text search configuration nor a code of ISO 639',
                    quote_literal(left(i.language, 100)))
        WHEN i.position NOT BETWEEN -farthest AND farthest
        THEN format('must have a position from -%s to %s', farthest, farthest)
        WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
        WHEN @extschema:vector@.vector_dims(i.embedding) > 4000
        THEN 'must have an embedding of at most 4,000 dimensions'
        WHEN @extschema:vector@.vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
        THEN 'must have an embedding with a norm from 1e-15 to 1e15'
        ELSE pgmnemo._passages_problem(i.passages, i.passage_embeddings) END;
END
$$;
