CREATE FUNCTION pgmnemo.add_passages(lesson_id bigint, passages text[], passage_embeddings vector[] DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, @extschema:vector@, pg_temp
AS $$
DECLARE
    tenant uuid := pgmnemo._tenant();
    problem text := pgmnemo._passages_problem(passages, passage_embeddings);
    one pgmnemo.lesson_input;
    large uuid[];
BEGIN
    IF problem IS NOT NULL OR coalesce(cardinality(passages), 0) = 0 THEN
        RAISE EXCEPTION 'lesson % %', add_passages.lesson_id, coalesce(problem, 'is given no passages')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT l.project_id, l.external_id INTO one.project_id, one.external_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.id = add_passages.lesson_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no lesson %', add_passages.lesson_id USING ERRCODE = 'no_data_found';
    ELSIF EXISTS (SELECT FROM pgmnemo.passage p
                   WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.number > 0) THEN
        RETURN false;
    END IF;
    one.passages := passages;
    one.passage_embeddings := passage_embeddings;
    SELECT array_agg(p.project_id) INTO large FROM pgmnemo.passage p
     WHERE p.tenant_id = tenant AND p.lesson_id = add_passages.lesson_id AND p.indexed;
    PERFORM pgmnemo._write_passages(tenant, ARRAY[add_passages.lesson_id], ARRAY[one], coalesce(large, '{}'));
    RETURN true;
END
$$;

COMMENT ON FUNCTION pgmnemo.add_passages(bigint, text[], vector[]) IS 'gives a lesson that has no passages these, with a vector of 1,024 dimensions for each or none; returns false, and changes nothing, where it has some';
