-- Return a question with times of other languages as English says them; use it only to read times. First each Chinese
-- and Japanese character of a time becomes a figure or a capital, which the question's small letters lack, then each
-- independent word becomes English, and numbers before a unit of time become figures.
CREATE FUNCTION pgmnemo._times_in_english(question text)
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
                    ('@', '{12362}'), ('+', '{12392}'), ('!', '{12356}'),
                    ('&', '{26469,38477}'), ('#', '{12363}'), ('$', '{12425}'), ('<', '{33258,20174}'),
                    ('>', '{36215,24320}')
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
              FROM regexp_matches(pgmnemo._without_accents(question), '\w+|\W+', 'g') WITH ORDINALITY AS m (part, place)
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
            ('today', '{heute,hoy}'), ('since', '{seit,depuis,desde}')
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
