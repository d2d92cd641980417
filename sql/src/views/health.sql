-- Shows, with its owner's rights, what a role in pg_monitor may know: only numbers, none of a single tenant, and no
-- text.
CREATE VIEW pgmnemo.health AS
SELECT pgmnemo.version() AS version, u.began AS maintenance_began, u.seconds AS maintenance_seconds,
       u.merged AS last_merge, u.vectors_waiting, u.blocks_waiting, u."left" AS maintenance_left,
       u.skipped AS tenants_skipped,
       (SELECT count(DISTINCT g.tenant_id) FROM pgmnemo.tenant_grant g) AS tenants,
       (SELECT count(*) FROM pgmnemo.hnsw_index) AS hnsw_indexes,
       (SELECT count(*) FROM pgmnemo.hnsw_index g
         WHERE NOT EXISTS (SELECT FROM pg_class c
                            WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relname = g.name AND c.relkind = 'r'))
           AS hnsw_indexes_missing,
       s.lessons, s.live_rows, s.dead_rows, s.bytes, s.hnsw_bytes, s.last_vacuum
  FROM pgmnemo.maintenance_run u
 CROSS JOIN (
        SELECT (sum(t.n_live_tup) FILTER (WHERE t.relname = 'lesson'))::bigint AS lessons,
               sum(t.n_live_tup)::bigint AS live_rows, sum(t.n_dead_tup)::bigint AS dead_rows,
               sum(pg_total_relation_size(t.relid))::bigint AS bytes,
               coalesce(sum(pg_total_relation_size(t.relid)) FILTER (WHERE t.relname ~ '^hnsw_\d+$'), 0)::bigint
               AS hnsw_bytes,
               min(greatest(t.last_vacuum, t.last_autovacuum)) FILTER (WHERE t.n_dead_tup > 1000) AS last_vacuum
          FROM pg_stat_user_tables t WHERE t.schemaname = 'pgmnemo') s;

COMMENT ON VIEW pgmnemo.health IS 'one row for monitoring, for members of pg_monitor: what the last maintenance left, how many tenants and HNSW indexes there are, rows and bytes of all tables as PostgreSQL''s statistics estimate them';
