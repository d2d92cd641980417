-- Finds lessons by topic. An index holds no long one; of those there are few.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE octet_length(topic) <= 500;
