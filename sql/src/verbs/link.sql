CREATE FUNCTION pgmnemo.link(
    tenant         uuid,
    project_id     uuid,
    source         text,
    target         text,
    kind           text,
    weight         float8      DEFAULT 1,
    valid_from     timestamptz DEFAULT NULL,
    valid_to       timestamptz DEFAULT NULL,
    target_project uuid        DEFAULT NULL,
    caller         pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ends bigint[];
    held integer;
    fresh boolean;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, link.source COLLATE "default"),
                  pgmnemo._lesson_id(tenant, coalesce(target_project, project_id),
                                     link.target COLLATE "default")];
    PERFORM pgmnemo._check_link(ends[1], ends[2], link.kind COLLATE "default", weight, valid_from, valid_to);
    -- who deletes one of them meanwhile is met here, and not by the foreign key
    PERFORM FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ends) ORDER BY l.id FOR KEY SHARE;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held < 2 THEN
        PERFORM pgmnemo._lesson_id(tenant, project_id, link.source COLLATE "default"),
                pgmnemo._lesson_id(tenant, coalesce(target_project, project_id), link.target COLLATE "default");
    END IF;
    INSERT INTO pgmnemo.lesson_edge AS e (tenant_id, source_id, target_id, kind, weight, valid_from, valid_to)
    VALUES (tenant, ends[1], ends[2], link.kind COLLATE "default", link.weight, link.valid_from, link.valid_to)
        ON CONFLICT (tenant_id, source_id, target_id, kind) DO UPDATE
       SET weight = excluded.weight, valid_from = excluded.valid_from, valid_to = excluded.valid_to
     WHERE (e.weight, e.valid_from, e.valid_to)
           IS DISTINCT FROM (excluded.weight, excluded.valid_from, excluded.valid_to)
    RETURNING xmax = 0 INTO fresh;
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN fresh IS NULL THEN 'unchanged' WHEN fresh THEN 'inserted' ELSE 'updated' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.link IS 'an edge from source to target, both by external id and of one project unless target_project says otherwise; weight from 1e-30 to 1; the same kind between the same two again is unchanged or updated. Returns inserted, unchanged or updated';
