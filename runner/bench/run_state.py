"""The state of a run in progress, the time of each stage, and the duration of the last equal run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from pgmnemo.embedders import Embedder
from pgmnemo.errors import PgmnemoError
from pgmnemo.progress import Progress, format_duration
from runner.bench.request import Request
from runner.bench.workload import IndexedQuestion, lessons_label
from runner.naming import SystemName
from runner.paths import ROOT
from runner.protocol.gates import RunFacts, deviations, overall_verdict
from runner.records import Corpus, CorpusVectors, GateResult, Json
from runner.runs.comparability import differences
from runner.runs.environment import code_plan
from runner.runs.folder import folder_name
from runner.runs.history import can_append
from runner.runs.results import Results
from runner.runs.run import RUN, Run
from runner.stages.rerankers import Reranker
from runner.stages.rewriters import Rewriter
from runner.systems import SystemContext, spec_of
from runner.systems.wrappers import PASSAGES


@dataclass(slots=True)
class RunState:
    """The state of a run in progress.

    `run` is the record that becomes run.json; `base` is the folder that holds the results folders.
    """

    request: Request
    run: Run
    corpus: Corpus
    embedder: Embedder | None  # None: a run without vectors
    asked: tuple[IndexedQuestion, ...]
    base: Path
    sql: Path
    environ: Mapping[str, str]
    progress: Progress
    watch: Stopwatch
    rewriter: Rewriter | None = None  # None: questions are asked unchanged
    reranker: Reranker | None = None  # None: answers keep the order of their system
    fingerprint: str | None = None  # of the requested release; None: the version is not released
    recognised: bool | None = None  # whether the installed extension is of this family, patched or not
    changed: str | None = None  # the fault of the checkout's install scripts, if any
    vectors: CorpusVectors | None = None
    embedded: bool = False  # whether its systems use their own embedded databases, even if a server is given

    def update(self, **facts: Any) -> None:
        """Set fields of the record."""
        self.run = replace(self.run, **facts)

    def record_gates(self, gates: tuple[GateResult, ...]) -> None:
        """Record the gates so far and their verdict."""
        self.update(gates=gates, verdict=overall_verdict(gates), deviations=deviations(gates))

    @property
    def baseline_arms(self) -> tuple[str, ...]:
        """The names of the baseline arms.

        A system that can hold passages has a second arm, with passages, if any lesson has more than one
        passage.
        """
        parts = any(len(segment.passages) > 1 for segment in self.corpus.segments)
        return tuple(
            arm for name in self.request.baselines
            for arm in ((name, f"{name}+{PASSAGES}") if parts and self._takes_passages(name) else (name,))
        )  # fmt: skip

    def _takes_passages(self, name: str) -> bool:
        if f"{name}+{PASSAGES}" in self.request.named:  # asked for by itself
            return False
        return spec_of(name).passages and PASSAGES not in SystemName.of(name).wrappers

    @property
    def name(self) -> str:
        """The name of the results folder, before a number is appended to avoid an existing name."""
        return folder_name(self.run)

    @property
    def history(self) -> Path:
        """The repository's HISTORY.md for results inside the repository, else the HISTORY.md in `base`."""
        return (ROOT if self.base.is_relative_to(ROOT / "benchmarks") else self.base) / "HISTORY.md"

    @property
    def label(self) -> str:
        """Return the label that marks the database rows of these lessons."""
        return lessons_label(
            self.corpus.sha256, self.corpus.granularity, self.run.choice.written, self.run.embedder
        )

    def system_context(self, rehearsal: bool = False) -> SystemContext:
        """Return the context in which the systems of the run are opened."""
        request, run = self.request, self.run
        demanded = {name: str(value) for name, value in run.edition.settings.items()}
        mode = {"mode": run.choice.mode} if run.choice.mode else {}
        return SystemContext(
            folder=Path(gettempdir()),
            version=request.number,
            label=self.label,
            settings={**demanded, **mode},
            environ=self.environ,
            dsn=request.dsn,
            sql=self.sql,
            url=request.system_url,
            allow_reset=request.allow_reset,
            embedded=self.embedded,
            jobs=request.jobs,
            dry_run=rehearsal,
            progress=self.progress,
        )

    def plan(self) -> Json:
        """Return all inputs that affect the raw file, and what identifies the code.

        A run can be resumed only under an equal plan.
        """
        choice = {name: getattr(self.run.choice, name) for name in self.run.choice.__dataclass_fields__}
        return {
            **code_plan(ROOT, self.run.code),
            "extension": self.run.database.fingerprint if self.run.database else None,
            "protocol": self.run.protocol.version,
            "seed": self.run.seed,
            "corpus": self.run.corpus.sha256,
            **choice,
            "embedder": repr(self.run.embedder),
            "rewriter": repr(self.run.rewriter),
            "reranker": repr(self.run.reranker),
        }

    def facts(
        self,
        retrievals: Mapping[tuple[str, str], int] | None = None,
        artefacts: Mapping[str, bool] | None = None,
    ) -> RunFacts:
        """Return the facts that the gates check.

        After a run, `retrievals` counts its raw rows and `artefacts` lists its files.
        """
        return RunFacts(
            run=self.run,
            corpus=self.corpus,
            fingerprint=self.fingerprint,
            recognised=self.recognised,
            changed=self.changed,
            asked=len(self.asked),
            retrievals=retrievals,
            artefacts=artefacts,
            history=self.history.name,
            history_ready=can_append(self.history),
        )


class Stopwatch:
    """A clock that adds up the seconds of each stage; a stage that never ran took 0 seconds."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the duration of the block to the stage `name`."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self[name] + time.perf_counter() - began

    def __getitem__(self, name: str) -> float:
        return self._seconds.get(name, 0.0)

    @property
    def wall(self) -> float:
        """Seconds since the watch was made."""
        return time.perf_counter() - self._began


ALIKE = ("suite", "corpus", "granularity", "template", "embedder", "mode", "questions asked")


def former_duration(bases: Iterable[Path], run: Run) -> str:
    """Return a sentence on how long the last run of this suite and these systems took; else empty."""
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
    took = format_duration(last.resources.wall_seconds)
    machine = f" on {last.machine.cpu}, {last.machine.cores} cores" if last.machine else ""
    vectors = last.resources.vectors_embedded
    return f"the last such run, {last.name}, took {took}{machine}, {vectors:,} texts embedded then"


def _runs(base: Path) -> Iterator[Run]:
    """Yield the finished runs in a folder of results; damaged runs are skipped."""
    for place in base.glob(f"*/{RUN}"):
        try:
            run = Results(place.parent).run
        except PgmnemoError:
            continue
        if run.resources is not None:
            yield run
