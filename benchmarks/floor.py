"""What `fit` tells apart: questions asked of their own memory, and the same asked of one that knows nothing.

    python benchmarks/floor.py [--corpus locomo] [--level turn] [--data FILE] [--floor 0.4] [--embedder NAME]
                               [--every N]

Every project is stored as the runner stores it, a corpus of one project as two halves. Each question is asked
of its own project and of another, in every mode. The other holds none of its evidence, and nobody speaks in
it who speaks in the question's own.
Questions that a corpus marks as unanswerable are asked of their own project alone. Prints, for each mode:

    AUC       how often the best row of an own question fits better than that of a foreign or unanswerable one
    dropped   own questions of which the floor leaves no row; of which it drops the first row of evidence
              (of those with evidence among the ten)
    kept      foreign and unanswerable questions of which the floor leaves a row

with 95 % intervals: Wilson's, widened where questions share a conversation. They come from the column `fit`.
Every tenth question is asked with the argument `floor`, too; the script ends if that leaves out others.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pgmnemo import calls
from pgmnemo.embedders import default_cache_dir
from pgmnemo.postgres.releases import default_version
from runner.bench.workload import CorpusLessons
from runner.markdown import table
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.longmemeval import is_abstention
from runner.protocol.statistics.single import mean_interval
from runner.protocol.templates.embedding import embed_corpus, make_embedder
from runner.records import Corpus, CorpusVectors, Question
from runner.systems import MODES, SystemContext, open_system
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.pgmnemo.session import Connection

K, FLOOR = 10, 0.15
OWN, FOREIGN, UNANSWERABLE = "own", "foreign", "unanswerable"
UNANSWERED = ("adversarial", "abstention")  # types of questions
PERSONAL = ("locomo", "realtalk")  # where a speaker is a person, who may speak in several conversations
NOW = datetime(2024, 1, 1, tzinfo=UTC)  # of a question without a moment
CASTS = {"embedding": "::real[]", "filter": "::jsonb", "valid_at": "::timestamptz"}
HEAD = (
    "mode", "own", "foreign", "unans.", "AUC foreign", "AUC unans.", "own dropped", "evidence dropped",
    "foreign kept", "unans. kept",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What one mode answered to one question: the fit of its best row and of the first with evidence."""

    kind: str
    cluster: str
    best: float
    evidence: float | None


def vectors_of(corpus: Corpus, embedder: str) -> CorpusVectors:
    """Of lessons, passages and questions, from the cache where they lie there."""
    return embed_corpus(corpus, make_embedder(embedder), default_cache_dir(os.environ), passages=True)


@contextmanager
def opened(lessons: CorpusLessons | None = None) -> Iterator[tuple[Pgmnemo, Connection]]:
    """The extension with these lessons, and a connection of an ordinary role that may use it."""
    with TemporaryDirectory(prefix="pgmnemo-") as made:
        place = SystemContext(Path(made), label="floor", settings={"gate_strict": "off"}, environ={})
        with open_system(f"pgmnemo@{default_version()}", place) as system:
            assert isinstance(system, Pgmnemo), "only pgmnemo has a fit"
            if lessons:
                system.load(lessons)
            with system.database.admin() as owner:
                calls.execute(owner, calls.grant_tenant(system.names.tenant(""), system.database.facts.role))
            with closing(system.client()) as client:
                yield system, client.connection


def recall(connection: Connection, **given: object) -> list[tuple[str, float]]:
    """Keys and fits, best first."""
    named = {name: value for name, value in given.items() if value is not None}
    arguments = ", ".join(f"{name} => %s{CASTS.get(name, '')}" for name in named)
    statement = f"SELECT external_id, fit FROM pgmnemo.recall_lessons({arguments})"
    return connection.execute(statement.encode(), tuple(named.values()), binary=True).fetchall()


def shares(hits: Sequence[Sequence[float]], clusters: Sequence[str] | None) -> list[str]:
    """Per cent of hits in each column, with its interval."""
    if not hits:
        return ["-"]
    found = mean_interval(np.array(hits, float), clusters)
    ends = zip(found.value, found.low, found.high, strict=True)
    return [f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]" for value, low, high in ends]


def thinned(corpus: Corpus, every: int) -> Corpus:
    """Return each `every`th project of a corpus, with its questions."""
    kept = set(list(corpus.project_sizes())[::every])
    segments = [one for one in corpus.segments if one.project in kept]
    questions = tuple(one for one in corpus.questions if one.project in kept)
    return replace(corpus, segments=segments, questions=questions)


def halved(corpus: Corpus) -> Corpus:
    """Return a corpus of one project as two: one with the first half of its lessons, and one with the
    second.
    """
    if len(corpus.project_sizes()) != 1:
        return corpus
    segments = list(corpus.segments)
    half = {one.id: f"half {1 + (2 * place >= len(segments))}" for place, one in enumerate(segments)}
    asked = [(one, {half[identifier] for identifier in one.gold}) for one in corpus.questions]
    return replace(
        corpus,
        segments=[replace(one, project=half[one.id]) for one in segments],
        questions=tuple(replace(one, project=min(homes)) for one, homes in asked if len(homes) == 1),
    )


