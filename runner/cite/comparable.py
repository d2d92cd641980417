"""What must be the same in two runs before one citation names both values (protocol §8)."""

from __future__ import annotations

from dataclasses import replace

from runner.naming import Name
from runner.runs.alike import differences
from runner.runs.run import Run
from runner.versions import release


def difference(before: Run, after: Run, asked: tuple[int, int] = (0, 0)) -> str | None:
    """The first thing that keeps two runs apart, in words; None when they stand beside each other.

    `asked`: how many questions the headline of each counts.
    """
    if _unversioned(before) != _unversioned(after):
        return f"system {before.system} against {after.system}"
    if (found := next((f"{name} {words}" for name, words in differences(before, after)), None)) is not None:
        return found
    return None if asked[0] == asked[1] else f"n {asked[0]:,} against {asked[1]:,}"


def _unversioned(run: Run) -> str:
    """The system under test, of whichever version."""
    return str(replace(Name.of(run.choice.system), version=""))


def not_earlier(before: Run, after: Run) -> str | None:
    """In words why the version before is not one before; None when it is."""
    if release(before.version) < release(after.version):
        return None
    return f"version {before.version} is not earlier than {after.version}"
