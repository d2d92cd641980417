-- Lock and return the space of a tenant to end a change of embedder: no session writes a vector from here on, and the
-- next statement sees earlier writes, which an older snapshot would hide. NULL: no change is under way.
CREATE FUNCTION pgmnemo._lock_changed_space(tenant uuid)
RETURNS pgmnemo.embedding_space
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    space pgmnemo.embedding_space;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a change of embedder cannot end under %', upper(current_setting('transaction_isolation'))
        USING ERRCODE = 'feature_not_supported',
              HINT = 'Others'' last writes would not show: call it under READ COMMITTED.';
    END IF;
    SELECT s.* INTO space
      FROM pgmnemo.embedding_space s WHERE s.tenant_id = tenant AND s.next_generation IS NOT NULL FOR UPDATE;
    RETURN space;
END
$$;
