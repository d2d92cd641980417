CREATE FUNCTION pgmnemo.unlink(
    tenant         uuid,
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    target_project uuid DEFAULT NULL,
    caller         pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ends bigint[];
    gone bigint;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, unlink.source COLLATE "default"),
                  pgmnemo._lesson_id(tenant, coalesce(target_project, project_id),
                                     unlink.target COLLATE "default")];
    DELETE FROM pgmnemo.lesson_edge e
     WHERE e.tenant_id = tenant AND e.source_id = ends[1] AND e.target_id = ends[2]
       AND e.kind = unlink.kind COLLATE "default";
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.unlink IS 'takes one edge away, for good; returns whether there was one';
