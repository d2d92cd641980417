-- pgmnemo._passes as a call: within a recall's statements, which few calls filter, the whole of it would be made ready
-- for nothing.
CREATE FUNCTION pgmnemo._passing(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes(l, filter);
END
$$;
