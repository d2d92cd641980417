-- Whoever takes out or merges postings holds the tenant's lock to the end of its transaction; whoever appends
-- needs none. Verbs that change lessons take it before any row of theirs, so that they cannot deadlock.
CREATE FUNCTION pgmnemo._lock_postings(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('pgmnemo.posting ' || tenant, 0))
$$;
