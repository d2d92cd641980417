-- Apply pgmnemo.gate_strict to lessons without provenance on write. A stored lesson keeps its provenance.
CREATE FUNCTION pgmnemo._check_provenance(tenant uuid, lessons pgmnemo.lesson_input[], clear text[], gate text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bare bigint;
    example text;
BEGIN
    IF gate = 'off' THEN
        RETURN;
    END IF;
    SELECT count(*), min(i.external_id COLLATE "C") INTO bare, example
      FROM unnest(lessons) i
     WHERE i.commit_sha IS NULL AND i.artifact_hash IS NULL
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson l
                        WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
                          AND (l.commit_sha IS NOT NULL AND 'commit_sha' <> ALL (clear)
                               OR l.artifact_hash IS NOT NULL AND 'artifact_hash' <> ALL (clear)));
    IF bare > 0 AND gate = 'enforce' THEN
        RAISE EXCEPTION '% of % lessons have no provenance, % among them',
              bare, cardinality(lessons), quote_literal(example)
        USING ERRCODE = 'check_violation',
              HINT = 'Give commit_sha or artifact_hash, or SET pgmnemo.gate_strict to warn or off; '
                     || CASE WHEN cardinality(lessons) = 1 THEN 'it was not stored.'
                             ELSE 'nothing of the set was stored.' END;
    ELSIF bare > 0 THEN
        RAISE WARNING '% of % lessons have no provenance, % among them',
              bare, cardinality(lessons), quote_literal(example);
    END IF;
END
$$;
