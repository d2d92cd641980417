"""Does every gate that artefacts can decide still say what run.json records, and the verdict follow? (§5)"""

from __future__ import annotations

from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence
from runner.claims.verify.facts import facts
from runner.gates import GATES, check_all
from runner.records import GateResult

BY_CORPUS = ("coverage", "leak")  # what only the corpus's own text can decide


def gates(evidence: Evidence) -> str:
    """Each gate looks at the facts that the artefacts hold; its status is compared, its wording is not."""
    recorded = [gate["gate"] for gate in evidence.run["gates"]]
    if recorded != list(GATES):
        raise Wrong(f"run.json records the gates {', '.join(recorded)}, and not {', '.join(GATES)}")
    decided = [result for result in check_all(facts(evidence)) if result.gate not in BY_CORPUS]
    compare(evidence, decided)
    return f"{len(decided)} of {len(recorded)} gates decided again; {', '.join(BY_CORPUS)} need the corpus"


def compare(evidence: Evidence, decided: list[GateResult]) -> None:
    """Wrong for the first gate whose status is not the recorded one."""
    recorded = {gate["gate"]: gate["status"] for gate in evidence.run["gates"]}
    for result in decided:
        if recorded.get(result.gate) != result.status:
            raise Wrong(
                f"the gate {result.gate} is recorded as {recorded.get(result.gate)}; by the facts it is "
                f"{result.status}: expected {result.expected}, found {result.found}"
            )
