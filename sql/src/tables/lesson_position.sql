-- Finds a lesson's neighbours.
CREATE INDEX lesson_position ON pgmnemo.lesson (tenant_id, project_id, position) WHERE position IS NOT NULL;
