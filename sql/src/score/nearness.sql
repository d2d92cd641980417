-- Return a cosine on a scale from 0, that of unrelated texts, to 1, that of equal texts: one set of weights serves
-- every embedder, with cosines of unrelated texts near 0.1 or near 0.8. Lessons farther away than unrelated texts keep
-- their order but hardly count.
CREATE FUNCTION pgmnemo._nearness(cosine float8, center float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT coalesce(greatest(cosine - center, 0.01 * (cosine - center)) / greatest(1 - center, 0.01), 0) $$;

COMMENT ON FUNCTION pgmnemo._nearness(float8, float8) IS '(cosine - center) / (1 - center), a hundredth of it where negative; 0 where either is NULL';
