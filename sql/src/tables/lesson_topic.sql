-- Finds lessons by topic.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE topic IS NOT NULL;
