-- The scope of a recall and the tests of its lessons: the same in every leg.
CREATE TYPE pgmnemo.scope AS (
    tenant        uuid,
    first_project uuid,
    last_project  uuid,
    gate          text,
    role          text,
    valid_at      timestamptz,
    moment        timestamptz,
    known_at      timestamptz,
    filtered      boolean,
    ids           bigint[],
    filter        pgmnemo.filter,
    everything    boolean,
    plain         boolean,
    ended         int8multirange
);

COMMENT ON TYPE pgmnemo.scope IS 'a recall''s tenant, its projects as an interval (one, or all), pgmnemo.gate_strict, the role and the moment that were asked for (NULL: any); moment: when a lesson must not have expired or been superseded; known_at: what was known then (NULL: now); filtered: whether filter says anything; ids: the lessons that it leaves, where those are few (NULL: not told); everything: whatever is kept, forgotten, superseded, expired and hidden lessons, too; plain: none of role, valid_at, gate, known_at and filter leaves any out; ended: the lessons that known_at leaves out as superseded (NULL: not told)';
