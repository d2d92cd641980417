-- Return whether metadata contain a number that cannot be printed. Each number is tested separately: the whole must
-- never be cast to text.
CREATE FUNCTION pgmnemo._holds_unprintable(metadata jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT EXISTS (SELECT FROM jsonb_path_query(metadata, 'strict $.** ? (@.type() == "number")') n
                    WHERE pgmnemo._is_unprintable(n))
$$;
