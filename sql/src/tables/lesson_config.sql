-- Tells which configurations the lessons of a tenant were cut by, a probe for each.
CREATE INDEX lesson_config ON pgmnemo.lesson (tenant_id, text_config COLLATE "C");
