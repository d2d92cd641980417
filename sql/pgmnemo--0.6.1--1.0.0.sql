\echo Use "ALTER EXTENSION pgmnemo UPDATE" to load this file. \quit
-- How a database that holds 0.6.1 becomes what the full script makes, in the one transaction of ALTER EXTENSION.
-- `make script` puts parts of src/ in place of the lines that begin with @ (assemble.py).
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
-- New objects belong to the owner of the schema, whoever upgrades: pg_upgrade gives the extension to a superuser.
SELECT set_config('pgmnemo.upgrading_role', current_setting('role'), true),
       set_config('role', pg_get_userbyid(n.nspowner), true)
  FROM pg_namespace n WHERE n.nspname = 'pgmnemo';
-- No verb runs while functions change.
LOCK TABLE pgmnemo.tenant_grant IN ACCESS EXCLUSIVE MODE;

-- These have other arguments. All others are replaced in place, so that rights which were granted on them stay.
DROP FUNCTION pgmnemo.store, pgmnemo.store_lesson, pgmnemo.append, pgmnemo._times, pgmnemo._ideal, pgmnemo.recall,
    pgmnemo.explain, pgmnemo._pool, pgmnemo._contributions, pgmnemo._ranked, pgmnemo._share,
    pgmnemo._time_patterns, pgmnemo._links_known, pgmnemo._enter_graph,
    pgmnemo._believed, pgmnemo._passes, pgmnemo._passing, pgmnemo._compact, pgmnemo._seal_pieces;
ALTER TYPE pgmnemo.settings ADD ATTRIBUTE time_zone text, ADD ATTRIBUTE full_coverage float8,
    ADD ATTRIBUTE question_weight float8;
ALTER TYPE pgmnemo.question ADD ATTRIBUTE reach float8, ADD ATTRIBUTE center float8,
    ADD ATTRIBUTE brevity float8, ADD ATTRIBUTE repeated text[], ADD ATTRIBUTE common @extschema:vector@.halfvec,
    ADD ATTRIBUTE commonness float8, ADD ATTRIBUTE collapse boolean,
    ADD ATTRIBUTE configs regconfig[];
ALTER TYPE pgmnemo.candidate ADD ATTRIBUTE coverage float8, ADD ATTRIBUTE center float8, ADD ATTRIBUTE mark bigint,
    ADD ATTRIBUTE repeats boolean, ADD ATTRIBUTE share float8;
