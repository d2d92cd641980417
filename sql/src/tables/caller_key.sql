-- The row is the secret key of the caller proofs; new in every database, in no dump, read only by the owner.
CREATE TABLE pgmnemo.caller_key (
    key bytea NOT NULL CHECK (length(key) = 32)
);
INSERT INTO pgmnemo.caller_key VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

COMMENT ON TABLE pgmnemo.caller_key IS 'one row: the secret of this database that callers are proved with (pgmnemo.calling)';
COMMENT ON COLUMN pgmnemo.caller_key.key IS '32 random bytes';
