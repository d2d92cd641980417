"""BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv, and the runs of each scope beside them.

BEIR has one corpus for all questions. Where a run searches within a project, each lesson and each question
says in its `metadata` which one; the suite `file` reads that again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from pgmnemo.errors import OutputError, UsageError
from runner.commands.export.trec import file_name, lines
from runner.protocol.suites.beir_folder import DOCUMENTS, HEAD, JUDGED, QUERIES
from runner.records import Corpus, Hit, Question, Retrieval
from runner.report.render import template
from runner.runs.canonical import compact
from runner.verification.evidence import Evidence

README = Path(__file__).parent / "templates" / "beir.md.j2"
Name = Callable[[str, str], str]


def beir(results: Evidence) -> Iterator[tuple[str, str]]:
    """Path and text of each file; UsageError without the run's own corpus, for a run holds no text."""
    corpus, depth = _corpus(results), results.edition.retrieval.depth
    name, asked = _naming(corpus), {row.question: row for row in results.rows}
    names = {"documents": DOCUMENTS, "queries": QUERIES, "judged": JUDGED}
    yield "README.md", template(README).render(name=results.run.name, **names)
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
    """A line for each lesson, with its text, wherever the lessons of the corpus stand."""
    for one in corpus.segments:
        about = {"project": one.project}
        yield _line({"_id": name(one.project, one.id), "title": "", "text": one.text, "metadata": about})


def _corpus(results: Evidence) -> Corpus:
    if results.corpus is None:
        raise UsageError("beir needs the texts, and a run holds none: name its corpus with --corpus")
    return results.measured()


def _naming(corpus: Corpus) -> Name:
    """The id of a lesson in a corpus without projects: its own, after its project where others have it."""
    count = Counter(one.id for one in corpus.heads)
    return lambda project, one: one if count[one] < 2 else f"{project}/{one}"


def _renamed(row: Retrieval, name: Name) -> Retrieval:
    return replace(row, ranking=tuple(Hit(name(row.project, hit.id)) for hit in row.ranking))


def _line(record: dict[str, object]) -> str:
    return f"{compact(record)}\n"


def _cell(text: str) -> str:
    if "\t" in text or "\n" in text or not text.strip():
        raise OutputError(f"the id {text!r} holds a tab or a line's end or is empty, which no qrels can hold")
    return text
