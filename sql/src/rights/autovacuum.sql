-- By default PostgreSQL vacuums a table when a fifth of its rows are dead: too many to read if lessons change all
-- day. A table's own settings stay.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT c.oid::regclass AS name FROM pg_catalog.pg_class c
         WHERE c.relnamespace = 'pgmnemo'::regnamespace
           AND c.relname IN ('lesson', 'lesson_entry', 'lesson_vector', 'passage', 'segment_term', 'posting')
           AND NOT EXISTS (SELECT FROM unnest(c.reloptions) o WHERE starts_with(o, 'autovacuum_'))
    LOOP
        EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_scale_factor = 0.05, '
                       'autovacuum_analyze_scale_factor = 0.05)', item.name);
    END LOOP;
END
$$;
