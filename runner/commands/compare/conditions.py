"""What two runs must share before their figures may stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry
from runner.commands.compare.side import Side
from runner.report.formats import count, shorten
from runner.runs import alike
from runner.runs.alike import differences


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A condition in which two runs differ, and how."""

    condition: str
    words: str

    def __str__(self) -> str:
        return f"{self.condition} ({self.words})"


Check = Callable[[Side, Side], str]
"""In words how two runs differ; empty where they do not."""


def _of_record(name: str) -> Check:
    """A condition that the two records decide."""

    def check(before: Side, after: Side) -> str:
        return next((shorten(words) for _, words in differences(before.run, after.run, (name,))), "")

    return check


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


OF_BOTH = ("suite", "questions asked")  # seen better in the corpus and in the questions themselves
CONDITIONS: Registry[Check] = Registry(
    "condition to compare despite",
    {
        **{name: _of_record(name) for name in alike.CONDITIONS if name not in OF_BOTH},
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
