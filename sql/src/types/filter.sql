-- A caller's filter, checked and typed (pgmnemo._filter).
CREATE TYPE pgmnemo.filter AS (
    projects     uuid[],
    roles        text[],
    topics       text[],
    topic_prefix text,
    since        timestamptz,
    until        timestamptz,
    contained    jsonb,
    matching     jsonpath,
    entries      bigint[],
    conditions   integer[]
);

COMMENT ON TYPE pgmnemo.filter IS 'what a filter asks for (pgmnemo._filter; NULL: nothing): one of these projects, roles and topics; how the topic begins; since when and until before when it happened; what the metadata contains and matches; entries: what of that pgmnemo.lesson_entry finds, and for each the number of its condition';
