"""BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv, and the runs of each scope beside them.

BEIR has one corpus for all questions. Where a run searches within a project, each lesson and each question
says in its `metadata` which one; the suite `file` reads that again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from runner.errors import OutputError, UsageError
from runner.export.trec import file_name, lines
from runner.records import Corpus, Hit, Retrieval
from runner.runs.canonical import compact
from runner.suites.beir_folder import DOCUMENTS, HEAD, JUDGED, QUERIES
from runner.verify.evidence import Evidence

README = f"""# {{name}} as a folder of BEIR

`{DOCUMENTS}`, `{QUERIES}` and `{JUDGED}` are the corpus as BEIR has it, with the project that each
lesson and each question is of in `metadata`; `runs/<scope>/<arm>.run` is what an arm ranked, as a TREC run.
The id of a lesson is that of raw_retrievals.jsonl, after its project and a slash where several projects have
such an id.

Measure on it again: `python -m runner file --data FOLDER`; score a run of it:
`python -m runner score --suite file --data FOLDER --rankings FOLDER/runs/<scope>/<arm>.run`, with
`--scope pool` for a run over all projects.

The texts are those that were indexed. They are their authors', and their licence goes with them.
"""
Name = Callable[[str, str], str]


def beir(results: Evidence) -> Iterator[tuple[str, str]]:
    """Path and text of each file; UsageError without the run's own corpus, for a run holds no text."""
    corpus, depth = _corpus(results), results.edition.retrieval.depth
    name, asked = _naming(corpus), {row.question: row for row in results.rows}
    yield "README.md", README.format(name=results.run.name)
    yield DOCUMENTS, "".join(documents(corpus, name))
    yield (
        QUERIES,
        "".join(
            _line({"_id": one.key, "text": one.text, "metadata": {"project": one.project, "type": one.type}})
            for one in corpus.questions
            if one.key in asked
        ),
    )
    judged = ((row.question, name(row.project, one)) for row in asked.values() for one in row.gold)
    yield JUDGED, HEAD + "".join(f"{_cell(key)}\t{_cell(one)}\t1\n" for key, one in judged)
    for arm, scope in results.counts:
        rows = (row for row in results.rows if (row.arm, row.scope) == (arm, scope))
        yield (
            f"runs/{file_name(scope)}/{file_name(arm)}.run",
            "".join(lines((_renamed(row, name) for row in rows), depth)),
        )


def documents(corpus: Corpus, name: Name) -> Iterator[str]:
    """A line for each lesson, with its text, wherever the lessons of the corpus stand."""
    for one in corpus.segments:
        about = {"project": one.project}
        yield _line({"_id": name(one.project, one.id), "title": "", "text": one.text, "metadata": about})


def _corpus(results: Evidence) -> Corpus:
    corpus = results.corpus
    if corpus is None:
        raise UsageError("beir needs the texts, and a run holds none: name its corpus with --corpus")
    if corpus.sha256 != results.run.corpus.sha256:
        raise UsageError(
            f"--corpus: {corpus.path} has sha256 {corpus.sha256[:12]}…, the corpus of the run "
            f"{results.run.corpus.sha256[:12]}…; name the file that was measured"
        )
    return corpus


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
