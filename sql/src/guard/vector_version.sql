-- The extension needs pgvector 0.8.0 for halfvec and iterative scans.
DO $$
DECLARE
    given text := (SELECT e.extversion FROM pg_catalog.pg_extension e WHERE e.extname = 'vector');
    numbers integer[] := string_to_array(substring(given FROM '^[0-9]+[.][0-9]+[.][0-9]+'), '.');
BEGIN
    IF numbers < '{0,8,0}' THEN
        RAISE EXCEPTION 'pgvector is %, but must be 0.8.0 or later', given
        USING ERRCODE = 'feature_not_supported', HINT = 'Install a later one and run ALTER EXTENSION vector UPDATE.';
    ELSIF numbers < '{0,8,4}' THEN
        RAISE WARNING 'pgvector is %: before 0.8.4 its HNSW indexes can be spoiled, so every scope is read exactly',
              given
        USING HINT = 'Recall is right, but slow beyond some 10,000 lessons a scope, until pgvector is updated.';
    END IF;
END
$$;
