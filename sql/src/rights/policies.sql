-- Row-level security is a second safeguard besides the verbs. It is forced, so that it also binds the tables' owner,
-- whose rights the verbs have; only superusers and BYPASSRLS roles are exempt. The sub-select makes PostgreSQL call
-- the function once per statement, not once per row.
ALTER TABLE pgmnemo.lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_edge ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.passage ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_vector ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.embedding_space ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.posting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.segment ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.segment_lesson ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.segment_project ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.segment_term ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.lesson_entry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.supersession ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.tenant ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Row security of these tables has no policy and is not forced: only the owner sees their rows; roles that may read
-- all data do not.
ALTER TABLE pgmnemo.caller_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.tenant_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgmnemo.hnsw_index ENABLE ROW LEVEL SECURITY;
CREATE POLICY acting_tenant ON pgmnemo.lesson USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_edge USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.passage USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_vector USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.embedding_space USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.posting USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.segment USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.segment_lesson USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.segment_project USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.segment_term USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.lesson_entry USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.supersession USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
CREATE POLICY acting_tenant ON pgmnemo.tenant USING (tenant_id = (SELECT pgmnemo._acting_tenant()));
