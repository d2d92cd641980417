"""The components of every question and lesson, asked of the extension itself at the depth of the whole scope.

What is not linear in the components is asked for as often as it can differ: the terms of the best passage
for each bonus of the grid, and both keyword components once more from a text search configuration under
another name, where the extension merges no irregular forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from runner.errors import DatabaseError, UsageError
from runner.progress import QUIET, Progress
from runner.protocol import Protocol
from runner.records import SearchScope, Vectors
from runner.systems import Asked, Inputs, Recall, Tenant, open_tenant
from runner.systems.system import Database
from runner.tune.layout import Floats, Layout
from runner.tune.tasks import Task
from runner.tune.weights import BONUSES, default_weights, short

PLAIN = "pgmnemo_tune_plain"
EXACT = {"exact_scan_limit": "10000000"}  # every vector is compared, so none need enter the index
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


def collect(
    database: Database, task: Task, layout: Layout, vectors: Vectors, protocol: Protocol,
    progress: Progress = QUIET,
) -> Collected:  # fmt: skip
    """Ingest the corpus twice and ask every question as often as it takes."""
    sizes = task.corpus.project_sizes()
    depth = max(sizes[question.project] for _, question in task.questions)
    if depth > MOST:
        raise UsageError(f"a scope of {task.corpus.path} holds {depth:,} lessons, and tune takes {MOST:,}")
    settings = {name: str(value) for name, value in protocol.settings.items()} | EXACT
    with open_tenant(
        database, Inputs(task.corpus, vectors, depth, protocol.seed), settings, protocol.width
    ) as tenant:
        tenant.ingest(progress)
        weights = default_weights(tenant.state())
        values = _whole(task, layout, tenant, progress)
        values["pool"] = _pool(task, layout, tenant, protocol.depth, progress)
        in_force = weights["passage_term_bonus"]
        values[f"passage_terms+{short(in_force)}"] = values["passage_terms"]
        for bonus in (bonus for bonus in BONUSES if bonus != in_force):
            other = {"passage_term_bonus": short(bonus)}
            values[f"passage_terms+{short(bonus)}"] = _ask(
                task, layout, Recall(tenant, "keyword", "terms", "", overrides=other), tenant,
                f"{task.name}, bonus {short(bonus)}", progress,
            )["passage_terms"]  # fmt: skip
    with _unmerged(database), open_tenant(
        database, Inputs(task.corpus, None, depth, protocol.seed),
        {**settings, "text_config": f"public.{PLAIN}"}, protocol.width,
    ) as tenant:  # fmt: skip
        tenant.ingest(progress)
        recall = Recall(tenant, "keyword", "plain", "")
        plain = _ask(task, layout, recall, tenant, f"{task.name}, forms apart", progress)
        values |= {f"plain {name}": plain[name] for name in ("bm25", "passage_terms")}
    return Collected(values, weights)


@contextmanager
def _unmerged(database: Database) -> Iterator[None]:
    """A copy of the configuration `english` that the extension does not know as such."""
    with database.admin() as owner:
        owner.execute(DROP)
        owner.execute(COPY)
    try:
        yield
    finally:
        with database.admin() as owner:
            owner.execute(DROP)


def _whole(task: Task, layout: Layout, tenant: Tenant, progress: Progress) -> Values:
    return _ask(
        task, layout, Recall(tenant, "hybrid", "all", ""), tenant, f"{task.name}, components", progress
    )


def _pool(task: Task, layout: Layout, tenant: Tenant, depth: int, progress: Progress) -> Floats:
    """Scores of what a run would keep: `depth` lessons from the pool of the default depth."""
    shallow = Tenant(tenant.database, replace(tenant.inputs, depth=depth), tenant.settings, tenant.width)
    recall = Recall(shallow, "hybrid", "pool", "")
    return _ask(task, layout, recall, shallow, f"{task.name}, depth {depth}", progress, whole=False)["score"]


def _ask(
    task: Task, layout: Layout, recall: Recall, tenant: Tenant, label: str, progress: Progress,
    whole: bool = True,
) -> Values:  # fmt: skip
    """Score and components by column; with `whole` every lesson of the scope must be answered."""
    names = ("score", *tenant.engine.components)
    cube = np.full((len(names), *layout.shape), np.nan)
    cube[0] = -np.inf
    asked = [Asked(position, question) for position, question in task.questions]
    scope = SearchScope("conversation")
    answers = progress.track(recall.answers(asked, scope), label, len(asked))
    for row, (one, answer) in enumerate(zip(asked, answers, strict=True)):
        columns = layout.columns[one.question.project]
        if whole and len(answer.ranking) != len(columns):
            raise DatabaseError(
                f"recall_lessons answered {len(answer.ranking)} of the {len(columns)} lessons of "
                f"{one.question.project}, so nothing can be tuned by it; report it as the extension's fault"
            )
        places = [columns[hit.id] for hit in answer.ranking]
        cube[:, row, places] = np.array([(hit.score, *hit.components) for hit in answer.ranking], float).T
    return dict(zip(names, cube, strict=True))
