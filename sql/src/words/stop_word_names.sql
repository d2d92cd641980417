-- Return stop words of a text that are written as names: in capitals among words that are not (the IT team), or with
-- a capital within a sentence (The Who), of five letters at most. They become lexemes as they are, in lower case. The
-- pattern looks behind itself only after a capital letter: before it, it would do so at every character.
CREATE FUNCTION pgmnemo._stop_word_names(config regconfig, words text)
RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(format('%s:1', n.name), ' '), '')::tsvector
      FROM (SELECT DISTINCT lower(m[1] COLLATE "C") AS name
              FROM regexp_matches(left(words, 10000),
                                  '([A-Z](?<!\w[A-Z])(?<![A-Z]{2}[ -][A-Z])[A-Z]{1,4}\M(?![ -][A-Z]{2})|'
                                  '[A-Z](?<=[a-z0-9,;] [A-Z])[a-z]{1,4}\M)', 'g') AS m) n
     WHERE to_tsvector(config, n.name) = ''
$$;
