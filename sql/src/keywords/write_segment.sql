-- Make a segment of these active lessons of a tenant, which neither postings nor another segment hold. Postings are
-- gathered by hash, place and frequency in one number (a lexeme has 256 positions at most), and sorted per term.
CREATE FUNCTION pgmnemo._write_segment(tenant uuid, ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    size constant integer := cardinality(ids);
    few  constant integer := greatest(2, size / 256);  -- places that are listed: as quickly read as bits
    segment constant bigint := (SELECT min(i) FROM unnest(ids) i);
    sorted bigint[];
    zeros constant varbit := repeat('0', size)::varbit;
BEGIN
    INSERT INTO pgmnemo.segment
    SELECT tenant, segment, size, sum(l.token_count), zeros
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids);
    sorted := ARRAY(SELECT l.id FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids)
                     ORDER BY l.project_id, l.id);
    INSERT INTO pgmnemo.segment_lesson
    SELECT tenant, segment, (s.place - 1) / 128, array_agg(l.id ORDER BY s.place),
           array_agg(l.token_count ORDER BY s.place)
      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
     GROUP BY 3;
    INSERT INTO pgmnemo.segment_project
    SELECT tenant, l.project_id, segment, min(s.place) - 1, count(*), sum(l.token_count)
      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
     GROUP BY l.project_id;
    INSERT INTO pgmnemo.segment_term
    SELECT tenant, t.lexeme, segment, cardinality(t.places), t.highest, t.least,
           CASE WHEN cardinality(t.places) > few THEN pgmnemo._bitmap(NULL, t.places, zeros) END,
           CASE WHEN cardinality(t.places) <= few THEN t.places END,
           CASE WHEN cardinality(t.repeaters) > few THEN pgmnemo._bitmap(NULL, t.repeaters, zeros) END,
           CASE WHEN cardinality(t.repeaters) <= few THEN t.repeaters END, t.frequencies
      FROM (SELECT p.lexeme, p.least, o.*
              FROM (SELECT v.lexeme, min(l.token_count) AS least,
                           array_agg(((s.place - 1)::integer << 9) + cardinality(v.positions)) AS packed
                      FROM unnest(sorted) WITH ORDINALITY AS s (id, place)
                      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.id = s.id
                     CROSS JOIN LATERAL unnest(l.lexemes) v
                     GROUP BY v.lexeme) p
             CROSS JOIN LATERAL (
                    SELECT max(f.frequency) AS highest, array_agg(f.place ORDER BY u.pair) AS places,
                           array_agg(f.place ORDER BY u.pair) FILTER (WHERE f.frequency > 1) AS repeaters,
                           array_agg(f.frequency ORDER BY u.pair) FILTER (WHERE f.frequency > 1) AS frequencies
                      FROM unnest(p.packed) AS u (pair)
                     CROSS JOIN LATERAL (SELECT (u.pair >> 9)::smallint, (u.pair & 511)::smallint)
                                AS f (place, frequency)) o) t
     ORDER BY t.lexeme COLLATE "C";
END
$$;
