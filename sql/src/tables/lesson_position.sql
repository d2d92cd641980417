-- Finds a lesson's neighbours: the first few of a place without the others.
CREATE INDEX lesson_position ON pgmnemo.lesson (tenant_id, project_id, position, id) WHERE position IS NOT NULL;
