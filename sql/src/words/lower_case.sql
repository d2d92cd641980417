-- Return a text in lower case where the locale of the database leaves its capitals: with LC_CTYPE C those beyond ASCII
-- (Latin, Greek, Cyrillic, Armenian), in Turkish and Azerbaijani the I of every other language.
CREATE FUNCTION pgmnemo._lower_case(config regconfig, words text)
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
