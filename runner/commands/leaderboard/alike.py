"""What runs must share to be on one board."""

from __future__ import annotations

from collections.abc import Iterator

from runner.commands.compare.side import Side
from runner.report.formats import CITED, shorten
from runner.runs import alike

QUESTIONS, DEFINITIONS, CODE = "n", "metric definitions", "major version of the metric code"

NAMES = [*alike.CONDITIONS, QUESTIONS, DEFINITIONS, CODE]


def _definitions(side: Side) -> dict[str, str]:
    """The sentence that defines each metric that is shown."""
    known = side.metrics["definitions"]
    return {name: known[name] for name in (CITED, *side.run.headline) if name in known}


def _asked(side: Side) -> str:
    return f"{alike.asked(side.metrics, side.run):,}"


def _major(side: Side) -> str:
    return str(side.metrics["metric_code"]).partition(".")[0]


def words(side: Side) -> dict[str, str]:
    """Each condition as people read it."""
    listed = {name: shorten(alike.words(side.run, name)) for name in alike.CONDITIONS}
    return {**listed, QUESTIONS: _asked(side), DEFINITIONS: ", ".join(_definitions(side)), CODE: _major(side)}


def apart(first: Side, other: Side) -> Iterator[str]:
    """One sentence for each condition in which `other` is not like `first`; another suite says it all."""
    for name, how in alike.differences(other.run, first.run):
        yield f"{name}: {shorten(how)}"
        if name == "suite":
            return
    for name, of in ((QUESTIONS, _asked), (DEFINITIONS, _definitions), (CODE, _major)):
        if of(first) != of(other):
            yield f"{name}: {of(other)} against {of(first)}"
