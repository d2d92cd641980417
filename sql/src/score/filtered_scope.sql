-- Return the scope of a verb's arguments, with the ids of its lessons where a filter leaves few.
CREATE FUNCTION pgmnemo._filtered_scope(tenant uuid, project uuid, gate text, role text, valid_at timestamptz,
                                        moment timestamptz, known_at timestamptz, given jsonb,
                                        everything boolean DEFAULT false)
RETURNS pgmnemo.scope
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    scope pgmnemo.scope := pgmnemo._scope(tenant, project, gate, role, valid_at, moment, known_at,
                                          pgmnemo._filter(given));
BEGIN
    IF (scope.filter).projects IS NOT NULL THEN
        IF project IS NULL THEN
            SELECT min(p::text COLLATE "C"), max(p::text COLLATE "C") INTO scope.first_project, scope.last_project
              FROM unnest((scope.filter).projects) p;
        ELSIF project <> ALL ((scope.filter).projects) THEN
            PERFORM pgmnemo._filter_error('''projects''', 'does not hold project_id, ' || project,
                                          'Give the project, or the set of projects.');
        END IF;
    END IF;
    scope.everything := everything;
    IF given IS NOT NULL THEN
        scope.ids := pgmnemo._candidate_ids_by_filter(scope);
    END IF;
    RETURN scope;
END
$$;
