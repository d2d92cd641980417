-- Finds lessons by topic. Long topics, which are few, are not in the index.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE octet_length(topic) <= 500;
