-- Finds lessons by topic. The index holds no long topic; these are few.
CREATE INDEX lesson_topic ON pgmnemo.lesson (tenant_id, topic COLLATE "C") WHERE octet_length(topic) <= 500;
