"""What a sentence says of a figure beside its metric: arm, scope, view, type, version and so on.

Each facet is a column of metrics.json or a fact of run.json. Its words are those of the cited runs, and the
names that this program has for others of the kind, so that a name which the run does not have is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from runner.cite.results import Cited
from runner.embedders import EMBEDDERS
from runner.lint.artefacts import Row
from runner.lint.said.vocabulary import ALIASES, COMMON, CORPORA, LEVELS, OURS, PLURAL, TYPES
from runner.systems import SYSTEMS

ROW_FACETS = ("arm", "scope", "view", "type")
RUN_FACETS = ("version", "corpus", "embedder", "level")
RUN_VALUES: Mapping[str, Callable[[Cited], str]] = {
    "version": lambda run: str(run.run.version).removeprefix("v"),
    "corpus": lambda run: re.split(r"[ -]", run.run.corpus.title.lower().removeprefix("the "))[0],
    "embedder": lambda run: run.run.embedder_name,
    "level": lambda run: str(run.run.choice.level),
}
SPENT = re.compile(  # a time, a size or a setting follows, so that the word has its number already
    r"(?:'s)?\s*(?:[:=(]|at|takes|needs|has|is)?\s*\d[\d.,]{0,12}\s?(?:ms|s|MB|GB|kB|k|seconds?|minutes?)\b|"
    r"\s+(?:weight|score|component|bonus|boost|query|queries|setting|parameter|pool|"
    r"seed)s?\b(?!\s+(?:an?\s|[.\d]))",
    re.IGNORECASE,
)
FUSED = re.compile(
    r"(?:fus\w+|combin\w+|mix\w*|sum|blend\w*|hybrid|(?<=of )both)\s+(?:of\s+)?(?:\w+\s+(?:and|with)\s+)?$",
    re.I,
)
ASIDE = re.compile(
    r"\b(?:unlike|not|instead of|rather than|than|without|against|versus|vs\.?|compar(?:ed|ison) (?:to|with)|"
    r"besides?|apart from|over|above|below|under|(?<!belongs )(?<!goes )to|"
    r"beats?|outperforms?|on|behind|ahead of|since|"
    r"trails?|leads?|"
    r"after|before:?|previously:?|formerly:?|or|exceeds|from|surpasses|canonical|expected|names|asks for|"
    r"prescribes|requires)"
    r"(?:\s+(?:the|that|those|its|own|our|a|of|by|exact|mere|plain|canonical|version|release|"
    r"with))*\s+[`*_]*$",
    re.IGNORECASE,
)
OWNER = re.compile(  # "the keyword leg of pgmnemo" is the leg alone
    r"[`*_]*\s*(?:leg|arm|search|component|ranking|baseline|control|implementation)?s?\s*\b(?:of|in|"
    r"inside|within|from)\s+"
    r"(?:the\s+|our\s+)?[`*_]*",
    re.IGNORECASE,
)
FROM_TO = re.compile(r"\s+to\s+(?:version\s+)?(?:pgmnemo\s+)?v?", re.IGNORECASE)
POSSESSIVE = re.compile(r"[`*_]*(?:['\u2019]s|s['\u2019])\s+(?:own\s+)?[`*_]*")
APART = re.compile(
    r"\b(?:unlike|not|instead of|rather than|than|against|versus|vs\.?|compar(?:ed|ison) (?:to|with)|"
    r"apart from|except|but)"
    r"(?:\s+(?:the|that|those|its|our|a|of|on|in|for|over|at))*\s+[`*_]*$",
    re.IGNORECASE,
)
EXCEPT = re.compile(
    r"\b(?:except(?:ing)?|apart from|save|but)(?:\s+(?:for|the|"
    r"our))*\s+[`*_]*$",
    re.IGNORECASE,
)
AND = re.compile(r"[`*_]*\s*(?:,?\s(?:and|or)\s|/|&)\s*(?:the\s+)?[`*_]*", re.IGNORECASE)
DENIED = re.compile(
    r"\b(?:unlike|not|instead of|rather than|than|against|canonical|expected|prescribes|requires|"
    r"asks for|names|"
    r"differs from|until|before|yet|no|other|planned|later)(?:\s+\w+){0,2}\s+[`*_]*$|\bn[o']t\s+[`*_]*$",
    re.IGNORECASE,
)
ALL_OF_THEM = re.compile(r"\b(?:both|either|every|all|each)\b(?:\s+of)?(?:\s+(?:the|two))*\s+scopes?\b", re.I)


@dataclass(frozen=True, slots=True)
class Mention:
    """One value of a facet where it stands in a text.

    `aside` marks what something is compared with ("than bm25"), `denied` what is said not to be meant; `weak`
    a word that may be of the language ("keyword search").
    """

    start: int
    end: int
    facet: str
    value: str
    aside: bool = False
    denied: bool = False
    weak: bool = False
    derived: bool = False  # a version that stands for our system among other arms


def value(facet: str, run: Cited, row: Row) -> str:
    """What `row` of `run` is of in this facet; the level is the run's."""
    return str(row[facet]) if facet in ROW_FACETS else RUN_VALUES[facet](run)


