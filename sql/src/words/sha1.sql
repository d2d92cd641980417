-- Return the SHA-1 digest of some bytes (20 bytes). PostgreSQL has no SHA-1 without an extension, and uuids of version
-- 5 are made by it. Source: FIPS 180-4, 6.1.
CREATE FUNCTION pgmnemo._sha1(message bytea)
RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    low_32 constant bigint := 4294967295;
    zeros constant bytea := decode(repeat('00', (119 - octet_length(message) % 64) % 64), 'hex');
    padded constant bytea := message || '\x80'::bytea || zeros || int8send(octet_length(message)::bigint * 8);
    h bigint[] := ARRAY[1732584193, 4023233417, 2562383102, 271733878, 3285377520];
    w bigint[];
    a bigint;
    b bigint;
    c bigint;
    d bigint;
    e bigint;
    mixed bigint;
BEGIN
    FOR block IN 0 .. octet_length(padded) / 64 - 1 LOOP
        FOR t IN 0 .. 79 LOOP
            IF t < 16 THEN
                w[t] := ('x' || encode(substring(padded FROM block * 64 + t * 4 + 1 FOR 4), 'hex'))::bit(32)::bigint;
            ELSE
                mixed := w[t - 3] # w[t - 8] # w[t - 14] # w[t - 16];
                w[t] := ((mixed << 1) | (mixed >> 31)) & low_32;
            END IF;
        END LOOP;
        a := h[1]; b := h[2]; c := h[3]; d := h[4]; e := h[5];
        FOR t IN 0 .. 79 LOOP
            mixed := (((a << 5) | (a >> 27)) & low_32) + e + w[t]
                     + CASE t / 20 WHEN 0 THEN ((b & c) | (~b & d)) + 1518500249
                                   WHEN 1 THEN (b # c # d) + 1859775393
                                   WHEN 2 THEN ((b & c) | (b & d) | (c & d)) + 2400959708
                                   ELSE (b # c # d) + 3395469782 END;
            e := d; d := c; c := ((b << 30) | (b >> 2)) & low_32; b := a; a := mixed & low_32;
        END LOOP;
        h := ARRAY[h[1] + a & low_32, h[2] + b & low_32, h[3] + c & low_32, h[4] + d & low_32, h[5] + e & low_32];
    END LOOP;
    RETURN (SELECT string_agg(int4send(part::bit(32)::integer), ''::bytea ORDER BY number)
              FROM unnest(h) WITH ORDINALITY u (part, number));
END
$$;
