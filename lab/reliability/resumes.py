"""Kill runs at random moments, resume them until they finish, and compare their files with an unkilled run's.

    python -m lab.reliability.resumes [--kills N] [--seed S]

A run is started by its command, as a user does; SIGKILL stops it, and `--resume` continues it. A run that
was killed after it had finished is only recorded by `history add`. These must be equal to those of a run that
was never killed: the raw rankings, the figures, the questions asked and reranked, byte for byte; run.json,
report.md and the timings, except times. A killed run may leave no server and no temporary file. Prints a row
for each command and a column for each stage at which it was killed. The exit code is 1 if there is a
difference.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import psutil

from runner.markdown import table
from runner.runs.raw import RAW
from runner.runs.timings import RERANKS, REWRITES, TIMINGS
from runner.verification import verify

SEED, KILLS, PATIENCE = 42, 50, 60.0  # seconds in which a watchdog cleans up after a kill
MORE = ("--baselines", "sqlite-fts5", "--rerank", "linear", "--rewrite", "words")
RUNS: Mapping[str, Sequence[str]] = {
    "sample": ("sample", "--embedder", "hash"),
    "sample, more systems": ("sample", "--embedder", "hash", *MORE),
    "locomo, 20 questions": ("locomo", "--embedder", "hash", "--limit", "20", "--allow-unregistered-corpus"),
    "sample, dry run": ("sample", "--embedder", "hash", "--dry-run"),
}
PLACES = ("before its folder", "before a ranking", "between rankings", "after the last", "done")
BYTES = (RAW, REWRITES, "metrics.json")  # equal in every run
TIMES = ("started", "finished", "resources", "latency")  # fields of run.json
OF_TIME = (
    "seconds",
    "load_seconds",
    "memory_bytes",
    "disk_bytes",
    "p50_ms",
    "p95_ms",
    "added_p50_ms",
    "calls",
    "cached",
)


@dataclass
class Killed:
    """The results of killing one command: the stages reached, the number of completed runs, the faults."""

    places: Counter[str] = field(default_factory=Counter)
    done: int = 0
    faults: list[str] = field(default_factory=list)


class Stage:
    """A folder in which one run is made, killed and resumed, with its own temporary files and cache."""

    def __init__(self, words: Sequence[str], base: Path) -> None:
        self.words, self.base = words, Path(tempfile.mkdtemp(prefix="run-", dir=base))
        self.results, self.temporary = self.base / "results", self.base / "tmp"
        self.base.chmod(0o755)  # as root a server runs as another user
        self.temporary.mkdir(mode=0o777)
        self.temporary.chmod(0o777)
        self.began = 0.0

    @property
    def partial(self) -> Path | None:
        """The folder of the interrupted run; None if no run was interrupted."""
        return next(self.results.glob(".*.partial"), None)

    @property
    def made(self) -> Path | None:
        """The folder of the finished run; None if it is not finished."""
        return next(self.results.glob("v*"), None)

    def start(self, *, wait: float | None, at_work: bool = True) -> bool:
        """Begin or resume the run, and kill it after `wait` seconds; return whether it finished before.

        The seconds count from the start of the command or, with `at_work`, from the first ranking that it
        writes. None: the run is not killed.
        """
        resume = ("--resume", str(self.partial)) if self.partial else ()
        output = ("--output", str(self.results), "--cache", str(self.base / "cache"))
        command = [sys.executable, "-m", "runner", *self.words, "--quiet", *output, *resume]
        own = {"TMPDIR": str(self.temporary), "XDG_CACHE_HOME": str(self.base / "own")}
        environ = {**os.environ, **own, "PGMNEMO_PORT": "1"}  # where no compose service answers
        before = self.rankings
        with (self.base / "said").open("wb") as output_file:
            process = subprocess.Popen(command, env=environ, stdout=output_file, stderr=output_file)
            while at_work and self.rankings <= before and process.poll() is None:
                time.sleep(0.002)
            self.began = time.monotonic()
            try:
                code = process.wait(wait)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
        said = (self.base / "said").read_text()
        if code not in (0, -9) and not (code == 2 and self.made and "is finished" in said):
            raise AssertionError(f"{' '.join(command)}: {code}: {said}")
        return code != -9

    def log(self) -> None:
        """Append the finished run's entry to HISTORY.md if the kill came before that."""
        history = ("--history", str(self.results / "HISTORY.md"))
        command = [sys.executable, "-m", "runner", "history", "add", str(self.made), *history]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @property
    def rankings(self) -> int:
        """The bytes of the raw rankings in the partial folder."""
        partial = self.partial
        with suppress(FileNotFoundError):  # the run ends at this moment
            return (partial / RAW).stat().st_size if partial else 0
        return 0

    @property
    def place(self) -> str:
        """The progress of the run, one of PLACES."""
        if self.made:
            return PLACES[4]
        if self.partial is None:
            return PLACES[0]
        raw = self.partial / RAW
        if not raw.exists() or not raw.stat().st_size:
            return PLACES[1]
        return PLACES[3] if (self.partial / "run.json").exists() else PLACES[2]

    def left(self) -> str:
        """Return a sentence naming the processes and temporary files that a killed run has left; "" if none.

        Waits up to PATIENCE seconds for the run's watchdog to remove them.
        """
        deadline = time.monotonic() + PATIENCE
        while found := [*self._processes(), *(path.name for path in self.temporary.iterdir())]:
            if time.monotonic() > deadline:
                return f"left {', '.join(map(str, found))}"
            time.sleep(0.05)
        return ""

    def _processes(self) -> Iterator[int]:
        for one in psutil.process_iter(["cmdline"]):
            if any(word.startswith(str(self.temporary)) for word in one.info["cmdline"] or ()):
                yield one.pid


