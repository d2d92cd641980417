-- Within a verb current_user is the extension's owner. A view reads its tables with its owner's rights, but
-- current_user in it stays the role that reads it: so nobody can get a proof of being somebody else, not even code of
-- a stranger that a superuser's ANALYZE or REINDEX runs.
CREATE VIEW pgmnemo.calling AS
SELECT current_user AS name, pgmnemo._proof(k.key, current_user) AS proof FROM pgmnemo.caller_key k;

COMMENT ON VIEW pgmnemo.calling IS 'the role that reads it, with a proof for the verbs, which holds in this transaction alone';
