-- Each row is a lexeme of a segment: few places are listed, many are bits. Storage main: no value is moved out of line.
CREATE TABLE pgmnemo.segment_term (
    tenant_id     uuid     NOT NULL,
    lexeme        text     COLLATE "C" NOT NULL,
    segment         bigint   NOT NULL,
    lesson_count  integer  NOT NULL,
    max_frequency smallint NOT NULL,
    min_tokens    integer  NOT NULL,
    holders       varbit   STORAGE MAIN,
    held_at       smallint[],
    repeaters     varbit   STORAGE MAIN,
    repeated_at   smallint[],
    frequencies   smallint[] STORAGE MAIN,
    PRIMARY KEY (tenant_id, lexeme, segment),
    CHECK (num_nonnulls(holders, held_at) = 1),
    CHECK (num_nonnulls(repeaters, repeated_at) = num_nonnulls(frequencies))
);

COMMENT ON TABLE pgmnemo.segment_term IS 'which lessons of a segment hold a lexeme, and how often';
COMMENT ON COLUMN pgmnemo.segment_term.tenant_id IS 'the tenant of the segment';
COMMENT ON COLUMN pgmnemo.segment_term.lexeme IS 'the term';
COMMENT ON COLUMN pgmnemo.segment_term.segment IS 'segment.number';
COMMENT ON COLUMN pgmnemo.segment_term.lesson_count IS 'how many lessons hold it';
COMMENT ON COLUMN pgmnemo.segment_term.max_frequency IS 'how often the one does that holds it most often';
COMMENT ON COLUMN pgmnemo.segment_term.min_tokens IS 'least lesson.token_count of those that hold it';
COMMENT ON COLUMN pgmnemo.segment_term.holders IS 'a bit for each place of the segment: whether the lesson there holds the term; NULL: held_at says it';
COMMENT ON COLUMN pgmnemo.segment_term.held_at IS 'the places themselves, ascending, where they are few';
COMMENT ON COLUMN pgmnemo.segment_term.repeaters IS 'likewise, whether it holds it more than once; NULL: repeated_at says it, or none does';
COMMENT ON COLUMN pgmnemo.segment_term.repeated_at IS 'those places themselves, ascending, where they are few';
COMMENT ON COLUMN pgmnemo.segment_term.frequencies IS 'how often each of the repeaters holds it, in the order of their places';
