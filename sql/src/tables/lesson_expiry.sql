-- Finds expired lessons.
CREATE INDEX lesson_expiry ON pgmnemo.lesson (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
