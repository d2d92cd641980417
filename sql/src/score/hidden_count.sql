-- Return the number of active lessons in scope that the gate hides, up to 1,000; each row of an answer and a NOTICE
-- show it.
CREATE FUNCTION pgmnemo._hidden_count(scope pgmnemo.scope)
RETURNS integer
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    counted constant integer := 1000;
    hidden integer;
BEGIN
    IF scope.gate <> 'enforce' THEN
        RETURN 0;
    END IF;
    SELECT count(*) INTO hidden
      FROM (SELECT FROM pgmnemo.lesson l
             WHERE l.tenant_id = scope.tenant AND pgmnemo._in_scope(l.project_id, scope)
               AND l.active AND l.commit_sha IS NULL AND l.artifact_hash IS NULL LIMIT counted) h;
    IF hidden > 0 THEN
        RAISE NOTICE 'pgmnemo.gate_strict is enforce and hides % in scope, which have neither commit_sha nor '
                     'artifact_hash',
              CASE WHEN hidden = counted THEN counted || ' lessons or more' WHEN hidden = 1 THEN '1 lesson'
                   ELSE hidden || ' lessons' END
        USING HINT = 'SET pgmnemo.gate_strict = warn or off to recall them.';
    END IF;
    RETURN hidden;
END
$$;
