-- Set what pg_dump includes: grants of roles that exist, and the data of lessons. Postings are not dumped: the triggers
-- rebuild them from the lessons. HNSW tables are no members of an extension: a dump has them as they are.
SELECT pg_catalog.pg_extension_config_dump(
    'pgmnemo.tenant_grant', 'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = grantee)');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant', 'WHERE language IS NOT NULL');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.passage', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.embedding_space', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_vector', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_edge', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.supersession_number_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.hnsw_index', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.hnsw_seq', '');
