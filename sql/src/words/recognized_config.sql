-- Return the configuration of a text's language. The script decides most; among languages that share a script
-- PostgreSQL's stop words decide: the words go to the stemmer of each configuration, and the configuration that drops
-- most words wins, if it drops two at least and more than `fallback` does. `fallback` where nothing decides.
CREATE FUNCTION pgmnemo._recognized_config(words text, fallback regconfig)
RETURNS regconfig
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    sample constant text := left(words, 1000);
    configs regconfig[] := '{english,german,french,spanish,portuguese,italian,dutch,swedish,danish,'
                           'norwegian,finnish,hungarian,turkish}'::regconfig[];
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
        '| jeg | ikke | til | af | med | ja | ei | oli | ett | az | hogy | nem | egy | bir | bu | ile '
        '| ne')::tsquery;
    turkish_and constant text := '(?:^|[^''\u2019])\mve\M';  -- a word, not the end of the English I've
    cut tsvector;
    letters integer;
    tokens integer;
    most integer := 1;
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
    IF fallback = 'pg_catalog.english'::regconfig AND NOT (cut @@ telling OR sample ~* turkish_and) THEN
        RETURN fallback;
    END IF;
    IF getdatabaseencoding() <> 'UTF8' THEN
        configs := pgmnemo._readable_configs(configs);
    END IF;
    tokens := pgmnemo._position_count(cut);
    most := greatest(most, tokens - pgmnemo._position_count(to_tsvector(fallback, sample)));
    RETURN coalesce((
        SELECT c.config
          FROM unnest(array_remove(configs, fallback)) WITH ORDINALITY AS c (config, place)
         CROSS JOIN LATERAL (SELECT (c.config::text || '_stem')::regdictionary AS stemmer OFFSET 0) s
         CROSS JOIN LATERAL (SELECT sum(cardinality(w.positions)) AS dropped FROM unnest(cut) w
                              WHERE ts_lexize(s.stemmer, w.lexeme) = '{}' OFFSET 0) d
         WHERE d.dropped > most ORDER BY d.dropped DESC, c.place LIMIT 1), fallback);
END
$$;

COMMENT ON FUNCTION pgmnemo._recognized_config(text, regconfig) IS 'the text search configuration of the language that a text seems to be in, of its first 1,000 characters; the second argument where neither script nor stop words tell';
