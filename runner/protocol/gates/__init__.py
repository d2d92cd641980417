"""Gates: what must hold before a number may be cited. Each is one function in a file here, and one line of an
edition.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from pgmnemo.registry import Registry, members
from runner.protocol.editions import Edition
from runner.protocol.gates.gate import Gate, GateFinding, RunFacts, deviations, not_yet, overall_verdict
from runner.records import GateResult, Status

__all__ = [
    "Gate",
    "GateFinding",
    "RunFacts",
    "check_after",
    "check_all",
    "check_before",
    "deviations",
    "gate_named",
    "gates_of",
    "not_yet",
    "overall_verdict",
]  # fmt: skip


@cache
def _known() -> Registry[Gate]:
    """Return the gates of every file here, by name."""
    return Registry("gate", {gate.name: gate for gate in members(__name__, "GATES")})


def gate_named(name: str) -> Gate:
    """Return the gate of that name; UsageError lists those that there are."""
    return _known()[name]


def gates_of(edition: Edition, ours: bool = True) -> tuple[Gate, ...]:
    """Return the gates of an edition in their order; without pgmnemo's own where another system is under
    test.
    """
    names = (name for name in edition.gates if ours or name not in edition.pgmnemo_gates)
    return tuple(map(gate_named, names))


def check_before(facts: RunFacts) -> tuple[GateResult, ...]:
    """Return every gate in order, before the run: those that only its results can answer say NOT_YET."""
    early = replace(facts, retrievals=None, artefacts=None)
    return tuple(gate(early) for gate in _gates(facts))


def check_all(facts: RunFacts) -> tuple[GateResult, ...]:
    """Return every gate in order, after the run; one whose facts are still missing counts as failed."""
    return tuple(_settled(gate(facts)) for gate in _gates(facts))


def check_after(before: tuple[GateResult, ...], facts: RunFacts) -> tuple[GateResult, ...]:
    """As `check_all`, but what the corpus alone decided `before` the run is not looked at a second time."""
    found = {result.gate: result for result in before}
    return tuple(found[gate.name] if gate.of_corpus else _settled(gate(facts)) for gate in _gates(facts))


def _gates(facts: RunFacts) -> tuple[Gate, ...]:
    return gates_of(facts.edition, facts.run.choice.ours)


def _settled(result: GateResult) -> GateResult:
    if result.status is not Status.NOT_YET:
        return result
    resolve = "complete the run with --resume"
    return replace(result, status=Status.FAILED, found="could not be checked", resolve=resolve)
