-- Return the legs that made a lesson a candidate; NULL: no leg did.
CREATE FUNCTION pgmnemo._candidate_legs(l pgmnemo.lesson, scope pgmnemo.scope, by_keyword bigint[], by_vector bigint[],
                                        filled bigint[], added bigint[], linked bigint[])
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT nullif(concat_ws('; ',
        'keyword leg, place ' || array_position(by_keyword, (l).id),
        'vector leg, place ' || array_position(by_vector, (l).id),
        CASE WHEN (l).id = ANY (filled) THEN 'filled up' END,
        CASE WHEN (l).id = ANY (added) THEN 'neighbour of one of the best' END,
        CASE WHEN (l).id = ANY (linked) AND pgmnemo._recallable(l, scope)
                  AND pgmnemo._in_scope((l).project_id, scope) THEN 'graph' END), '')
$$;
