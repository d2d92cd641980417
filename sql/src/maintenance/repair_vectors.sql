-- Repair a tenant's vectors: cut zeros off longer vectors and pad shorter vectors; delete vectors with more content
-- than fits, without their passage, or of a generation outside the space. Changed vectors leave the HNSW index.
CREATE FUNCTION pgmnemo._repair_vectors(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM pgmnemo._repair_space(tenant);
    DELETE FROM pgmnemo.lesson_vector v
     USING pgmnemo._wrong_vectors(tenant) u
     WHERE v.tenant_id = tenant AND v.lesson_id = u.lesson_id AND v.generation = u.generation AND v.number = u.number
       AND (u.bare OR u.dims IS NULL OR u.found_dims > u.dims
                                    AND NOT pgmnemo._fits_dimensions(v.embedding::@extschema:vector@.vector, u.dims));
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone > 0 THEN
        RAISE WARNING '% vectors could not be mended and are gone', gone
        USING HINT = 'Give their lessons embeddings again; pgmnemo.check named them.';
    END IF;
    UPDATE pgmnemo.lesson_vector v
       SET project_id = u.in_project, indexed = false, embedding = @extschema:vector@.l2_normalize(
               CASE WHEN u.found_dims > u.dims THEN @extschema:vector@.subvector(v.embedding, 1, u.dims)
                    WHEN u.found_dims < u.dims
                    THEN v.embedding OPERATOR(@extschema:vector@.||)
                         array_fill(0::real, ARRAY[u.dims - u.found_dims])::@extschema:vector@.halfvec
                    ELSE v.embedding END)
      FROM pgmnemo._wrong_vectors(tenant) u
     WHERE v.tenant_id = tenant AND v.lesson_id = u.lesson_id AND v.generation = u.generation AND v.number = u.number;
END
$$;
