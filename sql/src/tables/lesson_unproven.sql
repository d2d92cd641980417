-- Finds lessons without provenance, to tell at once whether pgmnemo.gate_strict hides anything.
CREATE INDEX lesson_unproven ON pgmnemo.lesson (tenant_id, project_id)
    WHERE active AND commit_sha IS NULL AND artifact_hash IS NULL;
