"""The extension's component values for every question and lesson, at the depth of the whole scope.

Values that are not linear in the weights are requested in each variant: both word components, and their
coverage, for each pivot and bonus of the grid, with rarity counted in the tenant or only in the scope, and
again with a text search configuration of another name, which parses every text as English and merges no
irregular forms.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from lab.tune.loaded_task import Arrays, LoadedTask, Setup
from lab.tune.scoring import Neighbours
from lab.tune.tasks import Floats, Task
from lab.tune.weights import (
    BESIDES,
    COMPONENTS,
    COVER,
    GRID,
    PLAIN,
    QUESTIONS,
    RELEVANCE,
    SCOPE,
    SEED,
    TENANT,
    TRIALS,
    WORDS,
    default_weights,
    shaped,
    shapes,
    trials,
    tried_rows,
)  # fmt: skip
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres import Database
from runner.protocol.editions import current
from runner.systems import SystemContext, open_system
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.query_runner import wrap_errors
from runner.systems.system import WORKERS, Query, System

OURS = "pgmnemo"
FORMAT = 5
DEPENDS = (FORMAT, GRID, TRIALS, SEED, QUESTIONS)
MOST = 10_000  # maximum lessons of one call of recall_lessons
CONFIGURATION = "pgmnemo_tune_plain"
COPY = f"CREATE TEXT SEARCH CONFIGURATION public.{CONFIGURATION} (COPY = pg_catalog.english)"
DROP = f"DROP TEXT SEARCH CONFIGURATION IF EXISTS public.{CONFIGURATION}"
WORTH, COMPANY = (Path(__file__).with_name(f"{name}.sql").read_bytes() for name in ("worth", "company"))
ONES = json.dumps(dict.fromkeys((*(f"{name}_weight" for name in COMPONENTS), "assistant_weight"), 1))
Row = tuple[str, float, float, list[int], list[int] | None, list[float] | None]


def components(
    setup: Setup, task: Task, system: System, context: SystemContext
) -> tuple[Arrays, dict[str, float]]:
    """Load the corpus into `system` and into a second system, and ask for all variants.

    Returns arrays (questions, columns), 0 where a leg is silent, and the weights in force. Components are
    what one unit of their weight adds: those of words as `bm25~70`, `passage_terms~70+1.5` by pivot and
    bonus, and as `plain bm25` in another reading, without coverage; COVER, (questions, 1), is named in the
    same way. `score` is the extension's own over the whole scope, `pool` the same at the depth of a run,
    `trial 0` under random weights, for some questions; -inf for lessons that were not returned or questions
    that were not asked. `company NAME` are the fields of Neighbours.
    """
    assert isinstance(system, Pgmnemo), "components are asked of pgmnemo"
    depth, run = _depth(task), current().retrieval.depth
    session = LoadedTask(OURS, system, task, setup.vectors(task.corpus), context)
    moment = datetime.now(UTC)  # the time for recency if a question has none
    session.queries = [replace(one, as_of=one.as_of or moment) for one in session.queries]
    with wrap_errors(OURS):
        weights = default_weights(system.state())
    values = {f"company {name}": matrix for name, matrix in vars(_company(session)).items()}
    values["score"], values["graph"] = _recalled(session, "scores", depth)
    values["pool"], _ = _recalled(session, f"depth {run}", run, whole=False)
    for name, drawn in trials(weights).items():
        given = {setting: f"{value:g}" for setting, value in drawn.items()}
        rows = tried_rows(len(task.questions))
        values[name], _ = _recalled(session, name, depth, given, rows)
    [own] = _worth(session, "components", [{}], [name for name in (*RELEVANCE, *BESIDES) if name != "graph"])
    values |= {shaped(name, weights): matrix for name, matrix in own.items()}
    return {**values, **_words(session, weights), **_plain(context, task)}, weights


def _depth(task: Task) -> int:
    """Return the number of lessons in the largest scope."""
    sizes = task.corpus.project_sizes()
    depth = max(sizes[project] for project in task.projects)
    if depth > MOST:
        raise UsageError(f"a scope of {task.corpus.path} holds {depth:,} lessons, and tune takes {MOST:,}")
    return depth


def _recalled(
    session: LoadedTask, words: str, depth: int, settings: Mapping[str, str] | None = None,
    rows: Sequence[int] = (), whole: bool = True,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return the score and the `graph` component (of links) of each lesson in recall_lessons' answers.

    If `whole` is true, raise DatabaseError unless all lessons are returned.
    """
    layout = session.task.layout
    score, graph = np.full(layout.shape, -np.inf), np.zeros(layout.shape)
    at = COMPONENTS.index("graph")
    for row, columns, answer in session.answers(words, depth, settings, rows):
        if whole and len(columns) != layout.valid[row].sum():
            raise DatabaseError(
                f"recall_lessons answered {len(columns)} of the {layout.valid[row].sum()} lessons of "
                f"{session.task.projects[row]}, so nothing can be tuned by it; report it as the extension's "
                "fault"
            )
        score[row, columns] = [match.score for match in answer.matches]
        graph[row, columns] = [match.components[at] or 0.0 for match in answer.matches]
    return score, graph


def _words(session: LoadedTask, weights: Mapping[str, float]) -> Arrays:
    """Return the word components for every other pivot and bonus, with rarity counted in tenant and scope.

    Queries have no vectors, which saves half of the time.
    """
    others = [shape for shape in shapes(weights) if any(weights[name] != shape[name] for name in shape)]
    made = {
        shaped(name, shape): matrix
        for shape, values in zip(others, _worth(session, "pivots and bonuses", others, WORDS), strict=True)
        for name, matrix in values.items()
        if shaped(name, shape) != shaped(name, weights)
    }
    changes = [{"statistics_scope": scope} for scope in (TENANT, SCOPE)]
    for scope, values in zip((TENANT, SCOPE), _worth(session, "rarity", changes, WORDS), strict=True):
        made |= {f"{scope} {name}": matrix for name, matrix in values.items()}
    return made


