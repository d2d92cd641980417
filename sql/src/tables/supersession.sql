-- Each row is a supersession, with two times: when the older lesson ceases to hold in the world, and when the memory
-- learned this and undid it. Only undone_at ever changes.
CREATE TABLE pgmnemo.supersession (
    number      bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id   uuid        NOT NULL,
    old_id      bigint      NOT NULL,
    new_id      bigint,
    valid_from  timestamptz NOT NULL CHECK (isfinite(valid_from)),
    reason      text,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    undone_at   timestamptz,
    PRIMARY KEY (tenant_id, old_id, number),
    FOREIGN KEY (tenant_id, old_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, new_id) REFERENCES pgmnemo.lesson (tenant_id, id) ON DELETE SET NULL (new_id),
    CHECK (old_id <> new_id)
);

COMMENT ON TABLE pgmnemo.supersession IS 'which lesson took the place of which, from when on, and when that was learned; written by the verbs';
COMMENT ON COLUMN pgmnemo.supersession.number IS 'orders the rows of one lesson; gaps say that others write too';
COMMENT ON COLUMN pgmnemo.supersession.tenant_id IS 'the tenant of both lessons';
COMMENT ON COLUMN pgmnemo.supersession.old_id IS 'lesson.id that no longer holds; the row goes with it';
COMMENT ON COLUMN pgmnemo.supersession.new_id IS 'lesson.id that holds in its place; NULL: none does, or it is forgotten for good';
COMMENT ON COLUMN pgmnemo.supersession.valid_from IS 'from when on, in the world';
COMMENT ON COLUMN pgmnemo.supersession.reason IS 'why, in the writer''s words';
COMMENT ON COLUMN pgmnemo.supersession.recorded_at IS 'when the memory learned it';
COMMENT ON COLUMN pgmnemo.supersession.undone_at IS 'when it was taken back; NULL: it holds';
