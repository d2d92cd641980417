-- Covers what statistics sum up, so that they need not read the blocks.
CREATE INDEX posting_lexeme ON pgmnemo.posting (tenant_id, lexeme, project_id)
    INCLUDE (lesson_count, token_total, max_frequency, min_tokens);
