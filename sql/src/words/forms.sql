CREATE FUNCTION pgmnemo._forms()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT array_agg(form) FROM jsonb_object_keys(pgmnemo._form_roots()) AS form $$;
