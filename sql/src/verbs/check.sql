CREATE FUNCTION pgmnemo.check(tenant uuid DEFAULT NULL, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (problem text, project_id uuid, lesson_id bigint, item text, found text, wanted text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    tenant := pgmnemo._enter(tenant, caller);
    RETURN QUERY
    SELECT w.problem, s.project_id, s.lesson_id, NULL, w.found, w.wanted
      FROM pgmnemo._stale_lessons(tenant) s
     CROSS JOIN LATERAL (VALUES
            ('lesson with unknown text_config', s.text_config, NULL, s.config IS NULL),
            ('lesson with stale lexemes', s.lexemes::text, s.fresh::text,
             s.config IS NOT NULL AND s.lexemes <> s.fresh),
            ('lesson with wrong token_count', s.token_count::text, s.tokens::text,
             s.config IS NOT NULL AND s.token_count <> s.tokens)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT w.problem, p.project_id, p.lesson_id, p.number::text, w.found, w.wanted
      FROM pgmnemo._wrong_passages(tenant) p
     CROSS JOIN LATERAL (VALUES
            ('passage in another project', p.project_id::text, p.in_project::text, p.project_id <> p.in_project),
            ('passage with stale lexemes', NULL, p.fresh::text, p.lexemes_differ)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY
    SELECT w.problem, v.project_id, v.lesson_id, v.number::text, w.found, w.wanted
      FROM pgmnemo._wrong_vectors(tenant) v
     CROSS JOIN LATERAL (VALUES
            ('vector in another project', v.project_id::text, v.in_project::text, v.project_id <> v.in_project),
            ('vector not of unit length', v.norm::text, '1', v.norm NOT BETWEEN 0.999 AND 1.001),
            ('vector of another dimension', v.found_dims::text, v.dims::text, v.found_dims IS DISTINCT FROM v.dims),
            ('vector without its passage', NULL, NULL, v.bare)) AS w (problem, found, wanted, so)
     WHERE w.so;
    RETURN QUERY SELECT * FROM pgmnemo._hnsw_problems(tenant);
    RETURN QUERY
    SELECT 'lesson with metadata that cannot be written out', u.project_id, u.lesson_id, u.external_id, NULL, NULL
      FROM pgmnemo._unwritable_lessons(tenant) u;
    RETURN QUERY
    SELECT 'sequence of ids behind the greatest id', NULL::uuid, NULL::bigint, NULL, b.last_id::text,
           b.greatest_id::text
      FROM pgmnemo._lesson_id_behind(tenant) b;
    RETURN QUERY
    SELECT 'sequence of supersessions behind the greatest number', NULL::uuid, NULL::bigint, NULL,
           b.last_number::text, b.greatest_number::text
      FROM pgmnemo._supersession_behind(tenant) b;
    RETURN QUERY
    SELECT 'lesson with wrong superseded_at', s.project_id, s.lesson_id, NULL, s.superseded_at::text,
           s.valid_from::text
      FROM pgmnemo._supersession_problems(tenant) s;
    RETURN QUERY SELECT * FROM pgmnemo._entry_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._block_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._segment_problems(tenant);
    RETURN QUERY SELECT * FROM pgmnemo._posting_problems(tenant);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.check IS 'what is wrong in what the tenant''s lessons are found by (tenant NULL: the session''s), one row a problem, none when all is well. lesson: lexemes or token_count are not what the text gives under the lesson''s text_config, or its metadata (item: its external_id) hold a number beyond 1e308 or with more than 400 decimals, which no dump can hold, or superseded_at is not what its supersession says; entry (item: its number): missing or surplus in the index of metadata; sequence of ids or of supersessions: behind the greatest; passage (item: its number): in another project than its lesson, or lexemes not those of its text; vector (item: its number, 0 for the lesson as a whole): in another project than its lesson, not of unit length, not of the tenant''s dimension, without its passage, or missing, surplus or otherwise in the tenant''s HNSW index; HNSW index (item: its name): missing, though vectors are marked as being in it; block (item: its lexeme, lesson_id: its first): order, sums or extremes wrong; segment (item: its number) and term of a segment (item: its lexeme): likewise; posting (item: the lexeme, empty for the list of all lessons): missing, surplus, more than once, or with wrong numbers. Reads everything of the tenant; pgmnemo.repair mends it';
