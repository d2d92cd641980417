CREATE FUNCTION pgmnemo._score(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT sum(x) FROM unnest(pgmnemo._contributions(c, s)) AS x $$;

COMMENT ON FUNCTION pgmnemo._score IS 'the score by which recall ranks: the sum of a candidate''s contributions';
