-- Return the places that are set in a bitmap, ascending.
CREATE FUNCTION pgmnemo._set_places(bits varbit)
RETURNS TABLE (place integer)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (sum(octet_length(g.gap) + 1) OVER (ORDER BY g.number))::integer - 1
      FROM (SELECT trim_array(string_to_array(bits::text, '1'), 1) AS gaps OFFSET 0) s
     CROSS JOIN LATERAL unnest(s.gaps) WITH ORDINALITY AS g (gap, number)
$$;
