-- Return other search forms of codes, as words to add to a text. Grouped numbers of telephones, accounts, cards and
-- parcels (+49 (0)30 1234-5678, DE89 3704 0044, SW1A 1AA): as one word, and by their last seven characters, because a
-- prefix is often left out. Hashes: by their first seven. '' for a text without codes. The first pattern reads each
-- word of the text once: groups of any length with the character behind them, words that are no code, other words. The
-- second bounds the parts of a group; few groups need it. Neither uses lookaround, because with it the engine keeps no
-- states, and needs 20 times as long.
CREATE FUNCTION pgmnemo._code_forms(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(concat_ws(' ', CASE WHEN c.grouped THEN c.code END,
                                         CASE WHEN c.size > 7 AND length(translate(right(c.code, 7), '0123456789', ''))
                                                                  <= 3 THEN right(c.code, 7) END,
                                         CASE WHEN c.size > 7 AND c.letters > 0
                                                   AND ltrim(c.code, '0123456789abcdef') = '' THEN left(c.code, 7) END,
                                         CASE WHEN starts_with(c.code, '0x')
                                                   AND ltrim(substr(c.code, 3), '0123456789abcdef') = ''
                                              THEN substr(c.code, 3) END), ' '), '')
      FROM (SELECT DISTINCT u.code, length(u.code) AS size, length(translate(u.code, '0123456789', '')) AS letters,
                   length(u.code) < length(b.body) AS grouped
              FROM regexp_matches(words,
                                  '[A-Za-z]{0,8}[0-9][0-9A-Za-z]*'
                                  '(?:[ ().:/-]{1,3}(?:[A-Z]{1,4}[ ().:/-]{1,3})?[A-Za-z]{0,4}[0-9][0-9A-Za-z]*)*'
                                  '(?:[^0-9A-Za-z]|$)|'
                                  '(?:(?:[0-9A-Za-z]{1,4}[^0-9A-Za-z ().:/-]|[A-Za-z]*[A-Zg-z][A-Za-z]*[^0-9A-Za-z])'
                                  '[^0-9A-Za-z]*)+|[0-9A-Za-z]+', 'g') AS w
             CROSS JOIN LATERAL unnest(
                    CASE WHEN length(w[1]) < 17 OR w[1] !~ '[0-9A-Za-z]{17}' THEN w
                         ELSE ARRAY(SELECT p[1]
                                      FROM regexp_matches(w[1], '[A-Za-z]{0,8}[0-9][0-9A-Za-z]{0,63}'
                                                                '(?:[ ().:/-]{1,3}(?:[A-Z]{1,4}[ ().:/-]{1,3})?'
                                                                '[A-Za-z]{0,4}[0-9][0-9A-Za-z]{0,15})*'
                                                                '(?:[^0-9A-Za-z]|$)|[0-9A-Za-z]+', 'g') AS p)
                         END) AS m (words)
             CROSS JOIN LATERAL (
                    SELECT CASE WHEN strpos('0123456789abcdefghijklmnopqrstuvwxyz',
                                            lower(right(m.words, 1) COLLATE "C")) = 0
                                THEN left(m.words, -1) ELSE m.words END OFFSET 0) AS b (body)
             CROSS JOIN LATERAL (SELECT translate(lower(b.body COLLATE "C"), ' ().:/-', '') OFFSET 0) AS u (code)
             WHERE length(u.code) BETWEEN 5 AND 64 AND ltrim(u.code, '0123456789abcdefghijklmnopqrstuvwxyz') = ''
               AND (left(ltrim(lower(left(b.body, 9) COLLATE "C"), 'abcdefghijklmnopqrstuvwxyz'), 1)
                    BETWEEN '0' AND '9' COLLATE "C"
                    OR length(b.body) >= 8 AND ltrim(b.body, '0123456789abcdef') = '')) c
     WHERE NOT c.grouped OR c.size - c.letters >= 6 OR c.size - c.letters >= 2 AND c.letters > 0
$$;

COMMENT ON FUNCTION pgmnemo._code_forms(text) IS 'words to add to a text, so that codes in groups are found joined, long ones by their last seven characters, hashes by their first seven';
