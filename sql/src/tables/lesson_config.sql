-- Finds the configurations that a tenant's lessons were parsed with, in a probe for each.
CREATE INDEX lesson_config ON pgmnemo.lesson (tenant_id, text_config COLLATE "C");
