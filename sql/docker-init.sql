-- Run once by the image, as the superuser, in the default database of a new volume. An ordinary role owns the extension,
-- so that row-level security binds what the verbs do.
CREATE EXTENSION vector;
CREATE ROLE pgmnemo_owner;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO pgmnemo_owner', current_database()); END $$;
SET ROLE pgmnemo_owner;
CREATE EXTENSION pgmnemo;
