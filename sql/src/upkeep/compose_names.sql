-- Brings keys, topics, roles and facts of a tenant into Unicode's composed form (NFC), in which the client asks for
-- them. Of keys that become one the first stays as it is with the others, and a WARNING names one of them.
CREATE FUNCTION pgmnemo._compose_names(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kept bigint;
    example text;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN;
    END IF;
    UPDATE pgmnemo.lesson l SET external_id = normalize(l.external_id, NFC)
     WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson o
                        WHERE o.tenant_id = tenant AND o.project_id = l.project_id AND o.id <> l.id
                          AND normalize(o.external_id, NFC) = normalize(l.external_id, NFC));
    SELECT count(*), min(l.external_id) INTO kept, example
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED;
    IF kept > 0 THEN
        RAISE WARNING '% keys of tenant % stay as they are, for they would become the keys of other lessons: % is one',
              kept, quote_literal(tenant), quote_literal(left(example, 100))
        USING HINT = 'Store these lessons under other keys, and forget them under these.';
    END IF;
    UPDATE pgmnemo.lesson l SET topic = normalize(l.topic, NFC), role = normalize(l.role, NFC)
     WHERE l.tenant_id = tenant AND (l.topic IS NOT NFC NORMALIZED OR l.role IS NOT NFC NORMALIZED);
    UPDATE pgmnemo.lesson l
       SET metadata = jsonb_set(l.metadata, '{fact}', normalize((l.metadata -> 'fact')::text, NFC)::jsonb)
     WHERE l.tenant_id = tenant AND (l.metadata -> 'fact')::text IS NOT NFC NORMALIZED;
END
$$;
