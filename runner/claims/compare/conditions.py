"""What two runs must share before their figures may stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from runner.claims.compare.side import Side
from runner.errors import UsageError
from runner.registry import Registry
from runner.report.formats import count, shorten


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A condition in which two runs differ, and how."""

    condition: str
    words: str

    def __str__(self) -> str:
        return f"{self.condition} ({self.words})"


Check = Callable[[Side, Side], str]
"""In words how two runs differ; empty where they do not."""


def _plain(*path: str) -> Check:
    """Compare one entry of run.json."""

    def check(before: Side, after: Side) -> str:
        first, second = (entry(side.run, path) for side in (before, after))
        return "" if first == second else shorten(f"{first} against {second}")

    return check


def entry(document: Mapping[str, object], path: Collection[str]) -> object:
    """What stands at `path` in nested mappings; None where nothing does."""
    value: object = document
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _embedder(before: Side, after: Side) -> str:
    """The whole identity: model, revision, width, limit, batch size and prefixes."""
    first, second = (side.run["embedder"] or {"name": "none"} for side in (before, after))
    if first == second:
        return ""
    if first["name"] != second["name"]:
        return f"{first['name']} against {second['name']}"
    fields = [name for name in first if first[name] != second.get(name)]
    return shorten("; ".join(f"{name} {first[name]} against {second.get(name)}" for name in fields))


def _scopes(before: Side, after: Side) -> str:
    first, second = ([(s["name"], s["pooled"]) for s in side.run["scopes"]] for side in (before, after))
    names = (", ".join(name for name, _ in scopes) for scopes in (first, second))
    return "" if first == second else " against ".join(names)


def _metrics(before: Side, after: Side) -> str:
    """The major version of the metric code, and the definition of every metric by its sentence."""
    first, second = before.metrics, after.metrics
    if _major(first) != _major(second):
        return f"metric code {first['metric_code']} against {second['metric_code']}"
    names = first["definitions"].keys() ^ second["definitions"].keys()
    if names:
        return f"only one has {', '.join(sorted(names))}"
    changed = [name for name, words in first["definitions"].items() if second["definitions"][name] != words]
    return f"another definition of {', '.join(changed)}" if changed else ""


def _major(metrics: Mapping[str, object]) -> str:
    """A minor version changes intervals alone, and a comparison computes its own."""
    return str(metrics["metric_code"]).partition(".")[0]


def _questions(before: Side, after: Side) -> str:
    parts = []
    for scope in before.keys.keys() & after.keys.keys():
        first, second = before.keys[scope], after.keys[scope]
        if first != second:
            parts.append(
                f"{scope}: {count(len(first))} against {count(len(second))}, "
                f"{count(len(first & second))} shared"
            )
    return "; ".join(sorted(parts))


def _gold(before: Side, after: Side) -> str:
    parts = []
    for scope in before.keys.keys() & after.keys.keys():
        first, second = before.tables[scope].questions, after.tables[scope].questions
        changed = sum(first[key] != second[key] for key in first.keys() & second.keys())
        if changed:
            parts.append(f"{scope}: gold, type or scope size of {count(changed)} questions")
    return "; ".join(sorted(parts))


CONDITIONS: Registry[Check] = Registry(
    "condition to compare despite",
    {
        "corpus": _plain("corpus", "sha256"),
        "granularity": _plain("corpus", "granularity"),
        "scopes": _scopes,
        "embedder": _embedder,
        "mode": _plain("options", "mode"),
        "protocol": _plain("protocol", "version"),
        "metrics": _metrics,
        "questions": _questions,
        "gold": _gold,
    },
)


def mismatches(before: Side, after: Side, despite: Collection[str] = ()) -> tuple[Mismatch, ...]:
    """The conditions in which the runs differ, all of them waived by `despite`.

    Raises UsageError for a difference that is not waived, and for a waiver that names no condition.
    """
    for name in despite:
        CONDITIONS[name]
    found = tuple(Mismatch(n, words) for n, check in CONDITIONS.items() if (words := check(before, after)))
    barring = [mismatch for mismatch in found if mismatch.condition not in despite]
    if barring:
        names = ",".join(mismatch.condition for mismatch in found)
        raise UsageError(
            f"{before.name} and {after.name} differ in {' and '.join(map(str, barring))}: compare like with "
            f"like, or add --despite {names}, and the result will be labelled"
        )
    return found
