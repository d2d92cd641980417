-- How far a cosine lies from that of unrelated texts, 0, to that of equal ones, 1: so one set of weights serves every
-- embedder, whether its unrelated texts have cosines near 0.1 or near 0.8. What is farther away than unrelated texts
-- keeps its order but hardly counts.
CREATE FUNCTION pgmnemo._nearness(cosine float8, center float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT coalesce(greatest(cosine - center, 0.01 * (cosine - center)) / greatest(1 - center, 0.01), 0) $$;

COMMENT ON FUNCTION pgmnemo._nearness(float8, float8) IS '(cosine - center) / (1 - center), a hundredth of it where negative; 0 where either is NULL';
