-- Whether a text is a question by its form: a question mark of any script ends it, or a question word begins it.
CREATE FUNCTION pgmnemo._asks(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT content ~ '[?\u037E\u055E\u061F\u1367\u203D\u2047-\u2049\u2CFA\u2CFB\u2E2E\uFF1F][^[:alnum:]]*$'
           OR content ~ '[\u0370-\u03FF].*;[^[:alnum:]]*$'
           OR content ~* ('^[^[:alnum:]]*(?:what|who|whom|whose|which|where|when|why|how|'
                          'wie|wer|welche[nr]?|wann|wo)\M')
$$;
