-- Normalize the names that an older version has stored for a tenant to their composed form. If two keys of a project
-- would become equal, both lessons stay as they are, and a WARNING names them. Items of LangGraph, which
-- distinguishes the two forms, get keys and topics as pgmnemo/integrations/langgraph_items.py writes such names.
CREATE FUNCTION pgmnemo._compose_names(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- bytes of a key
    one record;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN;
    END IF;
    UPDATE pgmnemo.lesson l
       SET external_id = CASE WHEN l.external_id IS NFC NORMALIZED THEN l.external_id
                              WHEN octet_length(pgmnemo._ascii_text(l.external_id)) <= longest
                              THEN pgmnemo._ascii_text(l.external_id)
                              ELSE 'sha256 ' || encode(sha256(convert_to(l.external_id, 'UTF8')), 'hex') END,
           topic = (SELECT 'langgraph.' || string_agg(
                               CASE WHEN p IS NFC NORMALIZED THEN p
                                    ELSE '.' || pgmnemo._ascii_text(left(substr(to_json(p)::text, 2), -1)) END || '.',
                               '' ORDER BY n)
                      FROM string_to_table(left(substr(l.topic, 11), -1), '.') WITH ORDINALITY AS u (p, n))
     WHERE l.tenant_id = tenant AND starts_with(l.topic, 'langgraph.')
       AND concat_ws(' ', l.external_id, l.topic) IS NOT NFC NORMALIZED
       AND jsonb_typeof(l.metadata -> 'key') = 'string' AND jsonb_typeof(l.metadata -> 'value') = 'object';

    WITH other AS MATERIALIZED (
        SELECT l.id, l.project_id, l.external_id, normalize(l.external_id, NFC) AS composed
          FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
    )
    UPDATE pgmnemo.lesson l SET external_id = a.composed
      FROM (SELECT o.project_id, o.composed, min(o.id) AS id FROM other o GROUP BY 1, 2 HAVING count(*) = 1) a
     WHERE l.tenant_id = tenant AND l.id = a.id AND octet_length(a.composed) <= longest
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson x
                        WHERE x.tenant_id = tenant AND x.project_id = a.project_id AND x.external_id = a.composed);
    UPDATE pgmnemo.lesson l SET topic = normalize(l.topic, NFC), role = normalize(l.role, NFC)
     WHERE l.tenant_id = tenant AND (l.topic IS NOT NFC NORMALIZED OR l.role IS NOT NFC NORMALIZED);
    UPDATE pgmnemo.lesson l
       SET metadata = jsonb_set(l.metadata, '{fact}', normalize((l.metadata -> 'fact')::text, NFC)::jsonb)
     WHERE l.tenant_id = tenant AND l.metadata #> '{fact,subject}' IS NOT NULL
       AND (l.metadata -> 'fact')::text IS NOT NFC NORMALIZED;

    FOR one IN
        SELECT l.project_id, pgmnemo._ascii_text(to_json(l.external_id)::text) AS key,
               (SELECT pgmnemo._ascii_text(to_json(o.external_id)::text) FROM pgmnemo.lesson o
                 WHERE o.tenant_id = tenant AND o.project_id = l.project_id AND o.id <> l.id
                   AND normalize(o.external_id, NFC) = normalize(l.external_id, NFC)
                 ORDER BY o.external_id COLLATE "C" DESC LIMIT 1) AS twin
          FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
         ORDER BY l.project_id, l.external_id
    LOOP
        RAISE WARNING 'tenant %, project %: the lesson % keeps its key, %', tenant, one.project_id, one.key,
              coalesce('which is that of the lesson ' || one.twin || ' in Unicode''s composed form',
                       format('for that is longer than %s bytes in Unicode''s composed form', longest))
        USING HINT = 'Store it under another key, and forget it under this.';
    END LOOP;
END
$$;
