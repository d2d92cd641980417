-- Call pgmnemo._passes_filter without inlining: few recalls filter, so the plan of the test in their statements would
-- be wasted.
CREATE FUNCTION pgmnemo._passes_filter_call(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes_filter(l, filter);
END
$$;
