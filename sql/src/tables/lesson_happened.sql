-- Finds lessons by when they happened. CASE instead of coalesce: row-level security trusts only CASE not to leak its
-- arguments, and lets it search an index.
CREATE INDEX lesson_happened ON pgmnemo.lesson
    (tenant_id, (CASE WHEN occurred_at IS NULL THEN stored_at ELSE occurred_at END));