@lru_cache(maxsize=256)
def arms_of(run: Cited) -> frozenset[str]:
    """The arms that a run has."""
    return frozenset(str(row["arm"]) for row in run.metrics["results"])


@lru_cache(maxsize=256)
def scopes_of(run: Cited) -> frozenset[str]:
    """The scopes that a run has."""
    return frozenset(str(row["scope"]) for row in run.metrics["results"])


@lru_cache(maxsize=256)
def defaults(run: Cited) -> Mapping[str, str]:
    """What a value without another word is of: the headline's arm, scope, view and type."""
    record = run.run
    return {
        "arm": record.system,
        "scope": record.scopes[0].name,
        "view": record.headline_view,
        "type": "all",
    }


def mentions(text: str, runs: Iterable[Cited], versions: frozenset[str]) -> list[Mention]:
    """Every mention in `text`, in order; of overlapping ones of a facet the longest."""
    known: set[tuple[str, str]] = {("version", version) for version in versions}
    for run in runs:
        known |= _known(run)
    return _find(text, tuple(sorted(known)))


@lru_cache(maxsize=256)
def _known(run: Cited) -> frozenset[tuple[str, str]]:
    """The facets and values that `run` has, and the systems that this program knows."""
    said = {(facet, str(row[facet])) for row in run.metrics["results"] for facet in ROW_FACETS}
    versions = {("version", arm.partition("@")[2]) for facet, arm in said if facet == "arm" and "@" in arm}
    systems = {("arm", name) for name in SYSTEMS}
    return frozenset(
        said | versions | systems | {("ours", run.run.system), ("version", RUN_VALUES["version"](run))}
    )


@lru_cache(maxsize=512)
def _find(text: str, known: tuple[tuple[str, str], ...]) -> list[Mention]:
    found: list[Mention] = []
    for facet, said, pattern in _patterns(known):
        for match in pattern.finditer(text):
            before = text[max(0, match.start() - 60) : match.start()]
            spent = SPENT.match(text, match.end())
            if spent is None and not (said in COMMON and FUSED.search(before)):
                found.append(_mention(text, before, match, facet, said))
            elif spent is not None and facet == "arm" and re.search(r"\d", spent[0]):
                found.append(replace(_mention(text, before, match, facet, said), weak=True))
    found.sort(key=lambda one: (one.start, -one.end))
    return _in_lists(text, [one for place, one in enumerate(found) if not _covered(one, found[:place])])


def _mention(text: str, before: str, match: re.Match[str], facet: str, said: str) -> Mention:
    of_run = facet in ("corpus", "embedder", "level")
    apart = ASIDE if facet in ("arm", "version") else APART
    return Mention(
        *match.span(),
        facet,
        said,
        aside=not of_run and apart.search(before) is not None,
        denied=(DENIED if of_run else EXCEPT).search(before) is not None,
        weak=said in COMMON and _common(said, before, text[match.end() : match.end() + 40]),
    )


def _common(said: str, before: str, after: str) -> bool:
    """Whether a word is of the language rather than an arm's name: "keyword search", "one vector each"."""
    counted = re.search(r"\b(?:one|a|an|single|each|every|per)\s+$", before, re.IGNORECASE)
    if counted and not re.match(r"\s+(?:leg|arm|mode|search\s+alone|baseline)", after, re.IGNORECASE):
        return True
    return re.match(COMMON[said], after, re.IGNORECASE) is None


def _from_to(text: str, first: Mention, one: Mention) -> bool:
    """Whether two words are the ends of "from 0.3.1 to 0.4.0", and none what the other is compared with."""
    between = FROM_TO.fullmatch(text[first.end : one.start]) if first.aside and one.aside else None
    return between is not None and re.search(r"\bfrom\s+(?:version\s+)?v?$", text[: first.start]) is not None


