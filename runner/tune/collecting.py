"""The components of every question and lesson, asked of the extension itself at the depth of the whole scope.

What is not linear in the components is asked for as often as it can differ: the terms of the best passage
for each bonus of the grid, and both keyword components once more from a text search configuration under
another name, where the extension merges no irregular forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from runner.bench.material import Asked, CorpusLessons, Material
from runner.database import Database
from runner.editions import Edition
from runner.errors import DatabaseError, UsageError
from runner.progress import QUIET, Progress
from runner.records import SearchScope, Vectors
from runner.systems import Place, open_system
from runner.systems.asking import Judge, answers, faults
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.system import System
from runner.tune.layout import Floats, Layout
from runner.tune.tasks import Task
from runner.tune.weights import BONUSES, default_weights, short

PLAIN = "pgmnemo_tune_plain"
MOST = 10_000  # lessons that one call of recall_lessons answers
COPY = f"CREATE TEXT SEARCH CONFIGURATION public.{PLAIN} (COPY = pg_catalog.english)"
DROP = f"DROP TEXT SEARCH CONFIGURATION IF EXISTS public.{PLAIN}"
Values = dict[str, Floats]


@dataclass(frozen=True, slots=True)
class Collected:
    """`values` (questions, columns) by component, NaN where a leg is silent; `weights` in force.

    `score` is the extension's own over the whole scope; `pool` the same at the depth of a run, with -inf for
    what it did not return; `passage_terms+1` that component at bonus 1; `plain bm25` without merged forms.
    """

    values: Values
    weights: dict[str, float]


class Collector:
    """One task, asked of a system that has its lessons."""

    def __init__(
        self, task: Task, layout: Layout, vectors: Vectors | None, system: Pgmnemo, progress: Progress
    ) -> None:
        self._task, self._layout, self._system, self._progress = task, layout, system, progress
        asked = tuple(Asked(position, question) for position, question in task.questions)
        self._material = Material(task.corpus, vectors, asked, CorpusLessons(task.corpus, vectors))
        with faults("pgmnemo"):
            system.load(self._material.lessons, progress)
        self._judge = Judge("pgmnemo", self._material.lessons)

    def ask(
        self, label: str, depth: int, settings: Mapping[str, str] | None = None, whole: bool = True
    ) -> Values:
        """Score and components by column; with `whole` every lesson of the scope must be answered."""
        names = ("score", *self._system.components)
        cube = np.full((len(names), *self._layout.shape), np.nan)
        cube[0] = -np.inf
        queries = self._material.queries(self._material.asked, SearchScope("conversation"))
        found = answers(self._system, "pgmnemo", queries, depth, self._judge, settings=settings)
        tracked = self._progress.track(found, f"{self._task.name}, {label}", len(queries))
        for row, (one, answer) in enumerate(zip(self._material.asked, tracked, strict=True)):
            columns = self._layout.columns[one.question.project]
            if whole and len(answer.matches) != len(columns):
                raise DatabaseError(
                    f"recall_lessons answered {len(answer.matches)} of the {len(columns)} lessons of "
                    f"{one.question.project}, so nothing can be tuned by it; report it "
                    "as the extension's fault"
                )
            places = [columns[self._material.lessons.segments[match.number].id] for match in answer.matches]
            values = [(match.score, *match.components) for match in answer.matches]
            cube[:, row, places] = np.array(values, float).T
        return dict(zip(names, cube, strict=True))


def collect(
    system: System, place: Place, task: Task, layout: Layout, vectors: Vectors, edition: Edition,
    progress: Progress = QUIET,
) -> Collected:  # fmt: skip
    """Load the corpus twice, into `system` and into another at `place`, and ask as often as it takes."""
    assert isinstance(system, Pgmnemo), "components are asked of pgmnemo"
    depth = _depth(task)
    one = Collector(task, layout, vectors, system, progress)
    with faults("pgmnemo"):
        weights = default_weights(system.state())
    values = one.ask("components", depth)
    pooled = edition.retrieval.depth
    values["pool"] = one.ask(f"depth {pooled}", pooled, whole=False)["score"]
    in_force = weights["passage_term_bonus"]
    values[f"passage_terms+{short(in_force)}"] = values["passage_terms"]
    for bonus in (bonus for bonus in BONUSES if bonus != in_force):
        other = {"mode": "keyword", "passage_term_bonus": short(bonus)}
        terms = one.ask(f"bonus {short(bonus)}", depth, other)["passage_terms"]
        values[f"passage_terms+{short(bonus)}"] = terms
    plain = _plain(place, task, layout, depth, progress)
    return Collected({**values, **plain}, weights)


def _depth(task: Task) -> int:
    """Lessons of the largest scope."""
    sizes = task.corpus.project_sizes()
    depth = max(sizes[question.project] for _, question in task.questions)
    if depth > MOST:
        raise UsageError(f"a scope of {task.corpus.path} holds {depth:,} lessons, and tune takes {MOST:,}")
    return depth


def _plain(place: Place, task: Task, layout: Layout, depth: int, progress: Progress) -> Values:
    """Both keyword components without merged forms."""
    settings = {**place.settings, "mode": "keyword", "text_config": f"public.{PLAIN}"}
    other = replace(place, settings=settings, label=f"{place.label} plain")
    with open_system("pgmnemo", other) as system:
        assert isinstance(system, Pgmnemo), "components are asked of pgmnemo"
        with _unmerged(system.database):
            plain = Collector(task, layout, None, system, progress).ask("forms apart", depth)
    return {f"plain {name}": plain[name] for name in ("bm25", "passage_terms")}


@contextmanager
def _unmerged(database: Database) -> Iterator[None]:
    """A copy of the configuration `english` that the extension does not know as such."""
    with database.admin() as owner:
        owner.execute(DROP)
        owner.execute(COPY)
    try:
        yield
    finally:
        if database.facts.origin != "embedded":
            with database.admin() as owner:
                owner.execute(DROP)
