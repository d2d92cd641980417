"""What the extension says of every question and lesson, at the depth of the whole scope.

What is not linear in the weights is asked for as often as it can differ: both components of words for each
pivot and bonus of the grid, with rarity counted in the tenant or in the scope alone, and once more from a
text search configuration under another name, where the extension merges no irregular forms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from runner.systems.asking import Judge as AnswerJudge
from runner.systems.asking import answers, faults
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.system import WORKERS, Query, System
from runner.tune.company import Company, told
from runner.tune.layout import Floats, Layout
from runner.tune.scoring import Values
from runner.tune.tasks import Task
from runner.tune.trials import trial, trials, tried_rows
from runner.tune.weights import BESIDES, COMPONENTS, RELEVANCE, WORDS, default_weights, shaped, shapes, short
from runner.tune.worth import teller

PLAIN, TENANT, SCOPE = "plain", "tenant", "project"  # other readings of the words
CONFIGURATION = "pgmnemo_tune_plain"
MOST = 10_000  # lessons that one call of recall_lessons answers
COPY = f"CREATE TEXT SEARCH CONFIGURATION public.{CONFIGURATION} (COPY = pg_catalog.english)"
DROP = f"DROP TEXT SEARCH CONFIGURATION IF EXISTS public.{CONFIGURATION}"


@dataclass(frozen=True, slots=True)
class Collected:
    """`values` (questions, columns), 0 where a leg is silent; `weights` in force; who stands with whom.

    Components are what one unit of their weight adds: those of words as `bm25~70`, `passage_terms~70+1.5` by
    pivot and bonus, and as `plain bm25` in another reading. `score` is the extension's own over the whole
    scope, `pool` the same at the depth of a run, `trial 0` under weights drawn at random, for some
    questions; -inf for what was not returned or asked.
    """

    values: Values
    weights: dict[str, float]
    company: Company


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
        self._judge = AnswerJudge("pgmnemo", self._material.lessons)
        self._queries = self._material.queries(asked, SearchScope("conversation"))

    def recalled(
        self,
        label: str,
        depth: int,
        settings: Mapping[str, str] | None = None,
        *,
        rows: Sequence[int] | None = None,
        whole: bool = True,
    ) -> Values:
        """`score` and `graph` of recall_lessons by column; with `whole` it must answer all lessons."""
        wanted = range(len(self._queries)) if rows is None else rows
        score, graph = np.full(self._layout.shape, -np.inf), np.zeros(self._layout.shape)
        queries = [self._queries[row] for row in wanted]
        found = answers(self._system, "pgmnemo", queries, depth, self._judge, settings=settings)
        tracked = self._progress.track(found, f"{self._task.name}, {label}", len(queries))
        at = self._system.components.index("graph")
        for row, answer in zip(wanted, tracked, strict=True):
            columns = self._layout.columns[self._task.questions[row][1].project]
            if whole and len(answer.matches) != len(columns):
                raise DatabaseError(
                    f"recall_lessons answered {len(answer.matches)} of the {len(columns)} lessons of "
                    f"{self._task.questions[row][1].project}, so nothing can be tuned by it; report it "
                    "as the extension's fault"
                )
            places = [columns[self._material.lessons.ids[match.number]] for match in answer.matches]
            score[row, places] = [match.score for match in answer.matches]
            graph[row, places] = [match.components[at] or 0.0 for match in answer.matches]
        return {"score": score, "graph": graph}

    def worth(
        self, label: str, changes: Sequence[Mapping[str, object]], names: Sequence[str], words: bool
    ) -> list[Values]:
        """What a unit of the weight of each named component adds, for each change of settings.

        With `words` questions are asked without their vectors, which saves half of the time.
        """
        shape = self._layout.shape
        made = [{name: np.zeros(shape) for name in names} for _ in changes]
        places = [COMPONENTS.index(name) for name in names]
        queries = [replace(query, vector=None) if words else query for query in self._queries]
        cubes = self._told(queries, changes)
        for row, cube in enumerate(self._progress.track(cubes, f"{self._task.name}, {label}", shape[0])):
            for values, matrix in zip(made, cube, strict=True):
                for name, place in zip(names, places, strict=True):
                    values[name][row, : matrix.shape[1]] = matrix[place]
        return made

    def _told(self, queries: Sequence[Query], changes: Sequence[Mapping[str, object]]) -> Iterator[Floats]:
        """One answer a question, in order; stripes of them are asked side by side."""
        size = -(-len(queries) // (8 * WORKERS))
        stripes = [queries[start : start + size] for start in range(0, len(queries), size)]

        def stripe(part: Sequence[Query]) -> list[Floats]:
            with teller(self._system) as one:
                return [one.worth(query, changes) for query in part]

        with faults("pgmnemo"), ThreadPoolExecutor(WORKERS) as pool:
            for cubes in pool.map(stripe, stripes):
                yield from cubes

    def company(self) -> Company:
        """Who stands with whom in every project of which a question is."""
        names = [self._material.lessons.name(project) for project in self._layout.projects]
        with faults("pgmnemo"), teller(self._system) as one:
            return told(one, self._layout, names)


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
    company, values = one.company(), one.recalled("scores", depth)
    pooled = edition.retrieval.depth
    values["pool"] = one.recalled(f"depth {pooled}", pooled, whole=False)["score"]
    for number, drawn in enumerate(trials(weights)):
        given = {name: short(value) for name, value in drawn.items()}
        rows = tried_rows(layout.shape[0])
        values[trial(number)] = one.recalled(f"weights at random {number + 1}", depth, given, rows=rows)[
            "score"
        ]
    [own] = one.worth("components", [{}], [name for name in (*RELEVANCE, *BESIDES) if name != "graph"], False)
    values |= {shaped(name, weights): matrix for name, matrix in own.items()}
    values |= _shaped(one, weights) | _counted(one)
    return Collected({**values, **_plain(place, task, layout, progress)}, weights, company)


def _shaped(one: Collector, weights: Mapping[str, float]) -> Values:
    """The words for every pivot and bonus but those in force."""
    others = [shape for shape in shapes(weights) if any(weights[name] != shape[name] for name in shape)]
    made = one.worth("pivots and bonuses", others, WORDS, True)
    return {
        shaped(name, shape): matrix
        for shape, values in zip(others, made, strict=True)
        for name, matrix in values.items()
        if shaped(name, shape) != shaped(name, weights)
    }


def _counted(one: Collector) -> Values:
    """The words with rarity counted in the tenant alone, and in the scope alone."""
    changes = [{"statistics_scope": scope} for scope in (TENANT, SCOPE)]
    made = one.worth("rarity", changes, WORDS, True)
    return {
        f"{scope} {name}": values[name]
        for scope, values in zip((TENANT, SCOPE), made, strict=True)
        for name in WORDS
    }


def _depth(task: Task) -> int:
    """Lessons of the largest scope."""
    sizes = task.corpus.project_sizes()
    depth = max(sizes[question.project] for _, question in task.questions)
    if depth > MOST:
        raise UsageError(f"a scope of {task.corpus.path} holds {depth:,} lessons, and tune takes {MOST:,}")
    return depth


def _plain(place: Place, task: Task, layout: Layout, progress: Progress) -> Values:
    """The words without merged forms."""
    settings = {**place.settings, "mode": "keyword"}
    other = replace(place, settings=settings, label=f"{place.label} plain")
    with open_system("pgmnemo", other) as system:
        assert isinstance(system, Pgmnemo), "components are asked of pgmnemo"
        with _unmerged(system.database):  # only then is there such a configuration
            system.settings["text_config"] = f"public.{CONFIGURATION}"
            one = Collector(task, layout, None, system, progress)
            [plain] = one.worth("forms apart", [{}], WORDS, True)
    return {f"{PLAIN} {name}": matrix for name, matrix in plain.items()}


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
