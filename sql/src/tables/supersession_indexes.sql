-- A lesson has at most one successor, under any snapshot of a writer.
CREATE UNIQUE INDEX supersession_current ON pgmnemo.supersession (tenant_id, old_id) WHERE undone_at IS NULL;
CREATE INDEX supersession_new ON pgmnemo.supersession (tenant_id, new_id);
