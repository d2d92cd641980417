"""Gates: what must hold before a number may be cited. Each is one file and one line here."""

from __future__ import annotations

from dataclasses import replace

from runner.gates.artefacts import artefacts
from runner.gates.blocked import blocked
from runner.gates.coverage import coverage
from runner.gates.dataset import dataset
from runner.gates.embedder import embedder
from runner.gates.facts import RunFacts
from runner.gates.gate import Gate
from runner.gates.granularity import granularity
from runner.gates.history import history
from runner.gates.leak import leak
from runner.gates.retrievals import retrievals
from runner.gates.scope import scope
from runner.gates.seed import seed
from runner.gates.settings import settings
from runner.gates.shape import shape
from runner.gates.tree import tree
from runner.gates.verdict import deviations, judge
from runner.gates.version import version
from runner.records import GateResult, Status
from runner.registry import Registry

__all__ = ["GATES", "Gate", "RunFacts", "check_after", "check_all", "check_before", "deviations", "judge"]

_ORDER = (
    Gate("dataset", dataset),
    Gate("shape", shape),
    Gate("granularity", granularity),
    Gate("coverage", coverage),
    Gate("leak", leak),
    Gate("version", version),
    Gate("seed", seed),
    Gate("settings", settings),
    Gate("embedder", embedder),
    Gate("scope", scope),
    Gate("tree", tree),
    Gate("history", history),
    Gate("retrievals", retrievals),
    Gate("artefacts", artefacts),
    Gate("blocked", blocked),
)
OF_THE_CORPUS = ("dataset", "shape", "granularity", "coverage", "leak")
GATES: Registry[Gate] = Registry("gate", {gate.name: gate for gate in _ORDER})


def check_before(facts: RunFacts) -> tuple[GateResult, ...]:
    """Every gate in order, before the run: those that only its results can answer say NOT_YET."""
    early = replace(facts, retrievals=None, artefacts=None)
    return tuple(gate(early) for gate in GATES.values())


def check_all(facts: RunFacts) -> tuple[GateResult, ...]:
    """Every gate in order, after the run; one whose facts are still missing counts as failed."""
    return tuple(_settled(gate(facts)) for gate in GATES.values())


def check_after(before: tuple[GateResult, ...], facts: RunFacts) -> tuple[GateResult, ...]:
    """As `check_all`, but what the corpus alone decided `before` the run is not looked at a second time."""
    return tuple(
        result if result.gate in OF_THE_CORPUS else _settled(GATES[result.gate](facts)) for result in before
    )


def _settled(result: GateResult) -> GateResult:
    if result.status is not Status.NOT_YET:
        return result
    resolve = "complete the run with --resume"
    return replace(result, status=Status.FAILED, found="could not be checked", resolve=resolve)
