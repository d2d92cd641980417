"""Damaged input for every command that reads a file: does each end with one sentence, in time and memory?

    python -m lab.reliability.inputs [--each N] [--some N] [--seed S] [--only WORD]

Prints a row a command and a column a kind of damage, and a line for each fault; ends with 1 where there is
one. A command runs in a fork of this process: its own main function, with its own arguments, folders and
limits of memory and time. A fault is a traceback, an end without a sentence, another exit code, more than
MEMORY or SECONDS, and whatever it changes or leaves where it ends with an error.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NoReturn

import psutil

from lab import cli as lab
from lab.reliability.damage import KINDS
from lab.reliability.readers import FileCommand, readers
from pgmnemo import Memory
from pgmnemo.cli import commands as mnemo
from runner import cli as runner
from runner.markdown import table

SEED, MEMORY = 42, 2 << 30  # bytes of address space
SECONDS, PATIENCE = 30, 180.0  # CPU time limit; time after which a command counts as hanging
SENTENCE = re.compile(r"(error|wrong use|blocked|refused|failed): \S[^\n]{8,1500}")
CODES = (0, 1, 2, 3, 4)
COMPILED = "torchinductor_"  # torch's own cache of compiled code
PROGRAMS: dict[str, Callable[[Sequence[str]], int]] = {
    "runner": runner.main,
    "lab": lab.main,
    "mnemo": mnemo.main,
}
HOLD = """
import sys
from pgmnemo import Memory
with Memory.open(sys.argv[1], embedder=None) as memory:
    print(memory.tenant("me").count(), flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a command: `code` is below 0 for a signal, None if it was killed for taking too long."""

    code: int | None
    out: str
    err: str
    seconds: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class InputCase:
    """A reader, a kind of damage, and the number of the case."""

    reader: FileCommand
    kind: str
    number: int

    @property
    def name(self) -> str:
        """The name of the case, which also seeds its random numbers."""
        return f"{self.reader.command}, {self.reader.file}, {self.kind}, {self.number}"


@dataclass(frozen=True, slots=True)
class InputOutcome:
    """The result of a case; `fault` is empty if all was well."""

    case: InputCase
    ended: Ended
    fault: str


class CaseBench:
    """The place where cases run: good files by reader, made once, and a memory with a running server."""

    def __init__(self, base: Path, seed: int) -> None:
        self.base, self.seed = base, seed
        self.memory = base / "memory"
        self._laid: dict[object, Path] = {}

    def run(self, case: InputCase) -> InputOutcome:
        """Copy the good files, damage one, run the command, and check the result."""
        reader, place = case.reader, Path(tempfile.mkdtemp(prefix="case-", dir=self.base))
        place.chmod(0o755)
        inside, out = place / "in", place / "out"
        subprocess.run(["cp", "-a", self._good(reader), inside], check=True)
        for folder in (out, place / "tmp", place / "home"):
            folder.mkdir()
        [file] = inside.glob(reader.file)
        KINDS[case.kind](file, Random(f"{self.seed} {case.name}"))
        reader.after(inside)
        names = {"in": inside, "out": out, "file": file, "memory": self.memory, "name": place.name}
        words = [word.format(**names) for word in reader.words.split()]
        before = snapshot(inside)
        stdin = inside / reader.stdin if reader.stdin else None
        ended = forked(lambda: PROGRAMS[reader.program](words), place, stdin)
        fault = fault_of(reader, ended) or _left(reader, ended, inside, before, out, place / "tmp")
        if not fault:
            shutil.rmtree(place)
        return InputOutcome(case, ended, fault and f"{case.name}: {fault} ({place})")

    def _good(self, reader: FileCommand) -> Path:
        """Return the folder with a reader's good files; for a memory folder, the closed memory."""
        if reader.lay is str:
            return self.base / "closed"
        if reader.lay not in self._laid:
            place = Path(tempfile.mkdtemp(prefix="good-", dir=self.base))
            for name in ("in", "tmp", "home"):
                (place / name).mkdir()

            def lay() -> int:
                reader.lay(place / "in")
                return 0

            ended = forked(lay, place, None)
            assert ended.code == 0, f"{reader.command}: {ended.err}"
            self._laid[reader.lay] = place / "in"
        return self._laid[reader.lay]


@contextmanager
def bench(seed: int) -> Iterator[CaseBench]:
    """Yield a bench in a folder of its own, with a memory in use and a closed memory."""
    base = Path(tempfile.mkdtemp(prefix="inputs-", dir="/tmp"))
    base.chmod(0o755)  # if we are root, a server runs as another user
    made = CaseBench(base, seed)
    with Memory.open(base / "closed" / "memory", embedder=None) as memory:
        memory.tenant("me").project("home").add("It rains in Porto.")
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(made.memory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert held.stdout is not None
        held.stdout.readline()
        yield made
    finally:
        held.communicate(b"\n")
    shutil.rmtree(base, ignore_errors=True)


def forked(run: Callable[[], int], place: Path, stdin: Path | None) -> Ended:
    """Run `run` in a fork with home and temporary folders in `place`; return how it ended."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        _in_fork(run, place, stdin)
    code: int | None = None
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() - began > PATIENCE:
            os.killpg(child, signal.SIGKILL)
            _, _, used = os.wait4(child, 0)
            break
        time.sleep(0.005)
    said = [(place / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Ended(code, said[0], said[1], used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _in_fork(run: Callable[[], int], place: Path, stdin: Path | None) -> NoReturn:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        os.setsid()
        given = stdin if stdin and stdin.is_file() else os.devnull
        streams = (os.open(given, os.O_RDONLY), *(
            os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for name in ("stdout", "stderr")
        ))  # fmt: skip
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        os.environ |= {"HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), "PYTHONHASHSEED": "42"}
        for name in [name for name in os.environ if name.startswith(("XDG_", "PGMNEMO_"))]:
            del os.environ[name]
        os.environ["PGMNEMO_PORT"] = "1"  # no compose service listens there
        tempfile.tempdir = None
        os.chdir(place)
        code = run()
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fault_of(reader: FileCommand, ended: Ended) -> str:
    """Return a sentence on the fault in a command's end; empty if it ended as it should."""
    lines = ended.err.strip().splitlines()
    if "Traceback (most recent call last)" in ended.err + ended.out:
        return f"traceback: {lines[-1][:300]}"
    if ended.code is None:
        return f"no end within {PATIENCE:g} s"
    if ended.code not in CODES:
        return f"exit code {ended.code}" + (
            f": more than {SECONDS} s" if ended.code == -signal.SIGXCPU else ""
        )
    if ended.megabytes * 2**20 > MEMORY / 2:
        return f"{ended.megabytes:,.0f} MB"
    if ended.code in (0, 4) or (reader.told and ended.code == 1 and ended.out.strip()):
        return ""
    sentences = [line for line in lines if SENTENCE.fullmatch(line)]
    if len(sentences) != 1 or sentences[0] != lines[-1]:
        return f"no one sentence: {ended.err.strip()[:300]!r}"
    return ""


def _left(reader: FileCommand, ended: Ended, inside: Path, before: object, out: Path, tmp: Path) -> str:
    """Return the files that a command left in the temporary folder, or changed despite its error."""
    if left := [path.name for path in tmp.iterdir() if not path.name.startswith(COMPILED)]:
        return f"left {', '.join(left)} among temporary files"
    if ended.code == 0:
        return ""
    if not reader.own and snapshot(inside) != before:
        return "changed what it was given"
    made = [path for path in out.rglob("*") if path.is_file()]
    meant = any(path.name == "BLOCKED.md" for path in made) or "--resume" in ended.err
    return f"left {', '.join(path.name for path in made)}" if made and not meant else ""


def snapshot(folder: Path) -> dict[str, str]:
    """Return the hash of each file in a folder, and the target of each link."""
    found = {}
    for path in folder.rglob("*"):
        if ".git" in path.parts:
            continue
        kind = os.readlink(path) if path.is_symlink() else "a folder" if path.is_dir() else "something else"
        plain = path.is_file() and not path.is_symlink()
        found[str(path)] = sha256(path.read_bytes()).hexdigest() if plain else kind
    return found


def cases(each: int, only: str = "") -> list[InputCase]:
    """Return the cases: every reader with every kind of damage, `each` times; `only` filters by name."""
    made = [InputCase(one, kind, at) for one in readers() for kind in KINDS for at in range(each)]
    return [case for case in made if only in case.name]


def report(outcomes: Sequence[InputOutcome]) -> str:
    """Return a table with a row for each command: cases by kind, cases read without error, maximum time
    and memory.
    """
    rows = [_row(" ".join(name), some) for name, some in _by_command(outcomes).items()]
    rows.append(_row("all", outcomes))
    return table(("command", *KINDS, "read", "faults", "s", "MB"), rows, "l" + "r" * (len(KINDS) + 4))


def _by_command(outcomes: Sequence[InputOutcome]) -> dict[tuple[str, str], list[InputOutcome]]:
    found: dict[tuple[str, str], list[InputOutcome]] = {}
    for one in sorted(outcomes, key=lambda one: (one.case.reader.program, one.case.reader.command)):
        found.setdefault((one.case.reader.program, one.case.reader.command), []).append(one)
    return found


def _row(name: str, some: Sequence[InputOutcome]) -> tuple[str, ...]:
    kinds = Counter(one.case.kind for one in some)
    return (
        name,
        *(str(kinds[kind]) for kind in KINDS),
        str(sum(one.ended.code == 0 for one in some)),
        str(sum(bool(one.fault) for one in some)),
        f"{max(one.ended.seconds for one in some):.1f}",
        f"{max(one.ended.megabytes for one in some):,.0f}",
    )


def main() -> int:
    """Run the requested cases; return 1 if there is a fault or a process is left."""
    options = ArgumentParser(description=__doc__)
    options.add_argument("--each", type=int, default=1)
    options.add_argument("--some", type=int, help="so many of them, drawn by the seed")
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--only", default="")
    given = options.parse_args()
    for _, place in runner.COMMANDS.values():
        import_module(place.partition(":")[0])
    with bench(given.seed) as made:
        outcomes = []
        chosen = cases(given.each, given.only)
        chosen = Random(given.seed).sample(chosen, given.some) if given.some else chosen
        for case in chosen:
            outcomes.append(made.run(case))
            if len(outcomes) % 50 == 0:
                print(f"{len(outcomes)} of {len(chosen)}", file=sys.stderr, flush=True)
            if fault := outcomes[-1].fault:
                print(fault, file=sys.stderr, flush=True)
        there = [one for one in psutil.process_iter(["cmdline"]) if any(
            f"{made.base}/case-" in word for word in one.info["cmdline"] or ())]  # fmt: skip
        _, left = psutil.wait_procs(there, timeout=PATIENCE)  # the last server may still be shutting down
    print(report(outcomes))
    print(f"{len(outcomes):,} cases, seed {given.seed}; processes left: {len(left)}")
    return int(any(one.fault for one in outcomes) or bool(left))


if __name__ == "__main__":
    sys.exit(main())
