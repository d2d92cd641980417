"""The file formats of other programs for a run: TREC's runs and qrels, BEIR's corpus, queries and qrels.

The score of a rank is computed from the rank only, so that no two scores are equal: trec_eval orders by
score and breaks ties by id, and the protocol has another rule for ties. BEIR has one corpus for all
questions: if a run searches within a project, the `metadata` of each lesson and question names its
project; the suite `file` can read that, and the runs of each scope are in the same folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pgmnemo.errors import OutputError, UsageError
from runner.protocol.datasets.beir_folder import DOCUMENTS, HEAD, JUDGED, QUERIES
from runner.records import Corpus, Question, RankedSegment, Retrieval
from runner.report.render import template
from runner.runs.canonical import compact
from runner.verification.context import RunContext

QRELS = "qrels.txt"
TEMPLATES = Path(__file__).parent / "templates"
Name = Callable[[str, str], str]


def trec(results: RunContext) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file: README.md, then for each scope the qrels and one run for each arm."""
    run, depth = results.run, results.edition.retrieval.depth
    first, arm = run.scopes[0].name, file_name(run.system)
    yield "README.md", template(TEMPLATES / "trec.md.j2").render(run=run, qrels=QRELS, scope=first, arm=arm)
    for scope in dict.fromkeys(row.scope for row in results.rows):
        rows = [row for row in results.rows if row.scope == scope]
        yield f"{file_name(scope)}/{QRELS}", qrels(rows)
        for name in dict.fromkeys(row.arm for row in rows):
            ranked = (row for row in rows if row.arm == name)
            yield f"{file_name(scope)}/{file_name(name)}.run", "".join(lines(ranked, depth))


def qrels(rows: Iterable[Retrieval]) -> str:
    """Return the judgements in TREC's format: a line `question 0 lesson 1` for each gold lesson."""
    gold = {row.question: row.gold for row in rows}
    return "".join(f"{_id(key)} 0 {_id(one)} 1\n" for key, ids in gold.items() for one in ids)


def lines(rows: Iterable[Retrieval], depth: int) -> Iterator[str]:
    """Yield a ranking in TREC's format: a line `question Q0 lesson rank score arm` for each rank."""
    for row in rows:
        tag, question = "_".join(row.arm.split()), _id(row.question)
        for rank, hit in enumerate(row.ranking, start=1):
            yield f"{question} Q0 {_id(hit.id)} {rank} {depth + 1 - rank} {tag}\n"


def file_name(text: str) -> str:
    """Return `text` as a file name: characters that some file system rejects become dashes."""
    return re.sub(r"[^A-Za-z0-9._+@=-]+", "-", text).lstrip(".") or "-"


def _id(text: str) -> str:
    if text.split() != [text]:
        raise OutputError(
            f"the id {text!r} has a blank in it or is empty, which no TREC run can hold: measure with ids "
            "without blanks"
        )
    return text


def beir(results: RunContext) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file.

    Raises UsageError without the run's corpus, because a run holds no text.
    """
    corpus, depth = _corpus(results), results.edition.retrieval.depth
    name, asked = _naming(corpus), {row.question: row for row in results.rows}
    names = {"documents": DOCUMENTS, "queries": QUERIES, "judged": JUDGED}
    yield "README.md", template(TEMPLATES / "beir.md.j2").render(name=results.run.name, **names)
    yield DOCUMENTS, "".join(documents(corpus, name))
    yield QUERIES, "".join(_line(_query(one)) for one in corpus.questions if one.key in asked)
    judged = ((row.question, name(row.project, one)) for row in asked.values() for one in row.gold)
    yield JUDGED, HEAD + "".join(f"{_cell(key)}\t{_cell(one)}\t1\n" for key, one in judged)
    for arm, scope in results.counts:
        rows = (row for row in results.rows if (row.arm, row.scope) == (arm, scope))
        ranked = lines((_renamed(row, name) for row in rows), depth)
        yield f"runs/{file_name(scope)}/{file_name(arm)}.run", "".join(ranked)


def _query(one: Question) -> dict[str, object]:
    return {"_id": one.key, "text": one.text, "metadata": {"project": one.project, "type": one.type}}


def documents(corpus: Corpus, name: Name) -> Iterator[str]:
    """Yield the JSON line of each lesson, with its text."""
    for one in corpus.segments:
        about = {"project": one.project}
        yield _line({"_id": name(one.project, one.id), "title": "", "text": one.text, "metadata": about})


def _corpus(results: RunContext) -> Corpus:
    if results.corpus is None:
        raise UsageError("beir needs the texts, and a run holds none: name its corpus with --corpus")
    return results.measured()


def _naming(corpus: Corpus) -> Name:
    """Return a function that gives the id of a lesson in a corpus without projects.

    It is the lesson's own id, or `project/id` if several lessons have the id.
    """
    count = Counter(one.id for one in corpus.heads)
    return lambda project, one: one if count[one] < 2 else f"{project}/{one}"


def _renamed(row: Retrieval, name: Name) -> Retrieval:
    return replace(row, ranking=tuple(RankedSegment(name(row.project, hit.id)) for hit in row.ranking))


def _line(record: dict[str, object]) -> str:
    return f"{compact(record)}\n"


def _cell(text: str) -> str:
    if "\t" in text or "\n" in text or not text.strip():
        raise OutputError(f"the id {text!r} holds a tab or a line's end or is empty, which no qrels can hold")
    return text
