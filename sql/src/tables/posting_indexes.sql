-- Covers the columns that statistics sum up, so that they need not read the blocks.
ALTER TABLE pgmnemo.posting ADD PRIMARY KEY (tenant_id, lexeme, project_id, first_id)
    INCLUDE (lesson_count, token_total, max_frequency, min_tokens);
-- Finds the undone lessons.
CREATE INDEX posting_gone ON pgmnemo.posting (tenant_id) WHERE lesson_count < 0 AND lexeme = '';
