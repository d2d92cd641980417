CREATE TYPE pgmnemo.caller AS (
    name  name,
    proof bytea
);

COMMENT ON TYPE pgmnemo.caller IS 'who calls a verb: a role, and the proof that it is the one that runs (pgmnemo.calling)';
