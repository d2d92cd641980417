-- Return the entry of a value: equal numbers have the same entry in any notation (1 and 1.0).
CREATE FUNCTION pgmnemo._metadata_entry(path text, value jsonb)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT jsonb_hash_extended(jsonb_build_array(path, value), 0) $$;

COMMENT ON FUNCTION pgmnemo._metadata_entry IS 'what pgmnemo.lesson_entry keeps of one scalar in metadata: a hash of its keys, joined by dots, and of itself';