def kind_of(question: Question) -> str:
    """Return whether the corpus says that its own project answers the question; empty where it names no
    lesson.
    """
    unanswerable = question.type in UNANSWERED or is_abstention(question.key)
    return UNANSWERABLE if unanswerable else OWN if question.gold else ""


def strangers(corpus: Corpus, path: Path) -> Mapping[str, str]:
    """For each question a project without its evidence and its speakers, drawn by the question's key."""
    turns = SUITES[corpus.suite].load(path, "turn").heads if corpus.suite in PERSONAL else ()
    ids, speakers = ({project: set[Any]() for project in corpus.project_sizes()} for _ in range(2))
    for head in corpus.heads:
        ids[head.project].add(head.id)
    for head in turns:
        if head.project in speakers:
            speakers[head.project].add(head.role)
    drawn = {}
    for one in corpus.questions:
        known, gold = speakers[one.project], set(one.gold)
        free = [name for name in ids if not (ids[name] & gold or speakers[name] & known)]
        if others := [name for name in free if name != one.project]:
            drawn[one.key] = random.Random(one.key).choice(others)
    return drawn


def told(
    corpus: Corpus, vectors: CorpusVectors, foreign: Mapping[str, str], floor: float
) -> Mapping[str, Sequence[Told]]:
    """Return what each mode answers to every question."""
    lessons, found = CorpusLessons(corpus, vectors, "floor"), {mode: list[Told]() for mode in MODES}
    with opened(lessons) as (system, connection):
        keys = {one.id: one.external_id for one in corpus.heads}
        for place, one in enumerate(corpus.questions):
            kind, gold = kind_of(one), {keys[identifier] for identifier in one.gold}
            asked = {kind: one.project, FOREIGN: foreign.get(one.key, "") if kind == OWN else ""}
            for mode, (asked_as, project) in [
                (m, pair) for m in MODES for pair in asked.items() if all(pair)
            ]:
                given = {
                    "embedding": None if mode == "keyword" else system.form.vector(vectors.questions[place]),
                    "query_text": None if mode == "vector" else one.text, "k": K, "mode": mode,
                    "project_id": system.names.project_id(lessons.name(project)), "as_of": one.as_of or NOW,
                }  # fmt: skip
                rows = recall(connection, **given)
                if place % 10 == 0:
                    left = [row for row in rows if row[1] >= floor]
                    # and what follows, where some were left out
                    kept = recall(connection, **given, floor=floor)
                    assert kept[: len(left)] == left, one.key
                    assert all(fit >= floor for _, fit in kept), one.key
                evidence = [fit for key, fit in rows if key in gold and asked_as == OWN]
                best = max((fit for _, fit in rows), default=0.0)
                found[mode].append(Told(asked_as, one.project, best, evidence[0] if evidence else None))
    return found


def auc(above: Sequence[Told], below: Sequence[Told]) -> str:
    """Return the share of pairs in which the first fits better; equal ones count half."""
    order = np.sort([one.best for one in below])
    less, most = (np.searchsorted(order, [one.best for one in above], side) for side in ("left", "right"))
    return f"{float((less + most).mean() / (2 * len(below))):.3f}" if below else "-"


def row_of(mode: str, answers: Sequence[Told], floor: float, clustered: bool) -> tuple[str, ...]:
    """Return the figures of one mode."""
    own, foreign, none = ([a for a in answers if a.kind == kind] for kind in (OWN, FOREIGN, UNANSWERABLE))
    shown = [one for one in own if one.evidence is not None]
    hits = [
        (own, [one.best < floor for one in own]), (shown, [(one.evidence or 0) < floor for one in shown]),
        *((group, [one.best >= floor for one in group]) for group in (foreign, none)),
    ]  # fmt: skip
    rates = [
        shares([[hit] for hit in found], [one.cluster for one in group] if clustered else None)[0]
        for group, found in hits
    ]
    return (
        mode,
        *(str(len(group)) for group in (own, foreign, none)),
        auc(own, foreign),
        auc(own, none),
        *rates,
    )


def main() -> None:
    """Ask, and print a table for each floor."""
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--corpus", default="sample")
    given.add_argument("--data", type=Path, help="the file, of --corpus file")
    given.add_argument("--level", help="what a lesson is (default: the suite's own)")
    given.add_argument("--floor", type=float, nargs="+", default=[FLOOR], help="the first is also tried")
    given.add_argument("--embedder", default="minilm")
    given.add_argument("--every", type=int, default=1, metavar="N", help="takes each Nth project alone")
    options = given.parse_args()
    path = SUITES[options.corpus].locate(options.data, os.environ)
    corpus = halved(thinned(SUITES[options.corpus].load(path, options.level), options.every))
    found = told(corpus, vectors_of(corpus, options.embedder), strangers(corpus, path), options.floor[0])
    for floor in options.floor:
        rows = [row_of(mode, answers, floor, corpus.clustered) for mode, answers in found.items()]
        print(f"\n{corpus.title or corpus.suite} {corpus.granularity}, {options.embedder}, floor {floor:g}\n")
        print(table(HEAD, rows))


if __name__ == "__main__":
    main()
