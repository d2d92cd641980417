-- Return whether a text is a question by its form: a question mark of any script ends it, a word of question or request
-- begins it or, in Chinese and Japanese, occurs in it.
CREATE FUNCTION pgmnemo._is_question(content text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT content ~ '[?\u037E\u055E\u061F\u1367\u203D\u2047-\u2049\u2CFA\u2CFB\u2E2E\uFF1F][^[:alnum:]]*$'
           OR content ~ '[\u0370-\u03FF].*;[^[:alnum:]]*$'
           OR content ~* ('^[^[:alnum:]]*(?:(?:please|bitte|und|and|so|also|et|y)[ ,]+)?'
                          '(?:(?:what|who|where|when|how|why)(?:[''\u2019]?s|[''\u2019]?re)?|whom|whose|which|'
                          'can|could|would|will|do|does|did|is|are|was|were|have|has|any idea|'
                          'tell me|remind me|show me|give me|let me know|i forgot|i forget|i need to know|'
                          'wie|wer|wen|wem|welche[nrms]?|wann|wo|warum|wieso|kannst|k\u00f6nntest|wei\u00dft|sag|sage|'
                          'nenn|nenne|erinner|erinnere|zeig|zeige|ich habe vergessen|'
                          'quel|quels|quelles?|qui|que|quoi|qu[''\u2019]|o\u00f9|quand|comment|pourquoi|'
                          'combien|c[''\u2019]est quoi|'
                          'est-ce|tu peux|peux-tu|pouvez-vous|dis-moi|rappelle|rappelle-moi|j[''\u2019]ai oubli\u00e9|'
                          'qu\u00e9|qui\u00e9n|d\u00f3nde|cu\u00e1ndo|c\u00f3mo|cu\u00e1l(?:es)?|por qu\u00e9|dime|'
                          'puedes|recu\u00e9rdame)\M')
           OR content ~ ('[\u4ec0\u600e]\u4e48|[\u5417\u5462\u8c01\u54ea\u51e0]|'
                         '\u591a\u5c11|'
                         '\u4e3a\u4f55|\u544a\u8bc9\u6211|\u8bf7\u95ee|'
                         '\u4f55|\u8ab0|\u3069\u3053|\u3044\u3064|\u3069\u3046|\u6559\u3048\u3066')
$$;
