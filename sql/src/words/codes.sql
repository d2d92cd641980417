-- What else codes are asked for by, as words to add to a text. Numbers of telephones, accounts, cards and parcels that
-- are written in groups (+49 (0)30 1234-5678, DE89 3704 0044, SW1A 1AA): as one word, and by their last seven
-- characters, for a prefix is often left out. Hashes: by their first seven. '' where there are none.
CREATE FUNCTION pgmnemo._codes(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(concat_ws(' ', CASE WHEN c.grouped THEN c.code END,
                                         CASE WHEN length(c.code) > 7 AND c.tail ~ '([0-9].*){4}' THEN c.tail END,
                                         CASE WHEN c.code ~ '^[0-9a-f]{8,}$' AND c.code ~ '[a-f]'
                                              THEN left(c.code, 7) END,
                                         substring(c.code FROM '^0x([0-9a-f]+)$')), ' '), '')
      FROM (SELECT DISTINCT g.code, g.grouped, right(g.code, 7) AS tail
              FROM regexp_matches(words,
                                  '(?<![0-9A-Za-z])([A-Za-z]{0,8}[0-9][0-9A-Za-z]{0,63}'
                                  '(?:[ ().:/-]{1,3}(?:[A-Z]{1,4}[ ().:/-]{1,3})?[A-Za-z]{0,4}[0-9][0-9A-Za-z]{0,15})*)'
                                  '(?![0-9A-Za-z])|(?<![0-9A-Za-z])([0-9a-f]{8,64})(?![0-9A-Za-z])', 'g') AS m
             CROSS JOIN LATERAL (
                    SELECT lower(regexp_replace(coalesce(m[1], m[2]), '[^0-9A-Za-z]+', '', 'g') COLLATE "C") AS code,
                           coalesce(m[1], '') ~ '[^0-9A-Za-z]' AS grouped) AS g
             WHERE length(g.code) BETWEEN 5 AND 64
               AND (NOT g.grouped OR g.code ~ '([0-9].*){6}' OR g.code ~ '([0-9].*){2}' AND g.code ~ '[a-z]')) c
$$;

COMMENT ON FUNCTION pgmnemo._codes(text) IS 'words to add to a text, so that codes in groups are found joined, long ones by their last seven characters, hashes by their first seven';
