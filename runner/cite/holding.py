"""What must hold of a run before it is published: the quick checks of `verify`, and its headline."""

from __future__ import annotations

from runner.cite.results import Cited
from runner.errors import RefusedError, RunnerError
from runner.metrics.document import row
from runner.metrics.score import score
from runner.records import Json
from runner.runs.canonical import compact
from runner.runs.raw import RAW, decode
from runner.verify.check import HOSTILE, Found
from runner.verify.checks import CHECKS
from runner.verify.evidence import Evidence

QUICK = (
    "complete", "manifest", "history", "commit", "protocol", "header", "views", "settings", "identity",
    "arms", "gates", "report", "verdict", "timings",
)  # fmt: skip
"""Checks that take a fraction of a second together: none of them looks at every ranking."""


def demand_sound(cited: Cited) -> None:
    """RefusedError with the first fault of a run, as `verify` words it; also for a headline of no ranking."""
    evidence = Evidence(cited.folder)
    for answer in (CHECKS[name](evidence) for name in QUICK):
        if answer.found is Found.WRONG:
            raise _unsound(cited, f"{answer.check}: {answer.sentence}")
    try:
        anew = _headline_anew(cited)
    except (*HOSTILE, RunnerError) as error:
        raise _unsound(cited, f"metrics: the headline cannot be computed anew ({error})") from None
    for name in cited.run.headline:
        if _row(cited, cited.metrics["results"], name) != _row(cited, anew, name):
            raise _unsound(cited, f"metrics: {name} does not follow from {RAW}")


def demand_logged(cited: Cited) -> None:
    """RefusedError unless HISTORY.md has the run with this manifest, and so with this metrics.json."""
    answer = CHECKS["history"](Evidence(cited.folder))
    if answer.found is Found.WRONG:
        raise _unsound(cited, f"{answer.check}: {answer.sentence}")


def _headline_anew(cited: Cited) -> list[Json]:
    """The rows of the system under test in the first scope, from its own rankings there alone."""
    run = cited.run
    marks = (compact({"arm": run.system})[1:-1], compact({"scope": run.scopes[0].name})[1:-1])
    lines = [line for line in cited.text(RAW).splitlines() if all(mark in line for mark in marks)]
    rows = [decode(line.encode(), f"{RAW}, a line of {run.system}") for line in lines]
    views = {view.name: view for view in run.views if view.name == run.headline_view}
    code = str(cited.metrics["metric_code"])
    found = score(
        rows, run.edition, views=views, clustered=run.corpus.clustered, cutoffs=run.cutoffs, code=code
    )
    return [row(one) for one in found.results]


def _row(cited: Cited, rows: list[Json], metric: str) -> Json | None:
    run = cited.run
    wanted = (run.system, run.scopes[0].name, run.headline_view, "all", metric)
    names = ("arm", "scope", "view", "type", "metric")
    return next((one for one in rows if tuple(one[name] for name in names) == wanted), None)


def _unsound(cited: Cited, fault: str) -> RefusedError:
    return RefusedError(
        f"{cited.folder} does not verify: {fault}; `python -m runner verify` says all that it found"
    )
