"""Versions that stand for our system: "0.4.0 has …, pgmnemo@0.3.1 …, bm25 …" compares three arms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runner.cite.results import Cited
from runner.lint.artefacts import Shelf
from runner.lint.document.figures import Figure
from runner.lint.said.facets import RUN_VALUES, Mention, arms_of, mentions

OWN_ARM = re.compile(r"(?:['\u2019]s?)?[\s`*_]+(?:own\s+)?[`*_]*")
RUN_OF = re.compile(
    r"\b(?:runs?|report|folder|artefacts)\s+(?:of|for|with)\s+(?:the\s+|pgmnemo\s+|version\s+|v)?$"
)
RUN = re.compile(
    r"['\u2019]s?\s+(?:\w[\w-]*\s+){0,3}(?:runs?|report|release|folder|artefacts)\b|\s+runs?\b(?!\s+on)"
)
ARM_OF = re.compile(
    r"[`*_]*\s*(?:arm|leg|search)?\s*(?:\(|\b(?:of|in|from|by|with|under|for)\b)?\s*(?:the\s+|"
    r"version\s+|v)?[`*_]*"
)


def named_in(figure: Figure, runs: Sequence[Cited], shelf: Shelf) -> list[Mention]:
    """What the sentence or the row of a figure names, its versions as arms too, where they stand for such."""
    found = mentions(figure.said.text, runs, shelf.versions(runs))
    return [*found, *as_arms(figure.said.text, found, runs)]


def as_arms(text: str, found: Sequence[Mention], runs: Sequence[Cited]) -> list[Mention]:
    """The versions that stand for our system among other arms: "0.4.0 has …, pgmnemo@0.3.1 …, bm25 …"."""
    arms = [one for one in found if one.facet == "arm"]
    systems = {run.run.system for run in runs}
    if all(one.value in systems for one in arms):
        return []
    known = frozenset().union(*map(arms_of, runs))
    newest = {RUN_VALUES["version"](run): run.run.system for run in runs}
    newest |= {arm.partition("@")[2]: arm for arm in known if "@" in arm} | newest
    return [
        replace(one, facet="arm", value=newest[one.value], derived=True)
        for one in found
        if one.facet == "version"
        and one.value in newest
        and not _of_run(text, one)
        and not any(_of_arm(text, one, arm) for arm in arms)
        and not _only_release(text, one, arms)
    ]


def _only_release(text: str, version: Mention, arms: Sequence[Mention]) -> bool:
    """Whether a version in brackets behind a value says the release alone: "with bm25 it's 2.3 % (0.4.0)"."""
    if (match := re.search(r"[\d.]+\s*%?\s*\(v?$", text[: version.start])) is None:
        return False
    clause = max(text.rfind(";", 0, match.start()), text.rfind(", ", 0, match.start()), 0)
    return any(clause <= arm.start < match.start() for arm in arms)


def _of_run(text: str, version: Mention) -> bool:
    """Whether a version says of which run something is: "0.3.1's side-by-side run", "the run of 0.4.0"."""
    return bool(
        RUN.match(text, version.end) or RUN_OF.search(text[max(0, version.start - 60) : version.start])
    )


def _of_arm(text: str, version: Mention, arm: Mention) -> bool:
    """Whether a version only says of which release an arm is: "0.3.1's bm25 leg", "bm25 of 0.3.1"."""
    if version.start < arm.end and arm.start < version.end:
        return True
    if version.end <= arm.start:
        return OWN_ARM.fullmatch(text[version.end : arm.start]) is not None
    return ARM_OF.fullmatch(text[arm.end : version.start]) is not None
