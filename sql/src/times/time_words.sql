-- Return how German, French, Spanish, Chinese and Japanese put times together, and how English says it: tried in this
-- order on a question with its words in English already (pgmnemo._times_in_english), each only where the question is
-- LIKE one of its hints, since PostgreSQL keeps no more than 32 patterns compiled. Another language is added here, to
-- the words of that function, and to the two tests of _times.
CREATE FUNCTION pgmnemo._time_words()
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
