"""A run as far as it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from runner.bench.material import Asked, label_of
from runner.bench.request import Request
from runner.bench.stopwatch import Stopwatch
from runner.embedders import Embedder
from runner.gates import Facts, deviations, judge
from runner.naming import Name
from runner.places import ROOT
from runner.progress import Progress
from runner.records import Corpus, GateResult, Json, Vectors
from runner.rerankers import Reranker
from runner.rewriters import Rewriter
from runner.runs.folder import folder_name
from runner.runs.history import can_append
from runner.runs.run import Run
from runner.systems import Place, kind_of
from runner.systems.wrappers import PASSAGES


@dataclass(slots=True)
class Work:
    """`run` is the record that becomes run.json; `base` is the folder that holds the results folders."""

    request: Request
    run: Run
    corpus: Corpus
    embedder: Embedder | None  # None: a run without vectors
    asked: tuple[Asked, ...]
    base: Path
    sql: Path
    environ: Mapping[str, str]
    progress: Progress
    watch: Stopwatch
    rewriter: Rewriter | None = None  # None: every question as it stands
    reranker: Reranker | None = None  # None: every answer in its system's own order
    fingerprint: str | None = None  # of the requested release; None: it is not released
    recognised: bool | None = None  # whether the installed extension is of this family, patched or not
    changed: str | None = None  # what is wrong with the checkout's scripts that it was installed by
    vectors: Vectors | None = None
    embedded: bool = False  # whether its systems work in databases of their own, whatever server is given

    def note(self, **facts: Any) -> None:
        """Fill in what is known now."""
        self.run = replace(self.run, **facts)

    def judged(self, gates: tuple[GateResult, ...]) -> None:
        """The gates so far, with the verdict that they give."""
        self.note(gates=gates, verdict=judge(gates), deviations=deviations(gates))

    @property
    def beside(self) -> tuple[str, ...]:
        """The arms of the systems beside the one under test.

        One that can hold passages has two, where any lesson has more than one.
        """
        parts = any(len(segment.passages) > 1 for segment in self.corpus.segments)
        return tuple(
            arm for name in self.request.systems
            for arm in ((name, f"{name}+{PASSAGES}") if parts and self._takes_passages(name) else (name,))
        )  # fmt: skip

    def _takes_passages(self, name: str) -> bool:
        if f"{name}+{PASSAGES}" in self.request.named:  # asked for by itself
            return False
        return kind_of(name).passages and PASSAGES not in Name.of(name).wrappers

    @property
    def name(self) -> str:
        """The results folder's name, before a number is added to one that is taken."""
        return folder_name(self.run)

    @property
    def history(self) -> Path:
        """The repository's HISTORY.md for results inside the repository, else one beside the results."""
        return (ROOT if self.base.is_relative_to(ROOT / "benchmarks") else self.base) / "HISTORY.md"

    @property
    def label(self) -> str:
        """Of whose lessons the rows in a database are."""
        return label_of(
            self.corpus.sha256, self.corpus.granularity, self.run.choice.written, self.run.embedder
        )

    def place(self, rehearsal: bool = False) -> Place:
        """Where and how the systems of the run work."""
        request, run = self.request, self.run
        demanded = {name: str(value) for name, value in run.edition.settings.items()}
        mode = {"mode": run.choice.mode} if run.choice.mode else {}
        return Place(
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
            rehearsal=rehearsal,
            progress=self.progress,
        )

    def plan(self) -> Json:
        """All that decides the raw bytes: a run may be completed only under the same plan."""
        choice = {name: getattr(self.run.choice, name) for name in self.run.choice.__dataclass_fields__}
        return {
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
    ) -> Facts:
        """What the gates look at; after the run with the counts of raw lines and with the files."""
        return Facts(
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
