"""A citation that stands apart from its figures: what it says of its run is that of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from runner.cite.results import Cited
from runner.lint.around.evidence import protocol_version
from runner.lint.artefacts import Shelf
from runner.lint.document.blocks import Block
from runner.lint.said.facets import RUN_FACETS, RUN_VALUES, Mention, mentions
from runner.lint.written.digits import whole
from runner.lint.written.visible import visible

TOLD = {"corpus": "corpus", "embedder": "embedder", "level": "granularity", "version": "version"}
KEYED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+[*_`]*[A-Za-z][\w -]{0,30}[*_`]*:[*_`]*\s")
COUNT = re.compile(
    r"\bn\s{0,3}(?:=|\b(?:is|of|stays|remains|falls\s+to|drops\s+to|rises\s+to)\b)\s{0,3}(\d[\d,]{0,15})"
)
SCOPE = re.compile(r"\bCorpus: [^,.\n]+, scope (?P<scope>[\w-]+)")
DEPARTURES = re.compile(r"(?<![A-Za-z])(?:deviat\w+|unverified)\b[^.\n]*", re.IGNORECASE)
Place = tuple[int, int, str, str]  # line, column, rule, message


def citations(blocks: list[Block], with_figures: set[int], shelf: Shelf, file: Path) -> Iterator[Place]:
    """What is wrong with the citations among `blocks`: those that name one run and the protocol's version and
    state no figure. `with_figures` are the ids of the blocks that state some."""
    for group in _groups([block for block in blocks if block.kind in ("text", "item", "code")]):
        text = "\n".join(block.raw for block in group)
        sources = shelf.sources(text, file)
        if len(sources) != 1 or protocol_version(text) is None or with_figures & set(map(id, group)):
            continue
        if (run := sources[0].results) is not None:
            said = _facts(mentions(_stated(text), [run], shelf.versions([run])))
            for block in group:
                yield from _of_block(block, said, run, shelf)


def _groups(blocks: list[Block]) -> Iterator[list[Block]]:
    """Each block alone, but the items "key: value" of a list together."""
    group: list[Block] = []
    for block in blocks:
        keyed = block.kind == "item" and KEYED.match(block.raw) is not None
        if group and not (
            keyed and block.section is group[-1].section and block.place == group[-1].place + 1
        ):
            yield group
            group = []
        group.append(block)
        if not keyed:
            yield group
            group = []
    if group:
        yield group


def _facts(found: list[Mention]) -> set[tuple[str, str]]:
    """What is said of a run: its facets, each with the values that stand for it."""
    return {(one.facet, one.value) for one in found if one.facet in RUN_FACETS and not one.denied}


def _of_block(block: Block, said: set[tuple[str, str]], run: Cited, shelf: Shelf) -> Iterator[Place]:
    """What one block says of its run that is not so; `said` is what its whole citation says."""
    for one in mentions(_stated(block.raw), [run], shelf.versions([run])):
        if (one.facet, one.value) in said and (one.facet, RUN_VALUES[one.facet](run)) not in said:
            yield *_at(block, one.start), "differs", _wrong(one, run)
    yield from _of_form(block, run)


def _of_form(block: Block, run: Cited) -> Iterator[Place]:
    """Scope and n of a citation in the form of the protocol."""
    if (scope := SCOPE.search(block.raw)) is None:
        return
    table = run.metrics["results"]
    if scope["scope"] not in {row["scope"] for row in table}:
        held = ", ".join(sorted({str(row["scope"]) for row in table}))
        yield (
            *_at(block, scope.start("scope")),
            "differs",
            f"scope {scope['scope']} is said, its run has {held}",
        )
    if (count := COUNT.search(block.raw)) and whole(count[1]) not in {row["n"] for row in table}:
        yield *_at(block, count.start()), "differs", f"n = {count[1]} is said, nothing in its run has that n"


def _stated(text: str) -> str:
    """A citation's own words: what its run departs in is of the run that it departs from, too."""
    return DEPARTURES.sub(lambda match: " " * len(match[0]), visible(text))


@lru_cache(maxsize=512)
def scopes_cited(text: str) -> frozenset[str]:
    """The scopes that the citations in a text name."""
    return frozenset(match["scope"] for match in SCOPE.finditer(text))


def _wrong(one: Mention, run: Cited) -> str:
    return f"{TOLD[one.facet]} {one.value} is said, its run is of {RUN_VALUES[one.facet](run)}"


def _at(block: Block, offset: int) -> tuple[int, int]:
    """Line and column of an offset in a block."""
    before = block.raw[:offset]
    return block.first + before.count("\n"), offset - (before.rfind("\n") + 1) + 1
