-- Return the tenant's greatest id where the sequence of ids would repeat it, or a smaller id. Servers that share
-- tenants draw from blocks of 2^40 numbers, one each: an id of another block came with its lesson from elsewhere.
CREATE FUNCTION pgmnemo._lesson_id_behind(tenant uuid)
RETURNS TABLE (last_id bigint, greatest_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.last_value, m.id
      FROM pgmnemo.lesson_id_seq s
     CROSS JOIN LATERAL (
            SELECT max(l.id) FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.id < ((s.last_value >> 40) + 1) << 40) AS m (id)
     WHERE s.last_value < m.id OR s.last_value = m.id AND NOT s.is_called
$$;
