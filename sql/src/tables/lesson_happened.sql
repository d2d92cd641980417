-- Finds lessons by when they happened.
CREATE INDEX lesson_happened ON pgmnemo.lesson (tenant_id, coalesce(occurred_at, stored_at));
