-- Finds the lessons with a topic that pgmnemo.lesson_topic leaves out.
CREATE INDEX lesson_topic_long ON pgmnemo.lesson (tenant_id) WHERE octet_length(topic) > 500;
