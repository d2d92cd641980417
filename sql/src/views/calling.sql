-- Within a verb current_user is the extension's owner. A view reads its tables with its owner's rights, but
-- current_user in it stays the role that reads it: so nobody can get a proof of being somebody else, not even code of
-- a stranger that a superuser's ANALYZE or REINDEX runs. Bound to the server process and the transaction, a proof is
-- worth nothing elsewhere or later. The key goes into functions in C alone: as the argument of one in SQL it would
-- stand in that one's plan, which debug_print_plan shows.
CREATE VIEW pgmnemo.calling AS
SELECT current_user AS name,
       sha256(k.key || int4send(pg_backend_pid()) || timestamptz_send(now())
              || convert_to(current_user::text, 'UTF8')) AS proof
  FROM pgmnemo.caller_key k;

COMMENT ON VIEW pgmnemo.calling IS 'the role that reads it, with a proof for the verbs, which holds in this transaction alone';