def differences(whole: Path, other: Path) -> Iterator[str]:
    """Yield the name of each file in which two runs differ, ignoring times."""
    names = [sorted(path.name for path in place.iterdir()) for place in (whole, other)]
    if names[0] != names[1]:
        yield f"files {', '.join(names[1])}, not {', '.join(names[0])}"
        return
    for name in names[0]:
        first, second = ((place / name).read_bytes() for place in (whole, other))
        if name in BYTES and first != second:
            yield f"{name} is not the same to the byte"
        elif name == "run.json" and timeless(json.loads(first)) != timeless(json.loads(second)):
            yield f"{name} differs in more than times"
        elif name in (TIMINGS, RERANKS) and asked(first) != asked(second):
            yield f"{name} is of other questions"
    if not (found := verify(other, rerun=0)).intact:
        yield f"verify: {found.faults[0].check}: {found.faults[0].sentence}"


def timeless(value: Any) -> Any:
    """Return the content of run.json without times, sizes and costs."""
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name not in (*TIMES, *OF_TIME)}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def asked(lines: bytes) -> list[str]:
    """Return the lines of a file without their times, in order."""
    return [json.dumps(timeless(json.loads(line))) for line in lines.splitlines()]


def kill(name: str, kills: int, chance: Random, base: Path) -> Killed:
    """Kill runs `kills` times in all; each run is completed after one to four kills.

    Every other kill comes after the first ranking is written, because most of the time passes before.
    """
    killed, words = Killed(), RUNS[name]
    whole = Stage(words, base)
    began = time.monotonic()
    whole.start(wait=None)
    lasted, worked = time.monotonic() - began, time.monotonic() - whole.began
    while killed.places.total() < kills:
        stage = Stage(words, base)
        for _ in range(chance.randint(1, 4)):
            at_work = whole.made is not None and killed.places.total() % 2 == 1
            if stage.start(wait=chance.uniform(0, worked if at_work else lasted), at_work=at_work):
                break
            killed.places[stage.place] += 1
            if left := stage.left():
                killed.faults.append(left)
            if stage.made:
                break
        if not stage.made and not stage.start(wait=None):
            killed.faults.append("did not end")
        if stage.made:
            stage.log()
        killed.done += 1
        print(f"{name}: {killed.places.total()} kills, {killed.done} runs", file=sys.stderr, flush=True)
        killed.faults += _compared(whole, stage)
        if not killed.faults:
            shutil.rmtree(stage.base)
    return killed


def _compared(whole: Stage, stage: Stage) -> list[str]:
    """Return the differences between a resumed run and `whole`, a run that was never killed.

    For a dry run, return the files that it has left; it must leave none.
    """
    if whole.made is None:
        return [f"a dry run has left {path}" for path in stage.results.rglob("*")]
    assert stage.made is not None
    return [*differences(whole.made, stage.made), *(["left a partial folder"] if stage.partial else [])]


def main() -> int:
    """Kill each of RUNS in turn; return 1 if there is a fault."""
    options = ArgumentParser(description=__doc__)
    options.add_argument("--kills", type=int, default=KILLS)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--only", choices=[*RUNS])
    given = options.parse_args()
    chance, rows, faults = Random(given.seed), [], list[str]()
    base = Path(tempfile.mkdtemp(prefix="resumes-", dir="/tmp"))
    base.chmod(0o755)
    names = [given.only] if given.only else [*RUNS]
    for at, name in enumerate(names):
        share = given.kills // len(names) + (at < given.kills % len(names))
        killed = kill(name, share, chance, base)
        places = (f"{killed.places[place]}" for place in PLACES)
        rows.append((name, f"{killed.places.total()}", *places, f"{killed.done}", f"{len(killed.faults)}"))
        faults += [f"{name}: {fault}" for fault in killed.faults]
    print(table(("run", "kills", *PLACES, "runs", "faults"), rows, "l" + "r" * 8))
    print(*faults, f"seed {given.seed}", sep="\n")
    if not faults:
        shutil.rmtree(base, ignore_errors=True)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
