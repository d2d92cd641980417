"""Are all artefacts there? (§5, §7)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import Status


def artefacts(facts: Facts) -> Finding:
    """FAILED when one of the protocol's artefacts is missing."""
    wanted = facts.edition.artefacts.required
    expected = ", ".join(wanted)
    if facts.artefacts is None:
        return not_yet(expected)
    missing = [name for name in wanted if not facts.artefacts.get(name)]
    if not missing:
        return Finding(Status.PASSED, expected, "all of them", "results folder")
    resolve = "complete the run with --resume, or run again"
    return Finding(Status.FAILED, expected, f"no {', no '.join(missing)}", "results folder", resolve)


GATE = Gate("artefacts", artefacts)
