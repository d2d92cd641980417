-- Small scopes and vectors outside an HNSW index are scanned here, without the table: the vectors of a tenant, and
-- within it of a project, are adjacent, independent of their order of arrival. A tuple of an index has room for some
-- 1,300 dimensions.
CREATE INDEX lesson_vector_scope ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    INCLUDE (embedding)
    WHERE NOT indexed AND @extschema:vector@.vector_dims(embedding) <= 1250;
CREATE INDEX lesson_vector_scope_wide ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    WHERE NOT indexed AND @extschema:vector@.vector_dims(embedding) > 1250;
-- Finds the vectors in the HNSW index, where a scope of the tenant is small.
CREATE INDEX lesson_vector_scope_indexed ON pgmnemo.lesson_vector (tenant_id, generation, project_id, lesson_id, number)
    WHERE indexed;
