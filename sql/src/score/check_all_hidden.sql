-- Raise an error if an answer is empty only because of the gate: it would look like an empty memory, and drivers do
-- not show notices.
CREATE FUNCTION pgmnemo._check_all_hidden(scope pgmnemo.scope, hidden integer)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gate constant text := scope.gate;
BEGIN
    scope.gate := 'off';
    scope.ids := NULL;  -- which the gate has sieved
    IF EXISTS (SELECT pgmnemo._further_lessons(scope, '{}', 1)) THEN
        RAISE EXCEPTION 'pgmnemo.gate_strict is % and hides all lessons in scope: none has commit_sha or '
                        'artifact_hash', gate
        USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'SET pgmnemo.gate_strict = warn or off to recall them, or store them again with their provenance.';
    END IF;
END
$$;
