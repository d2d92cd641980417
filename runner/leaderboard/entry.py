"""One run on its way to a board: verified and read, or told why it stands apart."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from runner.compare.side import Side, read_side
from runner.errors import RunnerError
from runner.leaderboard.board import Aside
from runner.report.citation import CITABLE
from runner.report.figures import Figures
from runner.runs.archive import unpacked
from runner.runs.blocked import BLOCKED
from runner.runs.run import Run
from runner.verify import Verification
from runner.verify.checks.repository import LATER

Verify = Callable[..., Verification]


@dataclass(frozen=True, slots=True)
class Entry:
    """A verified run in a folder or an archive. `later` are deviations that HISTORY.md adds to run.json's."""

    folder: Path
    side: Side
    later: tuple[str, ...]
    attested: str

    @property
    def run(self) -> Run:
        """The record of run.json."""
        return self.side.run

    @property
    def figures(self) -> Figures:
        """The rows of metrics.json, looked up by what they are about."""
        return self.side.figures

    @property
    def deviations(self) -> tuple[str, ...]:
        """Every departure from the protocol, with those that became known later."""
        return (*map(str, self.run.deviations), *self.later)

    @property
    def verdict(self) -> str:
        """The run's own, or `deviation` where one became known later."""
        return "deviation" if self.later else self.run.verdict.value


def read_archive(archive: Path, check: Verify, opened: ExitStack) -> Entry | Aside:
    """The run in an archive, which stays unpacked as long as `opened` does, under the archive's own name."""
    try:
        found = read_entry(opened.enter_context(unpacked(archive)), check)
    except RunnerError as error:
        return _aside(archive, "unreadable", str(error))
    if isinstance(found, Entry):
        return replace(found, folder=archive)
    return replace(found, folder=archive.as_posix())


def read_entry(folder: Path, check: Verify) -> Entry | Aside:
    """Verify the run in `folder`, then read it; an Aside for one that may stand on no board."""
    if (folder / BLOCKED).exists():
        return _aside(folder, "blocked", f"a gate failed before there was a figure: read its {BLOCKED}")
    verification = check(folder)
    if verification.faults:
        first, *more = verification.faults
        others = f", and {len(more)} more" if more else ""
        return _aside(folder, "not intact", f"verify: {first.check}: {first.sentence}{others}")
    if verification.verdict not in CITABLE:
        why = "what it measured is not what the protocol registers (protocol §5)"
        return _aside(folder, "unverified", why)
    try:
        return Entry(folder, read_side(folder), _later(verification), verification.attested)
    except RunnerError as error:
        return _aside(folder, "unreadable", str(error))


def _aside(folder: Path, kind: str, reason: str) -> Aside:
    return Aside(folder.resolve().name, folder.as_posix(), kind, reason)


def _later(verification: Verification) -> tuple[str, ...]:
    """What verify found that HISTORY.md adds to the run."""
    found = (answer.sentence.partition(LATER)[2] for answer in verification.answers)
    return tuple(text for sentence in found if sentence for text in sentence.split("; "))
