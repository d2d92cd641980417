"""The conditions that runs must share before their figures may be compared, and the retrievers of their arms.

All commands use this one list of conditions. A retriever belongs to the system under test, or to a strategy
that was also measured.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from runner.records import ALL
from runner.runs.run import Arm, Run

Of = Callable[[Run], Any]


def _embedder(run: Run) -> dict[str, Any] | None:
    """Return the whole identity of the embedder: model, revision, width, limit, batch size and prefixes."""
    return asdict(run.embedder) if run.embedder else None


CONDITIONS: Mapping[str, Of] = {
    "suite": lambda run: run.choice.suite,
    "corpus": lambda run: run.corpus.sha256,
    "granularity": lambda run: run.choice.level,
    "template": lambda run: run.choice.template,
    "passages": lambda run: run.choice.passages,
    "characters of a lesson": lambda run: run.choice.max_chars or "all",
    "scopes": lambda run: [[scope.name, scope.pooled] for scope in run.scopes],
    "embedder": _embedder,
    "rewriting": lambda run: asdict(run.rewriter) if run.rewriter else {"name": "none"},
    "mode": lambda run: run.choice.mode or "hybrid",  # another system has no modes
    "settings": lambda run: dict(run.choice.changed if run.choice.ours else run.choice.settings),
    "views": lambda run: [[view.name, *view.without_types, view.without_key] for view in run.views],
    "questions asked": lambda run: [run.choice.limit, list(run.choice.types), run.choice.split],
    "protocol": lambda run: run.protocol.version,
}
"""By name: what must be equal. All but the system and its version, its database and the machine."""


def postgres_major(run: Run) -> str:
    """Return the major version of the PostgreSQL under pgmnemo, such as `18`; empty for another system."""
    return run.database.postgresql.partition(".")[0] if run.database else ""


def differences(first: Run, other: Run, names: Collection[str] = CONDITIONS) -> Iterator[tuple[str, str]]:
    """Yield each condition in which two runs differ, and a description: the first against the other."""
    for name, of in CONDITIONS.items():
        if name in names and of(first) != of(other):
            yield name, _difference(name, first, other)


def headline_questions(metrics: Mapping[str, Any], run: Run) -> int:
    """Return the number of questions in the headline of a run.

    Runs with equal configurations on one corpus have equal numbers.
    """
    rows = (row for row in metrics["results"] if row["view"] == run.headline_view and row["type"] == ALL)
    return next((int(row["n"]) for row in rows), 0)


def describe_condition(run: Run, name: str) -> str:
    """Return a condition of a run as text."""
    value = CONDITIONS[name](run)
    if name == "embedder":
        return run.embedder_name
    if name == "rewriting":
        return run.rewriter.name if run.rewriter else "none"
    if name == "views":
        return "; ".join(map(_view, value))
    if name == "scopes":
        return ", ".join(scope for scope, _ in value)
    if name == "questions asked":
        return _asked(*value)
    if isinstance(value, dict):
        return ", ".join(f"{key} = {one}" for key, one in value.items()) or "defaults"
    return str(value)


def _difference(name: str, first: Run, other: Run) -> str:
    here, there = describe_condition(first, name), describe_condition(other, name)
    if here != there:
        return f"{here} against {there}"
    before, after = CONDITIONS[name](first) or {}, CONDITIONS[name](other) or {}
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return f"{before} against {after}"
    fields = [field for field in dict.fromkeys([*before, *after]) if before.get(field) != after.get(field)]
    return "; ".join(f"{field} {before.get(field)} against {after.get(field)}" for field in fields)


def _view(view: Sequence[str]) -> str:
    name, *without = view
    left = ", ".join(filter(None, without))
    return f"{name} without {left}" if left else name


def _asked(limit: int | None, types: Collection[str], split: str) -> str:
    first = "all" if limit is None else f"{limit:,}, spread evenly"
    of = [*types, *([f"the split {split}"] if split else [])]
    return f"{first} of {', '.join(of)}" if of else first


RETRIEVERS = ("keyword", "vector")
OVER = "over"  # the fact with the base system of a strategy
COSINE, ITSELF = "cosine", "itself"  # the control as a retriever, or the whole system as a retriever


def retrievers_of(run: Run, arm: Arm) -> dict[str, str]:
    """Return the arm that answers for each of RETRIEVERS.

    Retrievers that the run did not ask are left out.
    """
    answered = {one.name: one for one in run.arms if not one.failed}
    if arm.name == run.system:
        return {
            retriever: retriever
            for retriever in RETRIEVERS
            if retriever in answered and answered[retriever].role == "leg"
        }
    named = {retriever: _arm(run, arm, arm.facts.get(f"{retriever} leg", "")) for retriever in RETRIEVERS}
    return {retriever: name for retriever, name in named.items() if name in answered}


def baseline_strategies(run: Run) -> list[Arm]:
    """Return the baseline strategies that have a ranking."""
    return [arm for arm in run.systems if arm.name != run.system and OVER in arm.facts and not arm.failed]


def strategy_pairs(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each baseline strategy with each of its retrievers, as pairs of arm names."""
    for arm in baseline_strategies(run):
        for retriever in retrievers_of(run, arm).values():
            yield arm.name, retriever


def _arm(run: Run, arm: Arm, retriever: str) -> str:
    over = arm.facts.get(OVER, "")
    if retriever == COSINE:
        return COSINE
    if retriever == ITSELF:
        return over
    same = run.choice.system == over and arm.version == run.version and not run.choice.settings
    return retriever if same else ""
