"""Cutoffs in words: "in the top five", "within ten answers", "at five", "first place"."""

from __future__ import annotations

import re
from dataclasses import replace

from runner.lint.written.names import NUMERALS, Name, kinds_said

NO_VALUE = (
    r"(?![.,]\d|\s+was\b)\b(?!\s*%)"  # the digits are no value, and no depth that "was asked" of a pool
)
DEPTHS = rf"(?:5|10|20|50|one|five|ten|twenty|fifty){NO_VALUE}"
ANY = rf"(?:1|5|10|20|50|one|five|ten|twenty|fifty){NO_VALUE}"
NUMBER = rf"(?:[0-9]{{1,2}}|one|five|ten|twenty|fifty){NO_VALUE}"
THINGS = (
    r"(?:answers?|results?|hits?|candidates?|memories|lessons|places|positions|ranks|entries|returns?|"
    r"suggestions|retrieved|best|sessions|turns|messages)"
)
DEPTH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:top|first|best|leading|uppermost)[- ](?:\w+\s)?(?P<k>{NUMBER})",
        r"\b(?:at\s+(?:k\s*=\s*|depth\s+|cutoff\s+|rank\s+)?|depth\s+(?:of\s+)?|k\s*=\s*)"
        rf"(?P<k>{ANY})(?!\s+(?:points|questions))",
        rf"\b(?:within|in|among|inside|from|of)\s+(?:the\s+|its\s+|only\s+|just\s+)?(?P<k>{DEPTHS})\s+{THINGS}\b",
        rf"\b(?P<k>{DEPTHS})\s+(?:best|first|top)\b",
        rf"\bamong\s+(?:the\s+|its\s+)?(?P<k>{DEPTHS})(?=\s+(?:for|of)\b|\s*[,.;:])",
        rf"(?<!\w)@(?P<k>{ANY})",
    )
)
LISTED = re.compile(r"\bk\s*=\s*\d+(?:\s*,\s*(?:and\s+)?\d+)+", re.IGNORECASE)
FIRST = re.compile(
    r"\b(?:comes?|came|coming|ranks?|ranked|puts?|places?|placed|stands?|lands?|sits?|is|are|goes)\s+"
    r"(?:\w+\s+){0,5}first\b(?!\s+(?:\d|five|ten|twenty|fifty))|"
    r"\bfirst[\s-](?:answer|place|hit|result|rank|position|spot|memory|try|guess|thing)\b|"
    r"\b(?:rank|position|place)\s+(?:1|one)\b(?![.,]\d)|"
    r"\btop\s+(?:spot|of\s+the\s+list|place|answer|result|hit)\b|"
    r"\b(?:at|on|to)\s+(?:the\s+)?very\s+(?:top|front|first)\b|\bon\s+top(?!\s+of\b)\b|"
    r"\bnumber\s+one\b|\bfirst-ranked\b|\btop-ranked\b",
    re.IGNORECASE,
)


def find_depths(text: str) -> list[Name]:
    """A recall at each depth that `text` says, where it says it; the protocol's recall@k is recall_any@k."""
    found = [
        _recall(listed.start() + one.start(), listed.start() + one.end(), one[0])
        for listed in LISTED.finditer(text)
        for one in re.finditer(r"\d+", listed[0])
    ]
    for match in (match for pattern in DEPTH for match in pattern.finditer(text)):
        if not any(one.start < match.end() and match.start() < one.end for one in found):
            found.append(_recall(*match.span(), match["k"].lower()))
    return sorted(found, key=lambda name: name.start)


def find_first(text: str) -> list[Name]:
    """A recall at 1 for each way to say that something stands in the first place."""
    return [_recall(*match.span(), "1") for match in FIRST.finditer(text)]


def _recall(start: int, end: int, k: str) -> Name:
    return Name(start, end, "recall", "any", int(k) if k.isdigit() else NUMERALS[k])


def deep(text: str, names: list[Name]) -> list[Name]:
    """`names`, a recall without its cutoff at the one depth that the sentence says elsewhere."""
    depths = find_depths(text)
    if len({depth.k for depth in depths}) > 1 and {(n.family, n.k) for n in names} == {("recall", None)}:
        return [replace(names[0], start=depth.start, end=depth.end, k=depth.k) for depth in depths]
    said = {name.k for name in names if name.k is not None and name.family == "recall"}
    cutoffs = {depth.k for depth in depths} or (said if any(n.k is None and n.kind for n in names) else set())
    if len(cutoffs) != 1:
        return names
    (k,) = cutoffs
    return [
        replace(n, k=k, kind=n.kind or _kind(text)) if n.k is None and n.family == "recall" else n
        for n in names
    ]


def _kind(text: str) -> str | None:
    said = sorted(kinds_said(text))
    return said[0] if len(said) == 1 else None