def _in_lists(text: str, found: list[Mention]) -> list[Mention]:
    """What holds of the first of a list holds of all: "every system but pgvector and sqlite-hybrid"."""
    last: dict[str, Mention] = {}
    listed: list[Mention] = []
    for one in found:
        first = last.get(one.facet)
        if first and _from_to(text, first, one):
            listed[listed.index(first)] = first = replace(first, aside=False)
            one = replace(one, aside=False)
        if first and one.facet == "arm" and first.value != one.value and first.end <= one.start:
            if one.value in COMMON and not one.weak and POSSESSIVE.fullmatch(text[first.end : one.start]):
                listed[listed.index(first)] = replace(first, denied=True)
            elif OWNER.fullmatch(text[first.end : one.start]):
                listed[listed.index(first)] = last["arm"] = replace(first, weak=False)
                listed.append(replace(one, denied=True))
                continue
        if first and first.end <= one.start and AND.fullmatch(text[first.end : one.start]):
            one = replace(one, aside=one.aside or first.aside, denied=one.denied or first.denied)
        last[one.facet] = one
        listed.append(one)
    return listed


def _covered(one: Mention, earlier: list[Mention]) -> bool:
    """Whether a longer mention holds this one: `pgmnemo@0.3.1` is no version, `bm25s+passages` no bm25s."""
    near = [other for other in earlier[-12:] if other.end > one.start]
    row = {"arm": ("arm", "version"), "view": ("view", "type"), "type": ("type", "view")}
    return any(
        one.facet in row.get(other.facet, (other.facet,))
        and not (one.value == other.value == "all")
        and other.start <= one.start
        and one.end <= other.end
        for other in near
    )


@lru_cache(maxsize=64)
def _patterns(known: tuple[tuple[str, str], ...]) -> list[tuple[str, str, re.Pattern[str]]]:
    return [(facet, said, re.compile(words, re.IGNORECASE)) for facet, said, words in _worded(known)]


def _worded(known: tuple[tuple[str, str], ...]) -> Iterator[tuple[str, str, str]]:
    for facet, said in known:
        if facet == "ours":
            yield "arm", said, OURS if said == "pgmnemo" else rf"{OURS}|{_name(said)}"
        elif facet == "version":
            yield facet, said, rf"(?<![\w.@-])(?<!protocol )v?{re.escape(said)}(?![\w-]|\.\d)"
        elif (facet, said) in ALIASES:
            yield facet, said, rf"(?<![\w-])(?:{ALIASES[facet, said]})(?![\w-])"
        elif facet == "type" and (words := _in_other_words(said)):
            yield facet, said, rf"(?<![\w-])(?:{words})(?![\w-])"
        elif said not in ("all", "pgmnemo"):
            yield facet, said, _name(said)
            if said in ("keyword", "vector"):
                yield facet, said, rf"(?<![\w@/+.-]){said}s{PLURAL}|(?<=\bfor ){said}s\b|(?<=\bby ){said}s\b"
    yield from (("corpus", name, rf"(?<![\w/-]){words}(?![\w-])") for name, words in CORPORA.items())
    yield from (("level", name, rf"(?<![\w-])(?:{words})") for name, words in LEVELS.items())
    for name in EMBEDDERS:
        joined = re.escape(name).replace("\\-plus", "(?:-plus|\\+)")
        yield "embedder", name, rf"(?<![\w/_-])(?:all-)?{joined}(?:-L6-v2)?(?![\w-])"


def _in_other_words(said: str) -> str:
    return "|".join(words for name, words in TYPES.items() if re.fullmatch(name, said))


def _name(said: str) -> str:
    """The name of an arm, a scope, a view or a type, however its words are joined."""
    joined = r"(?:['\u2019]s\s|[\s_+/-]|\s(?:plus|and|with|\+)\s)".join(
        re.escape(part) for part in re.split(r"[ _-]", said)
    )
    passages = r"(?:\s+(?:with|plus|over|and)\s+passages)"
    end = r"(?![\w+@-])(?!\.\w)"
    if said.endswith(r"+passages"):
        joined = rf"{re.escape(said)}|{re.escape(said.removesuffix('+passages'))}{passages}"
    return rf"(?<![\w@/+.-])(?:{joined}){end}"
