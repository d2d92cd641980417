CREATE FUNCTION pgmnemo.supersede(
    tenant      uuid,
    project_id  uuid,
    old         text,
    new         text        DEFAULT NULL,
    reason      text        DEFAULT NULL,
    at          timestamptz DEFAULT NULL,
    new_project uuid        DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, now());
    ends bigint[];
    forgotten text;
    held record;
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    PERFORM pgmnemo._check_moment(moment, reason);
    PERFORM pgmnemo._write_tenant(tenant);
    ends := ARRAY[pgmnemo._lesson_id(tenant, project_id, supersede.old COLLATE "default"),
                  CASE WHEN supersede.new IS NOT NULL
                       THEN pgmnemo._lesson_id(tenant, coalesce(new_project, project_id),
                                               supersede.new COLLATE "default") END];
    SELECT l.external_id INTO forgotten
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ends) AND NOT l.active LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'lesson % is forgotten', quote_literal(forgotten)
        USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Store it again first.';
    END IF;
    SELECT x.new_id, x.valid_from, x.reason, l.external_id INTO held
      FROM pgmnemo.supersession x LEFT JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = x.new_id
     WHERE x.tenant_id = tenant AND x.old_id = ends[1] AND x.undone_at IS NULL;
    IF FOUND AND held.new_id IS DISTINCT FROM ends[2] THEN
        RAISE EXCEPTION 'lesson % is superseded already, %', quote_literal(supersede.old),
              coalesce('by ' || quote_literal(held.external_id), 'by none')
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Supersede the one that holds, or call pgmnemo.undo_supersede first.';
    ELSIF FOUND AND (at IS NULL OR at = held.valid_from)
          AND (supersede.reason IS NULL OR supersede.reason COLLATE "default" = held.reason) THEN
        PERFORM pgmnemo._leave();
        RETURN 'unchanged';
    END IF;
    PERFORM pgmnemo._supersede(tenant, ends[1], ends[2], coalesce(supersede.reason, held.reason),
                               coalesce(at, held.valid_from, moment));
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN held.valid_from IS NULL THEN 'superseded' ELSE 'corrected' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.supersede IS 'lets the lesson new (of new_project, else of the same) take the place of old from at on (NULL: now), or with new NULL ends old: a recall leaves old out from then on, unless valid_at or as_of asks for an earlier time. The memory keeps when it learned that (known_at). Returns superseded; corrected (the same two with another at or reason: what was known before is kept); unchanged. tenant NULL: the session''s. Errors: no such lesson (P0002), a lesson that is forgotten or superseded by another already (55000), itself or a circle (22023)';
