-- Each row is a block of at most 128 active lessons of a project with a lexeme: the keyword index as writers
-- maintain it. Statistics are sums over these rows and segments, so they are as consistent as any other rows under
-- MVCC: a writer appends blocks and waits for no other. The empty lexeme means "every active lesson": its blocks
-- give the number of lessons and their total length. The extremes bound what a block can add to any score. A block
-- with negative numbers undoes lessons of a segment (pgmnemo.segment_term).
CREATE TABLE pgmnemo.posting (
    tenant_id     uuid       NOT NULL,
    project_id    uuid       NOT NULL,
    lexeme        text       COLLATE "C" NOT NULL,
    lesson_ids    bigint[]   STORAGE PLAIN NOT NULL,
    frequencies   smallint[] STORAGE PLAIN NOT NULL,
    token_counts  integer[]  STORAGE PLAIN NOT NULL,
    lesson_count  integer    NOT NULL,
    token_total   bigint     NOT NULL,
    max_frequency smallint   NOT NULL,
    min_tokens    integer    NOT NULL,
    first_id      bigint     NOT NULL
);

COMMENT ON TABLE pgmnemo.posting IS 'the keyword index of what no segment holds yet, kept by triggers on pgmnemo.lesson: read it, but never write it';
COMMENT ON COLUMN pgmnemo.posting.tenant_id IS 'the tenant of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.project_id IS 'the project of every lesson in the block';
COMMENT ON COLUMN pgmnemo.posting.lexeme IS 'the term; empty in the blocks that list every active lesson';
COMMENT ON COLUMN pgmnemo.posting.lesson_ids IS 'lesson.id of 1 to 128 active lessons that hold the term, ascending; where lesson_count is negative, of lessons that no longer are what a segment says';
COMMENT ON COLUMN pgmnemo.posting.frequencies IS 'for each of them how often it holds the term (0 in blocks of the empty lexeme)';
COMMENT ON COLUMN pgmnemo.posting.token_counts IS 'for each of them lesson.token_count';
COMMENT ON COLUMN pgmnemo.posting.lesson_count IS 'how many they are; negative: so many fewer than segments say';
COMMENT ON COLUMN pgmnemo.posting.token_total IS 'sum of token_counts, with the sign of lesson_count';
COMMENT ON COLUMN pgmnemo.posting.max_frequency IS 'greatest of frequencies';
COMMENT ON COLUMN pgmnemo.posting.min_tokens IS 'least of token_counts';
COMMENT ON COLUMN pgmnemo.posting.first_id IS 'lesson_ids[1], with the sign of lesson_count: no two blocks of a list begin alike';
