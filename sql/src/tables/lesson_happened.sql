-- Finds lessons by when they happened. CASE, where coalesce would do: only of that row-level security knows that it
-- tells nobody what it was given, and lets it search an index.
CREATE INDEX lesson_happened ON pgmnemo.lesson
    (tenant_id, (CASE WHEN occurred_at IS NULL THEN stored_at ELSE occurred_at END));
