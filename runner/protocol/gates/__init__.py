"""The gates: conditions for citing a number.

Each gate is one function in a file here, and one line of an edition.
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
    """Return the gates of every file in this package, by name."""
    return Registry("gate", {gate.name: gate for gate in members(__name__, "GATES")})


def gate_named(name: str) -> Gate:
    """Return the gate with this name; raise UsageError with the known names."""
    return _known()[name]


def gates_of(edition: Edition, ours: bool = True) -> tuple[Gate, ...]:
    """Return the gates of an edition in order; `ours` False leaves out the gates that judge only pgmnemo."""
    names = (name for name in edition.gates if ours or name not in edition.pgmnemo_gates)
    return tuple(map(gate_named, names))


def check_before(facts: RunFacts) -> tuple[GateResult, ...]:
    """Return the result of every gate before the run; gates that need the run's results return NOT_YET."""
    early = replace(facts, retrievals=None, artefacts=None)
    return tuple(gate(early) for gate in _gates(facts))


def check_all(facts: RunFacts) -> tuple[GateResult, ...]:
    """Return the result of every gate after the run; a gate that is still NOT_YET counts as failed."""
    return tuple(_settled(gate(facts)) for gate in _gates(facts))


def check_after(before: tuple[GateResult, ...], facts: RunFacts) -> tuple[GateResult, ...]:
    """Return what `check_all` returns, but reuse the results from `before` the run for gates of the
    corpus.
    """
    found = {result.gate: result for result in before}
    return tuple(found[gate.name] if gate.of_corpus else _settled(gate(facts)) for gate in _gates(facts))


def _gates(facts: RunFacts) -> tuple[Gate, ...]:
    return gates_of(facts.edition, facts.run.choice.ours)


def _settled(result: GateResult) -> GateResult:
    if result.status is not Status.NOT_YET:
        return result
    resolve = "complete the run with --resume"
    return replace(result, status=Status.FAILED, found="could not be checked", resolve=resolve)
