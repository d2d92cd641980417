-- The transaction of the last pgmnemo.revoke_tenant: a sequence, because its value shows at once, in any snapshot
-- (pgmnemo._check_revoked).
CREATE SEQUENCE pgmnemo.revocation_seq;

COMMENT ON SEQUENCE pgmnemo.revocation_seq IS 'number of the transaction that last revoked a grant; in no dump';
