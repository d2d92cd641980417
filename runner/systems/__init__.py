"""Systems that rank: the extension, and the control arms that every report shows beside it.

The first system of a run is the one under test. A new system is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.errors import UsageError
from runner.registry import Registry
from runner.systems.controls import ExactCosine, RandomOrder
from runner.systems.recall import Recall, bm25_alone
from runner.systems.system import Answer, Asked, Inputs, System, TimedSystem
from runner.systems.tenant import Tenant, open_tenant

MODES = ("hybrid", "vector", "keyword")


def _pgmnemo(tenant: Tenant, mode: str) -> System:
    return Recall(tenant, mode, "pgmnemo", f"pgmnemo.recall_lessons, mode {mode}", detailed=True)


def _bm25(tenant: Tenant, mode: str) -> System:
    words = "the BM25 leg of the same extension alone"
    return Recall(tenant, "keyword", "bm25", words, overrides=bm25_alone(tenant.engine))


def _mode(mode: str) -> Callable[[Tenant, str], System]:
    words = f"the same extension in mode {mode}"
    return lambda tenant, _: Recall(tenant, mode, mode, words)


SYSTEMS: Registry[Callable[[Tenant, str], System]] = Registry(
    "system",
    {
        "pgmnemo": _pgmnemo,
        "bm25": _bm25,
        "keyword": _mode("keyword"),
        "vector": _mode("vector"),
        "cosine": lambda tenant, mode: ExactCosine(tenant.inputs),
        "random": lambda tenant, mode: RandomOrder(tenant.inputs),
    },
)
NEED_VECTORS = ("vector", "cosine")
OF_PASSAGES = ("keyword", "vector")  # a run of 0.2.1 keeps the arms of protocol 1.1.0


def build_systems(tenant: Tenant, mode: str) -> list[System]:
    """The system under test in `mode`, then every control that the run's inputs allow."""
    if mode not in MODES:
        raise UsageError(f"there is no mode {mode!r}; choose one of: {', '.join(MODES)}")
    left_out = {mode}  # the system under test is that mode
    left_out |= set() if tenant.inputs.vectors is not None else set(NEED_VECTORS)
    left_out |= set() if tenant.engine.passages else set(OF_PASSAGES)
    return [SYSTEMS[name](tenant, mode) for name in SYSTEMS if name not in left_out]


__all__ = [
    "MODES",
    "SYSTEMS",
    "Answer",
    "Asked",
    "Inputs",
    "Recall",
    "System",
    "Tenant",
    "TimedSystem",
    "build_systems",
    "open_tenant",
]
