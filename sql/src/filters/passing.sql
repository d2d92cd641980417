-- Call pgmnemo._passes without inlining: few recalls filter, so the plan of the test in their statements would be
-- wasted.
CREATE FUNCTION pgmnemo._passing(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes(l, filter);
END
$$;
