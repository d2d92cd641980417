"""metrics.json: the pins of a run and every figure, computed only from the raw rankings.

Besides the edition's figures it has the figures of other projects' counting rules on the same rankings
(§4.9), and the questions on which an anchor of time acted: they name a time, and find lessons dated near it
(§4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from runner.protocol.editions import CountingRule
from runner.protocol.metrics.metric import metric_named, metrics_for
from runner.protocol.metrics.score import ScopeTable, arrange, score
from runner.records import Difference, Json, Retrieval, Score, SearchScope
from runner.runs.canonical import METRIC_DIGITS, significant
from runner.runs.comparability import strategy_pairs
from runner.runs.run import Run


def readings_of(
    table: ScopeTable,
    arms: Sequence[str],
    readings: Sequence[CountingRule],
    level: str,
    uncited: int,
    unmarked: int,
) -> Iterator[Json]:
    """Yield one row for each counting rule, arm and metric, in the scope of `table`.

    Questions without a ranking: `uncited` is the number of questions that cite nothing, `unmarked` the number
    of questions that cite only what the level does not hold.
    """
    questions = table.judged()
    for reading in readings:
        if reading.levels and level not in reading.levels:
            continue
        left_out = set(reading.without.get(level, ()))
        kept = np.array([question.key not in left_out for question in questions])
        added = [(reading.uncited, uncited), (reading.unmarked, unmarked)]
        worth = sum(number * value for value, number in added if value is not None)
        extra = sum(number for value, number in added if value is not None)
        for arm in arms:
            found = table.found(arm)
            for name in reading.metrics:
                values = metric_named(name).formula(found)[kept]
                total = float(values.sum()) + worth
                n = int(kept.sum()) + extra
                yield {
                    "reading": reading.name,
                    "arm": arm,
                    "scope": table.scope,
                    "metric": name,
                    "value": significant(total / n, METRIC_DIGITS, f"{reading.name}, {arm}, {name}"),
                    "n": n,
                }


TEMPORAL = "temporal"  # the component that an anchor adds, in pgmnemo and in a strategy


def anchor_rows(run: Run, rows: Iterable[Retrieval]) -> Iterator[Json]:
    """Yield a row for each system with an anchor and each of its scopes.

    The row has the number of questions asked, and the questions acted on. An anchor acted on a question if
    the time in the question adds to the score of a lesson in the first ten ranks, which have their components
    in the raw file.
    """
    places = {
        arm.name: arm.components.index(TEMPORAL)
        for arm in run.systems
        if TEMPORAL in arm.components and not arm.failed
    }
    found: dict[tuple[str, str], list[Retrieval]] = {}
    for row in rows:
        if row.arm in places:
            found.setdefault((row.arm, row.scope), []).append(row)
    for arm in run.systems:
        if arm.name in places:
            for scope in run.scopes_of(arm):
                yield _row(arm.name, scope, found.get((arm.name, scope.name), ()), places[arm.name])


def _row(arm: str, scope: SearchScope, rows: Sequence[Retrieval], place: int) -> Json:
    acted = [row.question for row in rows if _acts(row, place)]
    return {"arm": arm, "scope": scope.name, "n": len(rows), "questions": acted}


def _acts(row: Retrieval, place: int) -> bool:
    return any(hit.components and hit.components[place] for hit in row.ranking)


FIGURES = ("value", "ci95_low", "ci95_high")


def metrics_of(run: Run, rows: Sequence[Retrieval], code: str | None = None) -> Json:
    """Return the document of metrics.json for `run`, by its edition.

    `rows` are the raw rows with their components. `code` names another version of the metric code; None: the
    edition's.
    """
    edition, views = run.edition, {view.name: view for view in run.views}
    scores = score(
        rows, edition, views=views, clustered=run.corpus.clustered, cutoffs=run.cutoffs, code=code,
        pairs=list(strategy_pairs(run)),
    )  # fmt: skip
    document = metrics_document(
        run,
        scores.results,
        scores.differences,
        code=code or edition.metrics.code,
        definitions={name: metric.definition for name, metric in metrics_for(edition, run.cutoffs).items()},
        intervals=scores.methods,
    )
    return document | {"readings": _readings(run, rows), "anchored": list(anchor_rows(run, rows))}


def _readings(run: Run, rows: Sequence[Retrieval]) -> list[Json]:
    """Return the figures of every system by other projects' rules.

    The result is empty if only a part of the questions was asked.
    """
    pins, choice, shape = run.edition.suites.get(run.choice.suite), run.choice, run.corpus.shape
    if pins is None or choice.limit or choice.types or choice.split:
        return []
    table = next(table for table in arrange(rows) if table.scope == run.scopes[0].name)
    arms = [arm.name for arm in run.systems if not arm.failed]
    uncited = shape["questions"] - shape["scored"]
    unmarked = shape["scored"] - shape.get("answerable", shape["scored"])
    return list(readings_of(table, arms, pins.readings, choice.level, uncited, unmarked))


def metrics_document(
    run: Run,
    results: Iterable[Score],
    differences: Iterable[Difference],
    *,
    code: str,
    definitions: Mapping[str, str],
    intervals: Mapping[str, str],
) -> Json:
    """Return the document of metrics.json.

    `run` is the record of run.json, and the document repeats its pins; `code` names the version of the metric
    code; `definitions` has one sentence for each metric, `intervals` the method of each kind of interval.
    Figures are fractions, rounded to 10 significant digits, so that the order of summation has no effect on
    them.
    """
    return {
        "schema": run.edition.schemas.metrics,
        "protocol_version": run.protocol.version,
        "protocol_sha256": run.protocol.sha256,
        "system": run.system,
        "pgmnemo_version": run.choice.version if run.choice.ours else None,
        "guc_state": dict(run.guc_state),
        "seed": run.seed,
        "corpus": _corpus(run),
        "embedder": asdict(run.embedder) if run.embedder else None,
        "verdict": run.verdict.value,
        "headline": list(run.headline),
        "metric_code": code,
        "definitions": dict(definitions),
        "intervals": dict(intervals),
        "results": [figure_row(score) for score in results],
        "differences": [figure_row(difference) for difference in differences],
    }


def _corpus(run: Run) -> Json:
    """Return the corpus in the order of metrics.json: its names, then its recorded facts."""
    facts = asdict(run.corpus)
    del facts["files"]
    return {"suite": run.choice.suite, "title": facts.pop("title"), "granularity": run.choice.level, **facts}


def figure_row(record: Score | Difference) -> Json:
    """Return a score or a difference as a row of the document."""
    values = asdict(record)
    what = " ".join(str(value) for value in values.values() if isinstance(value, str))
    return values | {name: significant(values[name], METRIC_DIGITS, f"{what}: {name}") for name in FIGURES}
