CREATE FUNCTION pgmnemo.add_passages(lesson_id bigint, passages text[],
                                     passage_embeddings @extschema:vector@.vector[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store_passages(pgmnemo._session_tenant(), lesson_id, passages, passage_embeddings);
END
$$;

COMMENT ON FUNCTION pgmnemo.add_passages IS 'store_passages for the session''s tenant';
