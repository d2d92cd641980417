-- Return the lessons of which segments contain a former state.
CREATE FUNCTION pgmnemo._undone_postings(tenant uuid)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(SELECT unnest(p.lesson_ids) FROM pgmnemo.posting p
                  WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count < 0);
END
$$;
