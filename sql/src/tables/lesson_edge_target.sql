-- Relevance flows along edges both ways, and a deleted lesson takes its edges with it.
CREATE INDEX lesson_edge_target ON pgmnemo.lesson_edge (tenant_id, target_id);
