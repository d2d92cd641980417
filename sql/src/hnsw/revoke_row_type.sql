-- Revoke the right that PostgreSQL grants to PUBLIC on the type of a table's rows, and that no dump removes: objects
-- that depend on it would keep the table from being dropped.
CREATE FUNCTION pgmnemo._revoke_row_type(relation name)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format('REVOKE ALL ON TYPE pgmnemo.%I FROM PUBLIC', relation);
END
$$;
