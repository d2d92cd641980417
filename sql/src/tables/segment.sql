-- Each row is a segment of the keyword index, made by pgmnemo.merge_postings: a large tenant has segments of some
-- thousand lessons, and a lesson is a bit. A segment is never changed: a writer that changes or forgets a lesson
-- undoes it in the segment by negative postings, and pgmnemo.merge_postings rebuilds a segment with many undone
-- lessons.
CREATE TABLE pgmnemo.segment (
    tenant_id    uuid    NOT NULL,
    number       bigint  NOT NULL,
    lesson_count integer NOT NULL,
    token_total  bigint  NOT NULL,
    zeros        varbit  STORAGE MAIN NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

COMMENT ON TABLE pgmnemo.segment IS 'the segments of the keyword index, made by pgmnemo.merge_postings';
COMMENT ON COLUMN pgmnemo.segment.tenant_id IS 'the tenant of its lessons';
COMMENT ON COLUMN pgmnemo.segment.number IS 'the least lesson.id in it: no other segment holds that';
COMMENT ON COLUMN pgmnemo.segment.lesson_count IS 'how many lessons it was made of: their places are 0 and up, by project and id';
COMMENT ON COLUMN pgmnemo.segment.token_total IS 'sum of their lesson.token_count';
COMMENT ON COLUMN pgmnemo.segment.zeros IS 'a bitmap with a bit for each place, none set: made once, for to make one of text takes long';
