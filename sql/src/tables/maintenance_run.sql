-- The row, there from the beginning, is the result of the last call of pgmnemo.maintain. Of two concurrent calls the
-- later leaves it as it is, and does not wait.
CREATE TABLE pgmnemo.maintenance_run (
    began           timestamptz,
    seconds         float8  NOT NULL,
    merged          timestamptz,
    vectors_waiting bigint  NOT NULL,
    blocks_waiting  bigint  NOT NULL,
    "left"          bigint  NOT NULL,
    skipped         integer NOT NULL
);
INSERT INTO pgmnemo.maintenance_run VALUES (NULL, 0, NULL, 0, 0, 0, 0);

COMMENT ON TABLE pgmnemo.maintenance_run IS 'one row: what the last call of pgmnemo.maintain left; pgmnemo.health shows it';
COMMENT ON COLUMN pgmnemo.maintenance_run.began IS 'when it began; NULL where there was none';
COMMENT ON COLUMN pgmnemo.maintenance_run.seconds IS 'how long it took';
COMMENT ON COLUMN pgmnemo.maintenance_run.merged IS 'when a call last brought vectors into an HNSW index or compacted a tenant';
COMMENT ON COLUMN pgmnemo.maintenance_run.vectors_waiting IS 'vectors of large tenants that were outside their HNSW index';
COMMENT ON COLUMN pgmnemo.maintenance_run.blocks_waiting IS 'small blocks of lessons that single writes had left and no merge had joined';
COMMENT ON COLUMN pgmnemo.maintenance_run."left" IS 'what it returned: of these vectors and blocks those that are due';
COMMENT ON COLUMN pgmnemo.maintenance_run.skipped IS 'tenants that were due and stayed as they were: their writers held them, or a WARNING in the log says why';
