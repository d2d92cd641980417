-- Return settings stored for this role, for this database or, if the role may read it, in a configuration file.
-- PostgreSQL hides an undefined name everywhere else, so a name that is only SET cannot be found.
CREATE FUNCTION pgmnemo._stored_settings()
RETURNS TABLE (name text, value text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT split_part(entry, '=', 1), substr(entry, strpos(entry, '=') + 1)
      FROM pg_db_role_setting s
     CROSS JOIN LATERAL unnest(s.setconfig) AS entry
     WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
       AND (s.setrole = 0 OR pg_has_role(s.setrole, 'USAGE'));
    IF has_table_privilege('pg_file_settings', 'SELECT')
       AND has_function_privilege('pg_show_all_file_settings()', 'EXECUTE') THEN
        RETURN QUERY SELECT f.name, f.setting FROM pg_file_settings f;
    END IF;
END
$$;
