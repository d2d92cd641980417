"""A forger's draft of a run, and how he makes all that follows consistent by this project's code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass
from datetime import UTC
from hashlib import sha256
from pathlib import Path
from random import Random

import msgspec

from runner.protocol.gates import check_all, deviations, overall_verdict
from runner.protocol.metrics.document import metrics_of
from runner.records import GateResult, Json
from runner.report import render
from runner.runs.canonical import compact, pretty
from runner.runs.folder import folder_name
from runner.runs.history import HEADER, entry_text
from runner.runs.manifest import write_manifest
from runner.runs.results import Results
from runner.runs.run import Run, metrics_text
from runner.runs.timings import Timing, latencies
from runner.verification.checks.record import gate_facts
from runner.verification.checks.scores import ids
from runner.verification.context import RunContext

RAW, TIMINGS = "raw_retrievals.jsonl", "timings.jsonl"
Change = Callable[["Draft", Random], None]


class Inapplicable(Exception):
    """This honest run has nothing that the forgery could change."""


@dataclass
class Draft:
    """The documents of a run, free to be changed.

    `worse` lets gates get worse.
    """

    run: Json
    raw: list[Json]
    timings: list[Json]
    timed_k: int
    worse: bool = False

    def block(self, arm: str, scope: str | None = None) -> list[Json]:
        """The raw lines of an arm, in one scope or in all."""
        return [line for line in self.raw if line["arm"] == arm and scope in (None, line["scope"])]

    def keep(self, questions: set[str]) -> None:
        """Of raw rankings and timings only those of `questions`."""
        self.raw = [line for line in self.raw if line["question"] in questions]
        self.timings = [line for line in self.timings if line["question"] in questions]


def read(folder: Path) -> Draft:
    """The honest run in a folder, as a draft."""
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    lines = {
        name: [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in (RAW, TIMINGS)
    }
    timed_k = Results(folder).edition.retrieval.timed_k
    return Draft(run, lines[RAW], lines[TIMINGS], timed_k)


def forged(honest: Draft, change: Change, chance: Random, home: Path) -> Path:
    """The folder of a forgery, consistent in all that this project's code can compute."""
    draft = deepcopy(honest)
    change(draft, chance)
    if draft == honest:
        raise Inapplicable
    _measured(draft, honest)
    return written(draft, home)


def _measured(draft: Draft, honest: Draft) -> None:
    """Every counted line has the lengths of its ids, as the honest lines of its project tell them."""
    known = {
        (line["project"], id): length
        for line in honest.raw if "tokens" in line
        for id, length in zip(ids(line), line["tokens"], strict=True)
    }  # fmt: skip
    for line in draft.raw:
        if "tokens" in line:
            for what, some in (("gold_tokens", line["gold"]), ("tokens", ids(line))):
                line[what] = [known.get((line["project"], id), 0) for id in some]


def written(draft: Draft, home: Path) -> Path:
    """The draft as a finished run with its HISTORY.md in `home`, which is emptied first."""
    shutil.rmtree(home, ignore_errors=True)
    run = draft.run
    run["latency"] = [
        asdict(one)
        for one in latencies([Timing(**line) for line in draft.timings], draft.timed_k)
    ] if draft.timings else []  # fmt: skip
    run["name"] = folder_name(msgspec.convert(run, Run))
    folder = home / run["name"]
    folder.mkdir(parents=True)
    for name, lines in ((RAW, draft.raw), (TIMINGS, draft.timings)):
        (folder / name).write_text("".join(compact(line) + "\n" for line in lines), encoding="utf-8")
    _record(folder, run)
    _judged(folder, run, draft.worse)
    _record(folder, run)
    _figures(folder)
    _logged(folder, home)
    return folder


def _record(folder: Path, run: Json) -> None:
    (folder / "run.json").write_text(pretty(run), encoding="utf-8")
    write_manifest(folder, Results(folder).edition.schemas)


def _judged(folder: Path, run: Json, worse: bool = False) -> None:
    """The words of every gate anew, and its status only where it gets no worse: that is what he is after.

    A verdict that falls by the forgery would give it away to the reader, but for a `worse` one.
    """
    for name in ("metrics.json", "report.md"):
        (folder / name).touch()
    evidence = RunContext(folder)
    decided = {one.gate: one for one in check_all(gate_facts(evidence, evidence.run))}
    for gate in run["gates"]:
        found = decided.get(gate["gate"])
        if found is None or gate["gate"] in ("coverage", "leak"):
            continue
        if found.status == gate["status"]:
            gate |= {"expected": found.expected, "found": found.found}
        elif worse:
            gate |= {name: value for name, value in asdict(found).items() if name != "gate"}
    gates = [GateResult(**gate) for gate in run["gates"]]
    run |= {"verdict": overall_verdict(gates), "deviations": list(deviations(gates))}


def _figures(folder: Path) -> None:
    left = Results(folder)
    figures = json.loads(metrics_text(metrics_of(left.run, list(left.detailed()))))
    (folder / "metrics.json").write_text(metrics_text(figures), encoding="utf-8")
    (folder / "report.md").write_text(render(figures, left.run), encoding="utf-8")
    write_manifest(folder, left.edition.schemas)


def _logged(folder: Path, home: Path) -> None:
    """HISTORY.md with the entry that this folder's run would have."""
    run = Results(folder).run
    digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
    entry = entry_text(
        run.started.astimezone(UTC).date(), run.choice.suite, folder.name, run.verdict, digest, run.deviations
    )
    (home / "HISTORY.md").write_text(f"{HEADER}\n{entry}", encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Forgery:
    """One way to forge a run."""

    kind: str
    words: str
    change: Change


FORGERIES: list[Forgery] = []


def forgery(kind: str, words: str) -> Callable[[Change], Change]:
    """A decorator that enters a function into the table."""

    def enter(change: Change) -> Change:
        FORGERIES.append(Forgery(kind, words, change))
        return change

    return enter
