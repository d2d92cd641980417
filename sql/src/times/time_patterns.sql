-- How a question in English names a time: tried in this order, what matched is taken out of the question.
-- `names` says what the groups of the pattern hold; MONTH stands for the group of the months' names. What looks
-- ahead (tonight, next week) and what has two readings (the winter of 2022) is left out: "on Monday" is read where the
-- question asks of the past. A date in figures is read where it has one reading: dots put the day first, a year ahead
-- of it the month, and of slashes one part is above 12; of 5/8/2023 the year is left. What is loose counts only where
-- nothing else is named.
CREATE FUNCTION pgmnemo._time_patterns()
RETURNS TABLE (kind text, pattern text, names text[])
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind,
           '\m(' || replace(p.pattern, 'MONTH', '(january|february|march|april|may|june|july|august|september|october|'
                            'november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)') || ')',
           p.names::text[]
      FROM (VALUES
        ('date',    '([0-9]{4})[-/.](0?[1-9]|1[0-2])[-/.]([0-9]{1,2})\M',                 '{year,month,day}'),
        ('date',    '([0-9]{4})-(0?[1-9]|1[0-2])\M(?!-)',                             '{year,month}'),
        ('date',    '([0-9]{1,2})\. ?(0?[1-9]|1[0-2])\. ?([0-9]{4})\M',                   '{day,month,year}'),
        ('date',    '(1[3-9]|2[0-9]|3[01])/(0?[1-9]|1[0-2])/([0-9]{4})\M',               '{day,month,year}'),
        ('date',    '(0?[1-9]|1[0-2])/(1[3-9]|2[0-9]|3[01])/([0-9]{4})\M',               '{month,day,year}'),
        ('lastweek', '(monday|tuesday|wednesday|thursday|friday|saturday|sunday) (?:of )?last week\M', '{weekday}'),
        ('lastweek', 'last week,? (?:on )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M', '{weekday}'),
        ('since',   'since MONTH\M(?! i\M)',                                           '{month}'),
        ('week',    '(first|second|third|fourth|last) week (?:of|in) MONTH\M\.?,?(?: (?:of )?([0-9]{4})\M)?',
                                                                                   '{week,month,year}'),
        ('date',    '([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? MONTH\M\.?,? ?([0-9]{4})?',      '{day,month,year}'),
        ('date',    'MONTH\.? ([0-9]{1,2})(?:st|nd|rd|th)?\M(?:,? ([0-9]{4})\M)?',         '{month,day,year}'),
        ('date',    'MONTH\.?,? (?:of )?([0-9]{4})\M',                                 '{month,year}'),
        ('date',    '(?:in|of|during|since|by|before|after|until|late|early|mid|last|this|on|week of)[ -]'
                    'MONTH\M(?! i\M)',
                                                                                   '{month}'),
        ('feast',   '(valentine|christmas eve|christmas|halloween|new year''?s eve|new year''?s day)\M(?:''?s? day\M)?'
                    '(?:,? (?:of |in )?([0-9]{4})\M)?',                               '{feast,year}'),
        ('quarter', 'q([1-4])(?: of)? ([0-9]{4})\M',                                   '{quarter,year}'),
        ('quarter', '(?:in|during|since) q([1-4])\M',                                    '{quarter}'),
        ('quarter', '(first|second|third|fourth|last) quarter of ([0-9]{4})\M',             '{quarter,year}'),
        ('season',  '(spring|summer|autumn|fall) (?:of |in )?([0-9]{4})\M',            '{season,year}'),
        ('season',  'last (spring|summer|autumn|fall|winter)\M',                   '{season}'),
        ('ago',     '(half an?|\w+(?<!half))(?: of)? (day|week|fortnight|month|year)s? (?:ago|back|earlier)\M',
                                                                                   '{count,unit}'),
        ('near',    '(day before yesterday|yesterday|today|this morning|this afternoon|last night|last weekend)'
                    '\M(?! before| after)', '{day}'),
        ('past',    '(?:last|past|previous) (\w+)(?: of)? (day|week|month|quarter|year)s?\M(?! of)', '{count,unit}'),
        ('past',    '(?:last|past|previous) (day)s?\M(?! of)',                        '{unit}'),
        ('past',    '(?:(?:in|over|during|within) the (?:last|past)|this past) (week|month|quarter|year)\M',
                                                                                   '{unit}'),
        ('span',    '(last|past|previous|this) (week|month|quarter|year)\M(?! of)',    '{which,unit}'),
        ('weekday', '(?:last|this past|past) (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M',
                                                                                   '{weekday}'),
        ('date',    '(?:in|of|since|by|before|after|during|until|year|from|to|'
                    'and|early|late|mid|for)[ -]((?:19|20)[0-9][0-9])\M', '{year}'),
        ('loose',   '(?<=\m(?:did|was|were|had)\M.*)on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M',
                                                                                   '{weekday}'),
        ('loose',   '(20[0-9][0-9])\M',                                                  '{year}'),
        ('loose',   '(recently|lately|the other day)\M',                           '{day}')
      ) AS p (kind, pattern, names)
$$;
