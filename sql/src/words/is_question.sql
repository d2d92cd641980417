-- Return whether a text is a question by its form. A question mark of any script ends it, or a request with a word of
-- question begins it (Tell me where); or it does not end as a statement does, and a word of question or request begins
-- it or, in Chinese and Japanese, occurs in it. Notes begin with verbs, too (Is allergic to nuts; Do not deploy), so a
-- verb must have a subject behind it.
CREATE FUNCTION pgmnemo._is_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT content ~ '[?\u037E\u055E\u061F\u1367\u203D\u2047-\u2049\u2CFA\u2CFB\u2E2E\uFF1F][^[:alnum:]]*$'
           OR content ~ '[\u0370-\u03FF].*;[^[:alnum:]]*$'
           OR content ~* ('^[^[:alnum:]]*(?:(?:please|bitte|und|and|so|also|et|y)[ ,]+)?'
                          '(?:(?:tell me|remind me|show me|let me know|i need to know|i forg[eo]t),? '
                          '(?:what|who|where|when|how|why|whose|which|if|whether|about)|'
                          '(?:sage? mir|erinnere? mich|wei\u00dft du|ich habe vergessen),? (?:w\w+|ob)|'
                          '(?:dis-moi|rappelle-moi|j[''\u2019]ai oubli\u00e9) '
                          '(?:o\u00f9|qui|que|quand|comment|quel\w*|si)|'
                          '(?:dime|recu\u00e9rdame) '
                          '(?:qu\u00e9|qui\u00e9n|d\u00f3nde|cu\u00e1ndo|c\u00f3mo|cu\u00e1l|si))\M')
           OR content !~ '[.!\u3002\uFF01][^[:alnum:]]*$'
              AND (content ~* ('^[^[:alnum:]]*(?:(?:please|bitte|und|and|so|also|et|y)[ ,]+)?'
                               '(?:(?:what|who|where|when|how|why)(?:[''\u2019]?s|[''\u2019]?re)?|whom|whose|which|'
                               '(?:can|could|would|will|do|does|did|is|are|was|were|have|has) '
                               '(?:i|you|we|they|he|she|it|my|your|our|his|her|their|this|these|those|there|anyone)|'
                               '(?:can|could|would|will|does|did) (?:the|an?)|'
                               'any idea|(?:tell|remind|show|give) me|let me know|i need to know|'
                               'sage? mir|nenne? mir|erinnere? mich|zeige? mir|'
                               'wei\u00dft du|kannst du|k\u00f6nntest du|est-ce|c[''\u2019]est quoi|'
                               'tu peux|peux-tu|pouvez-vous|dis-moi|rappelle(?:-moi)?|'
                               'dime|puedes|recu\u00e9rdame|'
                               'wie|wer|wen|wem|welche[nrms]?|wann|wo|warum|wieso|'
                               'quels?|quelles?|qui|que|quoi|qu[''\u2019]|o\u00f9|quand|comment|pourquoi|combien|'
                               'qu\u00e9|qui\u00e9n|d\u00f3nde|cu\u00e1ndo|c\u00f3mo|cu\u00e1l(?:es)?|por qu\u00e9)\M')
                   -- not: always, nobody, something, almost, everything
                   OR content ~ ('[\u4ec0\u600e]\u4e48(?![\u90fd\u4e5f])|[\u5417\u5462\u54ea]|\u8c01(?![\u90fd\u4e5f])|'
                                 '\u51e0(?!\u4e4e)|\u591a\u5c11|\u4e3a\u4f55|\u544a\u8bc9\u6211|\u8bf7\u95ee|'
                                 '\u6559\u3048\u3066|'
                                 '(?:\u4f55|\u8ab0|\u3069\u3053|\u3044\u3064|\u3069\u3046)(?![\u3082\u304b])'))
$$;
