-- Recallable lessons in scope that no leg found, in key order: at most `wanted`.
CREATE FUNCTION pgmnemo._fill(tenant uuid, first_project uuid, last_project uuid, have bigint[], wanted integer,
                              asked_role text, valid_time timestamptz, gate text)
RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.id
      FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id BETWEEN first_project AND last_project
       AND pgmnemo._recallable(l, asked_role, valid_time, gate) AND l.id <> ALL (have)
     ORDER BY l.project_id, l.external_id
     LIMIT wanted
$$;
