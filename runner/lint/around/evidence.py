"""What a document says beside its figures: protocol, source, definition, label."""

from __future__ import annotations

import re
from functools import lru_cache

from runner.editions import known
from runner.lint.artefacts import PATH
from runner.lint.written.names import kinds_said

PROTOCOL = re.compile(
    r"(?<![A-Za-z])protocol(?:\.md)?\W{0,3}\s*(?:(?:was|is|has)\s+)?(?:the\s+)?(?:version\W{0,4})?v?(?P<behind>\d+\.\d+\.\d+)|"
    r"\bv?(?P<before>\d+\.\d+\.\d+)[`*_]*\s+(?:edition\s+)?of\s+(?:the|its|this|our)\s+(?:[\w-]+\s+){0,3}protocol\b",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"\b(?:baselines?|upstream|published|publishes|says? of itself|own definitions?|reported|reports|"
    r"ablat\w+|sweeps?|swept|grid|fitted|"
    r"in-sample(?! (?:linear )?rerank)|left out|leave-one\S*|"
    r"without the(?!\s+(?:abstention|adversarial|rerank|passages|questions))|"
    r"et al\.|according to|(?:the|its) (?:paper|authors|README)|"
    r"theirs|their (?:own|paper|authors|README|figures?|numbers?|results?|score|recall\w*|MRR|any@|R@)|"
    r"third[- ]part\w+|vendors?|competitors?|leaderboards?|others|claims? by|harness(?:es)?|elsewhere|"
    r"random (?:order|baseline|ranking|search)|(?<![\w-])HNSW|ANN|exact (?:scan|search|answer)|literature)\b",
    re.IGNORECASE,
)
IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\s]*\)")
ELSEWHERE = re.compile(r"https?://(?!\S*results/)|\barxiv:?\s*\d|\bdoi:?\s*10\.", re.IGNORECASE)
SOURCE = re.compile(
    r"https?://\S+|\barxiv:?\s*\d|\bdoi:?\s*10\.|\]\([^)\s]+\)|\bsource:\s*\S|"
    r"\b[A-Z]\w+ (?:et al\.|and [A-Z]\w+),? \(?(?:19|20)\d\d|\bet al\.,? \(?(?:[A-Z]+ )?(?:19|20)\d\d|"
    r"\bPROTOCOL\.md\s+§\s?\d|"
    r"(?<![\w/])(?!(?:PROTOCOL|README|HISTORY)\.md)[\w./-]+\.(?:md|py|json|toml|csv|pdf|txt|sql|ipynb)\b|"
    r"\bpublished (?:with|in|by|under) [^.|]{0,60}(?:\d+\.\d+\.\d+|paper|program)|\bprotocol 1\.0\.0\b|"
    r"\bv\d+\.\d+\.\d+_\d{8}",
    re.IGNORECASE,
)
DEFINED = re.compile(
    r"\brecall@k\b[^.]{0,80}\b(?:binary|fractional|any|at least one|share)\b|"
    r"\b(?:against|of) the exact (?:scan|search|answer)|"
    r"\b(?:counts?|counted|means?|is the share|is defined)\b[^.]{0,80}"
    r"\b(?:gold|evidence|session|lesson|hit)\b",
    re.IGNORECASE,
)
WITHDRAWN = re.compile(r"\b(?:withdrawn|withdrew|retracted|retracts?)\b", re.IGNORECASE)
SAID = re.compile(
    r"\bdefinitions?\b|\bnot (?:be )?compar\w+|\bnot the same\b|"
    r"\bdiffer(?:s|ent)? (?:metric|measure|scope|count)\w*|"
    r"\blike for like\b|\bin the terms of\b|\bis not\b|\bincomparable\b|\bapples\b|\bcannot be compared\b|"
    r"\bnever compare\b|\bstricter\b|\blooser\b|\blenient\b|\bfractional variant\b|\bby definition\b|"
    r"\bdefined\b|\ball of (?:them|its|the)\b|\bevery gold\b|\bat least one\b|\bsome gold\b|"
    r"\bother metrics?\b|\bdifferent (?:metric|thing|question)s?\b",
    re.IGNORECASE,
)
BESIDE = re.compile(
    r"\bvs\.?|\bversus\b|\bagainst\b|\bcompared?\b|\bthan\b|→|->|⟶|"
    r"\bup from\b|\bdown from\b|\bfrom\b.*\bto\b|"
    r"\bbeats?\b|\boutperform\w*|\bahead of\b|\bbetter\b|\bworse\b|"
    r"\bwhile\b|\bwhereas\b|\bover the\b|\bsurpass\w*",
    re.IGNORECASE | re.DOTALL,
)
AGAINST = re.compile(  # the same of metrics that are both named in full
    r"\bvs\.?|\bversus\b|\bagainst\b|\bcompared?\b|\bthan\s+(?:that|those|the|its|our|\d)|→|->|\bbeats?\b|"
    r"\boutperform\w*|\bahead of\b|\bsurpass\w*",
    re.IGNORECASE,
)
LABEL = re.compile(r"(?<![A-Za-z])deviat\w+", re.IGNORECASE)
CALLED_VERIFIED = re.compile(r"(?<!un)(?<!not )\bverified\b(?!\s*\|\s*deviation)", re.IGNORECASE)
CALLED_BLOCKED = re.compile(r"\bblocked\b", re.IGNORECASE)


