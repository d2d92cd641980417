"""Names of recall metrics, in the many ways in which people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

NUMERALS = {"one": 1, "five": 5, "ten": 10, "twenty": 20, "fifty": 50}
K = r"(?:k\s*=\s*)?(?P<k>\d+|k|K|N|one|five|ten|twenty|fifty)\b"
AT = r"\s*(?:@|\bat\s+(?:(?:rank|cutoff)\s+)?|-at-)\s*"
KIND = r"any|frac(?:tional)?|all"
WORDS = {
    "any": re.compile(r"\bany[- ]hit|\bbinary\b|\bat least one\b|\bany gold\b|\bany of (?:its|the)\b", re.I),
    "frac": re.compile(r"\bfraction(?:al|s)?\b|\bshare of (?:the|its|a question's) gold\b", re.I),
    "all": re.compile(r"\ball(?: of)?(?: the| its)? gold\b|\bevery gold\b", re.I),
}
PATTERNS = (
    rf"(?<![\w.])(?:(?P<before>fractional|binary|any-hit)\s+)?recall(?:\\?[_ -]?(?P<kind>{KIND}))?{AT}{K}",
    rf"\b(?P<kind>any|frac|all|hits?|success|R)\s*@\s*{K}",
    r"(?<![\w@.])(?P<kind>any|frac|all)(?=\s*[:=]\s*\.?\d)",
    r"\btop[- ]?(?P<k>\d+|five|ten|twenty|fifty)[- ](?P<kind>hit[- ]?rate|recall|accuracy)",
    rf"\b(?P<kind>hit)[- ]?rate(?:{AT}{K})?",
    rf"(?<![\w.])(?P<family>MRR|mean reciprocal rank)(?!\w)(?:{AT}{K})?",
    rf"(?<![\w.])(?P<family>nDCG)(?!\w)(?:{AT}{K})?",
    r"(?<![\w/.])(?P<bare>recall)(?:_(?P<kind>any|frac|all))?\b"
    r"(?![\w.(/_-]|\s+(?:Benchmark|protocol|function|verb|lessons?|call|that|measured|improvement measured))",
)
MORE = re.compile(
    r"\s?(?:/|,|&|\band\b|\bor\b)\s?@?(?P<k>1|5|10|20|50)(?![\w.]|,\d|\s?%|\s?(?:of\s+(?:the\s+|"
    r"all\s+)?\d[\d,]*(?![\d.])|questions|points|ms))"
)
COMPILED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in PATTERNS)


@dataclass(frozen=True, slots=True)
class Name:
    """A metric as it is named. `kind` is any, frac or all for a recall (None: not said), `k` its cutoff."""

    start: int
    end: int
    family: str  # "recall", "MRR", "nDCG"
    kind: str | None
    k: int | None

    @property
    def key(self) -> str | None:
        """The name in metrics.json; the protocol's recall@k is recall_any@k. None without a cutoff."""
        if self.k is None:
            return None
        return (
            f"recall_{self.kind or 'any'}@{self.k}" if self.family == "recall" else f"{self.family}@{self.k}"
        )

    @property
    def defined(self) -> bool:
        """Whether the name alone says what is counted."""
        return self.k is not None and (self.family != "recall" or self.kind is not None)

    @property
    def words(self) -> str:
        return self.key or self.family


QUESTIONS = Name(0, 0, "questions", None, None)  # a count of which no metric is said


def defined_first(names: list[Name]) -> list[Name]:
    """`names` without a bare "recall" or "MRR" where the sentence names one of the family in full."""
    full = {name.family for name in names if name.k is not None}
    return [name for name in names if name.k is not None or name.family not in full]


def find_names(text: str) -> list[Name]:
    """Every metric named in `text`, in order; of overlapping readings the earlier pattern's."""
    found: list[Name] = []
    for pattern in COMPILED:
        for match in pattern.finditer(text):
            if not any(match.start() < name.end and name.start < match.end() for name in found):
                name = _name(match)
                found += [name, *_cutoffs(text, name)]
    return sorted(found, key=lambda name: name.start)


def _cutoffs(text: str, name: Name) -> list[Name]:
    """Further cutoffs behind a name: `recall_any@5/10`."""
    more: list[Name] = []
    while name.k is not None and (match := MORE.match(text, more[-1].end if more else name.end)):
        more.append(Name(*match.span(), name.family, name.kind, int(match["k"])))
    return more


def _name(match: re.Match[str]) -> Name:
    groups = match.groupdict()
    family = groups.get("family")
    cutoff = groups.get("k") or ""
    k = int(cutoff) if cutoff.isdigit() else NUMERALS.get(cutoff.lower())
    if family:
        return Name(*match.span(), "nDCG" if family.lower() == "ndcg" else "MRR", None, k)
    return Name(*match.span(), "recall", _kind(groups), k)


def _kind(groups: dict[str, str | None]) -> str | None:
    word = (groups.get("before") or groups.get("kind") or "").lower()
    if word.startswith("frac"):
        return "frac"
    if word in ("any", "binary", "any-hit") or word.startswith(("hit", "success")):
        return "any"
    return "all" if word == "all" else None


@lru_cache(maxsize=512)
def names_in(text: str) -> tuple[Name, ...]:
    """The same of a text that is asked about again and again, such as a section."""
    return tuple(find_names(text))


@lru_cache(maxsize=512)
def kinds_said(text: str) -> set[str]:
    """Definitions of recall that `text` states in words or by an unmistakable name."""
    said = {kind for kind, pattern in WORDS.items() if pattern.search(text)}
    return said | {name.kind for name in names_in(text) if name.kind}
