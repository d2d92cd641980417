"""Comparison of two runs, question by question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from pgmnemo.errors import UsageError
from runner.commands.compare.compared_run import PairedValues, paired_values, read_side
from runner.commands.compare.comparison import Change, Comparison, mismatches
from runner.commands.compare.rows import (
    DifferenceRow,
    Hypothesis,
    decide_comparison,
    dropped_rows,
    hypotheses,
    moved_questions,
    rows_of,
)
from runner.protocol.statistics.bootstrap import RESAMPLES
from runner.report.formats import change, figure
from runner.runs.manifest import MANIFEST
from runner.runs.results import collector_paused
from runner.runs.run import Run

TENANT = "pgmnemo.tenant_id"  # every run has its own tenant
NO_LIMITS: Mapping[str, float] = {}


@collector_paused()
def compare(
    baseline: Path | str,
    candidate: Path | str,
    *,
    despite: Collection[str] = (),
    max_drop: Mapping[str, float] = NO_LIMITS,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare the run in folder `candidate` with the run in `baseline`, paired by question.

    `despite` names conditions (see CONDITIONS) in which the runs may differ; the result is then labelled.
    `max_drop` maps a metric to the largest allowed drop of its value in any scope; a larger drop is a
    regression, whatever its interval. Raises UsageError for runs that may not be compared,
    UnusableRunError for a blocked run, OutputError for a damaged file.
    """
    before, after = read_side(Path(baseline)), read_side(Path(candidate))
    waived = mismatches(before, after, despite)
    pairs = paired_values(before, after)
    _check_limits(max_drop, pairs)
    if before.digest(MANIFEST) == after.digest(MANIFEST):
        raise UsageError(
            f"the baseline {baseline} and the candidate {candidate} are one run, which says nothing of a "
            "change: name two"
        )
    rows = tuple(chain.from_iterable(rows_of(p, before.run.views, resamples) for p in pairs))
    headline = before.run.headline
    view, views = before.run.headline_view, before.run.views
    members = hypotheses(rows, headline, after.edition, before.run.choice.suite, view)
    fallen = dropped_rows(rows, max_drop, view)
    shown = [name for name in headline if name in {m.name for m in pairs[0].metrics}]
    return Comparison(
        baseline=before,
        candidate=after,
        finding=decide_comparison(members, fallen),
        reasons=tuple(_reasons(members, fallen, max_drop)),
        despite=waived,
        changes=tuple(_changes(before.run, after.run)),
        rows=rows,
        family=tuple(members),
        moved=tuple(moved_questions(p, metric, p.inside(views, view)) for p in pairs for metric in shown),
        max_drop=dict(max_drop),
        resamples=resamples,
    )


def _check_limits(limits: Mapping[str, float], pairs: Sequence[PairedValues]) -> None:
    known = [metric.name for metric in pairs[0].metrics]
    for name, limit in limits.items():
        if name not in known:
            raise UsageError(f"--max-drop: there is no metric {name!r}; choose from: {', '.join(known)}")
        if not 0 <= limit <= 1:
            raise UsageError(f"--max-drop: {name} lies between 0 and 1, and so must its limit, not {limit}")


def _reasons(
    members: Sequence[Hypothesis], fallen: Sequence[DifferenceRow], limits: Mapping[str, float]
) -> Iterator[str]:
    """Yield a sentence for each limit that was exceeded, then for each hypothesis."""
    for row in fallen:
        yield (
            f"{row.metric} in scope {row.scope} fell by {figure(row.metric, -row.difference)}, more than the "
            f"{figure(row.metric, limits[row.metric])} that --max-drop allows"
        )
    for member in members:
        row, allowed = member.row, figure(member.row.metric, member.band)
        moved_by = f"{change(row.metric, row.difference)}, band ± {allowed}"
        why = moved_by if row.won or row.lost else "no question's value moved"
        yield f"{row.metric} in scope {row.scope}: {member.finding} ({why})"
    if not members:
        yield "no headline metric was scored without being trivial, so there is nothing to decide on"


def _changes(before: Run, after: Run) -> Iterator[Change]:
    """Yield each expected difference of the runs, such as the version: no condition forbids it."""
    listed = [
        ("system", before.system, after.system),
        ("version", before.version, after.version),
        ("PROTOCOL.md sha256", before.protocol.sha256, after.protocol.sha256),
        ("commit", before.code.commit, after.code.commit),
        *((name, _of(before, name), _of(after, name)) for name in ("postgresql", "pgvector", "fingerprint")),
    ]
    settings = {**before.guc_state, **after.guc_state}
    listed += [(n, before.guc_state.get(n), after.guc_state.get(n)) for n in settings if n != TENANT]
    for what, first, second in listed:
        if first != second:
            yield Change(what, _text(first), _text(second))


def _of(run: Run, name: str) -> str | None:
    return getattr(run.database, name) if run.database else None


def _text(value: object) -> str:
    return "–" if value is None else str(value)  # noqa: RUF001
