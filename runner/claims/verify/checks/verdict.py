"""Are verdict and deviations those that the recorded gates give? (§5)"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence
from runner.gates import deviations, judge
from runner.records import GateResult, Status


def verdict(evidence: Evidence) -> str:
    """The worst gate decides, and every departure is named."""
    run = evidence.run
    results = [GateResult(**{**gate, "status": Status(gate["status"])}) for gate in run["gates"]]
    if run["verdict"] != (wanted := judge(results)):
        raise Wrong(f"the verdict is {run['verdict']}, but by its gates {wanted}")
    if run["deviations"] != list(deviations(results)):
        raise Wrong("the deviations are not those of the gates")
    named = len(run["deviations"])
    return f"{wanted}, with {named} deviation{'s' if named != 1 else ''}" if named else str(wanted)