def _plain(context: SystemContext, task: Task) -> Arrays:
    """Return the word components without merged irregular forms."""
    settings = {**context.settings, "mode": "keyword"}
    other = replace(context, settings=settings, label=f"{context.label} plain")
    with open_system(OURS, other) as system:
        assert isinstance(system, Pgmnemo), "components are asked of pgmnemo"
        with _unmerged(system.database):  # the configuration exists only in this block
            system.settings["text_config"] = f"public.{CONFIGURATION}"
            session = LoadedTask(OURS, system, task, None, other)
            [plain] = _worth(session, "forms apart", [{}], WORDS)
    return {f"{PLAIN} {name}": matrix for name, matrix in plain.items()}


@contextmanager
def _unmerged(database: Database) -> Iterator[None]:
    """Create a copy of the text search configuration `english` under a name unknown to the extension.

    Under that name the extension does not merge irregular forms. The copy is dropped at the end of the block,
    except in an embedded server.
    """
    with database.admin() as owner:
        owner.execute(DROP)
        owner.execute(COPY)
    try:
        yield
    finally:
        if database.facts.origin != "embedded":
            with database.admin() as owner:
                owner.execute(DROP)


def _worth(
    session: LoadedTask, words: str, changes: Sequence[Mapping[str, object]], names: Sequence[str]
) -> list[Arrays]:
    """Return what one unit of each component's weight adds, for each change of settings; and COVER."""
    shape, places = session.task.layout.shape, [COMPONENTS.index(name) for name in names]
    made = np.zeros((len(changes), len(names), *shape))
    cover = np.zeros((len(changes), len(COVER), shape[0], 1))
    vectorless = set(names) <= set(WORDS)
    queries = [replace(one, vector=None) if vectorless else one for one in session.queries]
    size = -(-len(queries) // (8 * WORKERS))
    stripes = [queries[start : start + size] for start in range(0, len(queries), size)]
    given = {"ones": ONES, "changes": [json.dumps(change) for change in changes]}

    def asked(stripe: Sequence[Query]) -> list[tuple[Floats, Floats]]:
        with _pgmnemo(session).owner() as owner:
            told = (owner.execute(WORTH, {**given, **_asked(session, one)}, binary=True) for one in stripe)
            found = (zip(*rows, strict=True) for rows in told)
            return [(np.array(worth, float), np.array(covered, float)) for worth, covered in found]

    with wrap_errors(OURS), ThreadPoolExecutor(WORKERS) as pool:
        cubes = (cube for found in pool.map(asked, stripes) for cube in found)
        tracked = session.progress.track(cubes, f"{session.task.name}, {words}", len(queries))
        for row, (cube, covered) in enumerate(tracked):  # (changes, lessons, components), (changes, COVER)
            made[:, :, row, : cube.shape[1]] = cube[:, :, places].transpose(0, 2, 1)
            cover[:, :, row, 0] = covered
    whole = zip(made, cover, strict=True)
    return [dict(zip((*names, *COVER), (*one, *covered), strict=True)) for one, covered in whole]


def _company(session: LoadedTask) -> Neighbours:
    """Return the neighbours of each lesson, in every project that a question asks about."""
    layout = session.task.layout
    with wrap_errors(OURS), _pgmnemo(session).owner() as owner:
        found: list[list[Row]] = [
            owner.execute(COMPANY, {"ones": ONES, **_project(session, session.lessons.name(name))}).fetchall()
            for name in layout.columns
        ]
    for name, rows in zip(layout.columns, found, strict=True):
        if [row[0] for row in rows] != layout.external_ids[name]:
            raise DatabaseError(f"the lessons of {name} are not those that were stored; tune once more")
    heard = [_heard(rows) for rows in found]
    most = max((len(one) for listed in heard for one in listed), default=1) or 1
    made = Neighbours.alone(len(found), layout.shape[1], most)
    for place, (rows, listed) in enumerate(zip(found, heard, strict=True)):
        for column, (row, reaching) in enumerate(zip(rows, listed, strict=True)):
            made.share[place, column], made.asking[place, column] = row[1], row[2]
            made.moment[place, column] = min(row[3])
            for at, (source, factor) in enumerate(reaching):
                made.source[place, column, at], made.factor[place, column, at] = source, factor
    return made


def _heard(rows: Sequence[Row]) -> list[list[tuple[int, float]]]:
    """Return the neighbours that pass relevance to each lesson: their columns and factors."""
    heard: list[list[tuple[int, float]]] = [[] for _ in rows]
    for column, (*_, reached, parts) in enumerate(rows):
        for place, part in zip(reached or (), parts or (), strict=True):
            heard[place].append((column, part))
    return heard


def _asked(session: LoadedTask, query: Query) -> dict[str, object]:
    vector = None if query.vector is None else _pgmnemo(session).form.vector(query.vector)
    where = _project(session, query.project or "")
    return {**where, "text": query.text, "vector": vector, "as_of": query.as_of}


def _project(session: LoadedTask, name: str) -> dict[str, object]:
    system = _pgmnemo(session)
    return {"tenant": system.names.tenant(name), "project": system.names.project_id(name)}


def _pgmnemo(session: LoadedTask) -> Pgmnemo:
    assert isinstance(session.system, Pgmnemo), "components are asked of pgmnemo"
    return session.system
