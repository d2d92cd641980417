"""One small run for all tests of verify, and copies of it to spoil."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from runner.bench import pipeline
from runner.bench.request import Request
from runner.protocol.editions import current
from runner.protocol.metrics.document import metrics_of
from runner.report import render
from runner.report.html import PAGE, render_page
from runner.runs.canonical import compact, pretty
from runner.runs.environment import Code
from runner.runs.manifest import write_manifest
from runner.runs.results import Results
from runner.runs.run import metrics_text
from runner.verification import CheckStatus, Verification, verify
from tests.finished import running_commit

OLDER, RIVAL = "pgmnemo@0.6.1", "bm25s"


@dataclass(frozen=True)
class Copy:
    """A results folder with its HISTORY.md, to be spoiled."""

    folder: Path
    sql: Path
    corpus: Path

    def verify(self, corpus: bool = False) -> Verification:
        return verify(self.folder, corpus=self.corpus if corpus else None, sql=self.sql)

    def faults(self, corpus: bool = False) -> dict[str, str]:
        """What is wrong, by check."""
        answers = self.verify(corpus).answers
        return {answer.check: answer.sentence for answer in answers if answer.found is CheckStatus.WRONG}

    def path(self, name: str) -> Path:
        return self.folder.parent / name if name == "HISTORY.md" else self.folder / name

    def read(self, name: str) -> Any:
        """A document, or the list of a file's lines."""
        text = self.path(name).read_text(encoding="utf-8")
        return (
            [json.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else json.loads(text)
        )

    def write(self, name: str, document: Any) -> None:
        """In the runner's own form, so that the form alone gives nothing away."""
        if name.endswith("jsonl"):
            text = "".join(compact(line) + "\n" for line in document)
        else:
            text = metrics_text(document) if name == "metrics.json" else pretty(document)
        self.path(name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.path(name)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def recompute(self) -> None:
        """Figures and report anew, as a forger would who has this code."""
        left = Results(self.folder)
        self.write("metrics.json", metrics_of(left.run, list(left.detailed())))
        self.render()

    def render(self) -> None:
        left = Results(self.folder)
        timings = ((one.arm, one.scope, one.seconds) for one in left.timings)
        page = render_page(left.metrics, left.run, left.detailed(), timings)
        self.path("report.md").write_text(render(left.metrics, left.run), encoding="utf-8")
        self.path(PAGE).write_text(page, encoding="utf-8")

    def seal(self) -> None:
        """The manifest anew."""
        write_manifest(self.folder, current().schemas)

    def log(self) -> None:
        """The manifest's hash in HISTORY.md anew: only who may rewrite HISTORY.md can do that."""
        digest = sha256(self.path("manifest.json").read_bytes()).hexdigest()
        path = self.path("HISTORY.md")
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub("(?<=sha256: )[0-9a-f]{64}", digest, text), encoding="utf-8")


@pytest.fixture(scope="session")
def finished(finish: Callable[..., Any]) -> Any:
    return finish(limit=4, k=(1, 5))


def measure(output: Path, **options: Any) -> Path:
    """A run of the sample by the engine itself, in a database of its own; its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "42")
        patch.setattr(pipeline, "code", lambda root: Code(running_commit(), False))
        return pipeline.run(Request("sample", embedder="hash", output=output, **options)).folder


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with systems beside it, and a reranker behind them all."""
    return measure(tmp_path_factory.mktemp("measured"), baselines=(OLDER, RIVAL), rerank="linear")


@pytest.fixture(scope="session")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of the last release whose score is the weighted sum of its components."""
    return measure(tmp_path_factory.mktemp("former"), version="0.6.1", rerank="linear")


@pytest.fixture
def copy(finished: Any, tmp_path: Path) -> Callable[[], Copy]:
    """A fresh copy of the run each time; the one before it goes."""

    def fresh() -> Copy:
        shutil.rmtree(tmp_path / "results", ignore_errors=True)
        shutil.copytree(finished.folder.parent, tmp_path / "results")
        return Copy(tmp_path / "results" / finished.folder.name, finished.sql, finished.corpus)

    return fresh


@pytest.fixture
def run(copy: Callable[[], Copy]) -> Copy:
    """One copy."""
    return copy()
