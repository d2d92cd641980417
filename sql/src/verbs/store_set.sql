CREATE FUNCTION pgmnemo.store_set(tenant uuid, lessons pgmnemo.lesson_input[],
                                  caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller, 'write');
    RETURN QUERY SELECT * FROM pgmnemo._store(tenant, lessons);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.store_set IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, and nothing that is given differs: nothing is written); updated (same key, other attributes); unembedded (updated, and the vector of the old text is gone with it, for none was given for the new); restored (softly forgotten before, or superseded and given another text). What is NULL stays as it is';
