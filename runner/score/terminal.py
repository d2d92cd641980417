"""Stated figures on the terminal: the headline, every metric, each type, and what is to be known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from runner.records import ALL
from runner.report.figures import Figures
from runner.report.formats import count, figure, questions_of, shorten
from runner.score.stating import VERDICT, WORDS, Stated
from runner.terminal import grid


def show(stated: Stated, console: Console) -> None:
    """Print the tables, then the sentences."""
    figures = Figures(stated.document)
    scopes = list(dict.fromkeys(row.scope for row in stated.rows))
    arms = list(dict.fromkeys(row.arm for row in stated.rows))
    _headline(stated, figures, scopes, arms, console)
    for arm in arms[:1]:
        _metrics(figures, scopes, arm, console)
        for scope in scopes:
            _types(stated, figures, scope, arm, console)
    for sentence in sentences(stated):
        console.print(Text(sentence), soft_wrap=True)


def _headline(stated: Stated, figures: Figures, scopes: list[str], arms: list[str], console: Console) -> None:
    by = f" by {stated.by}" if stated.by else ""
    view = "" if stated.headline_view == ALL else f", {questions_of(stated.headline_view)}"
    table = grid(f"{stated.title}, {stated.corpus.granularity} level{view}, {VERDICT}{by}")
    names = stated.edition.metrics.headline
    for name in ("arm", *names, "n"):
        table.add_column(name, justify="left" if name == "arm" else "right")
    for scope in scopes:
        table.add_row(Text(scope, style="bold"))
        for arm in [arm for arm in figures.arms if arm in arms or arm == "ceiling"]:
            cells = (figures.with_interval(arm, scope, name, stated.headline_view) for name in names)
            table.add_row(f" {arm}", *cells, count(figures.n(arm, scope, stated.headline_view)))
        table.add_section()
    console.print(table)


def _metrics(figures: Figures, scopes: list[str], arm: str, console: Console) -> None:
    table = grid(f"{arm}, every metric")
    table.add_column("metric")
    for scope in scopes:
        table.add_column(scope, justify="right")
    for name in figures.names:
        table.add_row(name, *(figures.with_interval(arm, scope, name) for scope in scopes))
    console.print(table)


def _types(stated: Stated, figures: Figures, scope: str, arm: str, console: Console) -> None:
    table = grid(f"{arm}, {scope}, by view and type")
    names = stated.edition.metrics.headline
    for name in ("questions", *names, "n"):
        table.add_column(name, justify="left" if name == "questions" else "right")
    rows = [(view, ALL) for view in figures.views] + [(ALL, kind) for kind in figures.types]
    for view, kind in rows:
        cells = (figures.with_interval(arm, scope, name, view, kind) for name in names)
        table.add_row(view if kind == ALL else kind, *cells, count(figures.n(arm, scope, view, kind)))
    console.print(table)


def sentences(stated: Stated) -> Iterator[str]:
    """The verdict, what the corpus is, and every question or rank that was not simply scored."""
    edition, corpus, source = stated.edition, stated.corpus, stated.source
    yield f"{VERDICT}: {WORDS} (PROTOCOL.md {edition.version}, §5)"
    interval = stated.document["intervals"]["value"]
    yield f"recalls in percent, MRR and nDCG from 0 to 1, each with its 95 % interval: {interval}"
    what = f"which is {stated.registered}" if stated.registered else "which the protocol does not register"
    yield shorten(f"corpus: sha256 {corpus.sha256}, {what}; {source.file}: sha256 {source.sha256}")
    for (arm, scope), number in stated.missing.items():
        yield (
            f"{count(number)} of {count(stated.scored)} questions have no ranking by {arm} in {scope}: each "
            "counts 0"
        )
    for (arm, scope), number in _empty(stated).items():
        yield (
            f"{count(number)} of {count(stated.scored)} questions have an empty ranking by {arm} in {scope}: "
            "each counts 0"
        )
    if stated.cut:
        yield f"{count(stated.cut)} rankings were deeper than {edition.retrieval.depth} and are cut there"
    if stated.uncited:
        yield f"{count(stated.uncited)} ranked questions cite no evidence, have no recall and are left out"
    first = stated.rows[0].arm
    for reading in (one for one in stated.document["readings"] if one["arm"] == first):
        value = figure(reading["metric"], reading["value"])
        yield (
            f"as {reading['reading']} counts, {reading['arm']}: {reading['metric']} {value} "
            f"(n = {count(reading['n'])})"
        )


def _empty(stated: Stated) -> Counter[tuple[str, str]]:
    """The rankings that the file gives without an id in them, by arm and scope; positive counts alone."""
    empty = Counter((row.arm, row.scope) for row in stated.rows if not row.ranking)
    return empty - Counter(stated.missing)
