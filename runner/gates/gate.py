"""What a gate is: a name, and a pure function from the facts of a run to a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from runner.gates.facts import Facts
from runner.records import GateResult, Status


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate's answer without the gate's name; the texts are sentences or values for a reader."""

    status: Status
    expected: str
    found: str
    where: str = ""
    resolve: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A named check. It reads nothing but the facts; facts not known yet make it say NOT_YET.

    `of_corpus`: the corpus alone decides it, so that it is asked once, before the run. `needs_text`: counts
    do not suffice for that, so that a finished run can be asked again only with the corpus at hand.
    """

    name: str
    check: Callable[[Facts], Finding]
    of_corpus: bool = False
    needs_text: bool = False

    def __call__(self, facts: Facts) -> GateResult:
        """Check `facts`."""
        return GateResult(self.name, **asdict(self.check(facts)))


def not_yet(expected: str) -> Finding:
    """The finding of a gate whose facts are not known yet."""
    return Finding(Status.NOT_YET, expected, "not known before the run")
