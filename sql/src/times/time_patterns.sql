-- Return the ways a question in English names a time, in order of trial; a match is removed from the question. `names`
-- lists the groups of the pattern; MONTH is replaced by the group of the months' names. Expressions that look ahead
-- (tonight, next week) or have two readings (the winter of 2022) are left out: "on Monday" is read where the question
-- asks of the past. A date in figures is read where it has one reading: dots put the day first, a year ahead of it the
-- month, and of slashes one part is above 12; of 5/8/2023 the year is left. A loose expression counts only where the
-- question names no other time. Each is tried only where the question is LIKE its hint, and names a month if it needs a
-- month: PostgreSQL keeps no more than 32 patterns compiled.
CREATE FUNCTION pgmnemo._time_patterns()
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
        ('weekday', '{%last %day%,%past %day%,%since %day%}',
         '(?:last|this past|past|since) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('date', '{%19__%,%20__%}',
         '(?:in|of|since|by|before|after|during|until|year|from|to|'
         'and|early|late|mid|for)[ -]((?:19|20)[0-9][0-9])\M', '{year}'),
        ('loose', '{% on %day%}',
         '(?<=\m(?:did|was|were|had)\M.*)on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('loose', '{%20__%}', '(20[0-9][0-9])\M', '{year}'),
        ('loose', '{%recently%,%lately%,%other day%}', '(recently|lately|the other day)\M', '{day}')
      ) AS p (kind, hints, pattern, names)
$$;
