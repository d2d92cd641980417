-- The most similar lessons in scope by exact cosine, whatever indexes exist.
CREATE FUNCTION pgmnemo._nearest_exact(tenant uuid, first_project uuid, last_project uuid, query vector, depth integer,
                                       wanted_role text, valid_at timestamptz, gate text)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT n.id
      FROM (SELECT l.id, l.external_id, l.project_id, l.embedding <=> query AS distance
              FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.project_id BETWEEN first_project AND last_project
               AND l.embedding IS NOT NULL AND pgmnemo._recallable(l, wanted_role, valid_at, gate)
            OFFSET 0) n
     ORDER BY n.distance, n.external_id, n.project_id
     LIMIT depth
$$;