@lru_cache(maxsize=512)
def of_others(text: str) -> bool:
    """Whether `text` speaks of figures of others, a baseline, an ablation or a sweep."""
    return OTHERS.search(text) is not None


def speaks_of_itself(text: str) -> bool:
    """Whether a sentence says "we" or "our" of what it states, and names nobody else's source."""
    return re.search(r"\b(?:we|our|ours)\b", text, re.IGNORECASE) is not None and SOURCE.search(text) is None


@lru_cache(maxsize=512)
def told_apart(text: str) -> bool:
    """Whether `text` says that two definitions are not the same."""
    return SAID.search(text) is not None


@lru_cache(maxsize=512)
def sourced(text: str) -> bool:
    """Whether `text` names a source."""
    return SOURCE.search(IMAGE.sub(" ", text)) is not None


@lru_cache(maxsize=512)
def labelled(text: str) -> bool:
    """Whether `text` calls something a deviation."""
    return LABEL.search(text) is not None


@lru_cache(maxsize=512)
def protocol_version(text: str) -> str | None:
    """The version of the protocol that `text` names, if any."""
    said = _said(text)
    return next((version for version in said if version in _editions()), said[0] if said else None)


@lru_cache(maxsize=512)
def protocols(text: str) -> frozenset[str]:
    """Every edition of the protocol that `text` names."""
    return frozenset(_said(text)) & _editions()


def _said(text: str) -> list[str]:
    return [match["behind"] or match["before"] for match in PROTOCOL.finditer(text)]


@lru_cache(maxsize=1)
def _editions() -> frozenset[str]:
    """Every version that the protocol has had: "by the protocol v0.4.1 finds" names none of them."""
    return frozenset(map(str, known()))


@lru_cache(maxsize=512)
def elsewhere(text: str) -> bool:
    """Whether `text` leads to a source outside of this repository, other than a drawn badge."""
    return ELSEWHERE.search(IMAGE.sub(" ", text)) is not None


@lru_cache(maxsize=512)
def defines(text: str) -> bool:
    """Whether `text` says which recall its figures are."""
    return bool(kinds_said(text)) or DEFINED.search(text) is not None


@lru_cache(maxsize=2048)
def names_departure(text: str, deviation: str) -> bool:
    """Whether `text` names a departure such as `embedder: minilm`, elsewhere than in a path."""
    text = PATH.sub(" ", text)
    gate, _, found = deviation.partition(": ")
    first = " ".join(found.split()[:2])
    low = text.lower()
    return gate.lower() in low or (bool(first) and first.lower() in low) or deviation.lower() in low
