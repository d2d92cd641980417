-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it. In the order in which the first
-- edges of a lesson are taken.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id, source_id, kind);
