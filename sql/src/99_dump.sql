-- What pg_dump takes along. Postings are not dumped: the triggers build them anew from the lessons.
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant_grant', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.passage', '');
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.lesson_edge', '');
