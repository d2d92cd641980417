-- Return the interval of one expression, its words by name, counted from `now` in the question's zone; NULL: the date
-- does not exist. A date without a year is the latest that is not after `now`; a vague expression is as wide as it is
-- vague.
CREATE FUNCTION pgmnemo._time_span(kind text, said jsonb, now timestamp)
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
