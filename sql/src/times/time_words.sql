-- What names a time in German, French, Spanish, Chinese and Japanese, as English says it: tried in this order on small
-- letters. First the words of the calendar and the numbers before them, then how they are put together. Another
-- language is added here, and in the two tests of _times.
CREATE FUNCTION pgmnemo._time_words()
RETURNS TABLE (pattern text, says text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
VALUES
    ('\m(?:januar|j\u00e4nner|janvier|enero)\M', 'january'),
    ('\m(?:februar|f\u00e9vrier|fevrier|febrero)\M', 'february'),
    ('\m(?:m\u00e4rz|maerz|mars|marzo)\M', 'march'),
    ('\m(?:avril|abril)\M', 'april'),
    ('\m(?:mai|mayo)\M', 'may'),
    ('\m(?:juni|juin|junio)\M', 'june'),
    ('\m(?:juli|juillet|julio)\M', 'july'),
    ('\m(?:ao\u00fbt|aout|agosto)\M', 'august'),
    ('\m(?:septembre|septiembre)\M', 'september'),
    ('\m(?:oktober|octobre|octubre)\M', 'october'),
    ('\m(?:novembre|noviembre)\M', 'november'),
    ('\m(?:dezember|d\u00e9cembre|decembre|diciembre)\M', 'december'),
    ('\m(?:montag|lundi|lunes)\M', 'monday'),
    ('\m(?:dienstag|mardi|martes)\M', 'tuesday'),
    ('\m(?:mittwoch|mercredi|mi\u00e9rcoles|miercoles)\M', 'wednesday'),
    ('\m(?:donnerstag|jeudi|jueves)\M', 'thursday'),
    ('\m(?:freitag|vendredi|viernes)\M', 'friday'),
    ('\m(?:samstag|sonnabend|samedi|s\u00e1bado|sabado)\M', 'saturday'),
    ('\m(?:sonntag|dimanche|domingo)\M', 'sunday'),
    ('\m(?:tage?n?|jours?|d[\u00edi]as?)\M', 'day'),
    ('\m(?:wochen?|semaines?|semanas?)\M', 'week'),
    ('\m(?:monate?[ns]?|mois|mes(?:es)?)\M', 'month'),
    ('\m(?:quartale?n?|trimestres?)\M', 'quarter'),
    ('\m(?:jahre?[ns]?|ans?|ann[\u00e9e]es?|a[\u00f1n]os?)\M', 'year'),
    ('\m(?:eine?[mnr]?|une?|una)(?= (?:derni|day|week|month|quarter|year))', '1'),
    ('\m(?:zwei|deux|dos)(?= (?:derni|day|week|month|quarter|year))', '2'),
    ('\m(?:drei|trois|tres)(?= (?:derni|day|week|month|quarter|year))', '3'),
    ('\m(?:vier|quatre|cuatro)(?= (?:derni|day|week|month|quarter|year))', '4'),
    ('\m(?:f\u00fcnf|cinq|cinco)(?= (?:derni|day|week|month|quarter|year))', '5'),
    ('\m(?:sechs|six|seis)(?= (?:derni|day|week|month|quarter|year))', '6'),
    ('\m(?:sieben|siete|sept)(?= (?:derni|day|week|month|quarter|year))', '7'),
    ('\m(?:acht|huit|ocho)(?= (?:derni|day|week|month|quarter|year))', '8'),
    ('\m(?:neun|nueve|neuf)(?= (?:derni|day|week|month|quarter|year))', '9'),
    ('\m(?:zehn|dix|diez)(?= (?:derni|day|week|month|quarter|year))', '10'),
    ('\m(?:vorgestern|avant-hier|anteayer|antier|antes de ayer)\M', 'day before yesterday'),
    ('\m(?:letzte[sn]? wochenende|week-?end (?:dernier|pass\u00e9)|fin de week pasado)\M', 'last weekend'),
    ('\m(?:gestern|ayer)\M', 'yesterday'),
    ('\m(?:heute|aujourd[''\u2019]hui|hoy)\M', 'today'),
    ('\m(?:vor|hace|il y a) ([0-9]+) (day|week|month|quarter|year)', '\1 \2 ago'),
    ('\m(?:letzte|vorige|vergangene)[nrsm]? ([0-9]+ )?(day|week|month|quarter|year)', 'last \1\2'),
    ('\m(?:letzte|vorige|vergangene)[nrsm]? (monday|tuesday|wednesday|thursday|friday|saturday|sunday)', 'last \1'),
    ('([0-9]+) derni(?:\u00e9|\u00e8|e)re?s (day|week|month|quarter|year)', 'last \1 \2'),
    ('\m[\u00fau]ltim[oa]s ([0-9]+) (day|week|month|quarter|year)', 'last \1 \2'),
    ('\m(day|week|month|quarter|year) (?:derni(?:\u00e9|\u00e8|e)re?|pass[\u00e9e]e?|pasad[oa])\M', 'last \1'),
    ('\m(monday|tuesday|wednesday|thursday|friday|saturday|sunday) (?:dernier|pass[\u00e9e]|pasado)\M', 'last \1'),
    ('\mpasad[oa] (monday|tuesday|wednesday|thursday|friday|saturday|sunday)', 'last \1'),
    ('\m(?:diese[nrsm]?|cette|ce|est[ea]) (day|week|month|quarter|year)', 'this \1'),
    ('\m([0-9]{1,2})(?:\.|er)? (?:de )?(?=january|february|march|april|may|june|july|august|september|'
     'october|november|december)', '\1 '),
    ('(january|february|march|april|may|june|july|august|september|october|november|'
     'december) del? (?=[0-9]{4})', '\1 '),
    ('\m(?:anfang|mitte|ende|d\u00e9but|debut|mi|fin|finales de|principios de)[ -](?=january|february|march|april|'
     'may|june|july|august|september|october|november|december)', 'early '),
    ('\m(?:im|en) (?=january|february|march|april|may|june|july|august|september|october|november|'
     'december)', 'in '),
    ('([0-9]{4}) *\u5e74 *([0-9]{1,2}) *\u6708 *([0-9]{1,2}) *[\u65e5\u53f7]', ' \1-\2-\3 '),
    ('([0-9]{4}) *\u5e74 *([0-9]{1,2}) *\u6708(?:\u4efd)?', ' \1-\2 '),
    ('([0-9]{4}) *\u5e74', ' \1 '),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u4e00(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '1'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])[\u4e8c\u4e24](?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '2'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u4e09(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '3'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u56db(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '4'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u4e94(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '5'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u516d(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '6'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u4e03(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '7'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u516b(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '8'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u4e5d(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '9'),
    ('(?<![\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341])\u5341(?=\u4e2a?(?:\u5929|'
     '\u65e5|\u5468|\u661f\u671f|\u793c\u62dc|\u6708|\u5e74))', '10'),
    ('([0-9]+) *\u4e2a?[\u5929\u65e5](?:\u4e4b|\u4ee5)?\u524d', ' \1 day ago '),
    ('(?:\u8fc7\u53bb|\u6700\u8fd1)\u7684?([0-9]+) *\u4e2a?[\u5929\u65e5]', ' last \1 day '),
    ('([0-9]+) *\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)(?:\u4e4b|\u4ee5)?\u524d', ' \1 week ago '),
    ('(?:\u8fc7\u53bb|\u6700\u8fd1)\u7684?([0-9]+) *\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)', ' last \1 week '),
    ('([0-9]+) *\u4e2a?\u4e2a?\u6708(?:\u4e4b|\u4ee5)?\u524d', ' \1 month ago '),
    ('(?:\u8fc7\u53bb|\u6700\u8fd1)\u7684?([0-9]+) *\u4e2a?\u4e2a?\u6708', ' last \1 month '),
    ('([0-9]+) *\u4e2a?\u5e74(?:\u4e4b|\u4ee5)?\u524d', ' \1 year ago '),
    ('(?:\u8fc7\u53bb|\u6700\u8fd1)\u7684?([0-9]+) *\u4e2a?\u5e74', ' last \1 year '),
    ('(?<![0-9])(?:12|\u5341\u4e8c)\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in december '),
    ('(?<![0-9])(?:11|\u5341\u4e00)\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in november '),
    ('(?<![0-9])10\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in october '),
    ('(?<![0-9])0?9\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in september '),
    ('(?<![0-9])0?8\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in august '),
    ('(?<![0-9])0?7\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in july '),
    ('(?<![0-9])0?6\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in june '),
    ('(?<![0-9])0?5\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in may '),
    ('(?<![0-9])0?4\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in april '),
    ('(?<![0-9])0?3\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in march '),
    ('(?<![0-9])0?2\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in february '),
    ('(?<![0-9])0?1\u6708(?!\u4efd?\u4e4b?\u524d)\u4efd?', ' in january '),
    (' in (january|february|march|april|may|june|july|august|september|october|november|december) '
     '([0-9]{1,2})[\u65e5\u53f7]', ' \1 \2 '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u4e001]', ' monday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u4e8c2]', ' tuesday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u4e093]', ' wednesday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u56db4]', ' thursday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u4e945]', ' friday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u516d6]', ' saturday of last week '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)[\u65e5\u59297]', ' sunday of last week '),
    ('\u4e0a\u4e2a?\u5468\u672b|\u5148\u9031\u672b', ' last weekend '),
    ('\u4e0a\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)|\u5148\u9031', ' last week '),
    ('\u4e0a\u4e2a?\u6708|\u5148\u6708', ' last month '),
    ('\u4e0a\u4e2a?\u5b63\u5ea6', ' last quarter '),
    ('\u53bb\u5e74|\u6628\u5e74', ' last year '),
    ('\u524d\u5e74|\u4e00\u6628\u5e74', ' 2 years ago '),
    ('\u4eca\u5e74', ' this year '),
    ('\u4eca\u9031', ' this week '),
    ('\u4eca\u6708', ' this month '),
    ('[\u8fd9\u672c]\u4e2a?(?:\u5468|\u661f\u671f|\u793c\u62dc)', ' this week '),
    ('[\u8fd9\u672c]\u4e2a?\u6708', ' this month '),
    ('\u4eca[\u5929\u65e5]', ' today '),
    ('\u4e00\u6628\u65e5|\u304a\u3068\u3068\u3044', ' day before yesterday '),
    ('\u5927\u524d\u5929', ' 3 days ago '),
    ('\u6628[\u5929\u65e5]', ' yesterday '),
    ('(?<!\u5927)\u524d[\u5929\u65e5]', ' day before yesterday ')
$$;
