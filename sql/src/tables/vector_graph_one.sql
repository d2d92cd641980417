-- One tenant at most, whatever snapshot a claim was made with.
CREATE UNIQUE INDEX vector_graph_one ON pgmnemo.vector_graph ((true)) WHERE tenant_id IS NOT NULL;
