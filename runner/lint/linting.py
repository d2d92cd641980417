"""Every recall figure of some Markdown files, each held against what it names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import takewhile
from os import PathLike
from pathlib import Path

from runner.errors import UsageError
from runner.lint.around.citations import citations
from runner.lint.around.context import above
from runner.lint.around.mentions import mentions
from runner.lint.artefacts import Shelf
from runner.lint.document.blocks import Block, parse
from runner.lint.document.comments import Marker, split_comments
from runner.lint.document.figures import Figure, prose
from runner.lint.document.tables import aligned, tabular
from runner.lint.finding import Exemption, Finding, Report
from runner.lint.held.bounds import wrong_bounds
from runner.lint.held.judge import judge, side_by_side
from runner.lint.held.order import wrong_order
from runner.lint.held.ratios import wrong_ratios
from runner.lint.held.unclear import unclear
from runner.places import ROOT
from runner.runs.regular import DOCUMENT, read_regular

Place = tuple[int, int, str, str]  # line, column, rule, message


def lint(files: Iterable[str | PathLike[str]], *, root: str | PathLike[str] | None = None) -> Report:
    """Everything to mend in `files`.

    Cited folders are looked for under `root` (this repository, unless given) and beside each file. Raises
    UsageError when a file cannot be read.
    """
    if root is not None and not Path(root).is_dir():
        raise UsageError(f"--root: there is no folder {root}; name the one that holds benchmarks/")
    shelf = Shelf(Path(root) if root is not None else ROOT)
    reports = [lint_text(_read(Path(file)), Path(file), shelf) for file in files]
    return Report(
        tuple(finding for report in reports for finding in report.findings),
        tuple(exemption for report in reports for exemption in report.exemptions),
        sum(report.figures for report in reports),
        len(reports),
    )


def lint_text(text: str, file: Path, shelf: Shelf) -> Report:
    """The same for the text of one file."""
    text, markers = split_comments(text.replace("\r\n", "\n").replace("\t", " "))
    blocks = [block for block in parse(text) if block.kind != "skipped"]
    figures = [figure for block in blocks for figure in _figures(block)]
    places = sorted(dict.fromkeys(_places(blocks, figures, shelf, file)))
    kept, exemptions = _exempt(places, markers, blocks, file)
    found = [Finding(str(file), *place) for place in kept]
    return Report(
        tuple(sorted([*found, *_bad(markers, exemptions, file)])), tuple(exemptions), len(figures), 1
    )


def _figures(block: Block) -> list[Figure]:
    if block.kind == "table":
        return tabular(block, above(block))
    return (aligned(block, above(block)) if block.kind == "code" else []) or prose(block)


def _places(blocks: list[Block], figures: list[Figure], shelf: Shelf, file: Path) -> Iterator[Place]:
    yield from _of_figures(figures, shelf, file)
    for figure, message in side_by_side(figures):
        yield figure.line, figure.column, "two-definitions", message
    for figure, message in (*wrong_ratios(figures), *wrong_bounds(figures), *wrong_order(figures)):
        yield figure.line, figure.column, "differs", message
    for block in blocks:
        yield from mentions(block, shelf, file)
    yield from citations(blocks, {id(figure.block) for figure in figures}, shelf, file)


def _of_figures(figures: list[Figure], shelf: Shelf, file: Path) -> Iterator[Place]:
    """What is wrong with each figure; a value that its sentence leaves open does not differ."""
    spoken: dict[int, list[Figure]] = defaultdict(list)
    for figure in figures:
        spoken[id(figure.said)] += [] if figure.number.change else [figure]
    for figure in figures:
        for rule, message in judge(figure, shelf, file):
            beside = [other for other in spoken[id(figure.said)] if other is not figure]
            if rule != "differs" or not unclear(figure, beside, shelf, file):
                yield figure.line, figure.column, rule, message


def _exempt(
    places: list[Place], markers: list[Marker], blocks: list[Block], file: Path
) -> tuple[list[Place], list[Exemption]]:
    """The places that no marker exempts, and the markers that exempt some."""
    exemptions = []
    for marker in (m for m in markers if m.reason):
        lines = _lines(marker, blocks)
        held = {place for place in places if place[0] in lines and place[2] in marker.rules}
        if held:
            exemptions.append(Exemption(str(file), marker.line, marker.reason, len(held)))
        places = [place for place in places if place not in held]
    return places, exemptions


def _lines(marker: Marker, blocks: list[Block]) -> range:
    """The lines that a marker is about: its own, or those of the block behind it."""
    if not marker.alone:
        return range(marker.line, marker.line + 1)
    after = next((block for block in blocks if block.first + len(block.lines) > marker.line), None)
    if after is None:
        return range(0)
    last = after
    if after.kind == "text" and after.raw.rstrip().endswith(
        ":"
    ):  # it introduces what the marker is about, too
        last = _introduced(after) or after
    return range(max(marker.line, after.first), last.first + len(last.lines))


def _introduced(block: Block) -> Block | None:
    """The last block of the list, or the table, that a paragraph introduces."""
    behind = block.section.blocks[block.place + 1 :]
    if behind and behind[0].kind in ("table", "code"):
        return behind[0]
    items = list(takewhile(lambda other: other.kind == "item", behind))
    return items[-1] if items else None


def _bad(markers: list[Marker], exemptions: list[Exemption], file: Path) -> Iterator[Finding]:
    used = {exemption.line for exemption in exemptions}
    for marker in markers:
        if not marker.reason:
            message = "an exemption gives its reason, and rules that there are: <!-- lint: exempt: reason -->"
        elif marker.line not in used:
            message = "there is nothing to exempt here: take the marker away"
        else:
            continue
        yield Finding(str(file), marker.line, marker.column, "bad-marker", message)


def _read(path: Path) -> str:
    try:
        return read_regular(path, DOCUMENT, UsageError).decode().replace("\r\n", "\n").replace("\r", "\n")
    except UsageError as error:
        raise UsageError(f"{error}: name a Markdown file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8: name a Markdown file") from None
