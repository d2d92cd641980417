"""From the answers of all gates to the one word that a result carries. (§5)"""

from __future__ import annotations

from collections.abc import Iterable

from runner.records import GateResult, Status, Verdict

WORST_FIRST = (
    (Status.FAILED, Verdict.BLOCKED),
    (Status.UNVERIFIED, Verdict.UNVERIFIED),
    (Status.DEVIATION, Verdict.DEVIATION),
)


def judge(results: Iterable[GateResult]) -> Verdict:
    """The worst answer decides; a gate that is NOT_YET checked does not count (`check_all` leaves none)."""
    found = {result.status for result in results}
    return next((verdict for status, verdict in WORST_FIRST if status in found), Verdict.VERIFIED)


def deviations(results: Iterable[GateResult]) -> tuple[str, ...]:
    """Every labelled departure as `gate: what was found`, for report and HISTORY.md."""
    labelled = (Status.DEVIATION, Status.UNVERIFIED)
    return tuple(f"{result.gate}: {result.found}" for result in results if result.status in labelled)
