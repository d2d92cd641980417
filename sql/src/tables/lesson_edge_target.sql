-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it. The order is that of the first
-- edges of a lesson.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id, source_id, kind);
