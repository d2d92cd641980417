CREATE TABLE IF NOT EXISTS login (name text PRIMARY KEY, tenant text NOT NULL, salt bytea NOT NULL, hash bytea NOT NULL);
CREATE TABLE IF NOT EXISTS session (hash bytea PRIMARY KEY, tenant text NOT NULL, until timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS note (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL DEFAULT current_setting('app.tenant'),
    text text NOT NULL
);
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON note;
CREATE POLICY own ON note USING (tenant = current_setting('app.tenant', true));
GRANT SELECT ON login TO {role};
GRANT SELECT, INSERT ON session, note TO {role};
