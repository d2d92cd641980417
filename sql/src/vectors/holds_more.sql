-- Whether a scope holds more active lessons than that. Its first blocks are its oldest, hence full, and say it at
-- once where it holds many more.
CREATE FUNCTION pgmnemo._holds_more(tenant uuid, first_project uuid, last_project uuid, than bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    held bigint;
BEGIN
    SELECT sum(b.lesson_count) INTO held
      FROM (SELECT p.lesson_count FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project
             LIMIT 100 + greatest(than, 0) / 100) b;
    IF held > than THEN
        RETURN true;
    END IF;
    SELECT coalesce(sum(h.lesson_count), 0) INTO held
      FROM (SELECT p.lesson_count FROM pgmnemo.posting p
             WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.project_id BETWEEN first_project AND last_project
             UNION ALL
            SELECT j.lesson_count FROM pgmnemo.piece_project j
             WHERE j.tenant_id = tenant AND j.project_id BETWEEN first_project AND last_project) h;
    RETURN held > than;
END
$$;
