"""Stated figures as Markdown: the headline, every metric, each type, and what is to be known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pgmnemo import escaping
from runner.commands.score.stating import VERDICT, WORDS, Stated
from runner.markdown import table
from runner.records import ALL
from runner.report.figures import Figures
from runner.report.formats import count, figure, questions_of, shorten
from runner.report.sections import counted, of_types, of_views, split


def markdown(stated: Stated) -> str:
    """The tables, then the sentences; every metric and the types are of the first arm."""
    figures, headline = Figures(stated.document, stated.headline_view), stated.edition.metrics.headline
    scopes = list(dict.fromkeys(row.scope for row in stated.rows))
    arm = stated.rows[0].arm
    by = f" by {stated.by}" if stated.by else ""
    view = "" if stated.headline_view == ALL else f", {questions_of(stated.headline_view)}"
    parts = [f"# {stated.title}, {stated.corpus.granularity} level{view}, {VERDICT}{by}"]
    for scope in scopes:
        parts += [f"## {scope}", counted(figures, headline, scope)]
    metrics = [
        (name, *(figures.with_interval(arm, scope, name, ALL) for scope in scopes)) for name in figures.names
    ]
    parts += [f"## {arm}, every metric", table(("metric", *scopes), metrics)]
    for scope in scopes:
        by_part = split(figures, headline, arm, scope, "questions", [*of_views(figures), *of_types(figures)])
        parts += [f"## {arm}, {scope}, by view and type", by_part]
    parts.append("\n".join(f"- {sentence}" for sentence in sentences(stated)))
    return escaping.markdown("\n\n".join(parts)) + "\n"


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
