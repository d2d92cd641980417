-- Return what is too long in a writer's lesson; NULL: nothing. Lengths are read before any processing, so that a
-- refusal costs little more than the transfer. For passages the size of the whole array counts, which is a little
-- larger; pgmnemo._passages_problem checks their sum.
CREATE FUNCTION pgmnemo._size_problem(content text, topic text, role text, commit_sha text, artifact_hash text,
                                      metadata jsonb, passages text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem constant text := CASE
        WHEN octet_length(content) > 10000000
        THEN format('has a content of %s bytes, but may have 10,000,000', octet_length(content))
        WHEN greatest(octet_length(topic), octet_length(role), octet_length(commit_sha),
                      octet_length(artifact_hash)) > 10000
        THEN 'has a topic, role, commit_sha or artifact_hash of more than 10,000 bytes'
        WHEN pg_column_size(metadata) > 1000000 OR pg_column_size(jsonb_build_array(metadata)) > 1000100
        THEN 'has metadata of more than 1,000,000 bytes'
        WHEN cardinality(passages) > 1000 THEN format('has %s passages, but may have 1,000', cardinality(passages))
        WHEN pg_column_size(passages) > 20010000 THEN 'has passages of more than 20,000,000 bytes together'
    END;
BEGIN
    IF problem IS NULL AND pg_column_size(metadata) > 10000 THEN
        RETURN (SELECT 'has metadata of more than 10,000 values'
                  FROM jsonb_path_query(metadata, 'strict $.**') v HAVING count(*) > 10000);
    END IF;
    RETURN problem;
END
$$;
