"""metrics.json: the pins of a run and every figure, computed from the raw rankings alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from runner.protocol.metrics.anchored import anchored
from runner.protocol.metrics.family import metrics_for
from runner.protocol.metrics.readings import readings_of
from runner.protocol.metrics.score import score
from runner.protocol.metrics.table import arrange
from runner.records import Difference, Json, Retrieval, Score
from runner.runs.canonical import METRIC_DIGITS, significant
from runner.runs.legs import pairs
from runner.runs.run import Run

FIGURES = ("value", "ci95_low", "ci95_high")


def metrics_of(run: Run, rows: Sequence[Retrieval], code: str | None = None) -> Json:
    """The document of metrics.json for `run`, by its edition, or by another version of the metric `code`.

    `rows` are the raw lines with the components that these hold.
    """
    edition, views = run.edition, {view.name: view for view in run.views}
    scores = score(
        rows, edition, views=views, clustered=run.corpus.clustered, cutoffs=run.cutoffs, code=code,
        pairs=list(pairs(run)),
    )  # fmt: skip
    document = metrics_document(
        run,
        scores.results,
        scores.differences,
        code=code or edition.metrics.code,
        definitions={name: metric.definition for name, metric in metrics_for(edition, run.cutoffs).items()},
        intervals=scores.methods,
    )
    return document | {"readings": _readings(run, rows), "anchored": list(anchored(run, rows))}


def _readings(run: Run, rows: Sequence[Retrieval]) -> list[Json]:
    """The figures of every system as others count them; none where not all questions were asked."""
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
    """The document of metrics.json.

    `run` is the record of run.json, whose pins it repeats; `code` names the version of the metric code;
    `definitions` gives one sentence a metric, `intervals` what each kind of interval is made by.
    Figures are fractions, rounded to 10 significant digits: the order of a sum cannot be seen in them.
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
        "results": [row(score) for score in results],
        "differences": [row(difference) for difference in differences],
    }


def _corpus(run: Run) -> Json:
    """The corpus in the order of metrics.json: what it is, then what was read of it."""
    facts = asdict(run.corpus)
    del facts["files"]
    return {"suite": run.choice.suite, "title": facts.pop("title"), "granularity": run.choice.level, **facts}


def row(record: Score | Difference) -> Json:
    """A figure as a row of the document."""
    values = asdict(record)
    what = " ".join(str(value) for value in values.values() if isinstance(value, str))
    return values | {name: significant(values[name], METRIC_DIGITS, f"{what}: {name}") for name in FIGURES}
