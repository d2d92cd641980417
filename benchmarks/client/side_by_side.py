"""The same small agent with this client and with peers: what it takes, what it lacks, and how fast it is.

    python benchmarks/client/side_by_side.py [--python mem0=PATH] [--rounds 5] [--page FILE] [--quick]

Each program of `agents/` lives through one story, in processes of its own (`probe.py`): ten turns of a talk,
a question with its reason, a replaced fact, other users, one of whom is forgotten, and the question again
after a restart and from a second process at the same time. What is missing was looked for by running it. A
peer whose library is not installed is said to be absent; `--python NAME=PATH` names a Python that has it. All
have the same embedder. Times are medians of `--rounds` stories, each with a new memory, in which the systems
take turns; `--page` writes the table between the marks of a Markdown file.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from psycopg.conninfo import make_conninfo

from pgmnemo import Memory
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.postgres.embedded import EmbeddedServer

HERE = Path(__file__).resolve().parent
TURNS, RECALLS = 200, 100  # lessons of the user, and recalls of a process
HEAD = (
    "||lines (embedder)|first recall, new memory|after a restart|recall|turn added|missing|",
    "|---|--:|--:|--:|--:|--:|---|",
)
MARKS = re.compile(r"(<!-- table -->\n).*(<!-- /table -->)", re.DOTALL)
USERS = ("ada", "eve", "bob")
QUIET = {"MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True, slots=True)
class System:
    """A program of `agents/`, and where its memory lies: a folder of its own, or in a server that runs."""

    name: str
    program: str
    packages: tuple[str, ...]
    served: bool = False


SYSTEMS = (
    System("pgmnemo", "with_pgmnemo.py", ("pgmnemo-memory",)),
    System("pgmnemo, DSN", "with_pgmnemo.py", ("pgmnemo-memory",), served=True),
    System("mem0", "with_mem0.py", ("mem0ai", "qdrant-client")),
    System("PowerMem", "with_powermem.py", ("powermem",)),
    System("LangGraph", "with_langgraph.py", ("langgraph-checkpoint-postgres",), served=True),
    System("MemPalace", "with_mempalace.py", ("mempalace", "chromadb")),
)


@dataclass(slots=True)
class Run:
    """A system with its memory in one round, and what its processes saw."""

    system: System
    python: str
    place: str
    environ: Mapping[str, str]
    turns: int
    recalls: int
    seen: dict[str, Any] = field(default_factory=dict)

    def start(self, part: str) -> subprocess.Popen[str]:
        """Return a process that lives through a part of the story."""
        program = str(HERE / "agents" / self.system.program)
        told = [program, self.place, part, repr(time.time()), str(self.turns), str(self.recalls)]
        return subprocess.Popen(
            [self.python, str(HERE / "probe.py"), *told], cwd=self.environ["HOME"], text=True,
            env={**os.environ, **self.environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip

    def live(self, part: str) -> dict[str, Any]:
        """Return what a process saw; under `failed` the last line that it said where it ended badly."""
        process = self.start(part)
        out, err = process.communicate()
        if process.returncode or not out:
            return {"failed": (err.strip().splitlines() or ["it said nothing"])[-1][:200]}
        seen: dict[str, Any] = json.loads(out.splitlines()[-1])
        return seen

    def story(self) -> None:
        """A new memory, a restart, and a second process at the same time."""
        self.seen = self.live("first")
        if not self.ran:
            return
        self.seen["restarted"] = self.live("again")
        holding = self.start("hold")
        assert holding.stdout is not None
        if holding.stdout.readline():
            self.seen["beside"] = self.live("again")
        holding.communicate()

    @property
    def ran(self) -> bool:
        return "first" in self.seen


def missing(seen: Mapping[str, Any]) -> list[str]:
    """Return what the story found to be missing, each in a few words."""
    after, later = seen["after"], seen["restarted"].get("after", [])
    found = {
        "a reason for a score": len(re.findall(r"\d\.\d|: \d|bm25 \d", seen["why"])) < 2,
        "the first question answered first": "Lisbon" not in seen["before"][0],
        "the new fact first": not after or "Porto" not in after[0],
        "the old fact out of the answers": any("unpacking" in text for text in after),
        "the history of a fact": not any("unpacking" in text for text in seen["history"]),
        "what was stored, after a restart": not set(later) & set(after),
        "the end of a forgotten user": bool(seen["restarted"].get("forgotten")),
        "a second process at the same time": "after" not in seen.get("beside", {}),
        f"a wall against a user named {' or '.join(map(repr, seen['leaks']))}": bool(seen["leaks"]),
    }
    return [what for what, lacks in found.items() if lacks]


def lines_of(program: Path) -> tuple[int, int]:
    """Return lines of a program without its docstring, blank ones and comments, and how many make its
    embedder.
    """
    text, tree = program.read_text(encoding="utf-8"), ast.parse(program.read_bytes())
    rows = text.splitlines()

    def held(node: ast.stmt) -> int:
        inside = rows[node.lineno - 1 : node.end_lineno]
        return sum(bool(row.strip()) and not row.lstrip().startswith("#") for row in inside)

    code = tree.body[1:]
    other = [one for one in code if not isinstance(one, ast.Import | ast.ImportFrom)]
    embedder = [one for one in other if getattr(one, "name", "") != "Agent"]
    return sum(map(held, code)), sum(map(held, embedder))


@contextmanager
def runs(systems: Sequence[System], given: argparse.Namespace) -> Iterator[list[Run]]:
    """Every system with a new memory, until the block is left."""
    pythons = dict(one.split("=", 1) for one in given.python)
    turns, recalls = (20, 10) if given.quick else (TURNS, RECALLS)
    with ExitStack() as stack:
        top = Path(stack.enter_context(TemporaryDirectory(prefix="pgmnemo-agents-")))
        top.chmod(0o755)  # the server is another user's where root runs this
        dsn = server(stack, top / "server") if any(system.served for system in systems) else ""
        made = []
        for number, system in enumerate(systems):
            home, place = top / f"home{number}", top / f"memory{number}"
            home.mkdir()
            environ = {**QUIET, "HOME": str(home), "MEM0_DIR": str(home)}
            python = pythons.get(system.name, sys.executable)
            made.append(Run(system, python, dsn if system.served else str(place), environ, turns, recalls))
        yield made


def server(stack: ExitStack, folder: Path) -> str:
    """Return the DSN of a PostgreSQL that runs, in which the users of the story have been let in."""
    local = EmbeddedServer.open(folder)
    stack.callback(local.close)
    dsn = make_conninfo(**local.conninfo)
    with Memory.open(dsn, embedder=None) as memory:
        for user in USERS:
            memory.grant(user)
    return dsn


def row(rounds: Sequence[Run]) -> str:
    """Return a system's line, or why it has none."""
    last = rounds[-1]
    total, embedder = lines_of(HERE / "agents" / last.system.program)
    told = f"|{last.system.name}|{total} ({embedder})|"
    if not all(run.ran for run in rounds):
        why = last.seen.get("absent", "")
        mend = f"{why}: name a Python that has it by --python '{last.system.name}=PATH'"
        return f"{told}||||not run: {mend if why else last.seen.get('failed')}|"
    first = median(run.seen["first"] for run in rounds)
    again = median(run.seen["restarted"].get("again", math.nan) for run in rounds)
    recalls = [one for run in rounds for one in run.seen["restarted"].get("recalls", [math.nan])]
    added = [one for run in rounds for one in run.seen["added"][1:]]
    lacks = dict.fromkeys(what for run in rounds for what in missing(run.seen))
    return (
        f"{told}{first:.1f} s|{again:.1f} s|{median(recalls):.0f} ms|{median(added):.0f} ms"
        f"|{'; '.join(lacks) or 'none of these'}|"
    )


