-- Return the tenant's greatest number of a supersession where the sequence would repeat it, or a smaller number:
-- replicated rows do not bring their sequence along.
CREATE FUNCTION pgmnemo._supersession_behind(tenant uuid)
RETURNS TABLE (last_number bigint, greatest_number bigint)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.last_value, m.number
      FROM pgmnemo.supersession_number_seq s
     CROSS JOIN LATERAL (SELECT max(u.number) FROM pgmnemo.supersession u WHERE u.tenant_id = tenant) AS m (number)
     WHERE s.last_value < m.number OR s.last_value = m.number AND NOT s.is_called
$$;