ALTER TYPE pgmnemo.lesson_input ADD ATTRIBUTE language text;
ALTER TYPE pgmnemo.scope ADD ATTRIBUTE ended int8multirange;
ALTER TABLE pgmnemo.tenant ADD COLUMN language text;
SELECT pg_catalog.pg_extension_config_dump('pgmnemo.tenant', 'WHERE language IS NOT NULL');
-- Tells which configurations the lessons of a tenant were cut by, a probe for each.
CREATE INDEX lesson_config ON pgmnemo.lesson (tenant_id, text_config COLLATE "C");
CREATE OR REPLACE FUNCTION pgmnemo._setting_catalogue()
RETURNS TABLE (name text, initial text, kind text, low float8, high float8, choices text[], meaning text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
VALUES
    ('tenant_id', NULL, 'uuid', NULL::float8, NULL::float8, NULL::text[],
     'tenant that this session works for; needs a grant (pgmnemo.grant_tenant)'),
    ('embedder', NULL, 'name', NULL, NULL, NULL,
     'what makes the vectors that this session gives: refused where another made the tenant''s (pgmnemo.set_embedder)'),
    ('gate_strict', 'enforce', 'choice', NULL, NULL, '{enforce,warn,off}'::text[],
     'a lesson without commit_sha and artifact_hash: enforce refuses it and hides it from recall, '
     'warn stores it with a warning, off stores it silently'),
    ('text_config', 'auto', 'text search configuration', NULL, NULL, NULL,
     'how lessons are cut into lexemes that are written without a language; auto: by the language of the text, '
     'english where nothing tells it'),
    ('statistics_scope', 'both', 'choice', NULL, NULL, '{tenant,project,both}',
     'where BM25 counts how rare a term is: in the tenant, in the project asked, or the mean of both'),
    ('bm25_k1', '0.9', 'number', 0, 10, NULL, 'BM25: how slowly repetitions of a term saturate'),
    ('bm25_b', '0.4', 'number', 0, 1, NULL, 'BM25: how much a long lesson is held against it'),
    ('length_pivot', '70', 'whole number', 1, 100000, NULL,
     'words up to which a text counts as short: what stands in a longer one counts for less'),
    ('bm25_weight', '1', 'number', 0, 100, NULL, 'score of one unit of BM25'),
    ('passage_terms_weight', '0.75', 'number', 0, 100, NULL,
     'score of one unit of the terms that stand together in the best passage'),
    ('passage_term_bonus', '1.5', 'number', 0, 100, NULL,
     'what a term counts there besides its inverse document frequency'),
    ('full_coverage', '0.7', 'number', 0, 1, NULL,
     'part of what all words of a question are worth from which on a lesson''s words count in full; 0: at once'),
    ('passage_cosine_weight', '13', 'number', 0, 1000, NULL,
     'score of a best passage that is equal to the question, where an unrelated one has 0'),
    ('pair_cosine_weight', '7', 'number', 0, 1000, NULL,
     'score of two best passages that are equal to the question'),
    ('cosine_weight', '7', 'number', 0, 1000, NULL,
     'score of a lesson that is as a whole equal to the question'),
    ('temporal_weight', '12', 'number', 0, 1000, NULL, 'score of a lesson of just the time that the question names'),
    ('context_weight', '1', 'number', 0, 100, NULL,
     'share of the relevance of the most relevant lesson of the same project and moment that a lesson gains'),
    ('assistant_weight', '0.8', 'number', 0, 1, NULL,
     'share of its relevance that a lesson of role assistant counts with'),
    ('question_weight', '0.4', 'number', 0, 1, NULL,
     'share of its relevance that a lesson counts with that is a short question and nothing else'),
    ('neighbours_weight', '0.2', 'number', 0, 100, NULL,
     'share of the relevance of the lessons before and after that a lesson gains'),
    ('neighbours_half_length', '20', 'number', 0.001, 100000, NULL,
     'words between two neighbours at which half of that share passes'),
    ('neighbours_seeds', '5', 'whole number', 0, 100, NULL,
     'most relevant candidates whose neighbours become candidates'),
    ('recency_weight', '0.10', 'number', 0, 1, NULL, 'score of a lesson of age 0'),
    ('importance_weight', '0.10', 'number', 0, 100, NULL, 'score that importance 5 gains and importance 1 loses'),
    ('graph_weight', '1', 'number', 0, 100, NULL, 'score of one unit of relevance that flows in from linked lessons'),
    ('recency_half_life', '30', 'number', 0.001, 36500, NULL, 'age in days at which recency is one half'),
    ('graph_depth', '2', 'whole number', 0, 4, NULL, 'edges that graph proximity follows at most'),
    ('graph_seeds', '10', 'whole number', 1, 100, NULL, 'most relevant candidates from which graph proximity starts'),
    ('pool_depth', '50', 'whole number', 1, 10000, NULL, 'candidates taken from each leg; at least k are'),
    ('exact_scan_limit', '10000', 'whole number', 0, 10000000, NULL,
     'vectors up to which they are scanned exactly; a tenant that has more gets a graph'),
    ('vector_recall', '0.95', 'number', 0.5, 0.999, NULL,
     'part of the nearest vectors that the search of a graph shall find'),
    ('ef_search', '0', 'whole number', 0, 1000, NULL,
     'hnsw.ef_search while a graph is searched; 0: as many as vector_recall needs in a graph of its size'),
    ('time_zone', 'UTC', 'time zone', NULL, NULL, NULL,
     'whose days the times of a question count: a name such as Asia/Tokyo, or what it is ahead of UTC, such as +09:00'),
    ('bypass_notice', 'on', 'choice', NULL, NULL, '{on,off}',
     'whether each call by a role that no row-level security binds says so')
$$;
CREATE OR REPLACE FUNCTION pgmnemo._setting_valid(value text, kind text, low float8, high float8, choices text[])
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN choices IS NOT NULL THEN value = ANY (choices)
        WHEN kind = 'uuid' THEN value IS NULL OR pg_input_is_valid(value, 'uuid')
        WHEN kind = 'name' THEN true
        WHEN kind = 'time zone' THEN pgmnemo._zone(value) IS NOT NULL
        WHEN low IS NULL THEN value = 'auto' OR pgmnemo._config(value) IS NOT NULL
        WHEN NOT pg_input_is_valid(value, 'float8') THEN false
        WHEN kind = 'whole number' AND value !~ '^ *[0-9]+ *$' THEN false
        ELSE value::float8 BETWEEN low AND high
    END
$$;
-- As PostgreSQL's AT TIME ZONE takes it, which counts the signs of bare numbers the other way; NULL for what is none.
CREATE OR REPLACE FUNCTION pgmnemo._zone(name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN name = 'UTC' THEN name
                WHEN name ~ '^[+-](0[0-9]|1[0-5]):[0-5][0-9]$' THEN translate(name, '+-', '-+')
                WHEN name ~ '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$'
                     AND pg_input_is_valid('2000-01-01 00:00 ' || name, 'timestamptz') THEN name END
$$;
-- A text of which characters beyond ASCII are written as in JSON, so that two forms of a name can be told apart.
CREATE OR REPLACE FUNCTION pgmnemo._ascii_text(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(
               CASE WHEN n < 127 THEN c
                    WHEN n < 65536 THEN '\u' || lpad(to_hex(n), 4, '0')
                    ELSE '\u' || to_hex(55296 + ((n - 65536) >> 10))
                         || '\u' || to_hex(56320 + ((n - 65536) & 1023)) END, '' ORDER BY place), '')
      FROM unnest(string_to_array(words, NULL)) WITH ORDINALITY AS u (c, place)
     CROSS JOIN LATERAL ascii(c) AS n
$$;
-- Whether a text asks by its form: a question mark of any script ends it, a word that asks or requests begins it, or,
-- in Chinese and Japanese, stands in it.
CREATE OR REPLACE FUNCTION pgmnemo._asks(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT content ~ '[?\u037E\u055E\u061F\u1367\u203D\u2047-\u2049\u2CFA\u2CFB\u2E2E\uFF1F][^[:alnum:]]*$'
           OR content ~ '[\u0370-\u03FF].*;[^[:alnum:]]*$'
           OR content ~* ('^[^[:alnum:]]*(?:(?:please|bitte|und|and|so|also|et|y)[ ,]+)?'
                          '(?:(?:what|who|where|when|how|why)(?:[''\u2019]?s|[''\u2019]?re)?|whom|whose|which|'
                          'can|could|would|will|do|does|did|is|are|was|were|have|has|any idea|'
                          'tell me|remind me|show me|give me|let me know|i forgot|i forget|i need to know|'
                          'wie|wer|wen|wem|welche[nrms]?|wann|wo|warum|wieso|kannst|k\u00f6nntest|wei\u00dft|sag|sage|'
                          'nenn|nenne|erinner|erinnere|zeig|zeige|ich habe vergessen|'
                          'quel|quels|quelles?|qui|que|quoi|qu[''\u2019]|o\u00f9|quand|comment|pourquoi|'
                          'combien|c[''\u2019]est quoi|'
                          'est-ce|tu peux|peux-tu|pouvez-vous|dis-moi|rappelle|rappelle-moi|j[''\u2019]ai oubli\u00e9|'
                          'qu\u00e9|qui\u00e9n|d\u00f3nde|cu\u00e1ndo|c\u00f3mo|cu\u00e1l(?:es)?|por qu\u00e9|dime|'
                          'puedes|recu\u00e9rdame)\M')
           OR content ~ ('[\u4ec0\u600e]\u4e48|[\u5417\u5462\u8c01\u54ea\u51e0]|'
                         '\u591a\u5c11|'
                         '\u4e3a\u4f55|\u544a\u8bc9\u6211|\u8bf7\u95ee|'
                         '\u4f55|\u8ab0|\u3069\u3053|\u3044\u3064|\u3069\u3046|\u6559\u3048\u3066')
$$;
-- Whether a text is one short question and nothing else, but for a lead-in (pgmnemo._without_lead_in). It asks for what
-- others tell. Most texts hold no mark that could end one, and looking for it costs less than a pattern.
CREATE OR REPLACE FUNCTION pgmnemo._bare_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT octet_length(content) <= 800
       AND (strpos(content, '?') > 0 OR strpos(content, ';') > 0 OR octet_length(content) <> length(content))
       AND content ~ '[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
       AND length(content) <= 200 AND length(content) - length(replace(content, ' ', '')) <= 24
       AND pgmnemo._without_lead_in(content)
           ~ '^(?:[^.!?\u3002\uFF01\uFF1F\u061F\s]+\s*){1,12}[?;\u037E\u055E\u061F\u1367\uFF1F]\s*$'
$$;

COMMENT ON FUNCTION pgmnemo._bare_question(text) IS 'true for one question of at most 12 words (of a script without blanks 200 characters), but for a lead-in (pgmnemo._without_lead_in)';
-- Whether a text has nothing but blanks, controls and invisible characters, whatever the locale takes for a blank.
CREATE OR REPLACE FUNCTION pgmnemo._blank(words text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT words !~ ('[^\s\u0001-\u0020\u007F-\u00A0\u00AD\u061C\u1680\u180E\u2000-\u200F\u2028-\u202F'
                     '\u205F-\u206F\u3000\uFEFF]')
$$;
-- The text search configuration of a language that a caller names, or auto; an error for a name that is neither.
CREATE OR REPLACE FUNCTION pgmnemo._checked_language(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    config constant text := pgmnemo._language_config(language);
BEGIN
    IF config IS NULL THEN
        RAISE EXCEPTION 'language is %, but must be auto, a text search configuration or a code of ISO 639',
              coalesce(quote_literal(left(language, 100)), 'NULL')
        USING ERRCODE = 'invalid_parameter_value', HINT = 'SELECT cfgname FROM pg_ts_config lists the configurations.';
    END IF;
    RETURN config;
END
$$;
-- What else codes are asked for by, as words to add to a text. Numbers of telephones, accounts, cards and parcels that
-- are written in groups (+49 (0)30 1234-5678, DE89 3704 0044, SW1A 1AA): as one word, and by their last seven
-- characters, for a prefix is often left out. Hashes: by their first seven. '' where there are none.
-- The first pattern reads each word of the text once: groups of any length with the character behind them, words that
-- are no code, other words. The second bounds the parts of a group; few groups need it. Neither looks around itself,
-- for then the engine keeps no states, and needs 20 times as long.
CREATE OR REPLACE FUNCTION pgmnemo._codes(words text)
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

COMMENT ON FUNCTION pgmnemo._codes(text) IS 'words to add to a text, so that codes in groups are found joined, long ones by their last seven characters, hashes by their first seven';
-- A name in the form in which names are kept and compared. It becomes a part of the statement that asks, so a text of
-- ASCII pays one cheap test.
CREATE OR REPLACE FUNCTION pgmnemo._composed(name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN octet_length(name) = length(name) THEN name ELSE pgmnemo._composed_unicode(name) END $$;

COMMENT ON FUNCTION pgmnemo._composed(text) IS 'a name in Unicode''s composed form (NFC), in which keys, topics, roles, subjects, relations and objects of facts are kept and asked for; in a database of another encoding than UTF8 as it is';
-- What pgmnemo._composed makes of a name that has characters beyond ASCII. Apart, for a plan of that function would
-- normalize a constant before it knows the encoding.
CREATE OR REPLACE FUNCTION pgmnemo._composed_unicode(name text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN name;
    END IF;
    RETURN normalize(name, NFC);
END
$$;
-- Characters without a blank between them, where they are more than `most`, in pieces of 50: the parser of text search
-- takes the square of such a run.
CREATE OR REPLACE FUNCTION pgmnemo._cut_runs(words text, most integer)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(CASE WHEN length(m[1]) > most THEN regexp_replace(m[1], '.{50}', '\& ', 'g') ELSE m[1] END
                      || m[2], '' ORDER BY u.place)
      FROM regexp_matches(words, '(\S*)(\s*)', 'g') WITH ORDINALITY AS u (m, place)
$$;
-- Words that stand for the emoji of a text, which the parser of text search leaves out: for each the numbers of its
-- characters. A flag is two characters.
CREATE OR REPLACE FUNCTION pgmnemo._emoji_words(words text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(DISTINCT concat('emoji', to_hex(ascii(m[1])), to_hex(nullif(ascii(substr(m[1], 2)), 0))), ' ')
      FROM regexp_matches(words, '([\U0001F1E6-\U0001F1FF]{2}|[\u2600-\u27BF\U0001F000-\U0001FAFF])', 'g') AS m
$$;

COMMENT ON FUNCTION pgmnemo._emoji_words(text) IS 'words such as emoji1f355 for the emoji of a text in UTF8';
-- Spells words so that the stemmers of every supported PostgreSQL give the same stem: those of 18 know more endings
-- (german -erin, -eln, -system, ae, oe and ue for umlauts; swedish -ost; romanian letters with a comma below; english
-- added, erred and few more, which 18 stems well, so that 16 and 17 get the form with -s).
CREATE OR REPLACE FUNCTION pgmnemo._even_stems(config regconfig, words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF config = 'pg_catalog.english'::regconfig THEN
        IF current_setting('server_version_num')::integer < 180000 THEN
            words := regexp_replace(words, '\m(add|ebb|egg|err|off)(?:ed|ings?)\M', '\1s', 'gi');
        END IF;
    ELSIF config = 'pg_catalog.german'::regconfig THEN
        words := replace(replace(replace(lower(words), 'system', 'syst'), 'ae', 'a'), 'oe', 'o');
        words := regexp_replace(words, '(?<![aeiouq])ue', 'u', 'g');
        words := regexp_replace(regexp_replace(words, 'erin(?:nen)?\M', 'er', 'g'), 'lns?\M', 'l', 'g');
    ELSIF config = 'pg_catalog.swedish'::regconfig THEN
        words := regexp_replace(words, '(\u00F6s)t', '\1', 'gi');
    ELSIF config = 'pg_catalog.italian'::regconfig THEN
        words := regexp_replace(words, '\mdivano\M', 'divan', 'gi');
    ELSIF config = 'pg_catalog.romanian'::regconfig THEN
        words := regexp_replace(words, '[\u0218\u0219]', chr(351), 'g');
        words := regexp_replace(words, '[\u021A\u021B]', chr(355), 'g');
    END IF;
    RETURN words;
END
$$;
-- Words without the accents of Latin letters, for people type cafe and mean it with its accent. Letters of other
-- scripts keep their marks. Of a tsvector as text: reading it joins lexemes that become one.
CREATE OR REPLACE FUNCTION pgmnemo._folded(lexemes text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' OR lexemes !~ '[\u00C0-\u024F\u1E00-\u1EFF]' THEN
        RETURN lexemes;
    END IF;
    lexemes := normalize(regexp_replace(normalize(lexemes, NFD), '([A-Za-z])[\u0300-\u036F]+', '\1', 'g'), NFC);
    lexemes := regexp_replace(regexp_replace(lexemes, '\u00DF', 'ss', 'g'), '[\u00E6\u00C6]', 'ae', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0153\u0152]', 'oe', 'g'), '[\u00F8\u00D8]', 'o', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u0142\u0141]', 'l', 'g'), '[\u0111\u0110]', 'd', 'g');
    lexemes := regexp_replace(regexp_replace(lexemes, '[\u00FE\u00DE]', 'th', 'g'), '[\u00F0\u00D0]', 'd', 'g');
    RETURN regexp_replace(lexemes, '\u0131', 'i', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._folded(text) IS 'lexemes without the accents of Latin letters; in a database of another encoding than UTF8 as they are';
-- The text search configuration of a language: `auto` as it is, a configuration by its own name, a code of ISO 639
-- (de, pt-BR) by the configuration of PostgreSQL, and any other code of two or three letters, for which PostgreSQL has
-- no stemmer (zh, ja, th, ko, pl), as simple. NULL: no such language.
CREATE OR REPLACE FUNCTION pgmnemo._language_config(language text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    code constant text := lower(split_part(replace(language, '_', '-'), '-', 1) COLLATE "C");
    known constant text := '{"ar":"arabic","hy":"armenian","eu":"basque","ca":"catalan","da":"danish","nl":"dutch",'
        '"en":"english","fi":"finnish","fr":"french","de":"german","el":"greek","hi":"hindi","hu":"hungarian",'
        '"id":"indonesian","ga":"irish","it":"italian","lt":"lithuanian","ne":"nepali","no":"norwegian",'
        '"nb":"norwegian","nn":"norwegian","pt":"portuguese","ro":"romanian","ru":"russian","sr":"serbian",'
        '"es":"spanish","sv":"swedish","ta":"tamil","tr":"turkish","yi":"yiddish"}';
BEGIN
    IF language = 'auto' THEN
        RETURN 'auto';
    ELSIF pgmnemo._config(language) IS NOT NULL THEN
        RETURN pgmnemo._config(language);
    ELSIF language ~ '^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$' THEN
        RETURN coalesce(known::jsonb ->> code, 'simple');
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION pgmnemo._language_config(text) IS 'the text search configuration of a language: auto, a configuration''s name, or a code of ISO 639; a code without a stemmer is simple; NULL: no such language';
-- A lexeme put behind the text has the next position. A blank is no lexeme of any text: one that the text holds past
-- position 16,383 would take no other position.
CREATE OR REPLACE FUNCTION pgmnemo._last_position(cut tsvector)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $body$ SELECT rtrim(split_part(ts_filter(cut || $$' ':1A$$, '{a}')::text, ':', 2), 'A')::integer - 1 $body$;
-- How every text is cut: lessons, passages and questions alike. A text with more different words than a vector of
-- lexemes holds is cut as far as its first 80,000 characters. The forms leave the vector and return under their
-- roots, so that a root has as many positions as it and its forms had. Positions themselves mean nothing to us.
-- Joining two vectors moves the second behind the first, and positions end at 16,383: a text whose own could come
-- there is rewritten whole instead. A lexeme gets one position at most from each byte.
CREATE OR REPLACE FUNCTION pgmnemo._lexemes(config regconfig, words text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text := pgmnemo._prepared(words);
    accents boolean;
    cut tsvector;
    rest tsvector;
    moved tsvector;
    found text[];
    form text;
    rewritten text;
BEGIN
    IF octet_length(prepared) <> length(prepared) OR getdatabaseencoding() <> 'UTF8' OR lower('I') <> 'i' THEN
        prepared := pgmnemo._lower_case(config, prepared);
    END IF;
    accents := octet_length(prepared) <> length(prepared);
    IF accents AND config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig) THEN
        -- these know no accents
        prepared := pgmnemo._folded(prepared);
        accents := false;
    END IF;
    IF config <> 'pg_catalog.english'::regconfig OR current_setting('server_version_num')::integer < 180000 THEN
        prepared := pgmnemo._even_stems(config, prepared);
    END IF;
    IF octet_length(prepared) <= 250000 THEN
        cut := to_tsvector(config, prepared);
    ELSE
        BEGIN
            cut := to_tsvector(config, prepared);
        EXCEPTION WHEN program_limit_exceeded THEN
            cut := to_tsvector(config, left(prepared, 80000));  -- a vector of lexemes holds 1 MB
        END;
    END IF;
    IF words ~ '[a-z0-9,;] [A-Z][a-z]{1,4}\M|\m[A-Z]{2,5}\M' THEN
        cut := cut || pgmnemo._stop_names(config, words);
    END IF;
    IF cut = '' AND octet_length(prepared) <= 1000 THEN
        cut := to_tsvector('pg_catalog.simple', prepared);  -- a text of stop words has these
    END IF;
    IF accents THEN
        cut := pgmnemo._folded(cut::text)::tsvector;
    END IF;
    IF config <> 'pg_catalog.english'::regconfig THEN
        RETURN cut;
    END IF;
    moved := setweight(cut, 'A', pgmnemo._forms());
    rest := ts_filter(moved, '{d}');
    moved := ts_filter(moved, '{a}');
    found := tsvector_to_array(moved);
    IF found = '{}' THEN
        RETURN cut;
    ELSIF octet_length(words) > 8191 AND pgmnemo._last_position(cut) > 8191 THEN
        moved := cut;
        rest := '';
    END IF;
    -- a blank stands before each lexeme and never within one, and a quote within one is doubled
    rewritten := ' ' || setweight(moved, 'D')::text;
    FOREACH form IN ARRAY found LOOP
        rewritten := replace(rewritten, ' ''' || form || ''':', ' ''' || (pgmnemo._form_roots() ->> form) || ''':');
    END LOOP;
    RETURN rewritten::tsvector || rest;
END
$$;

COMMENT ON FUNCTION pgmnemo._lexemes(regconfig, text) IS 'to_tsvector(config, pgmnemo._prepared(words)) without accents of Latin letters, with stop words that are written as names; for pg_catalog.english, irregular forms and a few everyday words counted as their root (went as go, children as child, two as 2)';
-- A text in lower case, where the locale of the database leaves its capitals: with LC_CTYPE C those beyond ASCII
-- (Latin, Greek, Cyrillic, Armenian), in Turkish and Azerbaijani the I of every other language.
CREATE OR REPLACE FUNCTION pgmnemo._lower_case(config regconfig, words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- first and last capital, the step to the next, and how far behind it its small letter is
    latin1 constant integer[] := '{{192,214,1,32},{216,222,1,32}}';
    unicode constant integer[] := latin1 || '{{256,302,2,1},{304,304,1,-199},{306,310,2,1},{313,327,2,1},'
        '{330,374,2,1},{376,376,1,-121},{377,381,2,1},{416,416,1,1},{431,431,1,1},{536,538,2,1},{902,902,1,38},'
        '{904,906,1,37},{908,908,1,64},{910,911,1,63},{913,929,1,32},{931,939,1,32},{1024,1039,1,80},'
        '{1040,1071,1,32},{1120,1152,2,1},{1162,1214,2,1},{1329,1366,1,48},{7680,7828,2,1},{7840,7934,2,1}}'::integer[];
    capitals text;
    small text;
BEGIN
    IF lower('I') <> 'i' THEN
        IF config = 'pg_catalog.turkish'::regconfig THEN
            RETURN words;
        END IF;
        words := translate(words, 'I', 'i');
    END IF;
    IF getdatabaseencoding() NOT IN ('UTF8', 'LATIN1', 'LATIN9', 'WIN1252') THEN
        RETURN words;  -- chr() knows other characters there, or none
    ELSIF lower(chr(201)) <> chr(233) THEN
        SELECT string_agg(chr(n), '' ORDER BY n), string_agg(chr(n + behind), '' ORDER BY n) INTO capitals, small
          FROM (SELECT a.ranges[i][1] AS first, a.ranges[i][2] AS last, a.ranges[i][3] AS step, a.ranges[i][4] AS behind
                  FROM (SELECT CASE WHEN getdatabaseencoding() = 'UTF8' THEN unicode ELSE latin1 END AS ranges) a,
                       generate_subscripts(a.ranges, 1) AS i) r
         CROSS JOIN LATERAL generate_series(r.first, r.last, r.step) AS n;
        words := translate(words, capitals, small);
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._lower_case(regconfig, text) IS 'a text with small letters for capitals that lower() leaves, or changes as Turkish has it, under the locale of the database';
-- Characters that say the same as others: digits of other scripts as ASCII's, katakana as hiragana.
CREATE OR REPLACE FUNCTION pgmnemo._one_form(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    zeros constant integer[] := '{1632, 1776, 1984, 2406, 2534, 2662, 2790, 2918, 3046, 3174, 3302, 3430, 3664, 3792,'
                                ' 3872, 4160, 6112}';
    found integer;
BEGIN
    IF words ~ ('[\u0660-\u0669\u06F0-\u06F9\u07C0-\u07C9\u0966-\u096F\u09E6-\u09EF\u0A66-\u0A6F\u0AE6-\u0AEF'
                '\u0B66-\u0B6F\u0BE6-\u0BEF\u0C66-\u0C6F\u0CE6-\u0CEF\u0D66-\u0D6F\u0E50-\u0E59\u0ED0-\u0ED9'
                '\u0F20-\u0F29\u1040-\u1049\u17E0-\u17E9]') THEN
        FOREACH found IN ARRAY zeros LOOP
            words := translate(words, (SELECT string_agg(chr(found + n), '' ORDER BY n) FROM generate_series(0, 9) n),
                               '0123456789');
        END LOOP;
    END IF;
    IF words ~ '[\u30A1-\u30F6]' THEN
        words := translate(words, (SELECT string_agg(chr(12449 + n), '' ORDER BY n) FROM generate_series(0, 85) n),
                           (SELECT string_agg(chr(12353 + n), '' ORDER BY n) FROM generate_series(0, 85) n));
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._one_form(text) IS 'a text in UTF8 with ASCII digits for those of other scripts, and hiragana for katakana';
-- A text as the parser of text search shall read it, whatever the language. NFKC; soft hyphens, zero-width
-- characters, marks of direction and marks that are written or left out (vowels of Arabic and Hebrew, the nukta) go;
-- runs of scripts that put no blanks between words become overlapping pairs of characters, each with its combining
-- marks (Han, kana, Hangul, Thai, Lao, Khmer, Myanmar, Tai, Yi, Javanese). A Han character may be a word, so each is
-- one as well. In a database of another encoding than UTF8 the text stays as it is.
CREATE OR REPLACE FUNCTION pgmnemo._plain_text(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    base  constant text := '\u0E01-\u0E30\u0E32\u0E33\u0E40-\u0E46\u0E81-\u0EB0\u0EB2\u0EB3\u0EBD-\u0EC6\u0EDC-\u0EDF'
                           '\u1000-\u102A\u103F\u1050-\u1055\u105A-\u105D\u1061\u1065\u1066\u106E-\u1070\u1075-\u1081'
                           '\u108E\u1780-\u17B3\u1950-\u19DF\u1A20-\u1A54\uA984-\uA9B2\uA9E0-\uA9E4\uA9E6-\uA9EF'
                           '\uAA60-\uAA76\uAA80-\uAAAF\u2E80-\u2FDF\u3005-\u3007\u3021-\u3029\u3041-\u3096'
                           '\u309D-\u309F\u30A1-\u30FA\u30FC-\u312F\u31A0-\u31BF\u31F0-\u31FF\u3400-\u4DBF'
                           '\u4E00-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U000323AF';
    mark  constant text := '\u0E31\u0E34-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB4-\u0EBC\u0EC8-\u0ECE\u102B-\u103E'
                           '\u1056-\u1059\u105E-\u1060\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F'
                           '\u109A-\u109D\u17B4-\u17D3\u17DD\u1A55-\u1A7F\uA9B3-\uA9C0\u3099\u309A';
    han   constant text := '\u2E80-\u2FDF\u3005-\u3007\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U000323AF';
    one   constant text := '[' || base || '][' || mark || ']*';
    -- a pair, and the single character after the last pair of a run, which the pairs that begin one later end with
    pair  constant text := '(' || one || one || ')(?:' || one || '(?![' || base || mark || ']))?|';
    shifted text;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN words;
    ELSIF words IS NOT NFKC NORMALIZED THEN
        -- blanks within an amount, and the sign of a trade mark, which would become letters of the word before it
        words := regexp_replace(words, '([0-9])[\u00A0\u2009\u202F](?=[0-9]{3})', '\1,', 'g');
        words := normalize(regexp_replace(words, '[\u2120\u2122]', ' ', 'g'), NFKC);
    END IF;
    words := regexp_replace(words, '[\u00AD\u034F\u061C\u115F\u1160\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                   '\uFE00-\uFE0F\uFEFF\u05B0-\u05BD\u0640\u064B-\u065F\u0670'
                                   '\u093C\u09BC\u0A3C\u0ABC\u0B3C]', '', 'g');
    words := regexp_replace(words, '[\u2010-\u2012\u2212]', '-', 'g');
    words := pgmnemo._one_form(words);
    IF words ~ '[\u2600-\u27BF\U0001F000-\U0001FAFF]' THEN
        words := words || ' ' || pgmnemo._emoji_words(words);
    END IF;
    IF words !~ ('[' || base || ']') THEN
        RETURN words;
    END IF;
    shifted := regexp_replace(words, '[^' || base || mark || ']+', ' ', 'g');
    shifted := regexp_replace(shifted, '(?<![' || base || mark || '])' || one, '', 'g');
    RETURN regexp_replace(words, pair || '(' || one || ')', ' \1\2 ', 'g')
           || ' ' || regexp_replace(shifted, pair || one, ' \1 ', 'g')
           || ' ' || regexp_replace(regexp_replace(words, '[^' || han || ']+', ' ', 'g'), '(\S)', '\1 ', 'g');
END
$$;

COMMENT ON FUNCTION pgmnemo._plain_text(text) IS 'a text for the parser of text search: NFKC, without invisible characters, runs of scripts without blanks cut into overlapping pairs of characters';
-- A text before a configuration cuts it, the same for every language. Most texts pass four cheap tests. The parser
-- takes the square of a long run without blanks, and of unclosed comments, so both are broken up: runs of thousands
-- of characters before their parts are looked for, which takes its time too.
CREATE OR REPLACE FUNCTION pgmnemo._prepared(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts text;
    long boolean;
BEGIN
    IF octet_length(words) <> length(words) THEN
        words := pgmnemo._plain_text(words);
    END IF;
    long := octet_length(words) > 250 AND words ~ '\S{250}';
    IF long AND words ~ '(?:\S{250}){4}' THEN
        words := pgmnemo._cut_runs(words, 1000);
    END IF;
    -- of a text that is longer the vector of lexemes could become longer than one can be
    IF octet_length(words) <= 250000
       AND words ~ ('[0-9A-Za-z\u00C0-\u1FFF][_./@=#+,&][0-9A-Za-z\u00C0-\u1FFF]|'
                     '[0-9][A-Za-z-]|[A-Za-z-][0-9]|[a-z][A-Z]|[0-9A-Z][''\u2019][0-9A-Z]|[A-Za-z](\+\+|#)') THEN
        parts := pgmnemo._token_parts(words);
    END IF;
    IF octet_length(words) <= 250000 AND words ~ ('[0-9][A-Za-z]{0,4}[ ().:/-]{1,3}[A-Za-z]{0,4}[0-9(]|'
                                                  '[0-9A-Fa-f]{8}') THEN
        parts := concat_ws(' ', parts, pgmnemo._codes(words));
    END IF;
    words := concat_ws(E'\n', words, parts);
    -- what is no letter: under LC_CTYPE C, and under a builtin locale, the parser takes all beyond ASCII for letters
    IF octet_length(words) <> length(words) AND getdatabaseencoding() = 'UTF8' THEN
        words := regexp_replace(words, '[\u00A1-\u00A9\u00AB\u00AC\u00AE-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7'
                                       '\u00F7\u037E\u0387\u055A-\u055F\u0589\u058A\u05BE\u05C0\u05C3\u05C6\u05F3\u05F4'
                                       '\u060C\u060D\u061B\u061D-\u061F\u066A-\u066D\u06D4\u0700-\u070D\u0964\u0965'
                                       '\u0E5A\u0E5B\u0F01-\u0F17\u104A-\u104F\u1360-\u1368\u17D4-\u17D6\u17D8-\u17DB'
                                       '\u1800-\u180A\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2190-\u23FF\u2500-\u2BFF'
                                       '\u2E00-\u2E2E\u2E30-\u2E5D\u3001-\u3004\u3008-\u3020\u3030\u303D'
                                       '\U0001F000-\U0001F0FF\U0001F1E6-\U0001FAFF]', ' ', 'g');
    END IF;
    IF (long OR parts ~ '\S{250}') AND words ~ '\S{250}' THEN
        words := pgmnemo._cut_runs(words, 250);
    END IF;
    IF octet_length(words) > 250 THEN
        words := replace(words, '<!', ' ');
    END IF;
    RETURN words;
END
$$;

COMMENT ON FUNCTION pgmnemo._prepared(text) IS 'a text as it goes to the parser: pgmnemo._plain_text, then pgmnemo._token_parts and pgmnemo._codes behind it, and runs of more than 250 characters without a blank in pieces of 50';
-- The lexemes of a question under each of these configurations, and for each the number of the word that it is a form
-- of: a word stands at one place, whatever cuts the text. A word that one of them drops as a stop word is dropped: a
-- lesson that another language was taken for would else be found by every "the". A question that consists of stop
-- words is asked by these as they are.
CREATE OR REPLACE FUNCTION pgmnemo._question_words(words text, configs regconfig[], OUT lexemes text[], OUT numbers integer[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    prepared text;
    folded text;
    names text[];
BEGIN
    IF cardinality(configs) = 1 THEN
        lexemes := tsvector_to_array(pgmnemo._lexemes(configs[1], words));
    ELSE
        prepared := pgmnemo._prepared(words);
        folded := pgmnemo._folded(prepared);
        WITH form AS MATERIALIZED (
            SELECT u.config, v.lexeme, p.place
              FROM unnest(configs) AS u (config)
             CROSS JOIN LATERAL unnest(to_tsvector(u.config, pgmnemo._even_stems(u.config,
                    CASE WHEN u.config IN ('pg_catalog.english'::regconfig, 'pg_catalog.simple'::regconfig)
                         THEN folded ELSE prepared END))) v
             CROSS JOIN LATERAL unnest(v.positions) AS p (place)
        ), word AS (
            SELECT pgmnemo._folded(CASE WHEN f.config = 'pg_catalog.english'::regconfig
                                        THEN coalesce(pgmnemo._form_roots() ->> f.lexeme, f.lexeme)
                                        ELSE f.lexeme END) AS lexeme, min(f.place) AS place
              FROM form f
             WHERE f.place IN (SELECT k.place FROM form k GROUP BY k.place
                               HAVING count(DISTINCT k.config) = cardinality(configs))
             GROUP BY 1
        )
        SELECT coalesce(array_agg(w.lexeme ORDER BY w.lexeme COLLATE "C"), '{}'),
               coalesce(array_agg(w.place ORDER BY w.lexeme COLLATE "C"), '{}') INTO lexemes, numbers
          FROM word w;
        names := ARRAY(SELECT DISTINCT n FROM unnest(configs) AS u (config)
                        CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._stop_names(u.config, words))) n
                        WHERE n <> ALL (lexemes) ORDER BY n);
        lexemes := lexemes || names;
        numbers := numbers || ARRAY(SELECT -n FROM generate_series(1, cardinality(names)) n);
    END IF;
    IF lexemes = '{}' THEN
        numbers := NULL;
        lexemes := tsvector_to_array(pgmnemo._folded(to_tsvector('pg_catalog.simple', pgmnemo._prepared(words))::text)
                                     ::tsvector);
    END IF;
END
$$;

COMMENT ON FUNCTION pgmnemo._question_words(text, regconfig[]) IS 'lexemes: those of a question under all these configurations; numbers: for each the number of the word that it is a form of, NULL: each is a word of its own';
-- The configurations whose stop words the encoding of the database has: in LATIN1 those of Hungarian are an error.
CREATE OR REPLACE FUNCTION pgmnemo._readable_configs(configs regconfig[])
RETURNS regconfig[]
LANGUAGE plpgsql STABLE STRICT PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    readable regconfig[] := '{}';
    config regconfig;
BEGIN
    FOREACH config IN ARRAY configs LOOP
        BEGIN
            PERFORM to_tsvector(config, 'a');
            readable := readable || config;
        EXCEPTION WHEN untranslatable_character THEN
            NULL;
        END;
    END LOOP;
    RETURN readable;
END
$$;

COMMENT ON FUNCTION pgmnemo._readable_configs(regconfig[]) IS 'the text search configurations that the encoding of the database can read, for databases of another encoding than UTF8';
-- The configuration of the language that a text is in. A script tells most; among languages that share one the stop
-- words that PostgreSQL ships decide: the text is cut under each of them, and the one that drops most words has it,
-- if it drops two at least and more than `fallback` does. `fallback` where nothing decides.
CREATE OR REPLACE FUNCTION pgmnemo._recognized_config(words text, fallback regconfig)
RETURNS regconfig
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sample constant text := left(words, 1000);
    configs regconfig[] := '{english,german,french,spanish,portuguese,italian,dutch,swedish,danish,'
                           'norwegian,finnish,hungarian,turkish}';
    -- frequent stop words that are no English words: without one of them no language but `fallback` is tried
    telling constant tsquery := (
        'der | das | und | ist | nicht | ich | ein | eine | einen | einem | mit | auf | wie | wer | '
        'zu | den | dem | des | sich | von | wir | im | aus | bei | nach | wurde | hat | welche | '
        'welchen | welcher | wann | wo | durch | zur | zum | haben | sind | kann | mein | meine | '
        'als | auch | le | la | les | de | est | et | un | une | je | que | qui | dans | pour | pas '
        '| du | il | elle | vous | nous | au | aux | sur | mon | ma | el | los | las | en | es | y | '
        'por | con | una | se | mi | su | al | o | os | em | um | uma | da | dos | com | eu | meu | '
        'minha | lo | di | che | per | non | del | della | sono | ho | mio | het | een | van | dat | '
        'niet | ik | op | met | zijn | heb | och | att | det | som | jag | inte | av | har | og | er '
        '| jeg | ikke | til | af | med | ja | ei | oli | ett | az | hogy | nem | egy | bir | ve | bu '
        '| ile | ne')::tsquery;
    cut tsvector;
    letters integer;
    tokens integer;
    dropped integer;
    most integer := 1;
    best regconfig := fallback;
    config regconfig;
    script record;
BEGIN
    IF octet_length(sample) > 1.3 * length(sample) AND getdatabaseencoding() = 'UTF8' THEN
        letters := length(regexp_replace(sample, '[^[:alpha:]\u0370-\U000323AF]', '', 'g'));
        FOR script IN SELECT * FROM (VALUES
            ('[^\u0400-\u052F]',
             '[\u0402\u0404\u0406-\u040B\u040E\u040F\u0452\u0454\u0456-\u045B\u045E\u045F\u0490\u0491]', 'russian'),
            ('[^\u0600-\u06FF]', '[\u0679-\u06D5]', 'arabic'), ('[^\u0370-\u03FF\u1F00-\u1FFF]', NULL, 'greek'),
            ('[^\u0531-\u058F]', NULL, 'armenian'), ('[^\u0900-\u097F]', NULL, 'hindi'),
            ('[^\u0B80-\u0BFF]', NULL, 'tamil'),
            ('[^\u0590-\u05FF\u0700-\u08FF\u0980-\u0B7F\u0C00-\U000323AF]', NULL, 'simple')
        ) AS s (others, not_of_it, config) LOOP
            IF 2 * length(regexp_replace(sample, script.others, '', 'g')) > letters THEN
                RETURN CASE WHEN sample ~ script.not_of_it THEN 'simple' ELSE script.config END::regconfig;
            END IF;
        END LOOP;
    END IF;
    cut := to_tsvector('pg_catalog.simple', sample);
    IF fallback = 'pg_catalog.english'::regconfig AND NOT cut @@ telling THEN
        RETURN fallback;
    END IF;
    IF getdatabaseencoding() <> 'UTF8' THEN
        configs := pgmnemo._readable_configs(configs);
    END IF;
    tokens := pgmnemo._positions(cut);
    most := greatest(most, tokens - pgmnemo._positions(to_tsvector(fallback, sample)));
    FOREACH config IN ARRAY array_remove(configs, fallback) LOOP
        dropped := tokens - pgmnemo._positions(to_tsvector(config, sample));
        IF dropped > most THEN
            most := dropped;
            best := config;
        END IF;
    END LOOP;
    RETURN best;
END
$$;

COMMENT ON FUNCTION pgmnemo._recognized_config(text, regconfig) IS 'the text search configuration of the language that a text seems to be in, of its first 1,000 characters; the second argument where neither script nor stop words tell';
-- Whether a lesson is the question itself: it is a question, and has no word of its own that the question lacks, but in
-- a lead-in (pgmnemo._without_lead_in). A lesson that states something is an answer, whatever its words.
CREATE OR REPLACE FUNCTION pgmnemo._repeats_question(content text, topic text, config text, lexemes tsvector, question text[])
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- characters of a question that may be asked again
    most constant integer := 24;  -- lexemes of a lead-in
    more tsvector;
BEGIN
    IF topic IS NULL THEN
        more := ts_delete(lexemes, question);
        IF length(more) > most THEN
            RETURN false;
        END IF;
    END IF;
    IF length(lexemes) = 0 OR length(content) > longest OR NOT pgmnemo._asks(content)
       OR pgmnemo._config(config) IS NULL THEN
        RETURN false;
    ELSIF topic IS NOT NULL THEN
        more := ts_delete(pgmnemo._lexemes(pgmnemo._config(config), content), question);
    END IF;
    RETURN length(more) = 0
           OR length(more) <= most
              AND length(ts_delete(pgmnemo._lexemes(pgmnemo._config(config), pgmnemo._without_lead_in(content)),
                                   question)) = 0;
END
$$;
-- Words of a text that its configuration drops as stop words although they are written as names: in capitals (IT), or
-- with one within a sentence (The Who), of five letters at most. They become lexemes as they are, in lower case. The
-- pattern looks behind itself from a capital letter on: before it, it would do so at every character.
CREATE OR REPLACE FUNCTION pgmnemo._stop_names(config regconfig, words text)
RETURNS tsvector
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(string_agg(format('%s:1', n.name), ' '), '')::tsvector
      FROM (SELECT DISTINCT lower(m[1] COLLATE "C") AS name
              FROM regexp_matches(left(words, 10000),
                                  '([A-Z](?<!\w[A-Z])(?<![A-Za-z][ -][A-Z])[A-Z]{1,4}\M(?![ -][A-Z]{2})|'
                                  '[A-Z](?<=[a-z0-9,;] [A-Z])[a-z]{1,4}\M)', 'g') AS m) n
     WHERE to_tsvector(config, n.name) = ''
$$;
-- The configurations that the lessons of a tenant were cut by, those that are still there; of a tenant without lessons
-- english.
CREATE OR REPLACE FUNCTION pgmnemo._tenant_configs(tenant uuid)
RETURNS regconfig[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 50;
    configs regconfig[] := '{}';
    last text := '';
BEGIN
    FOR place IN 1 .. most LOOP
        last := (SELECT l.text_config FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.text_config COLLATE "C" > last
                  ORDER BY l.text_config COLLATE "C" LIMIT 1);
        EXIT WHEN last IS NULL;
        configs := array_remove(configs || pgmnemo._config(last), NULL);
    END LOOP;
    RETURN CASE WHEN configs = '{}' THEN '{pg_catalog.english}' ELSE configs END;
END
$$;
-- The language of texts that a tenant's writers store without one; read once in a statement.
CREATE OR REPLACE FUNCTION pgmnemo._tenant_language(tenant uuid)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT t.language FROM pgmnemo.tenant t WHERE t.tenant_id = tenant), 'auto');
END
$$;
-- The text search configuration that the session sets for what it writes; NULL: auto. Also for a session whose other
-- settings may be wrong.
CREATE OR REPLACE FUNCTION pgmnemo._text_config()
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked text := coalesce(nullif(current_setting('pgmnemo.text_config', true), ''), 'auto');
    config regconfig;
BEGIN
    IF asked = 'auto' THEN
        RETURN NULL;
    END IF;
    config := pgmnemo._config(asked);
    IF config IS NULL THEN
        RAISE EXCEPTION 'pgmnemo.text_config is %, but must be a text search configuration', quote_literal(asked)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT cfgname FROM pg_ts_config lists them, and auto goes by the text; one outside pg_catalog '
                     'needs its schema, a temporary one does not do.';
    END IF;
    RETURN config;
END
$$;
-- A text without what makes no difference: case, blanks, punctuation, forms of Unicode. What numbers and names are
-- told apart by stays: a mark before a digit (-5, 1.5, 10:30), an exclamation mark before a letter or = (a != b), and
-- symbols (C++, %, emoji). Blanks take the place of all else, so that no two words become one.
CREATE OR REPLACE FUNCTION pgmnemo._text_form(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(content) <> length(content) AND getdatabaseencoding() = 'UTF8' THEN
        content := normalize(content, NFKC);
        content := regexp_replace(content, '[\u00AD\u034F\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F'
                                           '\uFE00-\uFE0F\uFEFF]', '', 'g');
        content := regexp_replace(content, '[\u2018\u2019]', '''', 'g');
        content := regexp_replace(content, '[\u2010-\u2015]', '-', 'g');
        content := regexp_replace(content, '[\u00A1\u00A7\u00AB\u00B6\u00B7\u00BB\u00BF\u055A-\u055F\u0589\u05BE'
                                           '\u05F3\u05F4\u060C\u061B\u061E\u061F\u06D4\u0964\u0965\u0E2F\u0E5A\u0E5B'
                                           '\u1361-\u1368\u2016-\u2027\u2030-\u205E\u2E00-\u2E5D\u3001-\u3003'
                                           '\u3008-\u3011\u3014-\u301F\u30FB]', ' ', 'g');
    END IF;
    RETURN btrim(regexp_replace(lower(content),
                                '(?:[-.,:;/''](?![0-9])|!(?![=[:alnum:]])|[][\s?"(){}_`*\\])+', ' ', 'g'));
END
$$;

COMMENT ON FUNCTION pgmnemo._text_form(text) IS 'a text in NFKC and lower case whose blanks and punctuation are single blanks: two texts of one form are the same to a reader';
-- The same for lessons that say the same: one form of text (of a question without its lead-in), one topic, one speaker
-- (nobody named is the user). Long texts are the same only to the letter.
CREATE OR REPLACE FUNCTION pgmnemo._text_key(content text, topic text, role text)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT pg_catalog.hashtextextended(
        pg_catalog.concat_ws(E'\n', CASE WHEN octet_length(content) <= 8000 AND length(content) <= 2000
                                         THEN pgmnemo._text_form(CASE WHEN pgmnemo._bare_question(content)
                                                                      THEN pgmnemo._without_lead_in(content)
                                                                      ELSE content END)
                                         ELSE content END,
                             topic, nullif(role, 'user')), 0)
$$;
-- What else compound tokens are asked for by, as words to add to a text: the parts of hosts, addresses, paths,
-- parameters of URLs, identifiers (snake, kebab and camel case) and tickets; such a token without its separators
-- (PROJ-137 as PROJ137, get_name as getname); amounts without theirs (1,250.00 as 1250). '' where there are none.
CREATE OR REPLACE FUNCTION pgmnemo._token_parts(words text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    letter constant text := '[0-9A-Za-z\u00C0-\u1FFF]';
    -- an amount with the marks behind it, or else a whole run of digits with such marks: the longer one is found
    amount constant text := '(?:([0-9]{1,3}(?:[,.''][0-9]{2,3})*[,.''][0-9]{3})([.,][0-9]{1,2})?'
                            '|([0-9]+)([.,][0-9]{1,2}))([.,'']*)|([.,'']*[0-9]+[.,'']+[0-9][0-9.,'']*)';
    amounts text;
    tokens  text;
    parts   text;
    joined  text;
BEGIN
    SELECT string_agg(concat_ws(' ', a.whole, translate(concat(m[1], m[3], m[4]), ',.''', '   '),
                                CASE WHEN m[2] ~ '[1-9]' THEN a.whole || translate(m[2], ',', '.') END), ' ')
      INTO amounts
      FROM regexp_matches(words, amount, 'g') AS m
     CROSS JOIN LATERAL (SELECT translate(coalesce(m[1], m[3]), ',.''', '')) AS a (whole)
     WHERE m[6] IS NULL;
    IF amounts IS NOT NULL THEN  -- each becomes a blank; a mark behind what is none goes
        words := regexp_replace(translate(words, E'\x01', ' '), amount, E'\\6\x01\\5', 'g');
        words := translate(regexp_replace(words, E'([0-9.,''])\x01', '\1', 'g'), E'\x01', ' ');
    END IF;
    SELECT string_agg(m[1], ' ') INTO tokens
      FROM regexp_matches(words,
                          '(' || letter || '+(?:(?:[-_./@:=&?#%+~,;|\\]+|[''\u2019](?=[A-Z]))' || letter || '+)*'
                          '(?:\+\+|#)?)|(?:[A-Z]?[a-z]+[.,:;?]?\s+)+', 'g') AS m
     WHERE m[1] ~ '[_./@=#+,&''\u2019]|[0-9][^0-9]|[^0-9][0-9]|[a-z][A-Z]';
    IF tokens IS NOT NULL THEN
        tokens := replace(regexp_replace(tokens, '#(?= |$)', 'sharp', 'g'), '++', 'plusplus');
        parts := regexp_replace(tokens, '[^0-9A-Za-z\u00C0-\u1FFF]+', ' ', 'g');
        parts := regexp_replace(parts, '([a-z]{2})(?=[A-Z][a-z])|([A-Z]{2})(?=[A-Z][a-z])', '\1\2 ', 'g');
        parts := regexp_replace(parts, '\m([^0-9 ]+)([0-9]+)\M|\m([0-9]+)([^0-9 ]+)\M', '\1\3 \2\4', 'g');
        joined := (SELECT string_agg(regexp_replace(m[1], '[^0-9A-Za-z\u00C0-\u1FFF]+', '', 'g'), ' ')
                     FROM regexp_matches(tokens, '(' || letter || '+(?:[-_.&''\u2019]+' || letter || '+)+)', 'g') AS m);
    END IF;
    RETURN concat_ws(' ', amounts, parts, joined);
END
$$;

COMMENT ON FUNCTION pgmnemo._token_parts(text) IS 'words to add to a text, so that its compound tokens are found by their parts, joined, and amounts without separators; linear in the text';
-- A question without what leads to it: a date in brackets, and up to two clauses of three words at most (Ada: Hey, ...;
-- Sorry, once more: ...). Where less than two fifths would remain, the clauses are the question itself.
CREATE OR REPLACE FUNCTION pgmnemo._without_lead_in(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    rest text := regexp_replace(
        content, '^\s*(?:\[[^\]]*\]\s*)?'
                 '(?:[^[:alnum:]]*[[:alnum:]''\u2019]{1,12}(?:\s+[[:alnum:]''\u2019]{1,12}){0,2}'
                 '\s*[:,.!\u060C\u3001\u3002\uFF01\uFF0C\uFF1A]+\s*){0,2}', '');
BEGIN
    RETURN CASE WHEN 5 * length(rest) >= 2 * length(content) THEN rest ELSE content END;
END
$$;
-- The same for lessons with the same lexemes, and for one question with another lead-in, cheaply: only where two have
-- one mark their texts are compared. Of long vectors the length and the bytes are enough.
CREATE OR REPLACE FUNCTION pgmnemo._words_mark(content text, lexemes tsvector, token_count integer)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pgmnemo._bare_question(content)
                THEN hashtextextended(pgmnemo._text_form(pgmnemo._without_lead_in(content)), 0)
                WHEN pg_column_size(lexemes) <= 2000 AND pg_column_compression(lexemes) IS NULL
                THEN hash_array_extended(tsvector_to_array(lexemes), 0)
                ELSE token_count::bigint * 4294967296 + pg_column_size(lexemes) END
$$;
-- The configuration of a text that is written in this language. NULL: the session's, else that of `usual`, the tenant's
-- language, which is a configuration, auto, or auto: and the configuration of a text that is not recognized.
CREATE OR REPLACE FUNCTION pgmnemo._written_config(language text, words text, usual text)
RETURNS regconfig
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    recognized constant boolean := usual = 'auto' OR starts_with(usual, 'auto:');
    own constant regconfig := CASE WHEN usual <> 'auto' THEN pgmnemo._config(regexp_replace(usual, '^auto:', '')) END;
    config regconfig;
BEGIN
    IF language IS NULL THEN
        config := coalesce(pgmnemo._text_config(), CASE WHEN NOT recognized THEN own END);
    ELSIF language <> 'auto' THEN
        config := pgmnemo._config(nullif(pgmnemo._language_config(language), 'auto'));
    END IF;
    RETURN coalesce(config, pgmnemo._recognized_config(words, coalesce(own, 'pg_catalog.english')));
END
$$;
-- NULL for what is no number; a thousand years are no memory, and PostgreSQL's calendar ends.
CREATE OR REPLACE FUNCTION pgmnemo._small_number(word text)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN word ~ '^[0-9]{1,3}$' THEN word::float8
                WHEN word IN ('a', 'an') THEN 1
                WHEN word = 'couple' THEN 2
                WHEN word = 'few' THEN 3
                WHEN word IN ('half a', 'half an') THEN 0.5
                WHEN word IN ('fifteen', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'ninety', 'hundred')
                THEN ('{"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,'
                      ' "hundred": 100}'::jsonb ->> word)::float8
                ELSE array_position('{one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve}', word) END
$$;
-- What is told comes after what happened, so a memory fits longer after an interval than ahead of it. Powers are held
-- at a thousand halvings: PostgreSQL calls a smaller one an error. The end does not belong to an interval: midnight is
-- of the next day.
CREATE OR REPLACE FUNCTION pgmnemo._temporal(happened timestamptz, since timestamptz[], until timestamptz[])
RETURNS float8
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment float8 := date_part('epoch', happened);
    halvings float8 := 'Infinity';
    after float8;
BEGIN
    IF happened IS NULL OR since IS NULL OR until IS NULL THEN
        RETURN 0;
    END IF;
    FOR place IN 1 .. cardinality(since) LOOP
        after := moment - date_part('epoch', until[place]);
        halvings := least(halvings, greatest(CASE WHEN after >= 0 THEN greatest(after / (7 * 86400), 0.1) ELSE 0 END,
                                             (date_part('epoch', since[place]) - moment) / (2 * 86400)));
    END LOOP;
    RETURN CASE WHEN halvings = 'Infinity' THEN 0 ELSE power(0.5::float8, least(halvings, 1000)) END;
END
$$;

COMMENT ON FUNCTION pgmnemo._temporal(timestamptz, timestamptz[], timestamptz[]) IS 'how well a time fits the nearest of these intervals, 0 to 1: 1 within; 0.5 ^ (days / 7), at most 0.5 ^ 0.1, from its end on, 0.5 ^ (days / 2) ahead of its start; 0 without an interval or a time';
-- How a question in English names a time: tried in this order, what matched is taken out of the question.
-- `names` says what the groups of the pattern hold; MONTH stands for the group of the months' names. What looks
-- ahead (tonight, next week) and what has two readings (the winter of 2022) is left out: "on Monday" is read where the
-- question asks of the past. A date in figures is read where it has one reading: dots put the day first, a year ahead
-- of it the month, and of slashes one part is above 12; of 5/8/2023 the year is left. What is loose counts only where
-- nothing else is named. Each is tried only where the question is LIKE its hint, and names a month if it needs one:
-- PostgreSQL keeps no more than 32 patterns compiled.
CREATE OR REPLACE FUNCTION pgmnemo._time_patterns()
RETURNS TABLE (kind text, hints text[], months boolean, pattern text, names text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind, p.hints::text[], p.pattern LIKE '%MONTH%',
           '\m(' || replace(p.pattern, 'MONTH', '(january|february|march|april|may|june|july|august|september|october|'
                            'november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)') || ')',
           p.names::text[]
      FROM (VALUES
        ('date', '{%____-%-%,%____/%/%,%____.%.%}',
         '([0-9]{4})[-/.](0?[1-9]|1[0-2])[-/.]([0-9]{1,2})\M', '{year,month,day}'),
        ('date', '{%____-%}', '([0-9]{4})-(0?[1-9]|1[0-2])\M(?!-)', '{year,month}'),
        ('date', '{%.%.%}', '([0-9]{1,2})\. ?(0?[1-9]|1[0-2])\. ?([0-9]{4})\M', '{day,month,year}'),
        ('date', '{%/%/%}', '(1[3-9]|2[0-9]|3[01])/(0?[1-9]|1[0-2])/([0-9]{4})\M', '{day,month,year}'),
        ('date', '{%/%/%}', '(0?[1-9]|1[0-2])/(1[3-9]|2[0-9]|3[01])/([0-9]{4})\M', '{month,day,year}'),
        ('lastweek', '{%day%last week%}',
         '(monday|tuesday|wednesday|thursday|friday|saturday|sunday) (?:of )?last week\M', '{weekday}'),
        ('lastweek', '{%last week%day%}',
         'last week,? (?:on )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('since', '{%since %}', 'since MONTH\M(?! i\M)', '{month}'),
        ('week', '{%week %}',
         '(first|second|third|fourth|last) week (?:of|in) MONTH\M\.?,?(?: (?:of )?([0-9]{4})\M)?', '{week,month,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}',
         '([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? MONTH\M\.?,? ?([0-9]{4})?', '{day,month,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}',
         'MONTH\.? ([0-9]{1,2})(?:st|nd|rd|th)?\M(?:,? ([0-9]{4})\M)?', '{month,day,year}'),
        ('date', '{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}', 'MONTH\.?,? (?:of )?([0-9]{4})\M', '{month,year}'),
        ('date', '{%}',
         '(?:in|of|during|since|by|before|after|until|late|early|mid|last|this|on|week of)[ -]'
         'MONTH\M(?! i\M)', '{month}'),
        ('date', '{%in m%}', 'in m([0-9]{1,2})\M(?: ([0-9]{1,2})[RH])?', '{month,day}'),
        ('feast', '{%valentine%,%christmas%,%halloween%,%new year%}',
         '(valentine|christmas eve|christmas|halloween|new year''?s eve|new year''?s day)\M(?:''?s? day\M)?'
         '(?:,? (?:of |in )?([0-9]{4})\M)?', '{feast,year}'),
        ('quarter', '{%q_ %}', 'q([1-4])(?: of)? ([0-9]{4})\M', '{quarter,year}'),
        ('quarter', '{% q_%}', '(?:in|during|since) q([1-4])\M', '{quarter}'),
        ('quarter', '{%quarter of %}', '(first|second|third|fourth|last) quarter of ([0-9]{4})\M', '{quarter,year}'),
        ('season', '{%spring %,%summer %,%autumn %,%fall %}',
         '(spring|summer|autumn|fall) (?:of |in )?([0-9]{4})\M', '{season,year}'),
        ('season', '{%last spring%,%last summer%,%last autumn%,%last fall%,%last winter%}',
         'last (spring|summer|autumn|fall|winter)\M', '{season}'),
        ('ago', '{% ago%,% back%,% earlier%}',
         '(half an?|\w+(?<!half))(?: of)? (day|week|fortnight|month|year)s? (?:ago|back|earlier)\M', '{count,unit}'),
        ('near', '{%today%,%yesterday%,%this %,%last %}',
         '(day before yesterday|yesterday|today|this morning|this afternoon|last night|last weekend)'
         '\M(?! before| after)', '{day}'),
        ('past', '{%last %,%past %,%previous %}',
         '(?:last|past|previous) (\w+)(?: of)? (day|week|month|quarter|year)s?\M(?! of)', '{count,unit}'),
        ('past', '{%last day%,%past day%,%previous day%}', '(?:last|past|previous) (day)s?\M(?! of)', '{unit}'),
        ('past', '{%past %,%last %}',
         '(?:(?:in|over|during|within) the (?:last|past)|this past) (week|month|quarter|year)\M', '{unit}'),
        ('span', '{%last %,%past %,%previous %,%this %}',
         '(last|past|previous|this) (week|month|quarter|year)\M(?! of)', '{which,unit}'),
        ('weekday', '{%last %day%,%past %day%}',
         '(?:last|this past|past) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('date', '{%19__%,%20__%}',
         '(?:in|of|since|by|before|after|during|until|year|from|to|'
         'and|early|late|mid|for)[ -]((?:19|20)[0-9][0-9])\M', '{year}'),
        ('loose', '{% on %day%}',
         '(?<=\m(?:did|was|were|had)\M.*)on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('loose', '{%20__%}', '(20[0-9][0-9])\M', '{year}'),
        ('loose', '{%recently%,%lately%,%other day%}', '(recently|lately|the other day)\M', '{day}')
      ) AS p (kind, hints, pattern, names)
$$;
-- The interval of one expression, its words by name, counted from `now` in the zone that is asked in; NULL for a date
-- that does not exist. A date without a year is the latest that is not after `now`; what is told only roughly is as
-- wide as it is vague.
CREATE OR REPLACE FUNCTION pgmnemo._time_span(kind text, said jsonb, now timestamp)
RETURNS tsrange
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    today timestamp := date_trunc('day', now);
    unit text := said ->> 'unit';
    unit_days float8 := CASE unit WHEN 'day' THEN 1 WHEN 'week' THEN 7 WHEN 'fortnight' THEN 14 WHEN 'month' THEN 30.4
                                     WHEN 'quarter' THEN 91.3 WHEN 'year' THEN 365 END;
    many float8 := pgmnemo._small_number(said ->> 'count');
    since timestamp;
    slack interval;
BEGIN
    IF kind = 'date' OR kind = 'loose' AND said ? 'year' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, pgmnemo._month(said ->> 'month'),
                                      (said ->> 'day')::integer, NULL, now);
    ELSIF kind = 'since' THEN
        RETURN tsrange(lower(m.days), now + interval '24 hours')
          FROM pgmnemo._calendar_span(NULL, pgmnemo._month(said ->> 'month'), NULL, NULL, now) AS m (days);
    ELSIF kind = 'lastweek' THEN
        since := date_trunc('week', now) - interval '8 days'
                 + array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3)) * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
    ELSIF kind = 'feast' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, f.month, f.day, NULL, now)
          FROM (VALUES ('valentine', 2, 14), ('halloween', 10, 31), ('christmas eve', 12, 24), ('christmas', 12, 25),
                       ('new years eve', 12, 31), ('new years day', 1, 1)) AS f (name, month, day)
         WHERE f.name = replace(said ->> 'feast', '''', '');
    ELSIF kind = 'season' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, s.month, NULL, 3, now - interval '3 months')  -- ended
          FROM (VALUES ('spring', 3), ('summer', 6), ('autumn', 9), ('fall', 9), ('winter', 12)) AS s (name, month)
         WHERE s.name = said ->> 'season';
    ELSIF kind = 'quarter' THEN
        RETURN pgmnemo._calendar_span((said ->> 'year')::integer, 3 * q.place::integer - 2, NULL, 3, now)
          FROM unnest('{first,second,third,fourth}'::text[]) WITH ORDINALITY AS q (name, place)
         WHERE replace(said ->> 'quarter', 'last', 'fourth') IN (q.name, q.place::text);
    ELSIF kind = 'week' THEN
        RETURN CASE said ->> 'week'
               WHEN 'last' THEN tsrange(upper(m.days) - interval '7 days', upper(m.days))
               ELSE tsrange(lower(m.days) + w.place * interval '7 days',
                            lower(m.days) + (w.place + 1) * interval '7 days') END
          FROM pgmnemo._calendar_span((said ->> 'year')::integer, pgmnemo._month(said ->> 'month'), NULL, NULL, now)
               AS m (days)
         CROSS JOIN LATERAL (
                SELECT array_position('{first,second,third,fourth}', said ->> 'week') - 1) AS w (place);
    ELSIF kind = 'ago' THEN
        IF unit = 'day' THEN
            since := today - many * interval '1 day';
            slack := round(0.12 * many) * interval '1 day';
            RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + interval '1 day' + slack) END;
        END IF;
        since := now - many * unit_days * interval '24 hours';
        slack := (0.12 * many * unit_days + 2) * interval '24 hours';
        RETURN CASE WHEN many IS NOT NULL THEN tsrange(since - slack, since + slack) END;
    ELSIF kind = 'past' THEN
        IF many IS NULL AND said ? 'count' AND unit IN ('quarter', 'year') THEN
            RETURN NULL;  -- "the last school year"
        END IF;
        unit_days := CASE unit WHEN 'month' THEN 31 ELSE unit_days END;
        since := now - (coalesce(many, 1) * unit_days + CASE WHEN unit = 'day' THEN 0 ELSE 3 END) * interval '24 hours';
        RETURN tsrange(since, now + interval '24 hours');
    ELSIF kind = 'span' AND said ->> 'which' <> 'this' THEN
        RETURN tsrange(date_trunc(unit, now) - CASE unit WHEN 'quarter' THEN interval '3 months'
                                                         ELSE ('1 ' || unit)::interval END, date_trunc(unit, now));
    ELSIF kind = 'span' THEN
        RETURN tsrange(date_trunc(unit, now), today + interval '1 day');
    ELSIF said ? 'weekday' THEN
        since := today - (1 + (extract(isodow FROM today)::integer + 6
                               - array_position('{mon,tue,wed,thu,fri,sat,sun}', left(said ->> 'weekday', 3))) % 7)
                         * interval '1 day';
        RETURN tsrange(since, since + interval '1 day');
    END IF;
    RETURN CASE said ->> 'day'
        WHEN 'day before yesterday' THEN tsrange(today - interval '2 days', today - interval '1 day')
        WHEN 'yesterday' THEN tsrange(today - interval '1 day', today)
        WHEN 'last night' THEN tsrange(today - interval '12 hours', today + interval '12 hours')
        WHEN 'the other day' THEN tsrange(now - interval '7 days', now - interval '12 hours')
        WHEN 'recently' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'lately' THEN tsrange(now - interval '21 days', now + interval '24 hours')
        WHEN 'last weekend' THEN tsrange(date_trunc('week', now) - interval '2 days', date_trunc('week', now))
        ELSE tsrange(today, today + interval '1 day') END;
END
$$;
-- How times are put together in German, French, Spanish, Chinese and Japanese, and how English says it: tried in this
-- order on a question whose words are English already (pgmnemo._times_in_english), each only where the question is LIKE
-- one of its hints, since PostgreSQL keeps no more than 32 patterns compiled. Another language is added here, to the
-- words of that function, and to the two tests of _times.
CREATE OR REPLACE FUNCTION pgmnemo._time_words()
RETURNS TABLE (hints text[], pattern text, says text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.hints::text[],
           replace(replace(replace(w.pattern, 'UNIT', 'day|week|month|quarter|year'),
                           'DAY', 'monday|tuesday|wednesday|thursday|friday|saturday|sunday'),
                   'MONTH', 'january|february|march|april|may|june|july|august|september|october|november|december'),
           w.says
      FROM (VALUES
        ('{%avant-hier%,%antes de yesterday%}', '\m(?:avant-hier|antes de yesterday)\M', 'day before yesterday'),
        ('{%aujourd_hui%}', '\maujourd.hui\M', 'today'),
        ('{%wochenende%}', '\mletzte[sn]? wochenende\M', 'last weekend'),
        ('{%week%end%}', '\mweek-?end (?:dernier|passe)\M', 'last weekend'),
        ('{%fin de week%}', '\mfin de week pasado\M', 'last weekend'),
        ('{%vor %,%hace %,%il y a %}', '\m(?:vor|hace|il y a) ([0-9]+) (UNIT)', '\1 \2 ago'),
        ('{%letzte%,%vorige%,%vergangene%}', '\m(?:letzte|vorige|vergangene)[nrsm]? ([0-9]+ )?(UNIT)', 'last \1\2'),
        ('{%letzte%day%,%vorige%day%,%vergangene%day%}', '\m(?:letzte|vorige|vergangene)[nrsm]? (DAY)', 'last \1'),
        ('{%derni%}', '([0-9]+) derniere?s (UNIT)', 'last \1 \2'),
        ('{%ultimos%,%ultimas%}', '\multim[oa]s ([0-9]+) (UNIT)', 'last \1 \2'),
        ('{% derni%,% passe%,% pasad_%}', '\m(UNIT) (?:derniere?|passee?|pasad[oa])\M', 'last \1'),
        ('{%day derni%,%day passe%,%day pasado%}', '\m(DAY) (?:dernier|passe|pasado)\M', 'last \1'),
        ('{%pasad_ %day%}', '\mpasad[oa] (DAY)', 'last \1'),
        ('{%diese%,%cette %,%ce %,%est_ %}', '\m(?:diese[nrsm]?|cette|ce|est[ea]) (UNIT)', 'this \1'),
        ('{%0%,%1%,%2%,%3%,%4%,%5%,%6%,%7%,%8%,%9%}', '\m([0-9]{1,2})(?:\.|er)? (?:de )?(?=MONTH)', '\1 '),
        ('{% de %,% del %}', '(MONTH) del? (?=[0-9]{4})', '\1 '),
        ('{%anfang%,%mitte%,%ende%,%debut%,%mi_%,%fin%,%principios de%}',
         '\m(?:anfang|mitte|ende|debut|mi|fin|finales de|principios de)[ -](?=MONTH)', 'early '),
        ('{%im %,%en %}', '\m(?:im|en) (?=MONTH)', 'in '),
        ('{%Y%M%}', '([0-9]{4}) *Y *([0-9]{1,2}) *M *([0-9]{1,2}) *[RH]', ' \1-\2-\3 '),
        ('{%Y%M%}', '([0-9]{4}) *Y *([0-9]{1,2}) *MK?', ' \1-\2 '),
        ('{%Y%}', '([0-9]{4}) *Y', ' \1 '),
        ('{%D%F%,%R%F%}', '([0-9]+) *G?[DR]Z?F', ' \1 day ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?[DR]', ' last \1 day '),
        ('{%W%F%,%XQ%F%}', '([0-9]+) *G?(?:XQ|W)Z?F', ' \1 week ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?(?:XQ|W)', ' last \1 week '),
        ('{%M%F%}', '([0-9]+) *G?G?MZ?F', ' \1 month ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?G?M', ' last \1 month '),
        ('{%Y%F%}', '([0-9]+) *G?YZ?F', ' \1 year ago '),
        ('{%PU%,%VN%}', '(?:PU|VN)E?([0-9]+) *G?Y', ' last \1 year '),
        ('{%M%}', '(?<![0-9])(1[0-2]|0?[1-9])M(?!K?Z?F)K?', ' in m\1 '),
        ('{%S%1%}', 'SG?(?:XQ|W)1', ' monday of last week '),
        ('{%S%2%}', 'SG?(?:XQ|W)2', ' tuesday of last week '),
        ('{%S%3%}', 'SG?(?:XQ|W)3', ' wednesday of last week '),
        ('{%S%4%}', 'SG?(?:XQ|W)4', ' thursday of last week '),
        ('{%S%5%}', 'SG?(?:XQ|W)5', ' friday of last week '),
        ('{%S%6%}', 'SG?(?:XQ|W)6', ' saturday of last week '),
        ('{%S%7%,%S%R%,%S%D%}', 'SG?(?:XQ|W)[7DR]', ' sunday of last week '),
        ('{%S%O%,%LWO%}', 'SG?WO|LWO', ' last weekend '),
        ('{%S%,%LW%}', 'SG?(?:XQ|W)|LW', ' last week '),
        ('{%S%M%,%LM%}', 'SG?M|LM', ' last month '),
        ('{%S%J%}', 'SG?J', ' last quarter '),
        ('{%UY%,%AY%}', '(?<!1)AY|UY', ' last year '),
        ('{%FY%,%1AY%}', '1AY|FY', ' 2 years ago '),
        ('{%CY%}', 'CY', ' this year '),
        ('{%CW%}', 'CW', ' this week '),
        ('{%CM%}', 'CM', ' this month '),
        ('{%B%}', 'BG?(?:XQ|W)', ' this week '),
        ('{%B%M%}', 'BG?M', ' this month '),
        ('{%CD%,%CR%}', 'C[DR]', ' today '),
        ('{%1AR%,%@++!%}', '1AR|@\+\+!', ' day before yesterday '),
        ('{%IFD%}', 'IFD', ' 3 days ago '),
        ('{%AD%,%AR%}', 'A[DR]', ' yesterday '),
        ('{%FD%,%FR%}', '(?<!I)F[DR]', ' day before yesterday ')
      ) AS w (hints, pattern, says)
$$;
-- Two tests, a quick one and a close one, let a question go that names no time. Far from today the
-- calendar of PostgreSQL would end within the intervals; such a moment has none. Each way of naming a time reads
-- what is left, so only the beginning of a question is looked at.
CREATE OR REPLACE FUNCTION pgmnemo._times(question text, as_of timestamptz, zone text DEFAULT 'UTC',
                               OUT since timestamptz[], OUT until timestamptz[], OUT share float8)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_characters constant integer := 10000;
    most_intervals  constant integer := 20;
    -- no Turkish I, and a blank before the first word as before the others
    remaining text := ' ' || lower(lower(left(question, most_characters) COLLATE "C") COLLATE "default");
    now timestamp := as_of AT TIME ZONE zone;
    loose_share constant float8 := 0.3;  -- what a loose word counts beside a date
    far_words constant text :=  -- of Chinese and Japanese
        '[\u5e74\u6708\u65e5\u5929\u5468\u9031\u661f\u793c\u524d\u6628\u4eca\u53bb\u4e0a\u5148\u672c\u8fd9]|'
        '\u304a\u3068\u3068\u3044';
    other_words constant text :=  -- looked for in every question, so without a look at where words begin
        'gestern|heute|vor [^ ]+ [tmwj]|letzte|vorige|vergangen|diese[nrsm]? [wmjqt]|hier|aujourd|il y a|derni|passe|'
        'pass\u00e9|ayer|hoy|hace |pasad|ltim[oa]s|cette |[0-9](\.|er)? [jfmasond]|[0-9] de |'
        ' (im|en|mi|fin|anfang|mitte|ende|d\u00e9but|finales de|principios de) [jfmasoend]|'
        || far_words;
    other boolean;
    month_named boolean;
    way record;
    found text[];
    span tsrange;
BEGIN
    since := '{}';
    until := '{}';
    share := 1;
    IF remaining !~ ('(19|20)[0-9][0-9]|[0-9]-|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|christmas|halloween|'
                    'valentine|'
                    'new year|ago|back|earlier|yesterday|today|last|past|previous|this |recently|lately|other day|'
                    'on [mtwfs]| q[1-4]|' || other_words)
       OR as_of NOT BETWEEN '1000-01-01 UTC' AND '9999-12-31 UTC' THEN
        RETURN;
    END IF;
    other := remaining ~ other_words;
    IF other AND remaining ~ '\mhier\M' AND remaining !~ '\m(ich|der|die|das|wir|was|ist|und|wo|wer|nicht)\M'
       AND remaining ~ '\m(que|qui|quoi|qu|quand|quel|quelle|est|les|le|la|je|j|nous|elle)\M' THEN
        remaining := regexp_replace(remaining, '(?<!avant-)\mhier\M', 'yesterday', 'g');  -- in German it is "here"
    END IF;
    IF other AND remaining ~ (far_words || '|'
                    '\m(vorgestern|gestern|heute|avant-hier|aujourd.hui|anteayer|antier|ayer|hoy)\M|'
                    'weekend|week-end|wochenende|fin de semana|'
                    '\m(vor|hace|il y a) [^ ]+ (tag|woche|monat|jahr|jour|semaine|mois|an|d.a|semana|mes|a.o)|'
                    '\m(letzte|vorige|vergangene|diese)[nrsm]? [^ ]|\mpasad[oa]\M|.ltim[oa]s |'
                    '(jour|semaine|mois|ann.e|an|di) (derni.re?|pass.e?)\M|derni.re?s (jour|semaine|mois|ann)|'
                    '\m(cette|ce|est[ea]) (semaine|mois|ann|semana|mes|a)|'
                    '([0-9](\.|er)? (de )?|\m(im|en|mi|fin|anfang|mitte|ende|d.but|de) )'
                    '(j.n|f.[bv]|m.[iry]|a[bpvgou]|jui|'
                    'jul|jun|ene|sep|o[kc]t|nov|d.[czi])') THEN
        remaining := pgmnemo._times_in_english(remaining);
    END IF;
    IF remaining !~ ('[0-9]{4}|\m(january|february|march|april|may|june|july|august|september|october|november|'
                     'december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|christmas|halloween|valentine|new year|'
                     'yesterday|'
                     'today|recently|lately|the other day|on (mon|tues|wednes|thurs|fri|satur|sun)day|'
                     '(last|past|previous|this) \w|(in|during|since) q[1-4]|in m[0-9]|'
                     '(day|week|fortnight|month|year)s? (ago|back|earlier))') THEN
        RETURN;
    END IF;
    month_named := remaining ~ 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
    FOR way IN SELECT w.* FROM pgmnemo._time_patterns() w
                WHERE (month_named OR NOT w.months) AND remaining LIKE ANY (w.hints) LOOP
        IF way.kind = 'loose' THEN
            EXIT WHEN cardinality(since) > 0;
            share := CASE WHEN way.names IN ('{day}', '{year}') THEN loose_share ELSE 1 END;
        END IF;
        FOR found IN SELECT regexp_matches(remaining, way.pattern, 'g') LOOP
            span := pgmnemo._time_span(way.kind, jsonb_object(way.names, found[2:]), now);
            IF NOT isempty(span) AND span IS NOT NULL THEN
                since := since || lower(span) AT TIME ZONE zone;
                until := until || upper(span) AT TIME ZONE zone;
                remaining := replace(remaining, found[1], ' ');
                IF cardinality(since) = most_intervals THEN
                    RETURN;
                END IF;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

COMMENT ON FUNCTION pgmnemo._times(text, timestamptz, text) IS 'the intervals that a question in English, German, French, Spanish, Chinese or Japanese names, as of a moment, by the days of a zone: dates, months, quarters, seasons, feasts, "three weeks ago", "yesterday", "last week", "last Tuesday", years, and where nothing else is named "on Tuesday" of the past, "recently", "the other day" (pgmnemo._time_patterns); at most 20, of its first 10,000 characters; both arrays empty if it names none. share: what the times count for, below 1 where they are told loosely';
-- A question with the times of other languages put as English says them; good for reading times alone. First each
-- character of Chinese and Japanese that tells a time becomes a figure or a capital, which the small letters of the
-- question lack, then each word that stands for itself becomes English, and numbers before a unit of time figures.
CREATE OR REPLACE FUNCTION pgmnemo._times_in_english(question text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    way record;
BEGIN
    IF question ~ '[\u4e00-\u9fff\u304a]' AND getdatabaseencoding() = 'UTF8' THEN
        -- "two or three days ago" is no date
        question := regexp_replace(question, '(?<![\u4e00\u4e8c\u4e24\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])'
                                             '[\u4e00\u4e8c\u4e24\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d]{2}'
                                             '(?=\u4e2a?[\u5929\u65e5\u5468\u661f\u793c\u6708\u5e74])', '', 'g');
        question := (
            SELECT string_agg(coalesce(t.letter, c.letter), '' ORDER BY c.place)
              FROM string_to_table(question, NULL) WITH ORDINALITY AS c (letter, place)
              LEFT JOIN (VALUES
                    ('0', '{38646,12295}'), ('1', '{19968}'), ('2', '{20108,20004}'), ('3', '{19977}'),
                    ('4', '{22235}'), ('5', '{20116}'), ('6', '{20845}'), ('7', '{19971}'), ('8', '{20843}'),
                    ('9', '{20061}'), ('T', '{21313}'), ('S', '{19978}'), ('W', '{21608,36913}'),
                    ('X', '{26143,31036}'), ('Q', '{26399,25308}'), ('M', '{26376}'), ('Y', '{24180}'),
                    ('D', '{22825}'), ('R', '{26085}'), ('H', '{21495}'), ('F', '{21069}'), ('Z', '{20043,20197}'),
                    ('G', '{20010}'), ('P', '{36807}'), ('U', '{21435}'), ('V', '{26368}'), ('N', '{36817}'),
                    ('E', '{30340}'), ('K', '{20221}'), ('O', '{26411}'), ('J', '{23395}'), ('', '{24230}'),
                    ('A', '{26152}'), ('C', '{20170}'), ('L', '{20808}'), ('B', '{36825,26412}'), ('I', '{22823}'),
                    ('@', '{12362}'), ('+', '{12392}'), ('!', '{12356}')
                   ) AS t (letter, codes) ON ascii(c.letter) = ANY (t.codes::integer[]));
        IF strpos(question, 'T') > 0 THEN  -- ten
            question := regexp_replace(question, '([1-9])T([1-9])', '\1\2', 'g');
            question := regexp_replace(question, 'T([1-9])', '1\1', 'g');
            question := replace(regexp_replace(question, '([1-9])T', '\10', 'g'), 'T', '10');
        END IF;
    END IF;
    question := (
        WITH piece AS (
            SELECT m.part[1] AS word, lead(m.part[1]) OVER (ORDER BY m.place) AS after,
                   lead(m.part[1], 2) OVER (ORDER BY m.place) AS next, m.place
              FROM regexp_matches(pgmnemo._folded(question), '\w+|\W+', 'g') WITH ORDINALITY AS m (part, place)
        ), english (says, words) AS (
            VALUES
            ('january', '{januar,janner,janvier,enero}'), ('february', '{februar,fevrier,febrero}'),
            ('march', '{marz,maerz,mars,marzo}'), ('april', '{avril,abril}'), ('may', '{mai,mayo}'),
            ('june', '{juni,juin,junio}'), ('july', '{juli,juillet,julio}'), ('august', '{aout,agosto}'),
            ('september', '{septembre,septiembre}'), ('october', '{oktober,octobre,octubre}'),
            ('november', '{novembre,noviembre}'), ('december', '{dezember,decembre,diciembre}'),
            ('monday', '{montag,lundi,lunes}'), ('tuesday', '{dienstag,mardi,martes}'),
            ('wednesday', '{mittwoch,mercredi,miercoles}'), ('thursday', '{donnerstag,jeudi,jueves}'),
            ('friday', '{freitag,vendredi,viernes}'), ('saturday', '{samstag,sonnabend,samedi,sabado}'),
            ('sunday', '{sonntag,dimanche,domingo}'), ('day', '{tag,tage,tagen,jour,jours,dia,dias}'),
            ('week', '{woche,wochen,semaine,semaines,semana,semanas}'),
            ('month', '{monat,monate,monaten,monats,mois,mes,meses}'),
            ('quarter', '{quartal,quartale,quartalen,trimestre,trimestres}'),
            ('year', '{jahr,jahre,jahren,jahres,an,ans,annee,annees,ano,anos}'),
            ('day before yesterday', '{vorgestern,anteayer,antier}'), ('yesterday', '{gestern,ayer}'),
            ('today', '{heute,hoy}')
        ), number (says, words) AS (
            VALUES
            ('1', '{ein,eine,einem,einen,einer,eines,un,une,una}'), ('2', '{zwei,deux,dos}'),
            ('3', '{drei,trois,tres}'), ('4', '{vier,quatre,cuatro}'), ('5', '{funf,cinq,cinco}'),
            ('6', '{sechs,six,seis}'), ('7', '{sieben,sept,siete}'), ('8', '{acht,huit,ocho}'),
            ('9', '{neun,neuf,nueve}'), ('10', '{zehn,dix,diez}')
        )
        SELECT string_agg(coalesce(n.says, e.says, p.word), '' ORDER BY p.place)
          FROM piece p
          LEFT JOIN english e ON p.word = ANY (e.words::text[])
          LEFT JOIN english u ON p.next = ANY (u.words::text[]) AND p.after = ' '
          LEFT JOIN number n ON p.word = ANY (n.words::text[]) AND p.after = ' '
               AND coalesce(u.says, p.next) ~ '^(?:derni|day|week|month|quarter|year)');
    FOR way IN SELECT w.* FROM pgmnemo._time_words() w WHERE question LIKE ANY (w.hints) LOOP
        question := regexp_replace(question, way.pattern, way.says, 'g');
    END LOOP;
    RETURN question;
END
$$;
-- The first text in C order that begins otherwise, as near as the encoding lets one say; NULL: there is none. What is
-- taken too far is sieved by whoever asks.
CREATE OR REPLACE FUNCTION pgmnemo._after_prefix(prefix text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unicode constant boolean := getdatabaseencoding() = 'UTF8';
    head text := prefix;
    code integer;
BEGIN
    WHILE head <> '' LOOP
        code := CASE WHEN unicode OR octet_length(right(head, 1)) = 1 THEN ascii(right(head, 1)) END;
        head := left(head, -1);
        IF code = 55295 AND unicode THEN
            RETURN head || chr(57344);  -- what lies between are no characters
        ELSIF code < 127 OR (unicode AND code < 1114111) THEN
            RETURN head || chr(code + 1);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
-- What pgmnemo.lesson_entry can find of a document of conditions: values that must stand at a path. `place` tells one
-- condition's alternatives from another's.
CREATE OR REPLACE FUNCTION pgmnemo._asked_entries(conditions jsonb)
RETURNS TABLE (entry bigint, place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pgmnemo._entry('.' || ltrim(c.key, '.'), f.value), c.place::integer
      FROM jsonb_each(conditions) WITH ORDINALITY AS c (key, value, place)
     CROSS JOIN LATERAL (
            SELECT c.value WHERE jsonb_typeof(c.value) NOT IN ('object', 'array')
             UNION ALL
            SELECT c.value -> 'eq' WHERE c.value ? 'eq' AND jsonb_typeof(c.value) = 'object'
             UNION ALL
            SELECT i FROM jsonb_array_elements(CASE WHEN jsonb_typeof(c.value) = 'object' AND NOT c.value ? 'eq'
                                                    THEN c.value -> 'in' END) i) AS v (value)
     CROSS JOIN LATERAL unnest(pgmnemo._value_forms(v.value)) AS f (value)
     WHERE c.key NOT IN ('and', 'or', 'not')
$$;
-- Whether a lesson held at the scope's moment by what was known at another time: stored by then, and not known to be
-- superseded. It fixes no search path, so that it becomes a part of the statement that asks.
CREATE OR REPLACE FUNCTION pgmnemo._believed(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT (l).stored_at <= (scope).known_at
       AND CASE WHEN (scope).ended IS NOT NULL THEN NOT (scope).ended @> (l).id
                ELSE NOT pgmnemo._superseded_then((l).tenant_id, (l).id, (scope).moment, (scope).known_at) END
$$;
-- One condition on what stands at a path of metadata, as a predicate of jsonpath. `exists` makes each of them true or
-- false, never unknown, so that not means not; a list counts as each of its elements.
CREATE OR REPLACE FUNCTION pgmnemo._condition_path(item text, path text, operator text, given jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 100;
    sign text := CASE operator WHEN 'gt' THEN '>' WHEN 'gte' THEN '>=' WHEN 'lt' THEN '<' WHEN 'lte' THEN '<=' END;
BEGIN
    IF operator IN ('eq', 'ne') THEN
        RETURN (SELECT format('%sexists(%s ? (%s))', CASE operator WHEN 'ne' THEN '!' END, path,
                              string_agg('@ == ' || pgmnemo._scalar_path(item, f), ' || '))
                  FROM unnest(pgmnemo._value_forms(given)) f);
    ELSIF operator = 'in' THEN
        IF jsonb_typeof(given) <> 'array' OR jsonb_array_length(given) NOT BETWEEN 1 AND most THEN
            PERFORM pgmnemo._filter_error(item || ' in', format('must be a list of 1 to %s values', most),
                                          'Write {"in": ["one", "another"]}.');
        END IF;
        RETURN (SELECT format('exists(%s ? (%s))', path, string_agg('@ == ' || pgmnemo._scalar_path(item, f), ' || '))
                  FROM jsonb_array_elements(given) v CROSS JOIN LATERAL unnest(pgmnemo._value_forms(v)) f);
    ELSIF sign IS NOT NULL THEN
        IF jsonb_typeof(given) NOT IN ('string', 'number') THEN
            PERFORM pgmnemo._filter_error(item || ' ' || operator, 'must be a number or a text',
                                          'Times compare as texts where all are written alike.');
        END IF;
        RETURN format('exists(%s ? (@ %s %s))', path, sign, pgmnemo._scalar_path(item, given));
    ELSIF operator = 'prefix' THEN
        IF jsonb_typeof(given) <> 'string' THEN
            PERFORM pgmnemo._filter_error(item || ' prefix', 'must be a text', 'Write {"prefix": "deploy/"}.');
        END IF;
        RETURN (SELECT format('exists(%s ? (%s))', path, string_agg('@ starts with ' || f::text, ' || '))
                  FROM unnest(pgmnemo._value_forms(given)) f);
    ELSIF operator = 'exists' THEN
        IF jsonb_typeof(given) <> 'boolean' THEN
            PERFORM pgmnemo._filter_error(item || ' exists', 'must be true or false', 'Write {"exists": true}.');
        END IF;
        RETURN CASE WHEN given = 'true' THEN '' ELSE '!' END || format('exists(%s)', path);
    END IF;
    PERFORM pgmnemo._filter_error(item, 'has no operator ' || quote_literal(operator),
                                  'Those are eq, ne, in, gt, gte, lt, lte, prefix and exists.');
    RETURN NULL;
END
$$;
-- The lessons that were known to be superseded at a moment, by what was known at a time: to look one up in them costs
-- a tenth of a call. NULL where the tenant has so many supersessions that reading all would cost more.
CREATE OR REPLACE FUNCTION pgmnemo._ended(tenant uuid, moment timestamptz, known_at timestamptz)
RETURNS int8multirange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 20000;
    counted integer;
    ended int8multirange;
BEGIN
    SELECT count(*), range_agg(int8range(x.old_id, x.old_id, '[]'))
                     FILTER (WHERE x.valid_from <= moment AND pgmnemo._link_known(x, known_at))
      INTO counted, ended
      FROM (SELECT x.* FROM pgmnemo.supersession x WHERE x.tenant_id = tenant LIMIT most + 1) x;
    RETURN CASE WHEN counted <= most THEN coalesce(ended, '{}') END;
END
$$;
-- A filter that is malformed is an error, never ignored: one that says less than its writer meant would show, or
-- forget, what it should not.
CREATE OR REPLACE FUNCTION pgmnemo._filter(given jsonb)
RETURNS pgmnemo.filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_bytes constant integer := 20000;
    most_values constant integer := 200;  -- each is compared with each value in a list of the metadata
    bytes constant integer := pg_column_size(jsonb_build_array(given));  -- whether or not it came compressed
    f pgmnemo.filter;
    one record;
    conditions jsonb;
    compared bigint;
    contained bigint[];
BEGIN
    IF given IS NULL THEN
        RETURN NULL;
    ELSIF bytes > most_bytes THEN
        PERFORM pgmnemo._filter_error('it', format('has %s bytes, but may have %s', bytes, most_bytes),
                                      'Ask for less at once.');
    ELSIF jsonb_typeof(given) <> 'object' THEN
        PERFORM pgmnemo._filter_error('it', 'must be an object', 'Write {"topic": "kitchen"}.');
    END IF;
    FOR one IN SELECT e.key, e.value FROM jsonb_each(given) e LOOP
        IF one.key = 'projects' THEN
            IF EXISTS (SELECT FROM unnest(pgmnemo._filter_texts(one.key, one.value)) p
                        WHERE NOT pg_input_is_valid(p, 'uuid')) THEN
                PERFORM pgmnemo._filter_error('''projects''', 'must be uuids', 'Name each project by its uuid.');
            END IF;
            f.projects := pgmnemo._filter_texts(one.key, one.value)::uuid[];
        ELSIF one.key = 'role' THEN
            f.roles := pgmnemo._filter_texts(one.key, one.value);
        ELSIF one.key = 'topic' THEN
            f.topics := pgmnemo._filter_texts(one.key, one.value);
        ELSIF one.key = 'topic_prefix' THEN
            IF jsonb_typeof(one.value) <> 'string' OR one.value = '""' THEN
                PERFORM pgmnemo._filter_error('''topic_prefix''', 'must be a text that is not empty',
                                              'Write {"topic_prefix": "deploy/"}.');
            END IF;
            f.topic_prefix := pgmnemo._composed(one.value #>> '{}');
        ELSIF one.key = 'since' THEN
            f.since := pgmnemo._filter_time(one.key, one.value);
        ELSIF one.key = 'until' THEN
            f.until := pgmnemo._filter_time(one.key, one.value);
        ELSIF one.key = 'metadata' THEN
            conditions := CASE WHEN jsonb_typeof(one.value) = 'object' THEN one.value - 'contains' ELSE one.value END;
            f.contained := CASE WHEN jsonb_typeof(one.value) = 'object' THEN one.value -> 'contains' END;
            IF jsonb_typeof(f.contained) <> 'object' OR f.contained = '{}' THEN
                PERFORM pgmnemo._filter_error('metadata contains', 'must be an object with something in it',
                                              'Write {"contains": {"lang": "de"}}.');
            END IF;
            compared := (SELECT count(*) FROM jsonb_path_query(conditions, 'strict $.**') v
                          WHERE jsonb_typeof(v) NOT IN ('object', 'array'));
            IF compared > most_values THEN
                PERFORM pgmnemo._filter_error('metadata', format('compares %s values, but may compare %s', compared,
                                                                 most_values), 'Ask for less at once.');
            END IF;
            IF f.contained IS NULL OR conditions <> '{}' THEN
                f.matching := pgmnemo._metadata_path(conditions, 0)::jsonpath;
                SELECT array_agg(a.entry), array_agg(a.place) INTO f.entries, f.conditions
                  FROM pgmnemo._asked_entries(conditions) a;
            END IF;
            IF f.contained IS NOT NULL THEN
                contained := ARRAY(SELECT e FROM pgmnemo._entries(f.contained) e WHERE e <> 0);
                f.entries := f.entries || contained;
                f.conditions := f.conditions || ARRAY(SELECT -n FROM generate_series(1, cardinality(contained)) n);
            END IF;
        ELSE
            PERFORM pgmnemo._filter_error('it', 'has no key ' || quote_literal(one.key),
                                          'Those are projects, role, topic, topic_prefix, since, until and metadata.');
        END IF;
    END LOOP;
    IF f.until <= f.since THEN
        PERFORM pgmnemo._filter_error('''until''', 'must be after ''since''',
                                      'until is the first moment that is left out.');
    END IF;
    RETURN f;
END
$$;

COMMENT ON FUNCTION pgmnemo._filter IS 'a filter: an object of which every key must hold. projects, role, topic: a text or a list, one of which; topic_prefix: how the topic begins; since, until: when it happened (occurred_at, else stored_at), until excluded; metadata: an object of conditions {"path.to.key": value or {"eq": ..., "ne": ..., "in": [...], "gt": ..., "gte": ..., "lt": ..., "lte": ..., "prefix": "...", "exists": true}}, with and: [...], or: [...], not: {...}, and at its top contains: {...} (@>). A list in metadata counts as each of its elements; a text of eq, ne, in and prefix meets what was stored in Unicode''s composed form (NFC) and in its decomposed one, a text of the others is compared as it is';
-- A text or a list of texts that a filter gives for one of its keys.
CREATE OR REPLACE FUNCTION pgmnemo._filter_texts(item text, given jsonb)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most constant integer := 1000;
    items jsonb := CASE jsonb_typeof(given) WHEN 'array' THEN given ELSE jsonb_build_array(given) END;
BEGIN
    IF jsonb_array_length(items) NOT BETWEEN 1 AND most
       OR EXISTS (SELECT FROM jsonb_array_elements(items) i WHERE jsonb_typeof(i) <> 'string') THEN
        PERFORM pgmnemo._filter_error(quote_literal(item), format('must be a text or a list of 1 to %s texts', most),
                                      'Leave it out where any will do.');
    END IF;
    RETURN ARRAY(SELECT DISTINCT pgmnemo._composed(i) FROM jsonb_array_elements_text(items) i);
END
$$;
-- Whether a supersession was known at a time (NULL: now). It fixes no search path, so that it becomes a part of the
-- statement that asks.
CREATE OR REPLACE FUNCTION pgmnemo._link_known(x pgmnemo.supersession, known_at timestamptz)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN known_at IS NULL THEN x.undone_at IS NULL
                ELSE x.recorded_at <= known_at AND (x.undone_at IS NULL OR x.undone_at > known_at) END
$$;
-- What a filter asks of a lesson. It becomes a part of each statement that asks: a call for each row would cost more
-- than what it asks.
CREATE OR REPLACE FUNCTION pgmnemo._passes(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((filter).roles IS NULL OR l.role = ANY ((filter).roles))
       AND ((filter).topics IS NULL OR l.topic = ANY ((filter).topics))
       AND ((filter).topic_prefix IS NULL OR starts_with(l.topic, (filter).topic_prefix))
       AND ((filter).since IS NULL OR coalesce(l.occurred_at, l.stored_at) >= (filter).since)
       AND ((filter).until IS NULL OR coalesce(l.occurred_at, l.stored_at) < (filter).until)
       AND ((filter).contained IS NULL OR l.metadata @> (filter).contained)
       AND ((filter).matching IS NULL OR l.metadata @@ (filter).matching)
$$;
-- pgmnemo._passes as a call: within a recall's statements, which few calls filter, the whole of it would be made ready
-- for nothing.
CREATE OR REPLACE FUNCTION pgmnemo._passing(l pgmnemo.lesson, filter pgmnemo.filter)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN pgmnemo._passes(l, filter);
END
$$;
-- Whether a lesson was known to be superseded at a moment, by what was known at a time. It takes no lesson as a whole,
-- which would be copied at each call, and fixes no search path, for recall asks it of every lesson that it finds.
CREATE OR REPLACE FUNCTION pgmnemo._superseded_then(tenant uuid, lesson bigint, moment timestamptz, known_at timestamptz)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pgmnemo.supersession x
                    WHERE x.tenant_id = tenant AND x.old_id = lesson AND x.valid_from <= moment
                      AND pgmnemo._link_known(x, known_at));
END
$$;
-- A value with which metadata are compared, in each form in which a text may have been stored: metadata are kept as
-- they are given. Most have one form.
CREATE OR REPLACE FUNCTION pgmnemo._value_forms(given jsonb)
RETURNS jsonb[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said text := CASE WHEN jsonb_typeof(given) = 'string' THEN given #>> '{}' END;
BEGIN
    IF said IS NULL OR octet_length(said) = length(said) OR getdatabaseencoding() <> 'UTF8' THEN
        RETURN ARRAY[given];
    END IF;
    RETURN ARRAY(SELECT DISTINCT to_jsonb(f) FROM unnest(ARRAY[said, normalize(said, NFC), normalize(said, NFD)]) f);
END
$$;
-- A set of lessons with its names in their composed form. Most sets have no other, and pass by as they are.
CREATE OR REPLACE FUNCTION pgmnemo._composed_input(lessons pgmnemo.lesson_input[])
RETURNS pgmnemo.lesson_input[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place integer;
BEGIN
    FOR place IN
        SELECT u.place
          FROM (SELECT generate_subscripts(lessons, 1) AS place, unnest(lessons) AS i OFFSET 0) u
         CROSS JOIN LATERAL concat_ws(' ', (u.i).external_id, (u.i).role, (u.i).topic) AS names
         WHERE names <> pgmnemo._composed(names)
    LOOP
        lessons[place].external_id := pgmnemo._composed(lessons[place].external_id);
        lessons[place].role := pgmnemo._composed(lessons[place].role);
        lessons[place].topic := pgmnemo._composed(lessons[place].topic);
    END LOOP;
    RETURN lessons;
END
$$;
-- A fact as the metadata of its lesson says it, checked. Blanks around a name and runs of them make no other name;
-- capital letters do.
CREATE OR REPLACE FUNCTION pgmnemo._fact(subject text, relation text, object text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrong text := (SELECT p.name FROM (VALUES ('subject', subject), ('relation', relation), ('object', object))
                                      AS p (name, said)
                    WHERE pgmnemo._blank(p.said) OR octet_length(p.said) > 1000 LIMIT 1);
BEGIN
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% must have 1 to 1000 bytes and not be blank', wrong
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'Name it in a few words; the content of the fact may say more.';
    END IF;
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'subject', pgmnemo._composed(btrim(regexp_replace(subject, '\s+', ' ', 'g'))),
        'relation', pgmnemo._composed(btrim(regexp_replace(relation, '\s+', ' ', 'g'))),
        'object', pgmnemo._composed(btrim(regexp_replace(object, '\s+', ' ', 'g')))));
END
$$;
-- The lessons of a project that state such a fact and hold at a moment (NULL: at any); without an object, whatever it
-- is. Of the lists of lessons with its subject, relation and object the shortest is followed: much may be known of
-- one subject.
CREATE OR REPLACE FUNCTION pgmnemo._facts_held(tenant uuid, project uuid, fact jsonb, at timestamptz)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bound integer := 1000;
    one bigint;
    found bigint[];
    shortest bigint[];
BEGIN
    FOR one IN SELECT pgmnemo._entry('.fact.' || f.key, f.value) FROM jsonb_each(fact) f LOOP
        found := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                        WHERE e.tenant_id = tenant AND e.entry IN (one, 0) LIMIT bound);
        IF cardinality(found) < bound THEN
            shortest := found;
            bound := cardinality(found);
        END IF;
    END LOOP;
    IF shortest IS NULL THEN
        shortest := ARRAY(SELECT e.lesson_id FROM pgmnemo.lesson_entry e
                           WHERE e.tenant_id = tenant AND e.entry IN (one, 0));
    END IF;
    RETURN QUERY
    SELECT l.*
      FROM (SELECT DISTINCT u.id FROM unnest(shortest) AS u (id)) e
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = e.id OFFSET 0) l
     WHERE l.project_id = project AND l.metadata @> jsonb_build_object('fact', fact) AND l.active
       AND (at IS NULL
            OR coalesce(l.occurred_at, l.stored_at) <= at AND (l.superseded_at IS NULL OR at < l.superseded_at)
               AND (l.expires_at IS NULL OR at < l.expires_at));
END
$$;
-- Whether a lesson of a project has this key.
CREATE OR REPLACE FUNCTION pgmnemo._key_taken(tenant uuid, project uuid, key text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pgmnemo.lesson l
                    WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key)
$$;
-- A row that stays as its postings know it is left alone; a changed one is taken out as it was and put in as it is.
-- Passages and vectors follow their lesson into another project; those of passages go when its text becomes another,
-- and passages are cut anew when its language does. A vector that moves leaves the graph and waits for the next merge.
-- The two states are compared as sets: a join would be planned once, for the first statement's row, and take the
-- square of the next's.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_after_update()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._remove_postings(g.tenant_id, g.project_id, array_agg(g.id), array_agg(g.lexemes),
                                     array_agg(g.token_count))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written) g
      WHERE g.active
      GROUP BY g.tenant_id, g.project_id;
    PERFORM pgmnemo._add_postings(w.tenant_id, array_agg(w.id))
       FROM (SELECT tenant_id, id, active, project_id, lexemes, token_count FROM written
             EXCEPT SELECT tenant_id, id, active, project_id, lexemes, token_count FROM gone) w
      WHERE w.active
      GROUP BY w.tenant_id;
    DELETE FROM pgmnemo.lesson_entry e
     USING (SELECT tenant_id, id, metadata FROM gone EXCEPT SELECT tenant_id, id, metadata FROM written) g
     CROSS JOIN LATERAL pgmnemo._entries(g.metadata) AS was (entry)
     WHERE e.tenant_id = g.tenant_id AND e.entry = was.entry AND e.lesson_id = g.id;
    INSERT INTO pgmnemo.lesson_entry
    SELECT w.tenant_id, e.entry, w.id
      FROM (SELECT tenant_id, id, metadata FROM written EXCEPT SELECT tenant_id, id, metadata FROM gone) w
     CROSS JOIN LATERAL pgmnemo._entries(w.metadata) AS e (entry)
     WHERE w.metadata <> '{}';
    WITH other AS MATERIALIZED (
        SELECT tenant_id, id, content FROM written EXCEPT SELECT tenant_id, id, content FROM gone
    ), texts AS (
        DELETE FROM pgmnemo.passage p USING other o WHERE p.tenant_id = o.tenant_id AND p.lesson_id = o.id
    )
    DELETE FROM pgmnemo.lesson_vector v
     USING other o WHERE v.tenant_id = o.tenant_id AND v.lesson_id = o.id AND v.number > 0;
    UPDATE pgmnemo.passage p SET lexemes = pgmnemo._lexemes(pgmnemo._config(w.text_config), p.content)
      FROM (SELECT tenant_id, id, text_config FROM written EXCEPT SELECT tenant_id, id, text_config FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.passage p SET project_id = w.project_id
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE p.tenant_id = w.tenant_id AND p.lesson_id = w.id;
    UPDATE pgmnemo.lesson_vector v SET project_id = w.project_id, indexed = false
      FROM (SELECT tenant_id, id, project_id FROM written EXCEPT SELECT tenant_id, id, project_id FROM gone) w
     WHERE v.tenant_id = w.tenant_id AND v.lesson_id = w.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER lesson_after_update AFTER UPDATE ON pgmnemo.lesson
    REFERENCING OLD TABLE AS gone NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION pgmnemo._lesson_after_update();
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_after_update;
-- Derives what a lesson is found by. A row that brings lexemes along comes from a dump: they are derived anew under its
-- text_config; where that configuration is no longer there, or no longer takes the text, the dumped ones stay, for
-- nothing that one tenant did to a configuration must keep the others' lessons from being loaded.
-- Otherwise text_config is the writer's; where its configuration is gone, that of a text without a language.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_before_write()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    words constant text := concat_ws(E'\n', NEW.topic, NEW.content);
    config regconfig;
BEGIN
    IF TG_OP = 'INSERT' AND NEW.lexemes <> '' AND NEW.text_config IS NOT NULL THEN
        config := pgmnemo._config(NEW.text_config);
        IF config IS NULL THEN
            RETURN NEW;
        END IF;
        NEW.text_config := config;
        BEGIN
            NEW.lexemes := pgmnemo._lexemes(config, words);
            NEW.token_count := pgmnemo._positions(NEW.lexemes);
        EXCEPTION WHEN OTHERS THEN
            RAISE WARNING 'lesson % keeps its lexemes, for text search configuration % refuses its text: %',
                  quote_literal(left(NEW.external_id, 100)), NEW.text_config, SQLERRM;
        END;
        RETURN NEW;
    END IF;
    config := coalesce(pgmnemo._config(NEW.text_config),
                       pgmnemo._written_config(NULL, words, pgmnemo._tenant_language(NEW.tenant_id)));
    NEW.text_config := config;
    NEW.lexemes := pgmnemo._lexemes(config, words);
    NEW.token_count := pgmnemo._positions(NEW.lexemes);
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER lesson_before_insert BEFORE INSERT ON pgmnemo.lesson
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._lesson_before_write();
CREATE OR REPLACE TRIGGER lesson_before_update BEFORE UPDATE OF topic, content, text_config, lexemes, token_count ON pgmnemo.lesson
    FOR EACH ROW
    WHEN ((OLD.topic, OLD.content, OLD.text_config, OLD.lexemes, OLD.token_count)
          IS DISTINCT FROM (NEW.topic, NEW.content, NEW.text_config, NEW.lexemes, NEW.token_count))
    EXECUTE FUNCTION pgmnemo._lesson_before_write();
-- Also for who loads with session_replication_role = replica. Not what changes: of that logical replication brings the
-- lexemes along, cut by a setting that is not known here.
ALTER TABLE pgmnemo.lesson ENABLE ALWAYS TRIGGER lesson_before_insert;
CREATE OR REPLACE FUNCTION pgmnemo._lesson_id(tenant uuid, project uuid, external text)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key constant text := pgmnemo._stored_key(tenant, project, external);
    found_id bigint;
BEGIN
    SELECT l.id INTO found_id FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = key;
    IF found_id IS NULL THEN
        RAISE EXCEPTION 'project % has no lesson %', coalesce(project::text, 'NULL'), quote_nullable(external)
        USING ERRCODE = 'no_data_found', HINT = 'Store it first.';
    END IF;
    RETURN found_id;
END
$$;
-- What keeps a lesson from being stored; NULL: nothing.
CREATE OR REPLACE FUNCTION pgmnemo._lesson_problem(i pgmnemo.lesson_input)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    farthest constant integer := 1000000000;  -- position, either way
    size text;
BEGIN
    IF i.project_id IS NULL OR coalesce(i.external_id, '') = '' OR i.content IS NULL THEN
        RETURN 'lacks project_id, external_id or content';
    ELSIF octet_length(i.external_id) > 1000 THEN
        RETURN format('has an external_id of %s bytes, but may have 1 to 1000', octet_length(i.external_id));
    END IF;
    size := pgmnemo._size_problem(i.content, i.topic, i.role, i.commit_sha, i.artifact_hash, i.metadata, i.passages);
    RETURN CASE
        WHEN size IS NOT NULL THEN size
        WHEN pgmnemo._blank(i.content) THEN 'has no text in its content'
        WHEN CASE WHEN i.metadata <> '{}' THEN pgmnemo._holds_unprintable(i.metadata) END
        THEN 'has a number in its metadata that is beyond 1e308 or has more than 400 decimals'
        WHEN i.importance NOT BETWEEN 1 AND 5 THEN 'must have an importance from 1 to 5'
        WHEN i.language IS NOT NULL AND pgmnemo._language_config(i.language) IS NULL
        THEN format('has the language %s, which is neither auto, a text search configuration nor a code of ISO 639',
                    quote_literal(left(i.language, 100)))
        WHEN i.position NOT BETWEEN -farthest AND farthest
        THEN format('must have a position from -%s to %s', farthest, farthest)
        WHEN NOT isfinite(i.occurred_at) THEN 'must have a finite occurred_at'
        WHEN @extschema:vector@.vector_dims(i.embedding) > 4000
        THEN 'must have an embedding of at most 4,000 dimensions'
        WHEN @extschema:vector@.vector_norm(i.embedding) NOT BETWEEN 1e-15 AND 1e15
        THEN 'must have an embedding with a norm from 1e-15 to 1e15'
        ELSE pgmnemo._passages_problem(i.passages, i.passage_embeddings) END;
END
$$;
-- These lessons as they are to stand, beside what they were: of one that is there already what the set leaves out
-- stays, but for what `clear` names. Passages that are given again without their vectors stay with those that they
-- have.
CREATE OR REPLACE FUNCTION pgmnemo._merged(tenant uuid, lessons pgmnemo.lesson_input[], clear text[])
RETURNS TABLE (id bigint, given pgmnemo.lesson_input, was pgmnemo.lesson)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.id,
           ROW(l.project_id, l.external_id, i.content, i.embedding,
               coalesce(i.role, CASE WHEN 'role' <> ALL (clear) THEN l.role END),
               coalesce(i.topic, CASE WHEN 'topic' <> ALL (clear) THEN l.topic END),
               coalesce(i.importance, CASE WHEN 'importance' <> ALL (clear) THEN l.importance END, 3),
               coalesce(i.metadata, CASE WHEN 'metadata' <> ALL (clear) THEN l.metadata END, '{}'),
               coalesce(i.occurred_at, CASE WHEN 'occurred_at' <> ALL (clear) THEN l.occurred_at END),
               coalesce(i.expires_at, CASE WHEN 'expires_at' <> ALL (clear) THEN l.expires_at END),
               coalesce(i.commit_sha, CASE WHEN 'commit_sha' <> ALL (clear) THEN l.commit_sha END),
               coalesce(i.artifact_hash, CASE WHEN 'artifact_hash' <> ALL (clear) THEN l.artifact_hash END),
               coalesce(i.verified_at, CASE WHEN 'verified_at' <> ALL (clear) THEN l.verified_at END),
               CASE WHEN i.passage_embeddings IS NOT NULL OR i.content <> l.content OR i.passages IS DISTINCT FROM
                         ARRAY(SELECT p.content FROM pgmnemo.passage p
                                WHERE p.tenant_id = tenant AND p.lesson_id = l.id ORDER BY p.number)
                    THEN i.passages END,
               i.passage_embeddings,
               coalesce(i.position, CASE WHEN 'position' <> ALL (clear) THEN l.position END),
               i.language)::pgmnemo.lesson_input,
           l
      FROM unnest(lessons) i
      JOIN pgmnemo.lesson l ON l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id
$$;
-- Where a project's conversation goes on, and a key for what comes there.
CREATE OR REPLACE FUNCTION pgmnemo._next_turn(tenant uuid, project uuid, prefix text, apart boolean)
RETURNS TABLE (key text, place integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    last constant bigint := 1000000000;
    greatest_yet integer := (SELECT l.position FROM pgmnemo.lesson l
                              WHERE l.tenant_id = tenant AND l.project_id = project AND l.position IS NOT NULL
                              ORDER BY l.position DESC LIMIT 1);
    next bigint := greatest(coalesce(greatest_yet, 0), 0) + 1 + (apart AND greatest_yet IS NOT NULL)::integer::bigint;
    number bigint := next;
    step bigint := 1;
    taken bigint := 0;
    middle bigint;
BEGIN
    IF prefix IS NULL OR octet_length(prefix) NOT BETWEEN 1 AND 900 THEN
        RAISE EXCEPTION 'prefix has % bytes, but must have 1 to 900', coalesce(octet_length(prefix), 0)
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for ''turn''.';
    ELSIF next > last THEN
        RAISE EXCEPTION 'project % has a lesson at position %, and none comes after %', project, greatest_yet, last
        USING ERRCODE = 'program_limit_exceeded', HINT = 'Store that lesson at another position.';
    END IF;
    -- steps that double lead past keys that are taken, and halving ones back to the last of them: a log of their number
    WHILE pgmnemo._key_taken(tenant, project, prefix || '/' || number) LOOP
        taken := number;
        number := number + step;
        step := 2 * step;
    END LOOP;
    WHILE number - taken > 1 AND taken > 0 LOOP
        middle := (taken + number) / 2;
        IF pgmnemo._key_taken(tenant, project, prefix || '/' || middle) THEN
            taken := middle;
        ELSE
            number := middle;
        END IF;
    END LOOP;
    RETURN QUERY SELECT prefix || '/' || number, next::integer;
END
$$;
-- The one write path. New keys are inserted first and in order, then the lock is taken, then rows are changed: writers
-- who all keep to this sequence wait for one another but never in a circle. Only a key that is there already is passed
-- over: an id that is taken, by a sequence that was set back, is an error. What the set leaves out of a lesson that is
-- there stays (pgmnemo._merged), read anew under the lock. A lesson that was superseded and gets another text is in
-- force again: whoever stores a text wants it found.
CREATE OR REPLACE FUNCTION pgmnemo._store(tenant uuid, lessons pgmnemo.lesson_input[], clear text[] DEFAULT NULL,
                               only_new boolean DEFAULT false)
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings := pgmnemo._settings();
    gone text[] := coalesce(clear, '{}');
    usual text COLLATE "default" := pgmnemo._tenant_language(tenant);
    space pgmnemo.embedding_space;
    inserted bigint[];
    changed bigint[];
    outcomes text[];
    final pgmnemo.lesson_input[];
    embedded bigint[];
    revived bigint[];
BEGIN
    PERFORM pgmnemo._check_input(lessons);
    IF clear IS NOT NULL THEN
        PERFORM pgmnemo._check_clear(clear, '{embedding,passages,role,topic,importance,metadata,occurred_at,expires_at,'
                                            'commit_sha,artifact_hash,verified_at,position}');
    END IF;
    IF s.gate_strict <> 'off' THEN
        PERFORM pgmnemo._check_provenance(tenant, lessons, gone, s.gate_strict);
    END IF;
    space := pgmnemo._space(tenant, lessons);

    WITH given AS MATERIALIZED (  -- ids follow the set, by which list and newest order, and inserts follow the keys
        SELECT nextval('pgmnemo.lesson_id_seq') AS new_id, i.* FROM unnest((SELECT lessons)) i  -- a plan for any set
    ), fresh AS (
        INSERT INTO pgmnemo.lesson (
               id, tenant_id, project_id, external_id, role, topic, content, importance, metadata, occurred_at,
               expires_at, commit_sha, artifact_hash, verified_at, position, text_config)
        OVERRIDING SYSTEM VALUE
        SELECT i.new_id, tenant, i.project_id, i.external_id, i.role, i.topic, i.content,
               coalesce(i.importance, 3::smallint),
               coalesce(i.metadata, '{}'), i.occurred_at, i.expires_at, i.commit_sha, i.artifact_hash, i.verified_at,
               i.position,
               pgmnemo._written_config(i.language, concat_ws(E'\n', i.topic, i.content), usual)::text
          FROM given i
         ORDER BY i.project_id, i.external_id COLLATE "C"
            ON CONFLICT (tenant_id, project_id, external_id) DO NOTHING
        RETURNING id
    )
    SELECT coalesce(array_agg(f.id), '{}') INTO inserted FROM fresh f;
    IF cardinality(inserted) > 0 THEN
        PERFORM pgmnemo._write_passages(tenant, inserted, lessons, space,
                                        pgmnemo._awaits_graph(tenant, space.generation, cardinality(inserted)));
    END IF;

    IF cardinality(inserted) < cardinality(lessons) THEN
        IF only_new THEN
            RAISE EXCEPTION 'another writer has just taken the key %', quote_literal(lessons[1].external_id)
            USING ERRCODE = 'serialization_failure', HINT = 'Repeat the call.';
        END IF;
        SELECT array_agg(m.id), array_agg(CASE WHEN (m.was).active THEN 'updated' ELSE 'restored' END)
          INTO changed, outcomes
          FROM pgmnemo._merged(tenant, lessons, gone) m
         WHERE m.id <> ALL (inserted)
           AND (((m.was).role, (m.was).topic, (m.was).content, (m.was).importance, (m.was).metadata,
                 (m.was).occurred_at, (m.was).expires_at, (m.was).commit_sha, (m.was).artifact_hash,
                 (m.was).verified_at, (m.was).position, (m.was).active)
                IS DISTINCT FROM
                ((m.given).role, (m.given).topic, (m.given).content, (m.given).importance, (m.given).metadata,
                 (m.given).occurred_at, (m.given).expires_at, (m.given).commit_sha, (m.given).artifact_hash,
                 (m.given).verified_at, (m.given).position, true)
                OR (m.given).language IS NOT NULL
                   AND (m.was).text_config <> pgmnemo._written_config(
                        (m.given).language, concat_ws(E'\n', (m.given).topic, (m.given).content), usual)::text
                OR pgmnemo._passages_differ(tenant, m.id, (m.given).embedding, (m.given).passages,
                                            (m.given).passage_embeddings, gone, space));
    END IF;
    IF changed IS NOT NULL THEN
        PERFORM pgmnemo._lock_tenant(tenant);
        embedded := pgmnemo._embedded(tenant, changed);
        SELECT array_agg(m.given),
               coalesce(array_agg(m.id) FILTER (WHERE (m.was).superseded_at IS NOT NULL
                                                      AND (m.given).content <> (m.was).content), '{}')
          INTO final, revived
          FROM pgmnemo._merged(tenant, lessons, gone) m WHERE m.id = ANY (changed);
        IF cardinality(final) IS DISTINCT FROM cardinality(changed) THEN  -- another session has deleted one: begin anew
            RETURN QUERY
            SELECT a.project_id, a.external_id, a.lesson_id,
                   CASE WHEN a.lesson_id = ANY (inserted) THEN 'inserted' ELSE a.outcome END
              FROM pgmnemo._store(tenant, lessons, clear) a;
            RETURN;
        END IF;
        PERFORM pgmnemo._clear_passages(tenant, final, gone);
        UPDATE pgmnemo.lesson l
           SET role = i.role, topic = i.topic, content = i.content, importance = i.importance, metadata = i.metadata,
               occurred_at = i.occurred_at, expires_at = i.expires_at, commit_sha = i.commit_sha,
               artifact_hash = i.artifact_hash, verified_at = i.verified_at, position = i.position, active = true,
               text_config = CASE WHEN i.language IS NULL AND l.content = i.content THEN l.text_config
                                  ELSE pgmnemo._written_config(
                                       i.language, concat_ws(E'\n', i.topic, i.content), usual)::text END
          FROM unnest(final) i
         WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id;
        PERFORM pgmnemo._write_passages(tenant, changed, final, space);
        IF cardinality(revived) > 0 THEN
            PERFORM pgmnemo._undo_supersede(tenant, revived);
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (revived) THEN 'restored' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
        IF 'embedding' <> ALL (gone) AND cardinality(embedded) > 0 THEN
            embedded := ARRAY(SELECT unnest(embedded) EXCEPT SELECT unnest(pgmnemo._embedded(tenant, changed)));
            outcomes := ARRAY(SELECT CASE WHEN u.id = ANY (embedded) THEN 'unembedded' ELSE u.outcome END
                                FROM unnest(changed, outcomes) WITH ORDINALITY AS u (id, outcome, place)
                               ORDER BY place);
        END IF;
    END IF;
    IF space.generation IS NOT NULL AND cardinality(inserted) + coalesce(cardinality(changed), 0) > 0 THEN
        PERFORM pgmnemo._share_merging(tenant, space.generation, cardinality(lessons), s.exact_scan_limit);
    END IF;

    IF cardinality(lessons) = 1 AND cardinality(inserted) = 1 THEN
        project_id := (lessons[1]).project_id;
        external_id := (lessons[1]).external_id;
        lesson_id := inserted[1];
        outcome := 'inserted';
        RETURN NEXT;
        RETURN;
    END IF;
    -- under REPEATABLE READ a lesson is still seen that another session has deleted, beside the new one of its key
    RETURN QUERY
    SELECT i.project_id, i.external_id, l.id, coalesce(w.outcome, 'unchanged')
      FROM ROWS FROM (unnest(lessons)) WITH ORDINALITY
           AS i (project_id, external_id, content, embedding, role, topic, importance, metadata, occurred_at,
                 expires_at,
                 commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position, language,
                 ordinal)
     CROSS JOIN LATERAL (
            SELECT max(l.id) AS id FROM pgmnemo.lesson l
             WHERE l.tenant_id = tenant AND l.project_id = i.project_id AND l.external_id = i.external_id) l
      LEFT JOIN (SELECT n, 'inserted' FROM unnest(inserted) n
                 UNION ALL SELECT * FROM unnest(changed, outcomes)) AS w (id, outcome) ON w.id = l.id
     ORDER BY i.ordinal;
END
$$;
-- The key under which a lesson is kept that is asked for by this one: its composed form, but where an upgrade has left
-- a lesson under the very key (pgmnemo._compose_names), that.
CREATE OR REPLACE FUNCTION pgmnemo._stored_key(tenant uuid, project uuid, given text)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    composed constant text := pgmnemo._composed(given);
BEGIN
    IF composed = given OR EXISTS (
        SELECT FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = project AND l.external_id = given) THEN
        RETURN given;
    END IF;
    RETURN composed;
END
$$;
-- Lets one lesson take the place of another, or with NULL nothing take it, from a moment on; the tenant is locked.
-- What was known before is not overwritten: the row that held is marked as undone, and another one says what holds
-- now.
CREATE OR REPLACE FUNCTION pgmnemo._supersede(tenant uuid, old bigint, new bigint, reason text, at timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old = new OR EXISTS (
        WITH RECURSIVE after (id) AS (
            SELECT new
             UNION
            SELECT x.new_id
              FROM after a
             CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                                  WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.undone_at IS NULL
                                    AND x.new_id IS NOT NULL OFFSET 0) x)
        SELECT FROM after a WHERE a.id = old) THEN
        RAISE EXCEPTION 'a lesson cannot supersede itself, nor one that took its place'
        USING ERRCODE = 'invalid_parameter_value', HINT = 'pgmnemo.timeline shows which took the place of which.';
    END IF;
    -- the row first: another session that has changed it meanwhile is met here, in each isolation level
    UPDATE pgmnemo.lesson l SET superseded_at = at WHERE l.tenant_id = tenant AND l.id = old;
    UPDATE pgmnemo.supersession x SET undone_at = clock_timestamp()
     WHERE x.tenant_id = tenant AND x.old_id = old AND x.undone_at IS NULL;
    INSERT INTO pgmnemo.supersession (tenant_id, old_id, new_id, valid_from, reason, recorded_at)
    VALUES (tenant, old, new, at, reason, clock_timestamp());
END
$$;
-- BM25's statistics, the direction and the times of a question. By pgmnemo.statistics_scope a term is as rare as it is
-- in the tenant, in the scope that is searched, or in the mean of both; what bounds a term, and how many lessons hold
-- it, counts over the scope.
CREATE OR REPLACE FUNCTION pgmnemo._ask(scope pgmnemo.scope, words text, embedding @extschema:vector@.vector, moment timestamptz,
                             s pgmnemo.settings, windows tstzmultirange DEFAULT NULL)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    most_windows constant integer := 100;
    most_terms constant integer := 1000;  -- the rarest: each is looked for in every candidate and in its passages
    asked pgmnemo.question;
    inside_part float8 := CASE s.statistics_scope WHEN 'tenant' THEN 0 WHEN 'both' THEN 0.5 ELSE 1 END;
    projects uuid[] := (scope.filter).projects;
    k1 float8 := s.bm25_k1;
    idf_sum float8;
    b float8 := s.bm25_b;
    numbers integer[];
    lexemes text[] := '{}';
    word_count integer;
    idf_unknown float8;
BEGIN
    asked.pivot := s.length_pivot;
    IF NOT pgmnemo._blank(words) THEN
        asked.configs := pgmnemo._tenant_configs(scope.tenant);
        SELECT q.lexemes, q.numbers INTO lexemes, numbers FROM pgmnemo._question_words(words, asked.configs) q;
    END IF;
    word_count := cardinality(lexemes);
    WITH listed AS (
        SELECT p.lexeme, sum(p.lesson_count) AS lessons, sum(p.token_total) AS tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside) AS held,
               sum(p.token_total) FILTER (WHERE i.inside) AS held_tokens,
               sum(p.lesson_count) FILTER (WHERE i.inside AND p.lesson_count > 0) AS listed,
               max(p.max_frequency) FILTER (WHERE i.inside AND p.lesson_count > 0) AS frequency,
               min(p.min_tokens) FILTER (WHERE i.inside AND p.lesson_count > 0) AS shortest
          FROM pgmnemo.posting p
         CROSS JOIN LATERAL (
                SELECT p.project_id BETWEEN scope.first_project AND scope.last_project
                       AND (projects IS NULL OR p.project_id = ANY (projects))) AS i (inside)
         WHERE p.tenant_id = scope.tenant AND p.lexeme = ANY (lexemes || ''::text)
         GROUP BY p.lexeme
    ), counts AS (
        SELECT coalesce(l.lexeme, c.lexeme) COLLATE "C" AS lexeme,
               (coalesce(l.lessons, 0) + coalesce(c.lessons, 0))::float8 AS lessons,
               (coalesce(l.held, 0) + coalesce(c.held, 0))::bigint AS held,
               (CASE WHEN inside_part < 1 THEN coalesce(l.tokens, 0) + coalesce(c.tokens, 0)
                     ELSE coalesce(l.held_tokens, 0) + coalesce(c.held_tokens, 0) END)::float8 AS tokens,
               coalesce(l.listed, 0) AS listed, l.frequency, l.shortest,
               c.frequency AS sealed_frequency, c.shortest AS sealed_shortest
          FROM listed l FULL JOIN pgmnemo._sealed_counts(scope, lexemes) c ON c.lexeme COLLATE "C" = l.lexeme
    ), everything AS (
        SELECT c.held, c.lessons, k1 * (1 - b) AS flat,
               k1 * b / greatest(c.tokens / nullif(CASE WHEN inside_part < 1 THEN c.lessons ELSE c.held END, 0),
                                 asked.pivot) AS per_token
          FROM counts c WHERE c.lexeme = ''
    ), terms AS (
        SELECT c.*, i.idf, pgmnemo._unit() * i.idf * (k1 + 1) AS scale
          FROM counts c
         CROSS JOIN everything e
         CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, c.lessons)
                                    + inside_part * pgmnemo._idf(e.held, c.held)) AS i (idf)
         WHERE c.lexeme <> '' AND c.lessons > 0
    )
    SELECT e.held, e.flat, e.per_token, u.idf, coalesce(k.idf_sum, 0) + (cardinality(lexemes) - k.known) * u.idf,
           coalesce(t.found, '{}'), coalesce(t.queries, '{}'), coalesce(t.idfs, '{}'), coalesce(t.scales, '{}'),
           coalesce(t.peaks, '{}'), coalesce(t.postings, '{}'), coalesce(t.listed, '{}'), coalesce(t.tops, '{}')
      INTO asked.held, asked.flat, asked.per_token, idf_unknown, idf_sum,
           asked.terms, asked.queries, asked.idfs, asked.scales, asked.peaks, asked.postings, asked.listed, asked.tops
      FROM everything e
     CROSS JOIN LATERAL (SELECT (1 - inside_part) * pgmnemo._idf(e.lessons, 0)
                                + inside_part * pgmnemo._idf(e.held, 0)) AS u (idf)
     CROSS JOIN LATERAL (
            SELECT sum(t.idf ORDER BY t.idf, t.lexeme) AS idf_sum, count(*) AS known FROM terms t) k
     CROSS JOIN LATERAL (
            SELECT array_agg(t.lexeme) AS found, array_agg(pgmnemo._term(t.lexeme)) AS queries,
                   array_agg(t.idf) AS idfs,
                   array_agg(t.scale) AS scales, array_agg(t.held) AS postings, array_agg(t.listed) AS listed,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.frequency, e.flat, e.per_token, t.shortest,
                                                      asked.pivot) + 1, 0)) AS peaks,
                   array_agg(coalesce(pgmnemo._impact(t.scale, t.sealed_frequency, e.flat, e.per_token,
                                                      t.sealed_shortest, asked.pivot) + 1, 0)) AS tops
              FROM (SELECT * FROM terms WHERE held > 0 ORDER BY idf DESC, lexeme LIMIT most_terms) t) t;
    asked.held := coalesce(asked.held, 0);
    asked.terms := coalesce(asked.terms, '{}');
    asked.direction := @extschema:vector@.l2_normalize(embedding)::@extschema:vector@.halfvec;
    IF (SELECT count(*) FROM unnest(windows)) > most_windows THEN
        RAISE EXCEPTION 'windows holds more than % ranges', most_windows
        USING ERRCODE = 'invalid_parameter_value', HINT = 'Name fewer times.';
    ELSIF windows IS NOT NULL THEN
        SELECT array_agg(coalesce(lower(w), '-infinity')), array_agg(coalesce(upper(w), 'infinity'))
          INTO asked.since, asked.until FROM unnest(windows) w;
        asked.share := 1;
    ELSIF words IS NOT NULL AND s.temporal_weight <> 0 THEN
        SELECT t.since, t.until, t.share INTO asked.since, asked.until, asked.share
          FROM pgmnemo._times(words, moment, pgmnemo._zone(s.time_zone)) t;
    END IF;
    IF numbers IS NOT NULL THEN
        -- several lexemes are forms of one word, of which the rarest counts
        SELECT count(*), sum(w.idf ORDER BY w.idf) INTO word_count, idf_sum
          FROM (SELECT coalesce(max(t.idf), idf_unknown) AS idf
                  FROM unnest(lexemes, numbers) AS n (lexeme, number)
                  LEFT JOIN unnest(asked.terms, asked.idfs) AS t (term, idf) ON t.term = n.lexeme
                 GROUP BY n.number) w;
    END IF;
    asked.reach := (s.bm25_weight + s.passage_terms_weight) * coalesce(idf_sum, 0)
                   + s.passage_terms_weight * s.passage_term_bonus * word_count;
    asked.brevity := pgmnemo._brevity(word_count);
    asked.ideal := pgmnemo._ideal(asked, s, word_count);
    RETURN asked;
END
$$;
-- The share that words count with in a question of so many. Of a long question one lesson holds a part, so that part is
-- taken to grow with the root of the length.
CREATE OR REPLACE FUNCTION pgmnemo._brevity(words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN words > 12 THEN sqrt(12.0::float8 / words) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._brevity(integer) IS 'from 0 to 1: sqrt(12 / words) for more than 12 words, else 1';
-- What pgmnemo.compact does for a tenant that is locked; how many blocks fewer there are. After a time it begins with
-- no further piece and no further lists, which wait for the next call.
CREATE OR REPLACE FUNCTION pgmnemo._compact(tenant uuid, enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant bigint := (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
    more boolean := true;
BEGIN
    WHILE more LOOP
        more := pgmnemo._seal_pieces(tenant, pgmnemo._piece_size());
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    WHILE NOT more LOOP
        more := NOT pgmnemo._merge_blocks(tenant);
        EXIT WHEN clock_timestamp() > enough;
    END LOOP;
    RETURN before - (SELECT count(*) FROM pgmnemo.posting p WHERE p.tenant_id = tenant);
END
$$;
-- The score of a lesson that answers a question well: what makes scores of different questions comparable. Words that
-- no lesson holds count as well, for a question of such words is about something else. One lesson does not hold all
-- words of a long question, and the best of many lessons is nearer by chance: hence the two roots. Their constants
-- were chosen on LoCoMo and BEAM (benchmarks/floor.py).
CREATE OR REPLACE FUNCTION pgmnemo._ideal(asked pgmnemo.question, s pgmnemo.settings, words integer)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (1 + (s).context_weight)
           * (coalesce((asked).reach * (asked).brevity * least(1, sqrt(4.0::float8 / nullif(words, 0))), 0)
              + CASE WHEN (asked).direction IS NULL THEN 0
                     ELSE ((s).passage_cosine_weight + (s).pair_cosine_weight + (s).cosine_weight)
                          * 0.5 * sqrt(pgmnemo._idf((asked).held, 0) / 5) END
              + CASE WHEN cardinality((asked).since) > 0 THEN (s).temporal_weight * (asked).share ELSE 0 END)
$$;

COMMENT ON FUNCTION pgmnemo._ideal IS 'words: how many the question has; 0 or more, in units of the score';
-- Merges the small blocks of some of a tenant's posting lists; whether there may be more.
CREATE OR REPLACE FUNCTION pgmnemo._merge_blocks(tenant uuid)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    full_block constant integer := 128;
    at_once    constant integer := 20000;  -- lists
BEGIN
    WITH small AS (
        DELETE FROM pgmnemo.posting p
         USING (SELECT q.project_id, q.lexeme FROM pgmnemo.posting q
                 WHERE q.tenant_id = tenant AND q.lesson_count BETWEEN 1 AND full_block - 1
                 GROUP BY 1, 2 HAVING count(*) > 1 LIMIT at_once) f
         WHERE p.tenant_id = tenant AND p.project_id = f.project_id AND p.lexeme = f.lexeme
           AND p.lesson_count BETWEEN 1 AND full_block - 1
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), lists AS (
        SELECT m.project_id, m.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM small m, unnest(m.lesson_ids, m.frequencies, m.token_counts) AS x (id, frequency, tokens)
         GROUP BY m.project_id, m.lexeme
    )
    INSERT INTO pgmnemo.posting
    SELECT tenant, l.project_id, l.lexeme, b.*
      FROM lists l, LATERAL pgmnemo._posting_blocks(l.ids, l.frequencies, l.token_counts) b
     ORDER BY l.project_id, l.lexeme COLLATE "C";
    RETURN FOUND;
END
$$;
-- Makes a piece of what postings hold where it is enough for one: of a tenant that has pieces a sixteenth of a whole
-- one, else a fourth. With it go pieces that are not whole, if it is half as much as they hold at least, or they make
-- a whole one together, so that there are few of them; and those of which a part was taken back. It takes no more than
-- make three pieces, of the smallest pieces and the first lessons of the postings; whether there may be more to do. One
-- statement takes the postings away and lists the lessons: what another session stores meanwhile keeps its own.
CREATE OR REPLACE FUNCTION pgmnemo._seal_pieces(tenant uuid, size integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken_back_most constant integer := size / 32;  -- lessons of a piece
    least constant integer := CASE WHEN EXISTS (SELECT FROM pgmnemo.piece c WHERE c.tenant_id = tenant)
                                   THEN size / 16 ELSE size / 4 END;
    loose constant bigint := (SELECT coalesce(sum(p.lesson_count), 0) FROM pgmnemo.posting p
                               WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0);
    upto bigint;
    more boolean := false;
    worn bigint[];
    taken bigint[];
    ids bigint[];
    listed bigint[];
BEGIN
    PERFORM pgmnemo._fresh_tenant(tenant);
    worn := ARRAY(
        SELECT r.piece FROM pgmnemo.piece_lesson r CROSS JOIN LATERAL unnest(r.lesson_ids) AS u (id)
          JOIN unnest(pgmnemo._taken_back(tenant)) AS g (id) ON g.id = u.id
         WHERE r.tenant_id = tenant
         GROUP BY r.piece HAVING count(*) > taken_back_most
         UNION
        SELECT c.number
          FROM (SELECT c.number, c.lesson_count, sum(c.lesson_count) OVER () AS together
                  FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.lesson_count < size) c
         WHERE c.together >= size OR loose >= least AND c.lesson_count <= 2 * loose);
    IF loose < least AND worn = '{}' THEN
        RETURN false;
    END IF;
    taken := ARRAY(
        SELECT c.number
          FROM (SELECT c.number,
                       sum(c.lesson_count) OVER (ORDER BY c.lesson_count, c.number) - c.lesson_count AS smaller
                  FROM pgmnemo.piece c WHERE c.tenant_id = tenant AND c.number = ANY (worn)) c
         WHERE c.smaller < size);
    ids := pgmnemo._drop_pieces(tenant, taken);
    IF loose > size THEN
        SELECT min(f.id), count(*) > 1 INTO upto, more
          FROM (SELECT u.id FROM pgmnemo.posting p CROSS JOIN LATERAL unnest(p.lesson_ids) AS u (id)
                 WHERE p.tenant_id = tenant AND p.lexeme = '' AND p.lesson_count > 0
                   AND u.id NOT IN (SELECT unnest(pgmnemo._taken_back(tenant)))
                 ORDER BY u.id OFFSET size - 1 LIMIT 2) f;
    END IF;
    WITH gone AS (
        DELETE FROM pgmnemo.posting p
         WHERE p.tenant_id = tenant AND p.lesson_count > 0 AND (upto IS NULL OR p.first_id <= upto)
        RETURNING p.project_id, p.lexeme, p.lesson_ids, p.frequencies, p.token_counts
    ), kept AS (
        SELECT g.project_id, g.lexeme, array_agg(x.id ORDER BY x.id) AS ids,
               array_agg(x.frequency ORDER BY x.id) AS frequencies, array_agg(x.tokens ORDER BY x.id) AS token_counts
          FROM gone g, unnest(g.lesson_ids, g.frequencies, g.token_counts) AS x (id, frequency, tokens)
         WHERE x.id > upto
         GROUP BY g.project_id, g.lexeme
    ), back AS (
        INSERT INTO pgmnemo.posting
        SELECT tenant, k.project_id, k.lexeme, b.*
          FROM kept k, LATERAL pgmnemo._posting_blocks(k.ids, k.frequencies, k.token_counts) b
    )
    SELECT array_agg(u.id) INTO listed
      FROM gone g CROSS JOIN LATERAL unnest(g.lesson_ids) AS u (id)
     WHERE g.lexeme = '' AND (upto IS NULL OR u.id <= upto);
    PERFORM pgmnemo._settle(tenant, ids || listed, size, least);
    RETURN more OR cardinality(taken) < cardinality(worn);
END
$$;
-- How many vectors of a tenant wait for its graph: all of them, where it is gone.
CREATE OR REPLACE FUNCTION pgmnemo._awaiting(tenant uuid, generation smallint)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
    all_of_them constant bigint := 2000000000;
    waiting bigint := pgmnemo._tail(tenant, generation, all_of_them);
BEGIN
    IF EXISTS (SELECT FROM pgmnemo.vector_graph g WHERE g.tenant_id = tenant AND g.generation = generation
                  AND NOT pgmnemo._graph_stands(g.name)) THEN
        waiting := waiting + (SELECT count(*) FROM pgmnemo.lesson_vector v
                               WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
    END IF;
    RETURN waiting;
END
$$;
-- Brings so many of the vectors that wait into a tenant's graph, and begins with no more after a time; how many. NULL:
-- another session changes the graph just now, or the tenant has none. A build cannot be stopped and gone on with: where
-- there is a time and it would take longer, the graph begins empty and the vectors enter one by one, over many calls.
CREATE OR REPLACE FUNCTION pgmnemo._enter_graph(tenant uuid, generation smallint, most bigint,
                                     enough timestamptz DEFAULT 'infinity')
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    at_once constant bigint := 100;
    graph name := pgmnemo._locked_graph(tenant, generation);
    waiting bigint := pgmnemo._tail(tenant, generation, most);
    entered bigint := 0;
    more bigint;
BEGIN
    IF graph IS NULL THEN
        RETURN NULL;
    ELSIF pgmnemo._graph_anew(tenant, generation, waiting) THEN
        IF enough = 'infinity' OR pgmnemo._soon_built(tenant, generation, waiting) THEN
            RETURN pgmnemo._rebuild(tenant, generation, waiting);
        ELSIF NOT pgmnemo._graph_stands(graph) THEN
            IF NOT pgmnemo._unmark(tenant, generation, enough) THEN
                RETURN 0;
            END IF;
            graph := pgmnemo._make_graph(tenant, generation);
            waiting := pgmnemo._tail(tenant, generation, most);
        END IF;
    END IF;
    WHILE entered < waiting LOOP
        more := pgmnemo._merge(tenant, generation, graph, least(at_once, waiting - entered));
        entered := entered + more;
        EXIT WHEN more = 0 OR clock_timestamp() > enough;
    END LOOP;
    RETURN entered;
END
$$;
-- Outside of the verbs a row comes when a dump is restored: then the graph that it names becomes the owner's of the
-- schema pgmnemo, who may be another now, and nobody else's.
CREATE OR REPLACE FUNCTION pgmnemo._graph_comes()
RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    keeper constant name := (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace n WHERE n.nspname = 'pgmnemo');
BEGIN
    IF pgmnemo._acting_tenant() IS NULL
       AND EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass('pgmnemo.' || quote_ident(NEW.name))
                      AND c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhastriggers
                      AND pg_has_role(c.relowner, 'USAGE')) THEN
        EXECUTE format('ALTER TABLE pgmnemo.%I OWNER TO %I', NEW.name, keeper);
        PERFORM pgmnemo._close_type(NEW.name);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER vector_graph_after_insert AFTER INSERT ON pgmnemo.vector_graph
    FOR EACH ROW EXECUTE FUNCTION pgmnemo._graph_comes();
ALTER TABLE pgmnemo.vector_graph ENABLE ALWAYS TRIGGER vector_graph_after_insert;
-- Whether a graph's table is there, and belongs to the owner of the schema pgmnemo: pg_upgrade gives the extension to a
-- superuser, and plain SQL has none. To a snapshot that is older than its drop its name still shows, and who was let to
-- create in the schema may have taken the name.
CREATE OR REPLACE FUNCTION pgmnemo._graph_stands(graph name)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.nspowner = c.relowner
                    WHERE n.nspname = 'pgmnemo' AND c.relkind = 'r'
                      AND c.oid = to_regclass('pgmnemo.' || quote_ident(graph)))
$$;
-- Whether a graph of what is marked as being in it and of so many more vectors is built in about five seconds: 10,000
-- of 384 dimensions on one core.
CREATE OR REPLACE FUNCTION pgmnemo._soon_built(tenant uuid, generation smallint, entering bigint)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    numbers constant bigint := 4000000;
    room constant bigint := numbers / pgmnemo._dimensions_of(tenant, generation) - entering;
BEGIN
    RETURN room >= 0 AND NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                                      WHERE v.tenant_id = tenant AND v.generation = _soon_built.generation AND v.indexed
                                     OFFSET room);
END
$$;
-- Marks the vectors of a tenant, whose graph is gone and whose row of vector_graph the caller has locked, as waiting
-- for the next one, until a time; whether none is left. What another session is changing just now is left.
CREATE OR REPLACE FUNCTION pgmnemo._unmark(tenant uuid, generation smallint, enough timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
    at_once constant integer := 1000;
BEGIN
    LOOP
        WITH chosen AS MATERIALIZED (
            SELECT v.lesson_id, v.number FROM pgmnemo.lesson_vector v
             WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed LIMIT at_once
               FOR UPDATE SKIP LOCKED
        )
        UPDATE pgmnemo.lesson_vector v SET indexed = false
          FROM chosen c
         WHERE v.tenant_id = tenant AND v.lesson_id = c.lesson_id AND v.generation = generation
           AND v.number = c.number;
        EXIT WHEN NOT FOUND OR clock_timestamp() > enough;
    END LOOP;
    RETURN NOT EXISTS (SELECT FROM pgmnemo.lesson_vector v
                        WHERE v.tenant_id = tenant AND v.generation = generation AND v.indexed);
END
$$;
-- The question with what unrelated lessons have in common with it and with each other, from the first lessons in scope
-- by key, so that equal lessons have equal scores in whatever order they came. `center` is the mean cosine of these and
-- the question: it differs between embedders, languages and questions. The answer may be among them, and of few it
-- lifts the mean: on average it lies about 0.3 of the way from the others to 1, so as much is taken away. `common` is
-- the direction of their mean vector and `commonness` its length; unknown where nothing is asked in words, for then
-- lessons are to rank by their cosines.
CREATE OR REPLACE FUNCTION pgmnemo._against_background(scope pgmnemo.scope, asked pgmnemo.question)
RETURNS pgmnemo.question
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mean @extschema:vector@.halfvec;
BEGIN
    IF asked.direction IS NOT NULL THEN
        SELECT avg(f.cosine) - 0.3 * (1 - avg(f.cosine)) / nullif(count(*), 0),
               @extschema:vector@.avg(f.embedding)
          INTO asked.center, mean
          FROM (SELECT v.embedding, pgmnemo._cosine(v.embedding, asked.direction) AS cosine
                  FROM (SELECT l.id, l.active FROM pgmnemo.lesson l
                         WHERE l.tenant_id = scope.tenant
                           AND l.project_id BETWEEN scope.first_project AND scope.last_project
                         ORDER BY l.project_id, l.external_id LIMIT 100) l
                 CROSS JOIN LATERAL (
                        SELECT v.embedding FROM pgmnemo.lesson_vector v
                         WHERE v.tenant_id = scope.tenant AND v.lesson_id = l.id AND v.generation = asked.generation
                         ORDER BY v.number LIMIT 1) v
                 WHERE l.active
                 LIMIT 16) f;
        IF asked.reach > 0 THEN
            asked.common := @extschema:vector@.l2_normalize(mean);
            asked.commonness := @extschema:vector@.l2_norm(mean);
        END IF;
    END IF;
    RETURN asked;
END
$$;

COMMENT ON FUNCTION pgmnemo._against_background(pgmnemo.scope, pgmnemo.question) IS 'asked with center, common and commonness of at most 16 lessons in scope (of each its first vector); NULL without any, common and commonness also without a word';
-- What each of these lessons is worth by itself, with the part of its BM25 that is known or NULL. A lesson without
-- passages is its own; so is a vector that stands for passages which have none. Each table is read once for all of
-- them, and joined by hashing: a look-up for each would cost more than what it finds. Long vectors of lexemes are
-- unpacked once: to join one with nothing does that. With weights of 1 the cover density of one term is the number of
-- times that it stands there.
CREATE OR REPLACE FUNCTION pgmnemo._candidates(scope pgmnemo.scope, ids bigint[], totals float8[], asked pgmnemo.question,
                                    s pgmnemo.settings, by_words boolean, moment timestamptz)
RETURNS pgmnemo.candidate[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET enable_mergejoin = off
AS $$
DECLARE
    unpacked constant integer := 2000;  -- bytes up to which a vector of lexemes may stand in its row as it is
    direction constant @extschema:vector@.halfvec := asked.direction;
    common constant @extschema:vector@.halfvec := asked.common;
    timed boolean := cardinality(asked.since) > 0;
    -- what has more tokens says more than the question
    repeat_tokens constant integer := coalesce(cardinality(asked.repeated) + 24, -1000000);
BEGIN
    RETURN ARRAY(
        SELECT ROW(l.id, l.project_id, l.external_id, l.occurred_at, l.position, l.token_count, l.role = 'assistant',
                   v.own,
                   w.bm25, w.terms,
                   coalesce(v.best, v.own),
                   coalesce((v.best + CASE WHEN cardinality(v.cosines) > 1
                                           THEN (SELECT o.cosine FROM unnest(v.cosines) AS o (cosine)
                                                  ORDER BY o.cosine DESC OFFSET 1 LIMIT 1)
                                           ELSE v.best END) / 2, v.own),
                   CASE WHEN timed THEN asked.share * pgmnemo._temporal(l.occurred_at, asked.since, asked.until)
                        ELSE 0 END, 0, 0,
                   pgmnemo._recency(moment, coalesce(l.occurred_at, l.stored_at), s.recency_half_life),
                   pgmnemo._importance(l.importance), 0,
                   pgmnemo._coverage(s.bm25_weight * w.bm25 + s.passage_terms_weight * w.terms, asked.reach,
                                     s.full_coverage, asked.brevity),
                   pgmnemo._center(asked, v.common), l.mark, l.repeats,
                   pgmnemo._share(l.repeats, l.role = 'assistant', l.asks, s))::pgmnemo.candidate
          FROM (SELECT l.id, l.project_id, l.external_id, l.occurred_at, l.stored_at, l.position, l.token_count, l.role,
                       l.importance,
                       CASE WHEN pg_column_size(l.lexemes) <= unpacked AND pg_column_compression(l.lexemes) IS NULL
                            THEN l.lexemes ELSE l.lexemes || '' END AS whole,
                       pgmnemo._bare_question(l.content) AS asks,
                       CASE WHEN asked.collapse
                            THEN pgmnemo._words_mark(l.content, l.lexemes, l.token_count) END AS mark,
                       l.token_count <= repeat_tokens + coalesce(length(l.topic), 0)
                       AND pgmnemo._repeats_question(l.content, l.topic, l.text_config, l.lexemes, asked.repeated)
                       AS repeats
                  FROM pgmnemo.lesson l WHERE l.tenant_id = scope.tenant AND l.id = ANY (ids) OFFSET 0) l
          JOIN unnest(ids, totals) AS g (id, total) ON g.id = l.id
          LEFT JOIN (SELECT c.lesson_id, max(c.cosine) FILTER (WHERE c.number = 0) AS own,
                            max(c.cosine) FILTER (WHERE c.number > 0) AS best,
                            array_agg(c.cosine) FILTER (WHERE c.number > 0) AS cosines,
                            coalesce(max(c.common) FILTER (WHERE c.number = 0), max(c.common)) AS common
                       FROM (SELECT v.lesson_id, v.number, pgmnemo._cosine(v.embedding, direction) AS cosine,
                                    pgmnemo._cosine(v.embedding, common) AS common
                               FROM pgmnemo.lesson_vector v
                              WHERE v.tenant_id = scope.tenant AND v.lesson_id = ANY (ids)
                                AND v.generation = asked.generation) c
                      GROUP BY c.lesson_id) v ON v.lesson_id = l.id
          LEFT JOIN (SELECT p.lesson_id, max(t.worth) AS terms
                       FROM (SELECT p.lesson_id, p.lexemes FROM pgmnemo.passage p
                              WHERE p.tenant_id = scope.tenant AND p.lesson_id = ANY (ids) OFFSET 0) p
                       LEFT JOIN LATERAL pgmnemo._terms_within(p.lexemes, asked, s.passage_term_bonus) t ON by_words
                      GROUP BY p.lesson_id) p ON p.lesson_id = l.id
          LEFT JOIN LATERAL (
                SELECT coalesce(sum(pgmnemo._impact(t.scale, ts_rank_cd('{1,1,1,1}', l.whole, t.query), asked.flat,
                                                    asked.per_token, l.token_count, asked.pivot))
                                FILTER (WHERE g.total IS NULL), 0) AS total,
                       coalesce(sum(t.idf + s.passage_term_bonus), 0)
                       * sqrt(least(1, asked.pivot / greatest(length(l.whole), 1))) AS worth
                  FROM unnest(asked.queries, asked.scales, asked.idfs) AS t (query, scale, idf)
                 WHERE l.whole @@ t.query) t ON by_words AND (g.total IS NULL OR p.lesson_id IS NULL)
         CROSS JOIN LATERAL (
                SELECT coalesce(g.total, t.total) / pgmnemo._unit() AS bm25,
                       CASE WHEN p.lesson_id IS NOT NULL THEN p.terms ELSE t.worth END AS terms) w);
END
$$;
-- The cosine that question and lesson would have if they were unrelated. A text that is near to all texts, such as a
-- greeting, is near to the question, too, whatever it says: so the center of a lesson is higher by a part of how much
-- nearer than others it lies to the mean of the lessons. The whole of that would take away what a topic shares.
CREATE OR REPLACE FUNCTION pgmnemo._center(asked pgmnemo.question, common float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (asked).center + coalesce(0.3 * (asked).commonness * (common - (asked).commonness), 0) $$;

COMMENT ON FUNCTION pgmnemo._center(pgmnemo.question, float8) IS 'asked.center + 0.3 * commonness * (common - commonness), asked.center without one of them; common: the cosine of the lesson and asked.common';
-- Every part of the score in the order of the sum, for those who show or fit it.
CREATE OR REPLACE FUNCTION pgmnemo._contributions(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (contributions float8[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ARRAY[o.bm25, o.passage_terms, o.passage_cosine, o.pair_cosine, o.cosine, o.temporal,
                 l.context, l.neighbours, l.recency, l.importance, l.graph]
      FROM pgmnemo._own_parts(c, s) o CROSS JOIN pgmnemo._lent_parts(c, s) l
$$;

COMMENT ON FUNCTION pgmnemo._contributions IS 'what bm25, passage_terms, passage_cosine, pair_cosine, cosine, temporal, context, neighbours, recency, importance and graph add to the score of a candidate, in this order';
-- The share that a lesson's words count with. A few words of a long question stand in many lessons by chance, so what
-- holds a small part of the question counts in proportion to that part; from `enough` on it counts whole. And the more
-- words a question has, the more the sum over them outgrows what their meaning can add: hence brevity.
CREATE OR REPLACE FUNCTION pgmnemo._coverage(words float8, reach float8, enough float8, brevity float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT brevity * CASE WHEN words < enough * reach THEN words / (enough * reach) ELSE 1 END $$;

COMMENT ON FUNCTION pgmnemo._coverage(float8, float8, float8, float8) IS 'from 0 to 1: brevity, times words / (enough * reach), both in units of the score, where that is below 1';
-- By what lessons say the same (pgmnemo._text_key); the texts are read only of those whose lexemes are the same.
CREATE OR REPLACE FUNCTION pgmnemo._equal_keys(scope pgmnemo.scope, ids bigint[])
RETURNS TABLE (lesson_id bigint, text_key bigint, alone boolean, asks boolean, happened timestamptz)
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT m.id, CASE WHEN m.times = 1 THEN m.mark ELSE pgmnemo._text_key(m.content, m.topic, m.role) END,
           m.times = 1, m.times > 1 AND pgmnemo._asks(m.content), m.happened
      FROM (SELECT l.id, l.content, l.topic, l.role, coalesce(l.occurred_at, l.stored_at) AS happened, w.mark,
                   count(*) OVER (PARTITION BY w.mark) AS times
              FROM (SELECT DISTINCT unnest(ids) AS id) u
              JOIN pgmnemo.lesson l ON l.tenant_id = scope.tenant AND l.id = u.id
             CROSS JOIN LATERAL (SELECT pgmnemo._words_mark(l.content, l.lexemes, l.token_count)) AS w (mark)) m;
END
$$;

COMMENT ON FUNCTION pgmnemo._equal_keys IS 'for each of these lessons a number that those which say the same share; alone: no other has its lexemes; asks: it is one of several and a question (pgmnemo._asks)';
-- The candidates that say the same: for each text the lesson that ranks first (`leads`), the one that is shown in its
-- place, the newest and rather a statement than a question, and how many others there are; `left_out`: all candidates
-- but the first, and for each which that is.
CREATE OR REPLACE FUNCTION pgmnemo._equal_lessons(scope pgmnemo.scope, candidates pgmnemo.candidate[], copies bigint[],
                                       near bigint[], nears float8[], linked bigint[], graphs float8[],
                                       s pgmnemo.settings, OUT leads bigint[], OUT shown bigint[], OUT others integer[],
                                       OUT left_out bigint[], OUT first_of bigint[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    WITH same AS MATERIALIZED (
        SELECT array_agg(k.lesson_id ORDER BY r.repeats, r.score DESC, r.external_id, r.project_id)
               FILTER (WHERE r.score IS NOT NULL) AS members,
               (array_agg(k.lesson_id ORDER BY k.asks, k.happened DESC, k.lesson_id DESC))[1] AS newest,
               count(*)::integer - 1 AS others
          FROM pgmnemo._equal_keys(scope, ARRAY(SELECT c.lesson_id FROM unnest(candidates) c) || copies) k
          LEFT JOIN (SELECT r.score, (r.own).* FROM pgmnemo._ranked(candidates, near, nears, linked, graphs, s) r) r
                 ON r.lesson_id = k.lesson_id
         WHERE NOT k.alone
         GROUP BY k.text_key HAVING count(*) > 1 AND count(r.score) > 0
    )
    SELECT coalesce(array_agg(m.members[1]), '{}'), array_agg(m.newest), array_agg(m.others),
           ARRAY(SELECT unnest(m.members[2:]) FROM same m),
           ARRAY(SELECT m.members[1] FROM same m CROSS JOIN LATERAL unnest(m.members[2:]))
      INTO leads, shown, others, left_out, first_of
      FROM same m;
END
$$;
-- Of each way the first lesson of each text, `most` at most, and as copies the lessons that say the same as one of
-- these.
CREATE OR REPLACE FUNCTION pgmnemo._first_of_each(scope pgmnemo.scope, by_keyword bigint[], totals float8[], by_vector bigint[],
                                       filled bigint[], most integer,
                                       OUT ids bigint[], OUT totals float8[], OUT copies bigint[])
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH found AS MATERIALIZED (
        SELECT f.way, f.place, f.lesson_id, f.total, k.text_key
          FROM (SELECT 1 AS way, u.* FROM unnest(by_keyword, totals) WITH ORDINALITY AS u (lesson_id, total, place)
                 UNION ALL
                SELECT 2, u.lesson_id, NULL, u.place FROM unnest(by_vector) WITH ORDINALITY AS u (lesson_id, place)
                 UNION ALL
                SELECT 3, u.lesson_id, NULL, u.place FROM unnest(filled) WITH ORDINALITY AS u (lesson_id, place)) f
          JOIN pgmnemo._equal_keys(scope, by_keyword || by_vector || filled) k ON k.lesson_id = f.lesson_id
    ), kept AS (
        SELECT k.text_key, min(k.way * 1000000000::bigint + k.place) AS place
          FROM (SELECT e.*, row_number() OVER (PARTITION BY e.way ORDER BY e.place) AS turn
                  FROM (SELECT DISTINCT ON (f.way, f.text_key) f.way, f.text_key, f.place
                          FROM found f ORDER BY f.way, f.text_key, f.place) e) k
         WHERE k.turn <= most
         GROUP BY k.text_key
    ), firsts AS (
        SELECT f.* FROM kept k JOIN found f ON f.way * 1000000000::bigint + f.place = k.place
    )
    SELECT coalesce((SELECT array_agg(f.lesson_id ORDER BY f.way, f.place) FROM firsts f), '{}'),
           coalesce((SELECT array_agg(f.total ORDER BY f.way, f.place) FROM firsts f), '{}'),
           ARRAY(SELECT DISTINCT f.lesson_id FROM found f JOIN firsts o ON o.text_key = f.text_key
                  WHERE f.lesson_id NOT IN (SELECT o.lesson_id FROM firsts o))
$$;
-- Which lessons a verb that lists, counts or forgets may mean: those of a recall, or with `everything` whatever is
-- kept.
CREATE OR REPLACE FUNCTION pgmnemo._listed(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT ((scope).everything IS TRUE
            OR l.active
               AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
               AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
               AND ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL))
       AND ((scope).known_at IS NULL OR pgmnemo._believed(l, scope))
       AND ((scope).filtered IS NOT TRUE OR pgmnemo._passes(l, (scope).filter))
$$;
-- How far a cosine lies from that of unrelated texts, 0, to that of equal ones, 1: so one set of weights serves every
-- embedder, whether its unrelated texts have cosines near 0.1 or near 0.8. What is farther away than unrelated texts
-- keeps its order but hardly counts.
CREATE OR REPLACE FUNCTION pgmnemo._nearness(cosine float8, center float8)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT coalesce(greatest(cosine - center, 0.01 * (cosine - center)) / greatest(1 - center, 0.01), 0) $$;

COMMENT ON FUNCTION pgmnemo._nearness(float8, float8) IS '(cosine - center) / (1 - center), a hundredth of it where negative; 0 where either is NULL';
-- The score has one home, this function and _lent_parts: here what a candidate's own components add to it, in the
-- order in which they are summed up. A leg that was not asked adds nothing. A row rather than an array: it costs
-- nothing.
CREATE OR REPLACE FUNCTION pgmnemo._own_parts(c pgmnemo.candidate, s pgmnemo.settings)
RETURNS TABLE (bm25 float8, passage_terms float8, passage_cosine float8, pair_cosine float8, cosine float8,
               temporal float8)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (c).share * (c).coverage * (s).bm25_weight * coalesce((c).bm25, 0),
           (c).share * (c).coverage * (s).passage_terms_weight * coalesce((c).passage_terms, 0),
           (c).share * (s).passage_cosine_weight * pgmnemo._nearness((c).passage_cosine, (c).center),
           (c).share * (s).pair_cosine_weight * pgmnemo._nearness((c).pair_cosine, (c).center),
           (c).share * (s).cosine_weight * pgmnemo._nearness((c).cosine, (c).center),
           (c).share * (s).temporal_weight * (c).temporal
$$;
-- By what the best passage of a lesson is told: the less the better.
CREATE OR REPLACE FUNCTION pgmnemo._passage_worth(lexemes tsvector, embedding @extschema:vector@.halfvec, asked pgmnemo.question,
                                       s pgmnemo.settings)
RETURNS float8
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT -(s).passage_cosine_weight * pgmnemo._nearness(pgmnemo._cosine(embedding, (asked).direction), (asked).center)
           - (s).passage_terms_weight * (SELECT t.worth FROM pgmnemo._terms_within(
                lexemes, asked, (s).passage_term_bonus) t)
$$;
-- The candidates of one recall with what they are worth by themselves, and by which way each came: the best of each
-- leg, others in key order where both find fewer (those that lead where nothing is asked), neighbours of the most
-- relevant, and what the graph adds: the same for every k up to pool_depth.
-- `lesson` joins them last, where none did, to see what it would be worth. Where equal lessons are one hit
-- (asked.collapse), those that say the same count once, and those that are the question itself never: where too few
-- others are left, the legs are asked for more, and of the lessons that say the same the first is a candidate, the rest
-- `copies`.
CREATE OR REPLACE FUNCTION pgmnemo._pool(
    scope pgmnemo.scope, asked pgmnemo.question, s pgmnemo.settings, k integer, by_words boolean, moment timestamptz,
    lesson bigint,
    OUT by_keyword bigint[], OUT by_vector bigint[], OUT filled bigint[], OUT added bigint[],
    OUT near bigint[], OUT nears float8[], OUT linked bigint[], OUT graphs float8[], OUT seeds bigint[],
    OUT copies bigint[], OUT equal boolean, OUT candidates pgmnemo.candidate[])
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reach constant bigint := 2;    -- places before and after a lesson at which its neighbours are
    most  constant integer := 32;  -- lessons that are looked at there, in the order of their places
    beyond constant integer := 3200;  -- lessons of each leg that are looked through for others at most
    depth integer := greatest(s.pool_depth, k);
    looked integer := depth;
    different integer;
    marks bigint[];
    fresh pgmnemo.candidate[];
    found integer;
    ids bigint[];
    totals float8[];
    more bigint[];
    placed boolean;
BEGIN
    LOOP
        filled := NULL;
        SELECT coalesce(array_agg(t.lesson_id), '{}'), coalesce(array_agg(t.total), '{}') INTO by_keyword, totals
          FROM pgmnemo._keyword_leg(scope, asked, looked) t;
        by_vector := pgmnemo._vector_leg(scope, asked, looked, s);
        ids := by_keyword || ARRAY(SELECT v.id FROM unnest(by_vector) AS v (id) WHERE v.id <> ALL (by_keyword));
        IF cardinality(asked.terms) = 0 AND asked.direction IS NULL THEN
            filled := ARRAY(SELECT pgmnemo._leading(scope, s, moment, looked));
            ids := filled;
        ELSIF cardinality(ids) < looked THEN
            filled := ARRAY(SELECT pgmnemo._fill(scope, ids, looked - cardinality(ids)));
            ids := ids || filled;
        END IF;
        found := cardinality(ids);
        IF looked > depth THEN
            SELECT f.ids, f.totals, f.copies INTO ids, totals, copies
              FROM pgmnemo._first_of_each(scope, by_keyword, totals, by_vector, filled, 2 * depth) f;
        END IF;
        candidates := pgmnemo._candidates(scope, ids, totals, asked, s, by_words, moment);
        SELECT bool_or(c.place IS NOT NULL), array_agg(c.mark), count(DISTINCT c.mark) FILTER (WHERE NOT c.repeats)
          INTO placed, marks, different FROM unnest(candidates) c;
        EXIT WHEN NOT asked.collapse OR found < looked OR looked >= depth + beyond;
        EXIT WHEN different >= depth;
        looked := least(depth + beyond, looked + 4 * (found - different));
    END LOOP;
    placed := placed AND s.neighbours_weight > 0;
    IF placed THEN
        added := ARRAY(
            SELECT DISTINCT l.id
              FROM (SELECT c.project_id, c.place FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                     WHERE c.place IS NOT NULL
                     ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.neighbours_seeds) c
             CROSS JOIN LATERAL (
                    SELECT l.* FROM pgmnemo.lesson l
                     WHERE l.tenant_id = scope.tenant AND l.project_id = c.project_id
                       AND l.position BETWEEN c.place - reach AND c.place + reach
                     ORDER BY l.position, l.id LIMIT most) l
             WHERE l.id <> ALL (ids) AND pgmnemo._recallable(l, scope));
        IF cardinality(added) > 0 THEN
            ids := ids || added;
            fresh := pgmnemo._candidates(scope, added, '{}', asked, s, by_words, moment);
            candidates := candidates || fresh;
            marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
        END IF;
    END IF;
    IF s.graph_weight > 0 AND EXISTS (SELECT FROM pgmnemo.lesson_edge e WHERE e.tenant_id = scope.tenant) THEN
        seeds := ARRAY(SELECT c.lesson_id FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                        WHERE r.relevance > 0
                        ORDER BY r.relevance DESC, c.external_id, c.project_id LIMIT s.graph_seeds);
        SELECT coalesce(array_agg(g.lesson_id), '{}'), coalesce(array_agg(g.graph), '{}') INTO linked, graphs
          FROM pgmnemo._graph_leg(scope, candidates, seeds, s) g;
    END IF;
    IF NOT linked <@ ids OR lesson <> ALL (ids) THEN
        more := ARRAY(SELECT l.id FROM unnest(linked || lesson) AS w (id)
                       CROSS JOIN LATERAL (
                              SELECT l.id FROM pgmnemo.lesson l
                               WHERE l.tenant_id = scope.tenant AND l.id = w.id AND l.id <> ALL (ids)
                                 AND (l.id = lesson
                                      OR pgmnemo._recallable(l, scope)
                                         AND pgmnemo._in_scope(l.project_id, scope))
                              OFFSET 0) l
                       GROUP BY l.id);
        fresh := pgmnemo._candidates(scope, more, '{}', asked, s, by_words, moment);
        candidates := candidates || fresh;
        marks := marks || ARRAY(SELECT c.mark FROM unnest(fresh) c);
    END IF;
    IF placed THEN
        SELECT array_agg(n.lesson_id), array_agg(n.neighbours) INTO near, nears
          FROM pgmnemo._neighbours(candidates, s) n;
    END IF;
    equal := asked.collapse
             AND (copies <> '{}' OR cardinality(marks) > (SELECT count(DISTINCT m) FROM unnest(marks) m));
END
$$;
-- Every candidate with what comes to it from others and its score, by which it ranks; ties go by external id, then by
-- project. context: the greatest relevance among those of the same project and the same moment; alone: the score with
-- the lesson's own relevance in place of that, since what only shares a moment with an answer is none. In one query
-- with whoever calls it, so that nothing is made into records and taken apart again.
CREATE OR REPLACE FUNCTION pgmnemo._ranked(candidates pgmnemo.candidate[], near bigint[], nears float8[], linked bigint[],
                                graphs float8[], s pgmnemo.settings)
RETURNS TABLE (score float8, alone float8, own pgmnemo.candidate)
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT x.score, x.score - (s).context_weight * (d.around - d.relevance), o.own
      FROM (SELECT v.*,
                   CASE WHEN v.occurred_at IS NULL THEN v.relevance
                        ELSE max(v.relevance) OVER (PARTITION BY v.project_id, v.occurred_at) END AS around,
                   coalesce(n.neighbours, 0) AS beside, coalesce(g.graph, 0) AS along
              FROM (SELECT c.*, r.relevance FROM unnest(candidates) c CROSS JOIN LATERAL pgmnemo._relevance(c, s) r
                    OFFSET 0) v
              LEFT JOIN unnest(near, nears) AS n (id, neighbours) ON n.id = v.lesson_id
              LEFT JOIN unnest(linked, graphs) AS g (id, graph) ON g.id = v.lesson_id) d
     CROSS JOIN LATERAL (
            SELECT ROW(d.lesson_id, d.project_id, d.external_id, d.occurred_at, d.place, d.words, d.assistant, d.cosine,
                       d.bm25, d.passage_terms, d.passage_cosine, d.pair_cosine, d.temporal, d.around, d.beside,
                       d.recency, d.importance, d.along, d.coverage, d.center, d.mark,
                       d.repeats, d.share)::pgmnemo.candidate) AS o (own)
     CROSS JOIN LATERAL pgmnemo._score(d.relevance, o.own, s) x
$$;
-- Which lessons a call may answer with; the same in every leg. It becomes a part of each statement that asks, and most
-- calls ask for no more than is tested first.
CREATE OR REPLACE FUNCTION pgmnemo._recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT l.active
       AND (l.superseded_at IS NULL OR (scope).moment < l.superseded_at OR (scope).known_at IS NOT NULL)
       AND (l.expires_at IS NULL OR (scope).moment < l.expires_at)
       AND ((scope).plain
            OR ((scope).role IS NULL OR l.role = (scope).role)
               AND ((scope).valid_at IS NULL OR coalesce(l.occurred_at, l.stored_at) <= (scope).valid_at)
               AND ((scope).gate <> 'enforce' OR l.commit_sha IS NOT NULL OR l.artifact_hash IS NOT NULL)
               AND ((scope).known_at IS NULL OR pgmnemo._believed(l, scope))
               AND ((scope).filtered IS NOT TRUE OR pgmnemo._passing(l, (scope).filter)))
$$;
-- Of which lexemes a lesson is that repeats the question: those of the question under every configuration that lessons
-- were cut by, in mode vector, too. NULL where lessons rank by their score alone, or nothing is asked in words.
CREATE OR REPLACE FUNCTION pgmnemo._repeated(scope pgmnemo.scope, asked pgmnemo.question, words text, mode text,
                                  duplicates boolean)
RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    configs regconfig[];
BEGIN
    IF duplicates IS NULL OR words IS NULL OR mode <> 'vector' AND asked.configs IS NULL THEN
        RETURN NULL;
    END IF;
    configs := coalesce(asked.configs, pgmnemo._tenant_configs(scope.tenant));
    IF mode <> 'vector' AND cardinality(configs) = 1 THEN
        RETURN nullif(asked.terms, '{}');
    END IF;
    RETURN (SELECT array_agg(DISTINCT w.lexeme)
              FROM unnest(configs) AS c (config)
             CROSS JOIN LATERAL unnest(tsvector_to_array(pgmnemo._lexemes(c.config, words))) AS w (lexeme));
END
$$;
-- Whether a lesson restates an older one that fits about as well: it is newer, at most fifteen in a hundred of
-- the score below (another wording of the same statement makes as much), and a quarter of their words or more are the
-- same.
CREATE OR REPLACE FUNCTION pgmnemo._restates(score float8, happened timestamptz, lexemes tsvector,
                                  older_score float8, older_happened timestamptz, older_lexemes tsvector)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN happened > older_happened AND score >= 0.85 * older_score
                THEN coalesce(pgmnemo._words_shared(older_lexemes, lexemes) >= 0.25::float8, false)
                ELSE false END
$$;
-- The scope of a recall: one project, or with NULL all of the tenant. Nothing in it depends on the search path, so it
-- fixes none and costs no call.
CREATE OR REPLACE FUNCTION pgmnemo._scope(tenant uuid, project uuid, gate text DEFAULT 'off', role text DEFAULT NULL,
                               valid_at timestamptz DEFAULT NULL, moment timestamptz DEFAULT NULL,
                               known_at timestamptz DEFAULT NULL, filter pgmnemo.filter DEFAULT NULL)
RETURNS pgmnemo.scope
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ROW(tenant, coalesce(project, '00000000-0000-0000-0000-000000000000'),
               coalesce(project, 'ffffffff-ffff-ffff-ffff-ffffffffffff'), gate, role, valid_at,
               coalesce(valid_at, moment), known_at, filter IS DISTINCT FROM NULL, NULL,
               filter, NULL,
               role IS NULL AND valid_at IS NULL AND gate <> 'enforce' AND known_at IS NULL
               AND filter IS NOT DISTINCT FROM NULL, NULL)::pgmnemo.scope
$$;
-- What an assistant says counts for less: much of it repeats what it was told. So does what only asks; and the question
-- itself is worth nothing, and lends nothing to its neighbours.
CREATE OR REPLACE FUNCTION pgmnemo._share(repeats boolean, assistant boolean, asks boolean, s pgmnemo.settings)
RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN repeats THEN 0
                ELSE CASE WHEN assistant THEN (s).assistant_weight ELSE 1 END
                     * CASE WHEN asks THEN (s).question_weight ELSE 1 END END
$$;
-- Brings the names of a tenant that an older version has stored into their composed form. Where two keys of a project
-- would become one, both lessons stay as they are, and a WARNING names them. Items of LangGraph, to which two forms are
-- two names, get keys and topics as pgmnemo/adapters/langgraph_items.py writes such names.
CREATE OR REPLACE FUNCTION pgmnemo._compose_names(tenant uuid)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    longest constant integer := 1000;  -- bytes of a key
    one record;
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RETURN;
    END IF;
    UPDATE pgmnemo.lesson l
       SET external_id = CASE WHEN l.external_id IS NFC NORMALIZED THEN l.external_id
                              WHEN octet_length(pgmnemo._ascii_text(l.external_id)) <= longest
                              THEN pgmnemo._ascii_text(l.external_id)
                              ELSE 'sha256 ' || encode(sha256(convert_to(l.external_id, 'UTF8')), 'hex') END,
           topic = (SELECT 'langgraph.' || string_agg(
                               CASE WHEN p IS NFC NORMALIZED THEN p
                                    ELSE '.' || pgmnemo._ascii_text(left(substr(to_json(p)::text, 2), -1)) END || '.',
                               '' ORDER BY n)
                      FROM string_to_table(left(substr(l.topic, 11), -1), '.') WITH ORDINALITY AS u (p, n))
     WHERE l.tenant_id = tenant AND starts_with(l.topic, 'langgraph.')
       AND concat_ws(' ', l.external_id, l.topic) IS NOT NFC NORMALIZED
       AND jsonb_typeof(l.metadata -> 'key') = 'string' AND jsonb_typeof(l.metadata -> 'value') = 'object';

    WITH other AS MATERIALIZED (
        SELECT l.id, l.project_id, l.external_id, normalize(l.external_id, NFC) AS composed
          FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
    )
    UPDATE pgmnemo.lesson l SET external_id = a.composed
      FROM (SELECT o.project_id, o.composed, min(o.id) AS id FROM other o GROUP BY 1, 2 HAVING count(*) = 1) a
     WHERE l.tenant_id = tenant AND l.id = a.id AND octet_length(a.composed) <= longest
       AND NOT EXISTS (SELECT FROM pgmnemo.lesson x
                        WHERE x.tenant_id = tenant AND x.project_id = a.project_id AND x.external_id = a.composed);
    UPDATE pgmnemo.lesson l SET topic = normalize(l.topic, NFC), role = normalize(l.role, NFC)
     WHERE l.tenant_id = tenant AND (l.topic IS NOT NFC NORMALIZED OR l.role IS NOT NFC NORMALIZED);
    UPDATE pgmnemo.lesson l
       SET metadata = jsonb_set(l.metadata, '{fact}', normalize((l.metadata -> 'fact')::text, NFC)::jsonb)
     WHERE l.tenant_id = tenant AND l.metadata #> '{fact,subject}' IS NOT NULL
       AND (l.metadata -> 'fact')::text IS NOT NFC NORMALIZED;

    FOR one IN
        SELECT l.project_id, pgmnemo._ascii_text(to_json(l.external_id)::text) AS key,
               (SELECT pgmnemo._ascii_text(to_json(o.external_id)::text) FROM pgmnemo.lesson o
                 WHERE o.tenant_id = tenant AND o.project_id = l.project_id AND o.id <> l.id
                   AND normalize(o.external_id, NFC) = normalize(l.external_id, NFC)
                 ORDER BY o.external_id COLLATE "C" DESC LIMIT 1) AS twin
          FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.external_id IS NOT NFC NORMALIZED
         ORDER BY l.project_id, l.external_id
    LOOP
        RAISE WARNING 'tenant %, project %: the lesson % keeps its key, %', tenant, one.project_id, one.key,
              coalesce('which is that of the lesson ' || one.twin || ' in Unicode''s composed form',
                       format('for that is longer than %s bytes in Unicode''s composed form', longest))
        USING HINT = 'Store it under another key, and forget it under this.';
    END LOOP;
END
$$;
-- The trigger derives lexemes anew under each lesson's own configuration, or that of a new lesson where it is no longer
-- there. The tenant's postings must be away: the siblings of that trigger would stumble over damaged ones.
CREATE OR REPLACE FUNCTION pgmnemo._repair_lessons(tenant uuid)
RETURNS void
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
    UPDATE pgmnemo.lesson l SET lexemes = '', token_count = -1
     WHERE l.tenant_id = tenant AND l.id IN (SELECT s.lesson_id FROM pgmnemo._stale_lessons(tenant) s)
$$;
-- Adds a row of pgmnemo._upkeep_waiting to what the run counts and, where it is due and `most` is above 0, mends it:
-- brings so many vectors into a graph, or compacts the postings, and begins with nothing more after five seconds. What
-- is left waits for the next run. What its writers hold or what is spoilt stays.
CREATE OR REPLACE FUNCTION pgmnemo._upkeep_one(
    run        pgmnemo.upkeep_run,
    tenant     uuid,
    generation smallint,
    waiting    bigint,
    due        boolean,
    most       bigint
)
RETURNS pgmnemo.upkeep_run
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = 100
AS $$
#variable_conflict use_variable
DECLARE
    enough constant timestamptz := clock_timestamp() + interval '5 seconds';
    fewer bigint := 0;
BEGIN
    IF due AND most > 0 THEN
        BEGIN
            PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
            IF generation IS NULL THEN
                IF pgmnemo._try_lock_tenant(tenant) THEN
                    PERFORM pgmnemo._compact(tenant, enough);
                    fewer := waiting - pgmnemo._loose_blocks(tenant);
                END IF;
            ELSIF pgmnemo._dimensions_of(tenant, generation) IS NULL THEN
                PERFORM pgmnemo._drop_generation(tenant, generation) WHERE pgmnemo._try_lock_tenant(tenant);
            ELSE
                PERFORM pgmnemo._enter_graph(tenant, generation, most, enough);
                fewer := waiting - pgmnemo._awaiting(tenant, generation);
            END IF;
            PERFORM pgmnemo._leave();
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
            WHEN OTHERS THEN
                RAISE WARNING '% of tenant % stays as it is: %',
                              CASE WHEN generation IS NULL THEN 'the index of words' ELSE 'the graph' END,
                              quote_literal(tenant), SQLERRM;
        END;
    END IF;
    fewer := greatest(fewer, 0);  -- others may have stored more meanwhile
    IF generation IS NULL THEN
        run.blocks_waiting := run.blocks_waiting + waiting - fewer;
    ELSE
        run.vectors_waiting := run.vectors_waiting + waiting - fewer;
    END IF;
    IF due THEN
        run."left" := run."left" + waiting - fewer;
        run.skipped := run.skipped + (fewer = 0 AND waiting > 0)::integer;
    END IF;
    IF fewer > 0 THEN
        run.merged := clock_timestamp();
    END IF;
    RETURN run;
END
$$;
-- What waits for each graph and in each tenant's postings (generation NULL), and whether it is due. The policies show
-- rows of the acting tenant alone, so it acts for one after another, in no order: a large one must not keep the others
-- waiting. Of one tenant a graph that is to be made comes first, as in pgmnemo.index. It locks nothing.
CREATE OR REPLACE FUNCTION pgmnemo._upkeep_waiting()
RETURNS TABLE (tenant uuid, generation smallint, waiting bigint, due boolean)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    tail_most constant bigint := pgmnemo._tail_most((pgmnemo._settings()).exact_scan_limit);
    graph name;
BEGIN
    FOR tenant, generation, graph IN
        SELECT g.tenant_id, g.generation, g.name FROM pgmnemo.vector_graph g
         WHERE pgmnemo._graphs_sound()
         ORDER BY md5(g.tenant_id::text || now()), pgmnemo._graph_stands(g.name)
    LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := 0;
        due := true;
        IF pgmnemo._dimensions_of(tenant, generation) IS NOT NULL THEN  -- else of an embedder that was changed
            waiting := pgmnemo._awaiting(tenant, generation);
            due := waiting > tail_most OR NOT pgmnemo._graph_stands(graph);
        END IF;
        RETURN NEXT;
    END LOOP;
    generation := NULL;
    FOR tenant IN SELECT g.tenant_id FROM pgmnemo.tenant_grant g GROUP BY g.tenant_id ORDER BY random() LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        waiting := pgmnemo._loose_blocks(tenant);
        due := pgmnemo._worth_compacting(tenant, waiting);
        RETURN NEXT;
    END LOOP;
    PERFORM pgmnemo._leave();
END
$$;
-- The tests of pgmnemo._recallable and of the scope, one by one.
CREATE OR REPLACE FUNCTION pgmnemo._explain_recallable(l pgmnemo.lesson, scope pgmnemo.scope)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'recallable', t.item, CASE WHEN t.passed THEN 'yes' ELSE 'no' END, NULL::float8, NULL::float8, t.note
      FROM (VALUES
            ('scope', pgmnemo._in_scope((l).project_id, scope),
             format('lesson in project %s, recall in %s', (l).project_id,
                    CASE WHEN (scope).first_project = (scope).last_project THEN (scope).first_project::text
                         WHEN ((scope).filter).projects IS NOT NULL
                         THEN array_to_string(((scope).filter).projects, ', ')
                         ELSE 'the whole tenant' END)),
            ('active', (l).active, CASE WHEN NOT (l).active THEN 'softly forgotten' END),
            ('role', (scope).role IS NULL OR coalesce((l).role = (scope).role, false),
             format('lesson %s, recall %s', coalesce(quote_literal((l).role), 'without role'),
                    coalesce(quote_literal((scope).role), 'of any role'))),
            ('happened', coalesce(coalesce((l).occurred_at, (l).stored_at) <= (scope).valid_at, true),
             format('%s, recall valid at %s', coalesce((l).occurred_at, (l).stored_at),
                    coalesce((scope).valid_at::text, 'any time'))),
            ('not expired', coalesce((scope).moment < (l).expires_at, true),
             format('expires %s, recall as of %s', coalesce((l).expires_at::text, 'never'), (scope).moment)),
            ('not superseded', CASE WHEN (scope).known_at IS NULL
                                    THEN coalesce((scope).moment < (l).superseded_at, true)
                                    ELSE pgmnemo._believed(l, scope) END,
             format('superseded %s, recall as of %s, by what was known %s', coalesce((l).superseded_at::text, 'never'),
                    (scope).moment, coalesce((scope).known_at::text, 'last'))),
            ('filter', (scope).filtered IS NOT TRUE OR pgmnemo._passes(l, (scope).filter),
             CASE WHEN (scope).filtered IS NOT TRUE THEN 'none' END),
            ('gate', (scope).gate <> 'enforce' OR (l).commit_sha IS NOT NULL OR (l).artifact_hash IS NOT NULL,
             format('gate_strict %s, lesson with%s provenance', (scope).gate,
                    CASE WHEN coalesce((l).commit_sha, (l).artifact_hash) IS NULL THEN 'out' ELSE '' END))
           ) AS t (item, passed, note)
$$;
-- The contributions in the order of the sum: added up one after another they are the score to the last bit.
CREATE OR REPLACE FUNCTION pgmnemo._explain_score(l pgmnemo.lesson, c pgmnemo.candidate, context_from text, graph_seed text,
                                       s pgmnemo.settings, moment timestamptz)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'score', t.item, t.value::text, (to_jsonb(s) ->> (t.item || '_weight'))::float8,
           a.contributions[t.place], t.note
      FROM ROWS FROM (unnest(
               ARRAY['bm25', 'passage_terms', 'passage_cosine', 'pair_cosine', 'cosine', 'temporal',
                     'context', 'neighbours',
                     'recency', 'importance', 'graph'],
               ARRAY[(c).bm25, (c).passage_terms, (c).passage_cosine, (c).pair_cosine, (c).cosine,
                     (c).temporal, (c).context,
                     (c).neighbours, (c).recency, (c).importance, (c).graph],
               ARRAY[format('%s words; by its coverage of the question %s of its worth counts', (l).token_count,
                            round((c).coverage::numeric, 3)),
                     'by its coverage, too',
                     'unrelated texts have ' || round((c).center::numeric, 3), NULL, NULL,
                     coalesce('occurred at ' || (l).occurred_at, 'without occurred_at'),
                     CASE WHEN context_from = (l).external_id THEN 'its own relevance'
                          ELSE 'relevance of ' || quote_literal(context_from) END,
                     coalesce('position ' || (l).position, 'without position'),
                     format('age %s days, half-life %s days',
                            round((greatest(date_part('epoch', moment)
                                            - date_part('epoch', coalesce((l).occurred_at, (l).stored_at)), 0)
                                            / 86400)::numeric,
                                  2), (s).recency_half_life),
                     format('importance %s of 1 to 5', (l).importance),
                     'flows in from ' || quote_literal(graph_seed)])) WITH ORDINALITY AS t (item, value, note, place)
     CROSS JOIN pgmnemo._contributions(c, s) a
     ORDER BY t.place
$$;
-- The question's lexemes, rarest first; those that no lesson in scope holds come last.
CREATE OR REPLACE FUNCTION pgmnemo._explain_terms(l pgmnemo.lesson, words text, asked pgmnemo.question, s pgmnemo.settings)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'term', q.lexeme, coalesce(cardinality(h.positions), 0)::text, a.idf,
           CASE WHEN h.lexeme IS NOT NULL
                THEN (s).bm25_weight
                     * pgmnemo._impact(a.scale, cardinality(h.positions),
                                       (asked).flat, (asked).per_token, (l).token_count,
                                       (asked).pivot)
                     / pgmnemo._unit()
                ELSE 0 END,
           format('in %s of %s lessons', coalesce(a.lessons, 0), (asked).held)
           || coalesce('; in passage ' || p.numbers, '')
      FROM unnest((SELECT w.lexemes FROM pgmnemo._question_words(words, pgmnemo._tenant_configs((l).tenant_id)) w))
           AS q (lexeme)
      LEFT JOIN unnest((asked).terms, (asked).idfs, (asked).scales, (asked).postings) AS a (lexeme, idf, scale, lessons)
             ON a.lexeme = q.lexeme
      LEFT JOIN unnest((l).lexemes) h ON h.lexeme = q.lexeme
     CROSS JOIN LATERAL (
            SELECT string_agg(p.number::text, ', ' ORDER BY p.number)
              FROM pgmnemo.passage p
             WHERE p.tenant_id = (l).tenant_id AND p.lesson_id = (l).id
               AND p.lexemes @@ pgmnemo._term(q.lexeme)) AS p (numbers)
     ORDER BY a.idf DESC NULLS LAST, q.lexeme COLLATE "C"
$$;
CREATE OR REPLACE FUNCTION pgmnemo.append(
    tenant        uuid,
    project_id    uuid,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    prefix        text        DEFAULT 'turn',
    apart         boolean     DEFAULT false,
    language      text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (external_id text, "position" integer, lesson_id bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    one pgmnemo.lesson_input;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._refuse_lesson(1, NULL, pgmnemo._size_problem(
        append.content, append.topic, append.role, append.commit_sha, append.artifact_hash, append.metadata,
        append.passages));
    one := ROW(
        append.project_id, NULL, append.content, pgmnemo._embedding(append.embedding), pgmnemo._composed(append.role),
        pgmnemo._composed(append.topic),
        CASE WHEN append.importance BETWEEN 1 AND 5 THEN append.importance
             WHEN append.importance IS NOT NULL THEN 0 END, append.metadata,
        append.occurred_at, append.expires_at, append.commit_sha, append.artifact_hash,
        append.verified_at, append.passages, append.passage_embeddings, NULL, append.language);
    PERFORM pgmnemo._write_tenant(tenant);
    SELECT n.key, n.place INTO one.external_id, one.position
      FROM pgmnemo._next_turn(tenant, append.project_id, pgmnemo._composed(append.prefix COLLATE "default"),
                              coalesce(apart, false)) n;
    RETURN QUERY
    SELECT s.external_id, one.position, s.lesson_id FROM pgmnemo._store(tenant, ARRAY[one], NULL, true) s;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.append IS 'stores a lesson at the end of a project''s conversation, so that no writer need count: its position is the one after the project''s greatest, from 1 on (apart: one place is left free before it, where a session begins), its key prefix/position, or with the next number whose key is not taken; the other arguments are those of pgmnemo.store. Calls for one tenant wait for one another to the end of their transactions; under REPEATABLE READ one that waited is a serialization error to repeat. Returns key, position and id. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.assert_fact(
    tenant        uuid,
    project_id    uuid,
    subject       text,
    relation      text,
    object        text,
    at            timestamptz DEFAULT NULL,
    single        boolean     DEFAULT false,
    reason        text        DEFAULT NULL,
    source        text        DEFAULT NULL,
    content       text        DEFAULT NULL,
    embedding     real[]      DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (key text, outcome text, superseded bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := coalesce(at, now());
    fact jsonb := pgmnemo._fact(subject, relation, object);
    source_id bigint;
    one pgmnemo.lesson_input;
    named text COLLATE "C";
    stored record;
    others bigint[];
    later record;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_moment(moment, reason);
    IF fact -> 'subject' IS NULL OR fact -> 'relation' IS NULL OR fact -> 'object' IS NULL THEN
        RAISE EXCEPTION 'a fact needs a subject, a relation and an object' USING ERRCODE = 'invalid_parameter_value';
    ELSIF jsonb_typeof(metadata) <> 'object' OR metadata ? 'fact' THEN
        RAISE EXCEPTION 'metadata of a fact must be an object without the key fact, which the fact has'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pgmnemo._write_tenant(tenant);
    IF assert_fact.source IS NOT NULL THEN
        source_id := pgmnemo._lesson_id(tenant, project_id, assert_fact.source COLLATE "default");
    END IF;
    SELECT l.id, l.external_id INTO stored
      FROM pgmnemo._facts_held(tenant, project_id, fact, moment) l ORDER BY l.id LIMIT 1;
    IF FOUND THEN
        named := stored.external_id;
        outcome := 'unchanged';
    ELSE
        named := 'fact/' || left(encode(sha256(convert_to(jsonb_build_array(fact, moment)::text, 'UTF8')), 'hex'), 32);
        IF EXISTS (SELECT FROM pgmnemo.lesson l
                    WHERE l.tenant_id = tenant AND l.project_id = assert_fact.project_id AND l.external_id = named) THEN
            named := 'fact/' || replace(gen_random_uuid()::text, '-', '');  -- it was asserted then before, and ended
        END IF;
        one.project_id := project_id;
        one.external_id := named;
        one.content := coalesce(assert_fact.content,
                                concat_ws(' ', fact ->> 'subject', fact ->> 'relation', fact ->> 'object'));
        one.embedding := pgmnemo._embedding(embedding);
        one.metadata := coalesce(assert_fact.metadata, '{}') || jsonb_build_object('fact', fact);
        one.occurred_at := moment;
        one.commit_sha := assert_fact.commit_sha;
        one.artifact_hash := assert_fact.artifact_hash;
        SELECT s.lesson_id AS id, s.outcome INTO stored
          FROM pgmnemo._store(tenant, ARRAY[one], NULL, only_new => true) s;
        outcome := stored.outcome;
    END IF;
    IF source_id IS NOT NULL THEN
        INSERT INTO pgmnemo.lesson_edge (tenant_id, source_id, target_id, kind, valid_from)
        VALUES (tenant, source_id, stored.id, 'asserts', moment) ON CONFLICT DO NOTHING;
    END IF;
    IF single THEN
        others := ARRAY(SELECT l.id FROM pgmnemo._facts_held(tenant, project_id, fact - 'object', moment) l
                         WHERE l.id <> stored.id AND l.metadata -> 'fact' -> 'object' <> fact -> 'object');
        SELECT l.id, l.occurred_at INTO later
          FROM pgmnemo._facts_held(tenant, project_id, fact - 'object', NULL) l
         WHERE l.occurred_at > moment AND l.id <> stored.id ORDER BY l.occurred_at, l.id LIMIT 1;
        IF later.id IS NOT NULL AND outcome <> 'unchanged' THEN
            PERFORM pgmnemo._supersede(tenant, stored.id, later.id, assert_fact.reason, later.occurred_at);
        END IF;
        PERFORM pgmnemo._supersede(tenant, o, stored.id, assert_fact.reason, moment) FROM unnest(others) o;
    END IF;
    key := named;
    superseded := coalesce(cardinality(others), 0);
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.assert_fact IS 'stores that subject, relation and object hold together from at on (NULL: now), as a lesson whose metadata has them under fact, and returns its key. Blanks around the three and runs of blanks do not count, capital letters do. unchanged where the same holds then already. single: the caller''s word that a subject has one object of this relation at a time: whatever else holds at that moment is superseded by the new one, and the new one by what holds later; superseded says how many were. source: the key of a lesson that it was learned from, linked to it as asserts. content: what recall finds it by, NULL: the three joined. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.compact(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    merged bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._lock_tenant(tenant);
    merged := pgmnemo._compact(tenant);
    PERFORM pgmnemo._leave();
    RETURN merged;
END
$$;

COMMENT ON FUNCTION pgmnemo.compact IS 'merges the many small blocks that single writes leave in pgmnemo.posting, and seals what is enough for it into pieces (pgmnemo.piece); answers stay the same, recall gets faster. It does all that there is to do (pgmnemo.upkeep_each: for five seconds a call). Returns how many blocks fewer there are; VACUUM pgmnemo.posting afterwards';
CREATE OR REPLACE FUNCTION pgmnemo.explain(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL,
    duplicates  boolean     DEFAULT false,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(explain.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN explain.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(explain.embedding) END;
    words text COLLATE "default" := CASE WHEN explain.mode IS DISTINCT FROM 'vector' THEN explain.query_text END;
    from_role text COLLATE "default" := pgmnemo._composed(explain.role);
    key text COLLATE "default" := explain.external_id;
    home uuid := coalesce(explain.in_project, explain.project_id);
    asked pgmnemo.question;
    wanted bigint;
    l pgmnemo.lesson;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    first_of bigint[];
    found record;
    ways text;
    first bigint;
    ahead integer;
    notes text;
    meant record;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(explain.k, explain.mode, meaning IS NOT NULL, words, moment, NULL);
    IF home IS NULL THEN
        RAISE EXCEPTION 'in_project is NULL, but must name the lesson''s project where project_id is NULL'
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := pgmnemo._asked_scope(tenant, explain.project_id, s.gate_strict, from_role, explain.valid_at, moment,
                                  explain.known_at, explain.filter);
    wanted := pgmnemo._lesson_id(tenant, home, key);
    SELECT o.* INTO l FROM pgmnemo.lesson o WHERE o.tenant_id = tenant AND o.id = wanted;
    asked := pgmnemo._ask(scope, words, meant.vector, moment, s, explain.windows);
    asked.generation := meant.generation;
    asked.collapse := explain.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._against_background(scope, asked);
    asked.graph := meant.graph;
    asked.repeated := pgmnemo._repeated(scope, asked, explain.query_text, explain.mode, explain.duplicates);
    pool := pgmnemo._pool(scope, asked, s, explain.k, words IS NOT NULL, moment, l.id);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out, e.first_of INTO leads, shown, others, left_out, first_of
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    first := coalesce(first_of[array_position(left_out, l.id)], l.id);
    ahead := CASE WHEN explain.duplicates IS NULL OR cardinality(asked.since) > 0 THEN 0 ELSE 3 END;
    WITH ranked AS MATERIALIZED (
        SELECT r.score, r.alone, r.own
          FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
    ), best AS MATERIALIZED (
        SELECT (r.own).lesson_id, (r.own).repeats, r.score, o.lexemes, coalesce(o.occurred_at, o.stored_at) AS happened,
               row_number() OVER (ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id,
                                           (r.own).project_id) AS turn
          FROM ranked r
          JOIN pgmnemo.lesson o ON o.tenant_id = tenant
               AND o.id = coalesce(shown[array_position(leads, (r.own).lesson_id)], (r.own).lesson_id)
         WHERE (r.own).lesson_id <> ALL (left_out)
    ), placed AS (
        SELECT b.lesson_id, count(*) OVER () AS all_of_them,
               row_number() OVER (ORDER BY b.repeats,
                                           coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn),
                                           b.happened DESC, b.turn) AS rank
          FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                       array_agg(b.lexemes) OVER w AS texts_ahead
                  FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
         CROSS JOIN LATERAL (
                SELECT min(o.place) AS place
                  FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                        AS o (score, happened, lexemes, place)
                 WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
    )
    SELECT p.rank, p.all_of_them, r.score, r.alone, r.own INTO found
      FROM ranked r JOIN placed p ON p.lesson_id = first WHERE (r.own).lesson_id = l.id;
    notes := CASE WHEN (found.own).repeats THEN '; it only repeats the question: behind all that does not' ELSE '' END
             || coalesce((SELECT format('; one hit with %s equal lessons, shown as %L', e.others, o.external_id)
                            FROM unnest(leads, shown, others) AS e (lead, id, others)
                            JOIN pgmnemo.lesson o ON o.tenant_id = tenant AND o.id = e.id WHERE e.lead = first), '');
    ways := pgmnemo._ways(l, scope, pool.by_keyword, pool.by_vector, pool.filled, pool.added, pool.linked);

    RETURN QUERY VALUES
        ('answer', 'rank', CASE WHEN ways IS NOT NULL THEN found.rank::text END, NULL::float8, NULL::float8,
         CASE WHEN ways IS NULL THEN format('none: it would be %s of %s candidates', found.rank, found.all_of_them)
              ELSE format('of %s candidates', found.all_of_them)
                   || CASE WHEN found.rank > explain.k THEN '; beyond k = ' || explain.k ELSE '' END END || notes),
        ('answer', 'score', found.score::text, NULL, NULL, left(l.content, 100)),
        ('answer', 'fit', (SELECT CASE WHEN (found.own).repeats THEN '0' ELSE f.fit::text END
                             FROM pgmnemo._fit(found.alone, asked.ideal) f),
         NULL, NULL,
         'of a score of ' || asked.ideal),
        ('answer', 'candidate', CASE WHEN ways IS NULL THEN 'no' ELSE 'yes' END, NULL, NULL,
         coalesce(ways, 'in no leg''s best ' || greatest(s.pool_depth, explain.k)));
    RETURN QUERY SELECT * FROM pgmnemo._explain_recallable(l, scope);
    RETURN QUERY SELECT * FROM pgmnemo._explain_score(
        l, found.own, pgmnemo._context_seed(pool.candidates, found.own, s),
        CASE WHEN (found.own).graph > 0 THEN pgmnemo._graph_seed(scope, pool.candidates, pool.seeds, l.id, s) END,
        s, moment);
    RETURN QUERY SELECT * FROM pgmnemo._explain_terms(l, words, asked, s);
    RETURN QUERY SELECT * FROM pgmnemo._explain_passages(l, asked, s);
    RETURN QUERY
    SELECT 'time', 'interval ' || t.number, pgmnemo._temporal(l.occurred_at, ARRAY[t.since], ARRAY[t.until])::text,
           NULL::float8, NULL::float8, format('%s to %s', t.since, t.until)
      FROM unnest(asked.since, asked.until) WITH ORDINALITY AS t (since, until, number);
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.explain IS 'why one lesson ranks where it does for one question; arguments as of pgmnemo.recall, in_project: the lesson''s project where that is not project_id. Sections of the table, value and numbers as that call has them:
answer: rank (NULL: not among the candidates), score (what it would be otherwise), fit and by which ways it became a candidate;
recallable: each condition that a lesson must meet, yes or no;
score: each component with its weight and contribution; added up in this order the contributions are the score;
term: each lexeme of the question: value is how often the lesson holds it, weight its inverse document frequency, contribution its part of the weighted BM25;
passage n: those that decide, with text, terms (sum of idf + passage_term_bonus) and cosine;
time: each interval that the question names, and how occurred_at fits it.';
CREATE OR REPLACE FUNCTION pgmnemo.explain_recall(
    project_id  uuid,
    external_id text,
    embedding   real[]      DEFAULT NULL,
    query_text  text        DEFAULT NULL,
    as_of       timestamptz DEFAULT NULL,
    valid_at    timestamptz DEFAULT NULL,
    role        text        DEFAULT NULL,
    mode        text        DEFAULT 'hybrid',
    k           integer     DEFAULT 10,
    in_project  uuid        DEFAULT NULL,
    filter      jsonb       DEFAULT NULL,
    known_at    timestamptz DEFAULT NULL,
    windows     tstzmultirange DEFAULT NULL
)
RETURNS TABLE (section text, item text, value text, weight float8, contribution float8, note text)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT * FROM pgmnemo.explain(pgmnemo._session_tenant(), project_id, external_id, embedding, query_text,
                                  as_of, valid_at, role, mode, k, in_project, filter, known_at, windows,
                                  NULL);
END
$$;

COMMENT ON FUNCTION pgmnemo.explain_recall IS 'explain for the session''s tenant, of how pgmnemo.recall_lessons ranks: with duplicates NULL';
CREATE OR REPLACE FUNCTION pgmnemo.facts(
    tenant     uuid,
    project_id uuid        DEFAULT NULL,
    subject    text        DEFAULT NULL,
    relation   text        DEFAULT NULL,
    object     text        DEFAULT NULL,
    at         timestamptz DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    history    boolean     DEFAULT false,
    most       integer     DEFAULT 1000,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    in_project  uuid,
    key         text,
    said_of     text,
    related     text,
    told        text,
    content     text,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := CASE WHEN history THEN '-infinity' ELSE coalesce(facts.at, now()) END;
    asked jsonb := (SELECT jsonb_object_agg('fact.' || f.key, f.value)
                      FROM jsonb_each(pgmnemo._fact(facts.subject, facts.relation, facts.object)) f);
    read_most constant integer := 10000;
    scope pgmnemo.scope;
    hidden integer;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    IF most IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'most is %, but must be from 1 to 10000', coalesce(most::text, 'NULL')
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- `history` asks as of a moment before everything, when nothing has ended yet, and does without valid_at
    scope := pgmnemo._asked_scope(
        tenant, facts.project_id, (pgmnemo._settings()).gate_strict, NULL,
        CASE WHEN NOT history THEN moment END, moment, facts.known_at,
        jsonb_build_object('metadata', '{"fact.subject": {"exists": true}}' || coalesce(asked, '{}')));
    hidden := pgmnemo._hidden(scope);
    RETURN QUERY
    SELECT l.project_id, l.external_id, l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}',
           l.metadata #>> '{fact,object}', l.content, l.occurred_at, x.valid_from, x.reason, l.stored_at
      FROM (SELECT i.id FROM unnest(scope.ids) AS i (id)
             UNION ALL
            SELECT pgmnemo._fill(scope, '{}', read_most) WHERE scope.ids IS NULL) i
     CROSS JOIN LATERAL (
            SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = i.id OFFSET 0) l
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._link_known(x, facts.known_at) OFFSET 0) x ON true
     ORDER BY l.metadata #>> '{fact,subject}', l.metadata #>> '{fact,relation}', l.occurred_at, l.external_id
     LIMIT most;
    IF NOT FOUND AND hidden > 0 THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.facts IS 'the facts of a subject, a relation, an object (NULL: any) that hold at a time (NULL: now) by what was known at another (NULL: now), at most so many (1 to 10,000), by subject, relation and time; history: whenever they held. valid_to and reason: from when on they no longer do, and why; recorded_at: when they were stored. tenant NULL: the session''s, project_id NULL: all of it';
CREATE OR REPLACE FUNCTION pgmnemo.forget(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    hard        boolean DEFAULT false,
    revive      boolean DEFAULT false,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS boolean
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key text COLLATE "default" := forget.external_id;
    gone bigint;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._write_tenant(tenant);
    key := pgmnemo._stored_key(tenant, forget.project_id, key);
    PERFORM pgmnemo._bequeath(tenant, ARRAY(SELECT l.id FROM pgmnemo.lesson l
                                             WHERE l.tenant_id = tenant AND l.project_id = forget.project_id
                                               AND l.external_id = key), revive);
    IF hard THEN
        DELETE FROM pgmnemo.lesson l
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key;
    ELSE
        UPDATE pgmnemo.lesson l SET active = false
         WHERE l.tenant_id = tenant AND l.project_id = forget.project_id AND l.external_id = key
           AND l.active;
    END IF;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM pgmnemo._leave();
    RETURN gone > 0;
END
$$;

COMMENT ON FUNCTION pgmnemo.forget IS 'soft: out of recall and out of the statistics, and storing the lesson again restores it; hard: gone, with its edges. Lessons whose place it took stay out of recall, and a NOTICE says so; with revive they hold again. Returns whether anything was forgotten';
-- One way to the row, whatever the tables' statistics say.
CREATE OR REPLACE FUNCTION pgmnemo.get(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS SETOF pgmnemo.lesson
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    key text COLLATE "default" := get.external_id;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    key := pgmnemo._stored_key(tenant, get.project_id, key);
    RETURN QUERY
    SELECT l.* FROM pgmnemo.lesson l
     WHERE l.tenant_id = tenant AND l.project_id = get.project_id AND l.external_id = key;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.get IS 'the lesson of a key as it is kept, whatever its state: softly forgotten (active false), superseded, expired or without provenance, too; no row where there is none. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.language(tenant uuid, caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found text;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    found := pgmnemo._tenant_language(tenant);
    PERFORM pgmnemo._leave();
    RETURN found;
END
$$;

COMMENT ON FUNCTION pgmnemo.language IS 'the language of texts that are written without one, as pgmnemo.set_language set it: auto where nobody did. tenant NULL: the session''s';
-- Serial and uncompiled: a call takes milliseconds, and starting workers or a compiler takes longer. Planned once:
-- every statement has its index, so a plan made while the tables were small must not read them whole once they
-- are not.
CREATE OR REPLACE FUNCTION pgmnemo.recall(
    tenant     uuid,
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    filter     jsonb       DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    windows    tstzmultirange DEFAULT NULL,
    floor      float8      DEFAULT NULL,
    duplicates boolean     DEFAULT false,
    caller     pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    lesson_id      bigint,
    in_project     uuid,
    external_id    text,
    said_by        text,
    topic          text,
    content        text,
    metadata       jsonb,
    occurred_at    timestamptz,
    passage        text,
    score          float8,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    context        float8,
    neighbours     float8,
    recency        float8,
    importance     float8,
    graph          float8,
    fit            float8,
    hidden         integer,
    equal_lessons  integer,
    repeats_question boolean,
    contributions  float8[]
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
    s pgmnemo.settings;
    scope pgmnemo.scope;
    moment timestamptz := coalesce(recall.as_of, now());
    meaning @extschema:vector@.vector := CASE
        WHEN recall.mode IS DISTINCT FROM 'keyword' THEN pgmnemo._embedding(recall.embedding) END;
    words text COLLATE "default" := CASE WHEN recall.mode IS DISTINCT FROM 'vector' THEN recall.query_text END;
    from_role text COLLATE "default" := pgmnemo._composed(recall.role);
    asked pgmnemo.question;
    pool record;
    leads bigint[] := '{}';
    shown bigint[];
    others integer[];
    left_out bigint[] := '{}';
    ahead integer;  -- places that a newer lesson may come before an older one
    hidden integer;
    meant record;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    PERFORM pgmnemo._check_recall(recall.k, recall.mode, meaning IS NOT NULL, words, moment, recall.floor);
    meant := pgmnemo._question_vector(tenant, meaning);
    s := pgmnemo._settings();
    scope := CASE WHEN recall.filter IS NULL
                  THEN pgmnemo._scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at, moment,
                                      recall.known_at)
                  ELSE pgmnemo._asked_scope(tenant, recall.project_id, s.gate_strict, from_role, recall.valid_at,
                                            moment, recall.known_at, recall.filter) END;
    IF recall.known_at IS NOT NULL THEN
        scope.ended := pgmnemo._ended(tenant, scope.moment, recall.known_at);
    END IF;
    hidden := pgmnemo._hidden(scope);
    asked := pgmnemo._ask(scope, words, meant.vector, moment, s, recall.windows);
    asked.generation := meant.generation;
    asked.collapse := recall.duplicates IS NOT DISTINCT FROM false;
    asked := pgmnemo._against_background(scope, asked);
    asked.graph := meant.graph;
    asked.repeated := pgmnemo._repeated(scope, asked, recall.query_text, recall.mode, recall.duplicates);
    pool := pgmnemo._pool(scope, asked, s, recall.k, words IS NOT NULL, moment, NULL);
    IF pool.equal THEN
        SELECT e.leads, e.shown, e.others, e.left_out INTO leads, shown, others, left_out
          FROM pgmnemo._equal_lessons(scope, pool.candidates, pool.copies, pool.near, pool.nears, pool.linked,
                                      pool.graphs, s) e;
    END IF;
    ahead := CASE WHEN recall.duplicates IS NULL OR cardinality(asked.since) > 0 THEN 0 ELSE 3 END;
    RETURN QUERY
    WITH best AS MATERIALIZED (
        SELECT r.*, l.id, l.role, l.topic, l.content, l.metadata, l.occurred_at AS happened_at, l.lexemes,
               l.project_id AS lies_in, l.external_id AS named, coalesce(l.occurred_at, l.stored_at) AS happened,
               row_number() OVER (ORDER BY r.repeats, r.score DESC, r.external_id, r.project_id) AS turn
          FROM (SELECT r.score, (r.own).*, f.fit, coalesce(shown[g.place], (r.own).lesson_id) AS shown,
                       coalesce(others[g.place], 0) AS others, r.own
                  FROM pgmnemo._ranked(pool.candidates, pool.near, pool.nears, pool.linked, pool.graphs, s) r
                 CROSS JOIN LATERAL pgmnemo._fit(r.alone, asked.ideal) f
                 CROSS JOIN LATERAL (SELECT array_position(leads, (r.own).lesson_id)) AS g (place)
                 WHERE (recall.floor IS NULL OR f.fit >= recall.floor AND NOT (r.own).repeats)
                   AND (r.own).lesson_id <> ALL (left_out)
                 ORDER BY (r.own).repeats, r.score DESC, (r.own).external_id, (r.own).project_id
                 LIMIT recall.k + ahead) r
         CROSS JOIN LATERAL (
                SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = r.shown OFFSET 0) l
    )
    SELECT r.id, r.lies_in, r.named, r.role, r.topic, r.content, r.metadata, r.happened_at,
           (SELECT p.content
              FROM pgmnemo.passage p
              LEFT JOIN pgmnemo.lesson_vector v ON v.tenant_id = tenant AND v.lesson_id = r.id AND v.number = p.number
                                        AND v.generation = asked.generation
             WHERE p.tenant_id = tenant AND p.lesson_id = r.id
             ORDER BY pgmnemo._passage_worth(p.lexemes, v.embedding, asked, s), p.number LIMIT 1),
           r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal, r.context,
           r.neighbours, r.recency, r.importance, r.graph,
           CASE WHEN r.repeats THEN 0 ELSE r.fit END, hidden, r.others, r.repeats,
           a.contributions
      FROM (SELECT b.*, coalesce(b.turn - cardinality(b.scores_ahead) + o.place - 1.5, b.turn) AS rank
              FROM (SELECT b.*, array_agg(b.score) OVER w AS scores_ahead, array_agg(b.happened) OVER w AS times_ahead,
                           array_agg(b.lexemes) OVER w AS texts_ahead
                      FROM best b WINDOW w AS (ORDER BY b.turn ROWS BETWEEN ahead PRECEDING AND 1 PRECEDING)) b
             CROSS JOIN LATERAL (
                    SELECT min(o.place) AS place
                      FROM unnest(b.scores_ahead, b.times_ahead, b.texts_ahead) WITH ORDINALITY
                            AS o (score, happened, lexemes, place)
                     WHERE pgmnemo._restates(b.score, b.happened, b.lexemes, o.score, o.happened, o.lexemes)) o
             ORDER BY b.repeats, rank, b.happened DESC, b.turn LIMIT recall.k) r
     CROSS JOIN LATERAL pgmnemo._contributions(r.own, s) a
     ORDER BY r.repeats, r.rank, r.happened DESC, r.turn;
    IF NOT FOUND AND hidden > 0 AND recall.floor IS NULL THEN
        PERFORM pgmnemo._all_hidden(scope, hidden);
    END IF;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.recall IS 'the k lessons with the highest score, ties by external id in C order, and after them what only repeats the question, with the components of the score (each weight is the setting pgmnemo.<component>_weight):
relevance = share * (coverage * (bm25_weight * bm25 + passage_terms_weight * passage_terms) + passage_cosine_weight * near(passage_cosine) + pair_cosine_weight * near(pair_cosine) + cosine_weight * near(cosine) + temporal_weight * temporal), share assistant_weight for a lesson of role assistant, else 1; coverage how much of the question its words hold (pgmnemo._coverage); near how far a cosine lies from that of unrelated texts to 1 (pgmnemo._nearness, pgmnemo._center);
score = relevance + context_weight * context + neighbours_weight * neighbours + recency_weight * recency + importance_weight * importance + graph_weight * graph;
cosine: cosine similarity of question and lesson, -1 to 1, NULL without either or in mode keyword;
bm25: BM25 over the terms of query_text, any of which may match, 0 or more (pgmnemo._impact, pgmnemo._idf), NULL without query_text or in mode vector;
passage_terms: of the lesson''s passages the greatest sum over the terms that stand in it of idf + passage_term_bonus, times length_pivot / different words where the passage has more of them, 0 or more, NULL like bm25; of a lesson without passages the same, with the root of that quotient;
passage_cosine, pair_cosine: cosine similarity of the best passage, and the mean of the two best, -1 to 1, NULL like cosine; a lesson without passages is its own one passage;
temporal: how well occurred_at fits the time that query_text names, 0 to 1 (pgmnemo._temporal), less where it is told loosely;
context: greatest relevance among the candidates of the same project and the same occurred_at, itself included;
neighbours: relevance of the candidates up to two positions before and after in the same project (pgmnemo._neighbours);
recency: 0.5 ^ (age in days at as_of / recency_half_life), above 0, at most 1;
importance: (importance - 3) / 2, -1 to 1;
graph: relevance that flows in along edges from the graph_seeds most relevant candidates, 0 or more (pgmnemo._graph_proximity).
fit: the score, with the lesson''s own relevance in place of context, as a part of what a lesson that answers the question well would have, 0 to 1, comparable between questions (pgmnemo._ideal); hidden: lessons in scope that pgmnemo.gate_strict hides, counted to 1,000.
duplicates: false: lessons that say the same (pgmnemo._text_key) are one row, the newest of them (occurred_at, else stored_at; rather a statement than a question) with the score of the best, and equal_lessons the number of the others; true: each is a row of its own; NULL: so, and ranked by score alone, as pgmnemo.recall_lessons does;
a lesson that restates an older one that ranks up to three places before it (pgmnemo._restates: newer, at least 0.85 of its score, a quarter of the words) comes just before that, unless the question names a time or duplicates is NULL;
repeats_question: the lesson is the question itself (pgmnemo._repeats_question): it ranks last, and its fit is 0; contributions: what each component from bm25 to graph in the order of the formula adds to the score (pgmnemo._contributions), together the score;
passage: the text of the best passage, NULL where there are none. embedding: real[] or vector, of the tenant''s dimension; k: 1 to 10,000; project_id NULL: the whole tenant; as_of NULL: now; what has expired or is superseded at valid_at, else at as_of, is left out; valid_at: only what had happened then; known_at: by what was stored, superseded and undone then; role: only lessons of that role; mode: hybrid, vector or keyword; filter: only lessons that match it (pgmnemo._filter); windows: times that count in place of those that query_text names, at most 100 ranges; floor: only rows whose fit is at least that, 0 to 1, NULL: all.
Candidates are the pool_depth (at least k) best of each leg, the neighbours of the neighbours_seeds most relevant, and what the graph adds, filled up to pool_depth (at least k) in key order, or, where no word of the question occurs and there is no vector, with what recency and importance lift most of the 10,000 lessons that happened last; where fewer than pool_depth (at least k) different texts are among them, of up to 3,200 more of each leg: the same for every k up to pool_depth. Errors: an argument out of range or a malformed filter (22023); all lessons in scope hidden by the gate (55000).';
CREATE OR REPLACE FUNCTION pgmnemo.recall_lessons(
    embedding  real[]      DEFAULT NULL,
    k          integer     DEFAULT 10,
    query_text text        DEFAULT NULL,
    project_id uuid        DEFAULT NULL,
    as_of      timestamptz DEFAULT NULL,
    valid_at   timestamptz DEFAULT NULL,
    role       text        DEFAULT NULL,
    mode       text        DEFAULT 'hybrid',
    filter     jsonb       DEFAULT NULL,
    known_at   timestamptz DEFAULT NULL,
    windows    tstzmultirange DEFAULT NULL,
    floor      float8      DEFAULT NULL
)
RETURNS TABLE (
    lesson_id      bigint,
    in_project     uuid,
    external_id    text,
    said_by        text,
    topic          text,
    content        text,
    metadata       jsonb,
    occurred_at    timestamptz,
    passage        text,
    score          float8,
    cosine         float8,
    bm25           float8,
    passage_terms  float8,
    passage_cosine float8,
    pair_cosine    float8,
    temporal       float8,
    context        float8,
    neighbours     float8,
    recency        float8,
    importance     float8,
    graph          float8,
    fit            float8,
    hidden         integer
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT r.lesson_id, r.in_project, r.external_id, r.said_by, r.topic, r.content, r.metadata, r.occurred_at,
           r.passage, r.score, r.cosine, r.bm25, r.passage_terms, r.passage_cosine, r.pair_cosine, r.temporal,
           r.context, r.neighbours, r.recency, r.importance, r.graph, r.fit, r.hidden
      FROM pgmnemo.recall(pgmnemo._session_tenant(), embedding, k, query_text, project_id, as_of, valid_at, role,
                          mode, filter, known_at, windows, floor, NULL) r;
END
$$;

COMMENT ON FUNCTION pgmnemo.recall_lessons IS 'recall for the session''s tenant with duplicates NULL, as the protocol measures it: every lesson is a row of its own, ranked by its score alone';
-- Lessons in order of id, so that the work may stop at any time and go on from where it was.
CREATE OR REPLACE FUNCTION pgmnemo.recut(
    tenant   uuid,
    language text    DEFAULT NULL,
    after    bigint  DEFAULT 0,
    most     integer DEFAULT 1000,
    dry_run  boolean DEFAULT false,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (changed integer, next_after bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    wanted text COLLATE "default" := recut.language;
    usual text COLLATE "default";
    ids bigint[];
    due bigint[];
    configs text[] COLLATE "default";
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_most(most, 10000);
    PERFORM pgmnemo._checked_language(wanted) WHERE wanted IS NOT NULL;
    IF dry_run IS DISTINCT FROM true THEN
        PERFORM pgmnemo._lock_tenant(tenant);
    END IF;
    usual := pgmnemo._tenant_language(tenant);
    ids := ARRAY(SELECT l.id FROM pgmnemo.lesson l
                  WHERE l.tenant_id = tenant AND l.id > coalesce(recut.after, 0) ORDER BY l.id LIMIT most);
    SELECT coalesce(array_agg(c.id), '{}'), array_agg(c.config) INTO due, configs
      FROM (SELECT l.id, l.text_config,
                   pgmnemo._written_config(wanted, concat_ws(E'\n', l.topic, l.content), usual)::text AS config
              FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = ANY (ids) OFFSET 0) c
     WHERE c.text_config <> c.config;
    IF dry_run IS DISTINCT FROM true THEN
        UPDATE pgmnemo.lesson l SET text_config = d.config FROM unnest(due, configs) AS d (id, config)
         WHERE l.tenant_id = tenant AND l.id = d.id;
    END IF;
    changed := cardinality(due);
    next_after := ids[cardinality(ids)];
    PERFORM pgmnemo._leave();
    RETURN NEXT;
END
$$;

COMMENT ON FUNCTION pgmnemo.recut IS 'cuts the next lessons in order of id (after; at most so many, 1 to 10,000) into words anew, by a language: NULL is that of a text which is written now without one (pgmnemo.set_language), auto recognizes that of each, a text search configuration or a code of ISO 639 is that of all. Returns how many changed, or with dry_run would, and from where to go on: call again with after => next_after until that is NULL. Also lessons whose writer named a language. Waits for the tenant''s writers. tenant NULL: the session''s';
-- With the rights of whoever calls, who is the extension's owner or a superuser.
CREATE OR REPLACE FUNCTION pgmnemo.renew_caller_key()
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pgmnemo.caller_key SET key = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
END
$$;

REVOKE ALL ON FUNCTION pgmnemo.renew_caller_key() FROM PUBLIC;
COMMENT ON FUNCTION pgmnemo.renew_caller_key() IS 'makes a new secret by which callers are proved; after a copy of the database with its files or from a template, which holds the old one. A call that is under way may end with insufficient_privilege: repeat it. Only the extension''s owner may';
CREATE OR REPLACE FUNCTION pgmnemo.set_language(
    tenant   uuid,
    language text,
    caller   pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given text COLLATE "default" := set_language.language;
    own text;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    own := pgmnemo._checked_language(regexp_replace(given, '^auto:', ''));
    IF own <> 'auto' AND starts_with(given, 'auto:') THEN
        own := 'auto:' || own;
    END IF;
    PERFORM pgmnemo._lock_tenant(tenant);
    UPDATE pgmnemo.tenant t SET language = nullif(own, 'auto') WHERE t.tenant_id = tenant;
    PERFORM pgmnemo._leave();
    RETURN own;
END
$$;

COMMENT ON FUNCTION pgmnemo.set_language IS 'sets the language of texts that are written without one, by a session whose pgmnemo.text_config is auto: a text search configuration or a code of ISO 639 is that of all, auto recognizes the language of each, and auto:LANGUAGE, such as auto:de, takes LANGUAGE (else english) for texts that are too short to tell. Returns it as pgmnemo.language tells it. What is there stays as it is cut: pgmnemo.recut changes it. Waits for the tenant''s writers. tenant NULL: the session''s';
CREATE OR REPLACE FUNCTION pgmnemo.store(
    tenant        uuid,
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    "position"    integer     DEFAULT NULL,
    clear         text[]      DEFAULT NULL,
    language      text        DEFAULT NULL,
    caller        pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one pgmnemo.lesson_input;
    outcome text;
    problem text;
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    problem := pgmnemo._size_problem(content, topic, role, commit_sha, artifact_hash, metadata, passages);
    IF problem IS NOT NULL THEN
        PERFORM pgmnemo._refuse_lesson(1, external_id, problem);
    END IF;
    one := ROW(
        project_id, pgmnemo._composed(external_id), content, pgmnemo._embedding(embedding), pgmnemo._composed(role),
        pgmnemo._composed(topic),
        CASE WHEN importance BETWEEN 1 AND 5 THEN importance WHEN importance IS NOT NULL THEN 0 END, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        language);
    outcome := (SELECT s.outcome FROM pgmnemo._store(tenant, ARRAY[one], clear) s);
    PERFORM pgmnemo._leave();
    RETURN outcome;
END
$$;

COMMENT ON FUNCTION pgmnemo.store IS 'stores one lesson as store_set stores a set; returns inserted, unchanged, updated, unembedded or restored. clear names what shall have no value afterwards, among embedding, passages, role, topic, importance, metadata, occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position: what is left out stays. embedding is real[] or vector, passage_embeddings a vector for each of passages: of 1 to 4,000 dimensions, all of a tenant of as many as its first. language: what the text is cut into words by (pgmnemo._language_config): auto, a text search configuration, or a code of ISO 639 such as de; NULL: pgmnemo.text_config';
CREATE OR REPLACE FUNCTION pgmnemo.store_lesson(
    project_id    uuid,
    external_id   text,
    content       text,
    embedding     real[]      DEFAULT NULL,
    role          text        DEFAULT NULL,
    topic         text        DEFAULT NULL,
    importance    integer     DEFAULT NULL,
    metadata      jsonb       DEFAULT NULL,
    occurred_at   timestamptz DEFAULT NULL,
    expires_at    timestamptz DEFAULT NULL,
    commit_sha    text        DEFAULT NULL,
    artifact_hash text        DEFAULT NULL,
    verified_at   timestamptz DEFAULT NULL,
    passages      text[]      DEFAULT NULL,
    passage_embeddings @extschema:vector@.vector[] DEFAULT NULL,
    "position"    integer     DEFAULT NULL,
    clear         text[]      DEFAULT NULL,
    language      text        DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN pgmnemo.store(
        pgmnemo._session_tenant(), project_id, external_id, content, embedding, role, topic, importance, metadata,
        occurred_at, expires_at, commit_sha, artifact_hash, verified_at, passages, passage_embeddings, position,
        clear, language);
END
$$;

COMMENT ON FUNCTION pgmnemo.store_lesson IS 'store for the session''s tenant';
CREATE OR REPLACE FUNCTION pgmnemo.store_set(tenant uuid, lessons pgmnemo.lesson_input[],
                                  caller pgmnemo.caller DEFAULT pgmnemo._caller())
RETURNS TABLE (project_id uuid, external_id text, lesson_id bigint, outcome text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM pgmnemo._enter(tenant, caller);
    RETURN QUERY SELECT * FROM pgmnemo._store(tenant, pgmnemo._composed_input(lessons));
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.store_set IS 'stores a set of lessons, all or none, and says for each, in the order given, what became of it: inserted; unchanged (same key, and nothing that is given differs: nothing is written); updated (same key, other attributes); unembedded (updated, and the vector of the old text is gone with it, for none was given for the new); restored (softly forgotten before, or superseded and given another text). What is NULL stays as it is';
-- In the order in which they were copied, with one batch at a time in memory. Two sessions that load some of the same
-- keys in different orders, in more than one batch each, may end in a deadlock, after which the loser repeats it. It
-- reads the table with the rights of whoever calls: what somebody has put in its place must not run with more.
CREATE OR REPLACE FUNCTION pgmnemo.store_staged(batch_size integer DEFAULT 5000)
RETURNS TABLE (outcome text, lessons bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    most constant integer := 10000;
    most_bytes constant bigint := 20000000;  -- of a batch
    bytes bigint := 0;
    tenant uuid;
    one pgmnemo.lesson_input;
    batch pgmnemo.lesson_input[] := '{}';
    counts jsonb := '{}';
    rest bigint;
BEGIN
    tenant := (SELECT d.description FROM pg_class c
                 JOIN pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
                WHERE c.oid = to_regclass('pg_temp.lesson_staging')
                  AND c.relowner = to_regrole(quote_ident(current_user))
                  AND pg_input_is_valid(d.description, 'uuid'));
    IF tenant IS NULL THEN
        RAISE EXCEPTION 'role % has no staging table in this transaction', quote_ident(current_user)
        USING ERRCODE = 'undefined_table',
              HINT = 'BEGIN, call pgmnemo.open_staging() and COPY into lesson_staging first: it ends with the '
                     'transaction.';
    ELSIF batch_size IS NULL OR batch_size NOT BETWEEN 1 AND most THEN
        RAISE EXCEPTION 'batch_size is %, but must be from 1 to %', coalesce(batch_size::text, 'NULL'), most
        USING ERRCODE = 'invalid_parameter_value';
    END IF;
    rest := (SELECT count(*) FROM pg_temp.lesson_staging);
    FOR one IN SELECT i.* FROM pg_temp.lesson_staging i ORDER BY i.ctid LOOP
        batch := batch || one;
        rest := rest - 1;
        bytes := bytes + pg_column_size(one);
        IF cardinality(batch) = batch_size OR bytes > most_bytes OR rest = 0 THEN
            SELECT counts || jsonb_object_agg(t.outcome, t.n + coalesce((counts ->> t.outcome)::bigint, 0)) INTO counts
              FROM (SELECT o.outcome, count(*) AS n FROM pgmnemo.store_set(tenant, batch) o GROUP BY 1) t;
            batch := '{}';
            bytes := 0;
        END IF;
    END LOOP;
    TRUNCATE pg_temp.lesson_staging;
    RETURN QUERY SELECT c.key, c.value::bigint FROM jsonb_each_text(counts) c ORDER BY c.key COLLATE "C";
END
$$;

COMMENT ON FUNCTION pgmnemo.store_staged IS 'stores what was copied into lesson_staging for the tenant that open_staging was called for, as store_set does, batch by batch (1 to 10,000 lessons, 20,000,000 bytes) in one transaction; empties the table; returns how many lessons had each outcome';
CREATE OR REPLACE FUNCTION pgmnemo.timeline(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    known_at    timestamptz DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS TABLE (
    step        integer,
    lesson_id   bigint,
    in_project  uuid,
    key         text,
    content     text,
    active      boolean,
    valid_from  timestamptz,
    valid_to    timestamptz,
    reason      text,
    stored_at   timestamptz,
    recorded_at timestamptz
)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    middle bigint;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    middle := pgmnemo._lesson_id(tenant, project_id, timeline.external_id COLLATE "default");
    RETURN QUERY
    -- each step looks its links up by an index (OFFSET 0): a join could be planned by statistics that are not there
    WITH RECURSIVE before (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.old_id, b.step - 1
          FROM before b
         CROSS JOIN LATERAL (SELECT x.old_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.new_id = b.id
                                AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x
    ), after (id, step) AS (
        SELECT middle, 0
         UNION ALL
        SELECT x.new_id, a.step + 1
          FROM after a
         CROSS JOIN LATERAL (SELECT x.new_id FROM pgmnemo.supersession x
                              WHERE x.tenant_id = tenant AND x.old_id = a.id AND x.new_id IS NOT NULL
                                AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x
    )
    SELECT w.step, l.id, l.project_id, l.external_id, l.content, l.active, coalesce(l.occurred_at, l.stored_at),
           x.valid_from, x.reason, l.stored_at, x.recorded_at
      FROM (SELECT * FROM before UNION SELECT * FROM after) w
     CROSS JOIN LATERAL (SELECT l.* FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = w.id OFFSET 0) l
      LEFT JOIN LATERAL (SELECT x.* FROM pgmnemo.supersession x
                          WHERE x.tenant_id = tenant AND x.old_id = l.id
                            AND pgmnemo._link_known(x, timeline.known_at) OFFSET 0) x ON true
     WHERE timeline.known_at IS NULL OR l.stored_at <= timeline.known_at
     ORDER BY w.step, l.external_id, l.project_id;
    PERFORM pgmnemo._leave();
END
$$;

COMMENT ON FUNCTION pgmnemo.timeline IS 'a lesson, those whose place it took and those that took its own, oldest first, as known at a time (NULL: now): step below 0: before it, 0: itself, above 0: after it; valid_from: when it happened (occurred_at, else stored_at); valid_to: from when on it no longer holds, with the reason, and recorded_at: when the memory learned that; NULL: it holds. active: not softly forgotten. tenant NULL: the session''s';
-- What a lesson says besides its text. The whole of it is checked as if it were stored.
CREATE OR REPLACE FUNCTION pgmnemo.update(
    tenant      uuid,
    project_id  uuid,
    external_id text,
    topic       text        DEFAULT NULL,
    role        text        DEFAULT NULL,
    importance  integer     DEFAULT NULL,
    metadata    jsonb       DEFAULT NULL,
    patch       jsonb       DEFAULT NULL,
    occurred_at timestamptz DEFAULT NULL,
    expires_at  timestamptz DEFAULT NULL,
    verified_at timestamptz DEFAULT NULL,
    "position"  integer     DEFAULT NULL,
    clear       text[]      DEFAULT NULL,
    caller      pgmnemo.caller DEFAULT pgmnemo._caller()
)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    gone text[] := coalesce(update.clear, '{}');
    one pgmnemo.lesson_input;
    wanted bigint;
    changed boolean;
BEGIN
    tenant := pgmnemo._entered(tenant, caller);
    PERFORM pgmnemo._check_clear(gone, '{role,topic,importance,metadata,occurred_at,expires_at,commit_sha,'
                                       'artifact_hash,verified_at,position}');
    PERFORM pgmnemo._check_patch(update.metadata, update.patch);
    PERFORM pgmnemo._lock_tenant(tenant);
    wanted := pgmnemo._lesson_id(tenant, update.project_id, update.external_id COLLATE "default");
    SELECT l.project_id, l.external_id, l.content INTO one.project_id, one.external_id, one.content
      FROM pgmnemo.lesson l WHERE l.tenant_id = tenant AND l.id = wanted;
    one.topic := pgmnemo._composed(update.topic);
    one.role := pgmnemo._composed(update.role);
    one.importance := CASE WHEN update.importance BETWEEN 1 AND 5 THEN update.importance
                           WHEN update.importance IS NOT NULL THEN 0 END;
    one.metadata := update.metadata;
    one.occurred_at := update.occurred_at;
    one.expires_at := update.expires_at;
    one.verified_at := update.verified_at;
    one.position := update.position;
    one := (SELECT m.given FROM pgmnemo._merged(tenant, ARRAY[one], gone) m);
    IF update.patch IS NOT NULL THEN
        IF jsonb_typeof(one.metadata) <> 'object' THEN
            RAISE EXCEPTION 'the metadata of lesson % is no object', quote_literal(one.external_id)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Give metadata, which replaces it, in place of patch.';
        END IF;
        one.metadata := one.metadata || update.patch;
    END IF;
    PERFORM pgmnemo._check_input(ARRAY[one]);
    PERFORM pgmnemo._check_provenance(tenant, ARRAY[one], gone, (pgmnemo._settings()).gate_strict);
    UPDATE pgmnemo.lesson l
       SET role = one.role, topic = one.topic, importance = one.importance, metadata = one.metadata,
           occurred_at = one.occurred_at, expires_at = one.expires_at, commit_sha = one.commit_sha,
           artifact_hash = one.artifact_hash, verified_at = one.verified_at, position = one.position
     WHERE l.tenant_id = tenant AND l.id = wanted
       AND (l.role, l.topic, l.importance, l.metadata, l.occurred_at, l.expires_at, l.commit_sha, l.artifact_hash,
            l.verified_at, l.position)
           IS DISTINCT FROM
           (one.role, one.topic, one.importance, one.metadata, one.occurred_at, one.expires_at, one.commit_sha,
            one.artifact_hash, one.verified_at, one.position);
    changed := FOUND;
    PERFORM pgmnemo._leave();
    RETURN CASE WHEN changed THEN 'updated' ELSE 'unchanged' END;
END
$$;

COMMENT ON FUNCTION pgmnemo.update IS 'changes what is given of one lesson and leaves its text, vectors and passages; NULL: stays as it is. metadata replaces what is there, patch is an object that is merged into it key by key (||): one of them. clear names what shall have no value afterwards, among role, topic, importance (3 then), metadata ({}), occurred_at, expires_at, commit_sha, artifact_hash, verified_at and position. A softly forgotten lesson stays forgotten. Returns updated or unchanged; a key without a lesson is the error no_data_found. tenant NULL: the session''s';
-- As pgmnemo.upkeep, but what it holds of a tenant it gives back before it turns to the next, and the tenants with
-- least to do come first. A procedure that commits has no settings of its own: what is called before the first SET
-- names its schema.
CREATE OR REPLACE PROCEDURE pgmnemo.upkeep_each(most integer DEFAULT 1000, INOUT "left" bigint DEFAULT NULL)
LANGUAGE plpgsql
AS $$
DECLARE
    run pgmnemo.upkeep_run;
    one record;
BEGIN
    SET LOCAL search_path = pg_catalog, pg_temp;
    PERFORM pgmnemo._check_most(most, 1000000);
    run := ROW(clock_timestamp(), 0, NULL, 0, 0, 0, 0);
    FOR one IN SELECT w.* FROM pgmnemo._upkeep_waiting() WITH ORDINALITY AS w
                ORDER BY max(w.waiting) OVER (PARTITION BY w.tenant), w.tenant, w.ordinality LOOP
        run := pgmnemo._upkeep_one(run, one.tenant, one.generation, one.waiting, one.due, most);
        IF one.due THEN
            COMMIT;
            SET LOCAL search_path = pg_catalog, pg_temp;
        END IF;
    END LOOP;
    "left" := pgmnemo._upkeep_end(run);
END
$$;

REVOKE ALL ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) FROM PUBLIC;
COMMENT ON PROCEDURE pgmnemo.upkeep_each(integer, bigint) IS 'for a scheduler, say every minute: of tenants with an HNSW index and more than 1,000 vectors outside it brings some in, of each at most so many (1 to 1,000,000), compacts tenants with small blocks of lessons for a quarter of their lessons, but 100 to 500 (pgmnemo.compact), unless their writers are at work, each in a transaction of its own, those with least to do first, and drops indexes that no tenant has any more. It begins nothing more of one after five seconds (100 vectors, up to three pieces of 16,384 lessons, 20,000 lists of small blocks): the next call goes on; a lost index of more than 4,000,000 numbers is filled so from the empty one, which pgmnemo.index builds at once. "left" is how many such vectors and blocks are left, with all vectors of a lost index. Only the extension''s owner may, and not within a transaction';
CREATE OR REPLACE FUNCTION pgmnemo.version()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '1.0.0' $$;

COMMENT ON FUNCTION pgmnemo.version() IS 'version of the installed script';
COMMENT ON TYPE pgmnemo.candidate IS 'components as pgmnemo.recall returns them, and what context and neighbours go by: place is lesson.position, words lesson.token_count, assistant whether lesson.role says so; coverage: the share that the words count with (pgmnemo._coverage); center: the cosine that it would have if question and lesson were unrelated (pgmnemo._center); mark: pgmnemo._words_mark, NULL where equal lessons are hits of their own; repeats: it is the question itself (pgmnemo._repeats_question); share: what its own relevance counts with (pgmnemo._share)';
COMMENT ON TYPE pgmnemo.lesson_input IS 'what a writer gives for one lesson: the attributes are columns of pgmnemo.lesson, the texts and vectors of its passages, and the language of its text (auto, a text search configuration or a code of ISO 639; NULL: the session''s pgmnemo.text_config); the first three are required; of a lesson that is there already what is NULL stays; of a new one importance NULL is 3 and metadata NULL {}';
COMMENT ON TYPE pgmnemo.question IS 'held: active lessons in scope; terms: lexemes of the question that occur, rarest first, and for each a tsquery, its idf, its scale (pgmnemo._impact), the most that it can add to a BM25 in scope (units of 2^-40) of a lesson that no piece holds, the lessons in scope that hold it, how many of those are in postings, and the most that it can add to one that a piece holds (0: none does); flat, per_token, pivot: see pgmnemo._impact; direction: the embedding at unit length, of as many dimensions as the tenant''s; generation: which vectors it is compared with, and graph: which table holds them as a graph (NULL: none); since, until: the intervals that it names; ideal: see pgmnemo._fit; share: what fitting these intervals counts for; reach: the score of a lesson that holds every word of the question; brevity: see pgmnemo._brevity; center: the cosine of unrelated texts; common, commonness: direction and length of the mean of their vectors (all three of pgmnemo._against_background, NULL: no vector to compare with); repeated: the lexemes of which a lesson that is the question itself has no other (NULL: none is taken for it); collapse: equal lessons are one hit; configs: what lessons of the tenant were cut by (pgmnemo._tenant_configs), NULL: the question is blank';
COMMENT ON TYPE pgmnemo.scope IS 'a recall''s tenant, its projects as an interval (one, or all), pgmnemo.gate_strict, the role and the moment that were asked for (NULL: any); moment: when a lesson must not have expired or been superseded; known_at: what was known then (NULL: now); filtered: whether filter says anything; ids: the lessons that it leaves, where those are few (NULL: not told); everything: whatever is kept, forgotten, superseded, expired and hidden lessons, too; plain: none of role, valid_at, gate, known_at and filter leaves any out; ended: the lessons that known_at leaves out as superseded (NULL: not told)';
COMMENT ON COLUMN pgmnemo.lesson.external_id IS 'the writer''s key, unique in tenant and project, 1 to 1000 bytes; breaks ties in C order; in Unicode''s composed form (pgmnemo._composed), as role and topic are';
COMMENT ON TABLE pgmnemo.tenant IS 'one row for each tenant whose lessons were ever changed, or that has a language; its lock orders the tenant''s writers';
COMMENT ON COLUMN pgmnemo.tenant.language IS 'the language of texts that are written without one, as pgmnemo.set_language was given it: a text search configuration, or auto: and the one for texts whose language is not recognized; NULL: auto';
-- Nobody but the extension's owner reaches a table, a type for columns of his own, or a function that is no verb: no
-- login can lock rows or tables, ask the planner about them, or make an object that depends on ours. What default
-- privileges of the owner gave to others goes as well.
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        WITH object AS (
            SELECT format('%s pgmnemo.%I', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.relname) AS name,
                   c.relowner AS owner, c.relacl AS rights
              FROM pg_catalog.pg_class c WHERE c.relnamespace = 'pgmnemo'::regnamespace AND c.relkind IN ('r', 'S', 'v')
             UNION ALL
            SELECT format('FUNCTION %s', p.oid::regprocedure), p.proowner, p.proacl
              FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pgmnemo'::regnamespace AND starts_with(p.proname, '_')
             UNION ALL
            SELECT format('TYPE %s', t.oid::regtype), t.typowner, t.typacl
              FROM pg_catalog.pg_type t WHERE t.typnamespace = 'pgmnemo'::regnamespace AND t.typtype = 'c'
        )
        SELECT o.name, 'PUBLIC' AS holder FROM object o
         UNION
        SELECT o.name, quote_ident(pg_get_userbyid(a.grantee))
          FROM object o CROSS JOIN LATERAL aclexplode(o.rights) a
         WHERE a.grantee NOT IN (0, o.owner)
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s CASCADE', item.name, item.holder);
    END LOOP;
    -- The plans within verbs hold estimates, which come of all tenants' rows: no caller is to have them printed. And
    -- bodies are read as they are written, whatever a caller has set.
    FOR item IN
        SELECT p.oid::regprocedure AS name FROM pg_catalog.pg_proc p
         WHERE p.pronamespace = 'pgmnemo'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET debug_print_plan = off', item.name);
        EXECUTE format('ALTER FUNCTION %s SET standard_conforming_strings = on', item.name);
    END LOOP;
END
$$;
-- What a role may do is decided by its grants of tenants: without one, every verb refuses.
GRANT USAGE ON SCHEMA pgmnemo TO PUBLIC;
GRANT SELECT ON
    pgmnemo.calling, pgmnemo.lessons, pgmnemo.passages, pgmnemo.vectors, pgmnemo.edges, pgmnemo.postings
    TO PUBLIC;
GRANT SELECT ON pgmnemo.health TO pg_monitor;
-- Run with the rights of whoever calls, before or beside a verb, and read no table.
GRANT EXECUTE ON FUNCTION
    pgmnemo._caller, pgmnemo._session_tenant,
    pgmnemo._setting_catalogue, pgmnemo._setting_range, pgmnemo._setting_valid, pgmnemo._stored_settings,
    pgmnemo._config, pgmnemo._zone,
    pgmnemo._form_roots, pgmnemo._times, pgmnemo._time_patterns, pgmnemo._time_span,
    pgmnemo._calendar_span, pgmnemo._month,
    pgmnemo._small_number, pgmnemo._time_words, pgmnemo._times_in_english, pgmnemo._folded
    TO PUBLIC;

-- Texts that are cut otherwise now: those with accents, compound tokens, names of stop words, and scripts without
-- blanks between words. Their language stays; pgmnemo.recut changes it. Names that were stored in another form than
-- Unicode's composed one.
ALTER TABLE pgmnemo.lesson NO FORCE ROW LEVEL SECURITY;
SELECT set_config('pgmnemo.tenants', coalesce(string_agg(DISTINCT l.tenant_id::text, ','), ''), true) FROM pgmnemo.lesson l;
ALTER TABLE pgmnemo.lesson FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
    tenant uuid;
BEGIN
    FOR tenant IN SELECT t::uuid FROM string_to_table(nullif(current_setting('pgmnemo.tenants'), ''), ',') t LOOP
        PERFORM set_config('pgmnemo.acting_tenant', tenant::text, true);
        PERFORM pgmnemo._compose_names(tenant);
        PERFORM pgmnemo._repair_lessons(tenant);
        PERFORM pgmnemo._repair_passages(tenant);
    END LOOP;
    PERFORM set_config('pgmnemo.acting_tenant', '', true), set_config('pgmnemo.tenants', '', true);
END
$$;

SELECT set_config('role', current_setting('pgmnemo.upgrading_role'), true), set_config('pgmnemo.upgrading_role', '', true);
