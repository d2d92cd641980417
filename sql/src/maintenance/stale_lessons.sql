-- Return lessons with lexemes, or a count of them, that differ from those of their text under their own configuration;
-- `config` is NULL where that no longer exists.
CREATE FUNCTION pgmnemo._stale_lessons(tenant uuid)
RETURNS TABLE (project_id uuid, lesson_id bigint, config regconfig, text_config text, lexemes tsvector, fresh tsvector,
               token_count integer, tokens integer)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.project_id, l.id, c.config, l.text_config, l.lexemes, f.fresh, l.token_count, n.tokens
      FROM pgmnemo.lesson l
     CROSS JOIN LATERAL (SELECT pgmnemo._config(l.text_config)) AS c (config)
     CROSS JOIN LATERAL (
            SELECT pgmnemo._lexemes(c.config, concat_ws(E'\n', l.topic, l.content)) OFFSET 0) AS f (fresh)
     CROSS JOIN LATERAL (SELECT coalesce(pgmnemo._position_count(f.fresh), 0)) AS n (tokens)
     WHERE l.tenant_id = tenant
       AND (c.config IS NULL OR (l.lexemes, l.token_count) IS DISTINCT FROM (f.fresh, n.tokens))
$$;
