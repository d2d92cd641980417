"""Are all artefacts there? (§5, §7)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding, not_yet
from runner.records import Status


def artefacts(facts: RunFacts) -> Finding:
    """FAILED when one of the protocol's artefacts is missing."""
    wanted = facts.protocol.artefacts
    expected = ", ".join(wanted)
    if facts.artefacts is None:
        return not_yet(expected)
    missing = [name for name in wanted if not facts.artefacts.get(name)]
    if not missing:
        return Finding(Status.PASSED, expected, "all of them", "results folder")
    resolve = "complete the run with --resume, or run again"
    return Finding(Status.FAILED, expected, f"no {', no '.join(missing)}", "results folder", resolve)
