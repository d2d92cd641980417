"""How long a run of this kind took here before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.errors import RunnerError
from runner.progress import lasting
from runner.runs.alike import differences
from runner.runs.reading import Results
from runner.runs.run import RUN, Run

ALIKE = ("suite", "corpus", "granularity", "text", "embedder", "mode", "questions asked")


def former_duration(bases: Iterable[Path], run: Run) -> str:
    """What the last run of the same work by the same systems took, in one sentence; empty without one."""
    alike = [
        one
        for base in bases
        for one in _runs(base)
        if one.choice.named == run.choice.named and not any(differences(one, run, ALIKE))
    ]
    if not alike:
        return ""
    last = max(alike, key=lambda one: one.started)
    assert last.resources is not None
    took = lasting(last.resources.wall_seconds)
    machine = f" on {last.machine.cpu}, {last.machine.cores} cores" if last.machine else ""
    vectors = last.resources.vectors_embedded
    return f"the last such run, {last.name}, took {took}{machine}, {vectors:,} texts embedded then"


def _runs(base: Path) -> Iterator[Run]:
    """The finished runs in a folder of results; damaged ones are passed over."""
    for place in base.glob(f"*/{RUN}"):
        try:
            run = Results(place.parent).run
        except RunnerError:
            continue
        if run.resources is not None:
            yield run
