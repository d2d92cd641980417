"""`python -m runner score`: score another program's rankings; with --ids write the ids that can be ranked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from pgmnemo import escaping
from pgmnemo.errors import UsageError
from runner.commands.score.score_rankings import VERDICT, WORDS, StatedScores, load, score
from runner.markdown import print_markdown, table
from runner.paths import check_outside_checkout
from runner.protocol.datasets import SUITES
from runner.records import ALL, Corpus, Json
from runner.report.formats import Figures, count, figure, questions_of, shorten
from runner.report.sections import counted, of_types, of_views, split
from runner.runs.canonical import compact, tabular
from runner.runs.run import TABLES
from runner.runs.storage import output_errors

QUERIES, DOCUMENTS = "queries.jsonl", "documents.jsonl"


def score_command(
    *,
    suite: str,
    rankings: Path | None = None,
    ids: Path | None = None,
    granularity: str | None = None,
    scope: str | None = None,
    data: Path | None = None,
    name: str = "",
    split: str = "",
    json: bool = False,
) -> int:
    """Score the rankings of another program, with intervals; the verdict is *stated*.

    The command runs no system. It writes files only with --ids.

    Args:
        suite: the suite whose questions were ranked
        rankings: raw retrievals (JSONL), a TREC run, or one JSON object
            of scores by question and document, plain or packed
        ids: write the questions and lessons with their ids into this folder, and score nothing
        granularity: unit of a lesson, such as session or turn (default: the suite's own)
        scope: the scope that was searched, if the file does not name it (default: the first)
        data: the corpus file or its folder
        name: name of the author of the rankings
        split: the judgements of a BEIR folder to use, such as dev (default: test)
        json: print JSON instead of tables
    """
    if (rankings is None) == (ids is None):
        raise UsageError("score takes --rankings FILE, or --ids DIR to write what may be ranked")
    if ids is not None:
        print(*lines(write_ids(ids, suite, granularity=granularity, data=data, split=split), ids), sep="\n")
        return 0
    assert rankings is not None
    stated = score(rankings, suite, granularity=granularity, data=data, scope=scope, name=name, split=split)
    if json:
        print(tabular(stated.document, TABLES), end="")
    else:
        print_markdown(markdown(stated))
    return 0


def write_ids(
    folder: Path, suite: str, *, granularity: str | None = None, data: Path | None = None, split: str = ""
) -> Corpus:
    """Write queries.jsonl (the questions that are scored) and documents.jsonl (the lessons) into a folder.

    A line holds id, project, text and time (for a question `as_of`); no gold and no type. Returns the
    corpus. Raises UsageError if one of the files exists, or if the folder is in a git checkout.
    """
    parts, folder = SUITES[suite], folder.expanduser()
    check_outside_checkout("--ids", folder)
    corpus = load(parts, parts.locate(data, os.environ), granularity, split)
    there = next((name for name in (QUERIES, DOCUMENTS) if (folder / name).exists()), None)
    if there:
        raise UsageError(f"--ids: {folder / there} is there, and nothing is overwritten; name another folder")
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / QUERIES, _queries(corpus))
        _write(folder / DOCUMENTS, _documents(corpus))
    return corpus


def _write(path: Path, records: Iterable[Json]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{compact(record)}\n" for record in records)


def _queries(corpus: Corpus) -> Iterator[Json]:
    for one in corpus.questions:
        if one.gold:
            yield {"id": one.key, "project": one.project, "text": one.text, "as_of": _time(one.as_of)}


def _documents(corpus: Corpus) -> Iterator[Json]:
    for one in corpus.segments:
        yield {"id": one.id, "project": one.project, "text": one.text, "time": _time(one.occurred_at)}


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def lines(corpus: Corpus, folder: Path) -> Iterator[str]:
    """Yield lines that name the written files and, for each scope, what to rank."""
    scored = sum(bool(question.gold) for question in corpus.questions)
    yield f"{folder / QUERIES}: {scored:,} questions"
    yield f"{folder / DOCUMENTS}: {len(corpus.segments):,} lessons, one for each {corpus.granularity}"
    for scope in corpus.scopes:
        where = "all lessons" if scope.pooled else "the lessons of its own project"
        yield f"scope {scope.name}: rank {where} for each question"


def markdown(stated: StatedScores) -> str:
    """Return the scores as Markdown: tables, then sentences. The full tables are of the first arm."""
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
    return escaping.escape_markdown("\n\n".join(parts)) + "\n"


def sentences(stated: StatedScores) -> Iterator[str]:
    """Yield the report's sentences: the verdict, the corpus, and the exceptions in scoring.

    Exceptions are missing, empty and cut rankings, and questions that are left out.
    """
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
    if stated.unmarked:
        yield (
            f"{count(stated.unmarked)} ranked questions cite what is no lesson at this level, "
            "have no recall and are left out"
        )
    if stated.source.order:
        yield stated.source.order
    first = stated.rows[0].arm
    for reading in (one for one in stated.document["readings"] if one["arm"] == first):
        value = figure(reading["metric"], reading["value"])
        yield (
            f"as {reading['reading']} counts, {reading['arm']}: {reading['metric']} {value} "
            f"(n = {count(reading['n'])})"
        )


def _empty(stated: StatedScores) -> Counter[tuple[str, str]]:
    """Return the number of empty rankings that the file gives, by arm and scope, without zeros."""
    empty = Counter((row.arm, row.scope) for row in stated.rows if not row.ranking)
    return empty - Counter(stated.missing)
