"""Processor time of `verify`, 0.3.1's tools beside today's: `python -m tests.verify.before.seconds [ROUNDS]`.

Both are asked for the runs that 0.3.1's tools knew, the same files, all in one call, in turns. Time is user
and system time of that process and its children: a busy machine moves it less than time waited, but moves it.
Nothing passes or fails by it.
"""

from __future__ import annotations

import resource
import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.verify.before.former import ROOT, Tools, former, now

PATIENCE = 600.0


def runs(tools: Tools) -> list[Path]:
    """The folders that stand in the results of 0.3.1's own checkout, as paths from its top."""
    found = sorted(tools.tree.glob("benchmarks/*/results/*/run.json"))
    return [path.parent.relative_to(tools.tree) for path in found]


def seconds(tools: Tools, folders: list[Path]) -> float:
    """User and system time of one call of verify for all folders, which must find no fault."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = tools.command("verify", *folders, patience=PATIENCE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert said.code == 0, said.output
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print each round, then the medians and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with former() as tools, TemporaryDirectory() as home:
        place = Path(home)
        for folder in (known := runs(tools)):  # the same bytes for both: neither has a page or a git history
            target = place / folder
            shutil.copytree(ROOT / folder, target)
        shutil.copy(ROOT / "HISTORY.md", place)
        folders = [place / folder for folder in known]
        spent: dict[str, list[float]] = {}
        for number in range(rounds):
            order = (tools, now()) if number % 2 else (now(), tools)
            for one in order:
                spent.setdefault(one.name, []).append(seconds(one, folders))
            print({name: round(values[-1], 2) for name, values in spent.items()}, flush=True)
    middle = {name: median(values) for name, values in spent.items()}
    print(
        f"{len(known)} runs, {rounds} rounds, medians of user and system time: "
        f"0.3.1 {middle['0.3.1']:.2f} s, now {middle['now']:.2f} s, "
        f"ratio {middle['now'] / middle['0.3.1']:.2f}"
    )


if __name__ == "__main__":
    main()
