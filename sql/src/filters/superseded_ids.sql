-- Return the ids of the lessons superseded at a moment, as known at a time: a search in this array costs a tenth of
-- a function call. NULL: the tenant has so many supersessions that reading all would cost more.
CREATE FUNCTION pgmnemo._superseded_ids(tenant uuid, moment timestamptz, known_at timestamptz)
RETURNS int8multirange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 20000;
    counted integer;
    ended int8multirange;
BEGIN
    SELECT count(*), range_agg(int8range(x.old_id, x.old_id, '[]'))
                     FILTER (WHERE x.valid_from <= moment AND pgmnemo._supersession_known(x, known_at))
      INTO counted, ended
      FROM (SELECT x.* FROM pgmnemo.supersession x WHERE x.tenant_id = tenant LIMIT most + 1) x;
    RETURN CASE WHEN counted <= most THEN coalesce(ended, '{}') END;
END
$$;