def versions(made: Sequence[Run]) -> str:
    """Return the packages that ran, each as its own Python has it."""
    told: dict[str, str] = {}
    for run in made:
        for package in run.system.packages if run.ran else ():
            ask = f"from importlib.metadata import version; print(version({package!r}))"
            told[package] = subprocess.check_output([run.python, "-c", ask], text=True).strip()
    return ", ".join(f"{package} {number}" for package, number in told.items())


def embedding() -> float:
    """Milliseconds in which the embedder makes the vector of a question."""
    embedder = EMBEDDERS["minilm-int8"](EmbedderOptions())
    embedder.load()
    seconds = []
    for number in range(60):
        began = time.perf_counter()
        embedder.embed_queries([f"Which city did I move to, the {number}th time?"])
        seconds.append(time.perf_counter() - began)
    return median(seconds[10:]) * 1000


def page(rounds: Sequence[Sequence[Run]], quick: bool) -> str:
    """Return the table, and below it on what it was measured."""
    lines = [row(one) for one in zip(*rounds, strict=True)]
    made, recalls = rounds[-1], rounds[-1][0].recalls
    of_it = "" if quick else f", of which the embedder takes {embedding():.0f} ms"
    below = (
        f"n = {len(rounds)} stories of {made[0].turns} turns, with {recalls} recalls each{of_it}; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.machine()}, Python "
        f"{platform.python_version()}; {versions(made)}."
    )
    return "\n".join([*HEAD, *lines, "", below, ""])


def parse() -> argparse.Namespace:
    """Return what the command line says."""
    told = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    told.add_argument(
        "--python", action="append", default=[], metavar="NAME=PATH", help="the Python that has it"
    )
    told.add_argument("--rounds", type=int, default=5, help="stories of each system")
    told.add_argument("--page", type=Path, help="a Markdown file with the marks of the table")
    told.add_argument("--only", action="append", help="a system's name; all unless given")
    told.add_argument("--quick", action="store_true", help="one short round, whose times say nothing")
    return told.parse_args()


def main() -> None:
    """Tell every system's stories, and print the table."""
    given = parse()
    systems = [one for one in SYSTEMS if not given.only or one.name in given.only]
    rounds = []
    for number in range(1 if given.quick else given.rounds):
        with runs(systems, given) as made:
            turn = number % len(made)
            for run in [*made[turn:], *made[:turn]]:
                run.story()
                print(f"round {number + 1}, {run.system.name}", file=sys.stderr)
            rounds.append(made)
    told = page(rounds, given.quick)
    print(told, end="")
    if given.page:
        text = given.page.read_text(encoding="utf-8")
        given.page.write_text(MARKS.sub(lambda marks: marks[1] + told + marks[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
