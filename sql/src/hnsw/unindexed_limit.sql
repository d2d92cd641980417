-- Return how many vectors may wait before writers insert them: a scan of a thousand takes about a millisecond.
CREATE FUNCTION pgmnemo._unindexed_limit(exact_scan_limit bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT least(1000, exact_scan_limit) $$;
