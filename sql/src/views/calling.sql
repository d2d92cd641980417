-- Within a verb current_user is the extension's owner. A view reads its tables with its owner's rights, but
-- current_user in it is still the role that reads it: so no code can get a proof of another role, not even another
-- role's code that a superuser's ANALYZE or REINDEX runs. A proof is bound to the server process and the
-- transaction, and is invalid in any other. The key is passed only to functions in C: as an argument of an SQL
-- function it would be in that function's plan, which debug_print_plan shows.
CREATE VIEW pgmnemo.calling AS
SELECT current_user AS name,
       sha256(k.key || int4send(pg_backend_pid()) || timestamptz_send(now())
              || convert_to(current_user::text, 'UTF8')) AS proof
  FROM pgmnemo.caller_key k;

COMMENT ON VIEW pgmnemo.calling IS 'the role that reads it, with a proof for the verbs, which holds in this transaction alone';
