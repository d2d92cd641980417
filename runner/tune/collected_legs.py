"""What both legs of a strategy say of every question, asked once and kept beside the cache of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from runner.bench.material import Asked, CorpusLessons, Material
from runner.progress import Progress
from runner.records import EmbedderIdentity, SearchScope, Vectors
from runner.systems import Place, open_system
from runner.systems.anchors import fits
from runner.systems.asking import Judge, answers
from runner.systems.controls import ExactCosine
from runner.systems.fusing import Floats, ages
from runner.systems.strategy import DAY, Strategy
from runner.tune.kept import load, save
from runner.tune.layout import Layout
from runner.tune.tasks import Task

FORMAT = 2
LEGS = ("vector", "keyword")


@dataclass(frozen=True, slots=True)
class Legs:
    """Arrays (questions, columns): the scores of each leg, -inf where it found nothing; recency and fit, 0-1.

    `near` and `elsewhere` (questions): the best exact cosine in the question's own scope and in another one,
    which holds nothing that answers it. `facts`: what the system within says of itself. `anchored`: rows of
    questions in which the anchor read a time.
    """

    vector: Floats
    keyword: Floats
    recency: Floats
    fit: Floats
    near: Floats
    elsewhere: Floats
    facts: Mapping[str, str]

    @property
    def anchored(self) -> list[int]:
        return [int(row) for row in np.flatnonzero(self.fit.max(axis=1, initial=0) > 0)]


ARRAYS = tuple(name for name in Legs.__slots__ if name != "facts")


def legs_file(
    folder: Path, task: Task, identity: EmbedderIdentity, name: str, fingerprint: str, depth: int
) -> Path:
    """Another text, vector, system, version or depth has another name."""
    digest = sha256(repr((FORMAT, name, fingerprint, astuple(identity)[:-1], depth)).encode())
    for one in (*task.corpus.segments, *(question for _, question in task.questions)):
        digest.update(repr(one).encode("utf-8", "surrogatepass"))
    return folder / f"legs_{task.name.replace(' ', '_')}_{digest.hexdigest()[:16]}.npz"


def load_legs(path: Path) -> Legs | None:
    """What was kept; None where there is nothing that can be read."""
    arrays, facts = load(path) or ({}, {})
    return Legs(**arrays, facts=facts) if set(arrays) == set(ARRAYS) else None


def save_legs(path: Path, legs: Legs) -> bool:
    """Write the file whole or not at all; False where it cannot be written, which costs time and no more."""
    return save(path, {name: getattr(legs, name) for name in ARRAYS}, dict(legs.facts))


def collect_legs(
    name: str, place: Place, task: Task, layout: Layout, vectors: Vectors, depth: int, progress: Progress
) -> Legs:
    """Open the strategy, load the corpus into it, and ask each leg every question, `depth` ranks deep."""
    asked = tuple(Asked(position, question) for position, question in task.questions)
    material = Material(task.corpus, vectors, asked, CorpusLessons(task.corpus, vectors, place.label))
    queries = material.queries(asked, SearchScope(task.corpus.scopes[0].name))
    places = {
        material.lessons.number(material.lessons.name(project), external_id): column
        for project, members in layout.external_ids.items() for column, external_id in enumerate(members)
    }  # fmt: skip
    with open_system(name, place) as system:
        assert isinstance(system, Strategy), "a sweep is of strategies"
        system.load(material.lessons, progress)
        judge, found = Judge(name, material.lessons), {}
        for leg in LEGS:
            found[leg] = np.full(layout.shape, -np.inf)
            answered = answers(system, name, queries, depth, judge, settings={"leg": leg})
            for row, answer in enumerate(progress.track(answered, f"{task.name}, {leg}", len(queries))):
                columns = [places[match.number] for match in answer.matches]
                found[leg][row, columns] = [match.score for match in answer.matches]
        spans = [system.spans(query) for query in queries]
        facts = dict(system.facts())
    moments, now = _moments(task, layout), np.array([_seconds(query.as_of) for query in queries])[:, None]
    fit = np.array([fits(row, read) for row, read in zip(moments, spans, strict=True)])
    near, elsewhere = _nearest(material, asked)
    return Legs(found["vector"], found["keyword"], ages((now - moments) / DAY), fit, near, elsewhere, facts)


def _seconds(moment: object) -> float:
    return float(getattr(moment, "timestamp", lambda: np.nan)())


def _moments(task: Task, layout: Layout) -> Floats:
    """When each lesson of each question's scope occurred; NaN where that is not known."""
    times = {(one.project, one.external_id): _seconds(one.occurred_at) for one in task.corpus.segments}
    moments = np.full(layout.shape, np.nan)
    for row, (_, question) in enumerate(task.questions):
        members = layout.external_ids[question.project]
        moments[row, : len(members)] = [times[question.project, one] for one in members]
    return moments


def _nearest(material: Material, asked: Sequence[Asked]) -> tuple[Floats, Floats]:
    """The best exact cosine in each question's own scope, and in the next scope of the corpus's order."""
    exact, lessons = ExactCosine(), material.lessons
    exact.load(lessons)
    names = list(lessons.projects)
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    queries = material.queries(asked, SearchScope(""))
    rows = []
    for query in queries:
        assert query.project is not None, "asked in their own scope"
        assert query.vector is not None, "asked with vectors"
        rows.append([exact.best(query.vector, one) for one in (query.project, following[query.project])])
    own, other = np.array(rows).T
    return own, other
