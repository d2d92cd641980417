-- Return a day, some months or a year, by the arguments; without a year the latest that does not begin after `now`.
CREATE FUNCTION pgmnemo._calendar_span(year integer, month integer, day integer, months integer, now timestamp)
RETURNS tsrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT tsrange(b.since, b.since + CASE WHEN day IS NOT NULL THEN interval '1 day'
                                           WHEN month IS NULL THEN interval '1 year'
                                           ELSE coalesce(months, 1) * interval '1 month' END)
      FROM unnest(CASE WHEN year IS NULL
                       THEN ARRAY[extract(year FROM now)::integer, extract(year FROM now)::integer - 1]
                       WHEN year > 0 THEN ARRAY[year] END) AS y (number)
     CROSS JOIN LATERAL (
            SELECT make_timestamp(y.number, coalesce(month, 1), 1, 0, 0, 0) + (coalesce(day, 1) - 1) * interval '1 day')
                   AS b (since)
     WHERE extract(month FROM b.since) = coalesce(month, 1) AND (year IS NOT NULL OR b.since <= now)
     ORDER BY b.since DESC
     LIMIT 1
$$;
