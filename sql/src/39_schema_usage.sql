-- What a role may do is decided by its tenant grants: without one, every table is empty to it.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
