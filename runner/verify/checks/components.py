"""Is what run.json says of the components of a score what mode, corpus and rankings show of them? (§4.2)"""

from __future__ import annotations

from runner.bench.states import ACTIVE, INACTIVE, NO_EDGES, NO_VECTOR, NO_WORDS, REASONS, component_states
from runner.runs.raw import DETAILED_RANKS
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

ITSELF = ("context",)  # a lesson without companions is its own context, so that it has values and no effect
BY_MODE = {"keyword": f"{INACTIVE}{NO_VECTOR}", "vector": f"{INACTIVE}{NO_WORDS}"}


def components(evidence: Evidence) -> str:
    """Each is active, or inactive for a reason that there is, and then of one value in all that is shown."""
    run = evidence.run
    if not run.choice.ours:
        raise NotAsked("the system under test has no components of pgmnemo")
    for name, state in run.components.items():
        if state != ACTIVE and state.removeprefix(INACTIVE) not in REASONS:
            raise Wrong(f"{name} is said to be {state}, which no run says")
    if evidence.corpus is not None:
        wanted = component_states(run.components, run.choice.mode, evidence.corpus)
    else:
        wanted = _known(evidence)
    for name, state in wanted.items():
        if run.components[name] != state:
            raise Wrong(f"{name} is said to be {run.components[name]}; it is {state}")
    for name, values in _shown(evidence).items():
        if name not in ITSELF and run.components[name] != ACTIVE and len(values) > 1:
            raise Wrong(f"{name} is said to be {run.components[name]}, and has {len(values):,} values")
    active = sum(state == ACTIVE for state in run.components.values())
    return f"{active} of {len(run.components)} components are active, the others without effect"


def _known(evidence: Evidence) -> dict[str, str]:
    """What follows without the corpus: from the mode, and from the count of its edges."""
    run, found = evidence.run, {}
    if "cosine" in run.components and run.choice.mode == "keyword":
        found["cosine"] = BY_MODE["keyword"]
    if "bm25" in run.components and run.choice.mode == "vector":
        found["bm25"] = BY_MODE["vector"]
    if "graph" in run.components and "edges" in run.corpus.shape:
        found["graph"] = ACTIVE if run.corpus.shape["edges"] else f"{INACTIVE}{NO_EDGES}"
    return found


def _shown(evidence: Evidence) -> dict[str, set[float]]:
    """The values that each component has in the first ten under test; None, for not asked, is none."""
    names = evidence.run.arms[0].components
    found: dict[str, set[float]] = {name: set() for name in names}
    for line in evidence.by_arm.get(evidence.run.system, []):
        for rank in line["ranking"][:DETAILED_RANKS]:
            if isinstance(rank, list) and len(rank) == 3:
                for name, value in zip(names, rank[2], strict=True):
                    if value is not None:
                        found[name].add(value)
    return found
