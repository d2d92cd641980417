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
    rf"(?:one|a|each|every)\s+{level}\s+(?:is\s+|as\s+)?(?:an?|one|per)\s+lesson|"
    rf"{level}s\s+(?:are|as)\s+(?:the\s+)?lessons|lessons?\s+(?:is|are|was|were)\s+(?:an?\s+|whole\s+)?{level}s?|"
    rf"(?<=\s|\()(?:whole|entire|single)\s+{level}s(?![\w-])|"
    rf"(?<=,\s|.\()(?<!,\d){level}s?(?=,|\)|\s*\||$)|{level}s(?=,\s+n\s*=)"
    for level in ("session", "turn", "message")
}
OURS = (
    r"(?<!of )\bhybrid(?!\s+(?:of|search|retrieval))(?:'s)?|\bthe extension(?: itself)?|\bours\b|"
    r"\b(?:both|the two|both legs) (?:together|combined)|\bour(?:\s+own)?\s+(?=recall|result|figure|"
    r"number|value|MRR|nDCG|R@|any@|hit|system|headline)|"
    r"\bpgmnemo(?:\s+(?:itself|v?\d+\.\d+\.\d+))?(?![\w@]|\.\w|-\w|\s+Recall\s+Benchmark)"
)
COUNTED = r"(?:\d[\d,]{0,6}\s+|two\s+|three\s+|four\s+|five\s+|six\s+|seven\s+|eight\s+|nine\s+|ten\s+)?"
ALIASES = {
    ("scope", "pool"): (
        r"(?<!candidate )pool(?:ed|ing)?(?!'s depth|\s+(?:depth|of (?:\d+ )?candidates)|"
        r":?\s*\(?\d+ candidates)|"
        rf"across (?:the )?(?:conversations|chats)|(?:across|over|in|among|searching) all (?:of )?(?:the )?"
        rf"{COUNTED}(?:\w+ )?(?:conversations|haystacks|chats)(?: at once| together)?|"
        rf"(?:all )?{COUNTED}(?:sessions|turns|messages|conversations|chats) (?:together|at once)"
    ),
    ("scope", "conversation"): (
        r"(?:within|inside|in|with) (?:the|one|a|each|its)(?: question's)? (?:own )?(?:conversation|chat)|"
        r"(?:per|single|own)[- ](?:conversation|chat)|conversation(?: alone| scope)?"
    ),
    ("type", "all"): (
        r"(?:on |the |its |an? )?(?:overall )?average|overall|all (?:[\d,]+ )?questions|all types|altogether"
    ),
    ("view", "categories 1-4"): (
        r"categor(?:y|ies)\s+1\s*(?:-|–|to|through)\s*4|"  # noqa: RUF001
        r"(?:without|excluding|leaving out|minus)\s+(?:the\s+)?adversarial(?:\s+(?:questions|category|ones))?"
    ),
    ("view", "without abstention"): (
        r"(?:without|excluding|leaving out|minus)\s+(?:the\s+)?abstention(?:\s+(?:questions|ones))?|"
        r"non-abstention"
    ),
}  # fmt: skip
PLURAL = r"(?=\s+(?:alone|only|by themselves|on their own))"  # "vectors alone" is the arm `vector`
SEARCH = r"(?:search(?!\s+alone)|index\w*|match\w*|scor\w+|terms?|statistic\w*|retrieval)"
COMMON = {
    "keyword": rf"(?!\s+(?:(?:and|or|\+|,)\s*vector\s+)?{SEARCH})",
    "vector": r"(?!\s+(?:search(?!\s+alone)|index|column|store|database|dimension|similarit|extension|"
    r"space|size))",
    "cosine": r"(?!\s+(?:weight|similarit|distance|component|score|of))",
    "bm25": r"(?!\s+(?:weight|statistic|component|parameter|score|over|formula|index|k1|implementation)|"
    r"[_+])",
    "random": r"(?!\s+(?:seed|sample|draw|number|questions|subset))",
    "temporal": r"(?!\s+(?:component|score|weight|boost|expression|anchor|distance))",
    "ceiling": r"(?<!glass )",
    "pgvector": r"(?!\s+(?:v?\d+\.\d+\.\d|v?0\.\d(?![\d.])(?!\s?%)|≥|>=|or later|extension))",
}
