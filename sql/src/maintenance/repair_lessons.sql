-- Let the trigger derive lexemes again under each lesson's own configuration, or under that of a new lesson if its
-- own no longer exists. The tenant's postings must be deleted before: the other triggers would fail on damaged
-- postings.
CREATE FUNCTION pgmnemo._repair_lessons(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1
     WHERE l.tenant_id = tenant AND l.id IN (SELECT s.lesson_id FROM pgmnemo._stale_lessons(tenant) s)
$$;
