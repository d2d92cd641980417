-- Check the session's embedder against the tenant's, if the dimension does not distinguish them: a session that
-- continues after a change of embedder gets an error.
CREATE FUNCTION pgmnemo._check_session_embedder(tenant uuid, embedder text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    maker constant text := nullif(current_setting('pgmnemo.embedder', true), '');
BEGIN
    IF maker <> embedder THEN
        RAISE EXCEPTION 'the vectors of tenant % are by %, and this one is by %', quote_literal(tenant),
              quote_literal(embedder), quote_literal(left(maker, 1000))
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Embed with that one from now on.';
    END IF;
END
$$;
