"""The words for what a figure can be of: corpora, levels, our own system, scopes, views, types, arms.

Beside the names that the runs themselves have: those that people use for them, and the other uses of the same
words that name none.
"""

from __future__ import annotations

CORPORA = {
    "locomo": r"LoCoMo", "longmemeval": r"LongMemEval(?:-S)?", "realtalk": r"REALTALK", "beam": r"BEAM",
    "convomem": r"ConvoMem", "membench": r"MemBench", "sample": r"the sample(?! size)",
}  # fmt: skip
OF_CORPUS = r"(?:LoCoMo|LongMemEval(?:-S)?|REALTALK|BEAM|ConvoMem|MemBench)(?:\s1\d?0?[KM])?(?:['\u2019]s?)?"
LEVELS = {
    level: rf"(?:at|on|by|per)\s+(?:the\s+)?(?:whole\s+)?{level}s?(?![\w-])(?!\s+and)|"
    rf"{level}s?[- ](?:level|granularity|wise)|"
    rf"(?:the|(?<![\w/-]){OF_CORPUS})\s+(?:\d[\d,]{{0,6}}\s+)?{level}s(?![\w-])|"
    rf"(?:gold|right|cited)\s+(?:{OF_CORPUS}\s+)?{level}s?(?![\w-])|"
    rf"one\s+lesson\s+(?:per|a|for\s+each|for\s+every)\s+{level}(?![\w-])|"
    rf"(?:one|a|each|every)\s+{level}\s+(?:is\s+|as\s+)?(?:an?|one|per)\s+lesson|"
    rf"{level}s\s+(?:are|as)\s+(?:the\s+)?lessons|lessons?\s+(?:is|are|was|were)\s+"
    rf"(?:an?\s+)?(?:whole\s+|single\s+)?{level}s?|"
    rf"(?<![\w-])(?:whole|entire|single)\s+{level}s(?![\w-])|"
    rf"(?<!\d\s){level}s(?=:?\s+(?:\d{{1,2}}[.,]\d+\s?%|0?\.\d))|"
    rf"(?<=,\s|.\()(?<!,\d){level}s?(?=,|\)|\s*\||$)|{level}s(?=,\s+n\s*=)"
    for level in ("session", "turn", "message")
}
OURS = (
    r"(?<!of )\bhybrid(?!\s+(?:of|search|retrieval))(?:'s)?|"
    r"(?<!of )(?<!as )\bhybrid\s+(?:search|retrieval)(?=\s*(?:,|\(|and\b|reach|has\b|gets|finds|scores|"
    r"with\b|at\b|"
    r"is\b|leads|beats))|\bthe extension(?: itself)?|\bours\b|\bthe built-in score\b|"
    r"\btheir (?:combination|fusion)\b|"
    r"\bthe whole(?=\s*,|\s+(?:is|was|has|had|reaches|there|on|in)\b)|"
    r"\b(?:both|the two|both legs) (?:together|combined)|\bour(?:\s+own)?\s+(?=recall|result|figure|"
    r"number|value|MRR|nDCG|R@|any@|hit|system|headline|\d(?!\.\d+\.\d))|"
    r"\bus(?=\s*(?:[(,.;:]|at\b|with\b|by\b|$))|"
    r"\bwe(?=\s+(?:get|got|reach|reached|find|found|score|scored|hit|are|were|stand|land)\s+(?:at\s+)?[\d.])|"
    r"\bpgmnemo(?:\s+itself)?(?![\w@]|\.\w|-\w|\s+Recall\s+Benchmark)"
)
COUNTED = r"(?:\d[\d,]{0,6}\s+|two\s+|three\s+|four\s+|five\s+|six\s+|seven\s+|eight\s+|nine\s+|ten\s+)?"
ALIASES = {
    ("scope", "pool"): (
        r"(?<!candidate )pool(?:ed|ing)?(?!'s depth|\s+(?:depth|of (?:\d+ )?candidates)|"
        r":?\s*\(?\d+ candidates)|"
        rf"across (?:the )?(?:conversations|chats)|(?:across|over|in|among|searching) all (?:of )?(?:the )?"
        rf"{COUNTED}(?:\w+ )?(?:conversations|haystacks|chats)(?: at once| together)?|"
        rf"(?:all )?{COUNTED}(?:sessions|turns|messages|conversations|chats) (?:together|at once|"
        rf"in one (?:heap|pile|pot|bag|index|go))|"
        r"(?:in|into|over|from) one (?:heap|pile|pot|bag)"
    ),
    ("scope", "conversation"): (
        r"(?:within|inside(?: of)?|in|with) (?:the|one|a|each|its)(?: question's)? (?:own )?"
        r"(?:conversation|chat)|(?:per|single|own)[- ](?:conversation|chat)|conversation(?: alone| scope)?"
    ),
    ("type", "all"): (
        r"(?:on |the |its |an? )?(?:overall )?average|overall|all (?:[\d,]+ )?questions|all types|altogether"
    ),
    ("view", "not pointed"): (
        r"not pointed|(?:un|non)[ -]?pointed|(?:on|for|over) the (?:others|rest|other ones)"
    ),
    ("arm", "ceiling"): (
        r"ceiling|no (?:ranking|order|system|search) (?:can|could) (?:exceed|have more than|beat|"
        r"reach more|do better)|"
        r"(?:best|highest) possible (?:ranking|order|score|value)|upper bound|perfect (?:ranking|order)"
    ),
    ("arm", "random"): (
        r"random(?!\s+(?:seed|sample|draw|number|questions|subset))(?: order| ranking)?|(?:pure |mere |"
        r"by )chance"
    ),
    ("arm", "sqlite-fts5"): r"(?:sqlite(?:['\u2019]s)?[\s_-])?fts5(?!\+)(?:\s+in\s+SQLite)?",
    ("arm", "rrf"): r"rrf|(?:reciprocal[ -])?rank fusion",
    ("arm", "convex"): r"convex(?:[ -](?:fusion|combination|blend))?",
    ("view", "all"): (
        r"pointed (?:or|and) not(?: pointed)?|whether pointed or not|"
        r"(?:all|every)(?:\s+of)?\s+(?:the\s+|its\s+|our\s+)?(?:[\d,]+\s+)?(?:scored\s+)?questions?|"
        r"the\s+(?:whole|full|entire)\s+(?:question\s+)?set(?:\s+of\s+questions)?"
    ),
    ("view", "categories 1-4"): (
        r"categor(?:y|ies)\s+1\s*(?:-|–|to|through)\s*4|"  # noqa: RUF001
        r"(?:without|exclud(?:e|ing)|leav(?:e|ing) (?:out|aside)|minus|drop(?:ping)?|ignor(?:e|ing)|"
        r"omit(?:ting)?|"
        r"skip(?:ping)?|apart from|except(?: for)?)\s+"
        r"(?:the\s+|its\s+)?(?:\d+\s+)?adversarial(?:\s+(?:questions|category|ones))?|non-?adversarial|"
        r"(?:leav(?:e|ing)|tak(?:e|ing)|throw(?:ing)?|with|once|"
        r"when)\s+(?:the\s+)?adversarial(?:\s+(?:questions|category|ones))?\s+(?:are\s+|is\s+)?"
        r"(?:left\s+|taken\s+)?(?:out|aside|away|excluded|removed|dropped)"
    ),
    ("view", "without abstention"): (
        r"(?:without|exclud(?:e|ing)|leav(?:e|ing) (?:out|aside)|minus|drop(?:ping)?|ignor(?:e|ing)|"
        r"omit(?:ting)?|"
        r"skip(?:ping)?|apart from)\s+(?:the\s+|its\s+)?(?:\d+\s+)?"
        r"abstentions?(?:\s+(?:questions|ones))?|non-abstention|"
        r"(?:leav(?:e|ing)|tak(?:e|ing)|throw(?:ing)?|with|once|"
        r"when)\s+(?:the\s+)?abstentions?(?:\s+(?:questions|ones))?\s+(?:are\s+|is\s+)?"
        r"(?:left\s+|taken\s+)?(?:out|aside|away|excluded|removed|dropped)"
    ),
}  # fmt: skip
TYPES = {  # the types of questions in other words than their own
    r"knowledge[ _-]update": r"knowledge[\s_-]updates?|updates? of knowledge|updated (?:knowledge|facts)",
    r"contradiction_resolution": r"contradictions?(?:[\s_-]resolution)?|resolving contradictions",
    r"event_ordering": r"event[\s_-]order(?:ing)?|order(?:ing)? (?:of )?events",
    r"information_extraction": r"information[\s_-]extraction|extract(?:ion of|ing) information",
    r"instruction_following": r"instruction[\s_-]following|following(?: of)? instructions|instructions",
    r"preference_following": r"preference[\s_-]following|following(?: of)? preferences|preferences",
    r"multi_session_reasoning": r"multi-?[\s_-]?session(?:[\s_-]reasoning)?",
    r"temporal[_-]reasoning": r"temporal(?:[\s_-]reasoning)?(?=\s+(?:questions|ones|type|category|"
    r"items))|temporal[\s_-]reasoning",
    r"summarization": r"summari[sz]ations?|summaries",
    r"multi-hop": r"multi-?\s?hop",
    r"single-hop": r"single-?\s?hop",
    r"open-domain": r"open-?\s?domain",
    r"multi-session": r"multi-?\s?session",
    r"commonsense": r"common[\s_-]?sense",
    r"single-session-user": r"single[\s_-]session[\s_-]user",
    r"single-session-assistant": r"single[\s_-]session[\s_-]assistant",
    r"single-session-preference": r"single[\s_-]session[\s_-]preferences?|preferences?(?:\s+questions)?",
}  # fmt: skip
PLURAL = (  # "vectors alone" is the arm `vector`
    r"(?=\s+(?:alone|only|by themselves|on their own|miss|find|reach|get|have|score|fail|\d))"
)
SEARCH = r"(?:search(?!\s+alone)|index\w*|match\w*|scor\w+|terms?|statistic\w*|retrieval)"
COMMON = {
    "keyword": rf"(?!\s+(?:(?:and|or|\+|,)\s*vector\s+)?{SEARCH})",
    "vector": r"(?!\s+(?:search(?!\s+alone)|index|column|store|database|dimension|similarit|extension|"
    r"space|size))",
    "cosine": r"(?!\s+(?:weight|similarit|distance|component|score(?!s?\s+(?:an?\s|[.\d]))|of))",
    "bm25": r"(?!\s+(?:weight|statistic|component|parameter|score(?!s?\s+(?:an?\s|[.\d]))|over|formula|"
    r"index|k1|implementation)|"
    r"[_+])",
    "random": r"(?!\s+(?:seed|sample|draw|number|questions|subset))",
    "temporal": r"(?!\s+(?:component|score|weight|boost|expression|anchor|distance))",
    "ceiling": r"(?<!glass )",
    "pgvector": r"(?!\s+(?:v?\d+\.\d+\.\d|v?0\.\d(?![\d.])(?!\s?%)|≥|>=|or later|extension))",
}
