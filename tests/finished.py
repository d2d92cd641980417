"""Finished runs of the sample without a database: a system that counts common words replaces pgmnemo."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid5

import pytest

from pgmnemo.progress import QUIET, Progress
from pgmnemo.records import DatabaseFacts
from runner.bench import pipeline
from runner.bench.request import Request
from runner.bench.workload import NAMESPACE
from runner.paths import ROOT
from runner.protocol.editions import current
from runner.runs.environment import Code, git
from runner.systems import SYSTEMS, Lesson, Lessons, Match, Query, SystemContext, SystemSpec
from runner.systems.pgmnemo import Pgmnemo
from runner.verification.checks.arms import RETRIEVER_WORDS

VERSION = "v0.2.1"  # whose five components are those of CommonWords
FINGERPRINT = "f" * 64
NO_MODES: Mapping[str, int] = {}
DEFAULTS = {
    "pgmnemo.gate_strict": "enforce", "pgmnemo.recency_weight": "0.10", "pgmnemo.cosine_weight": "1.5",
    "pgmnemo.bm25_weight": "1", "pgmnemo.importance_weight": "0.10", "pgmnemo.graph_weight": "1",
}  # fmt: skip
SETTINGS = {**DEFAULTS, "pgmnemo.gate_strict": "warn", "pgmnemo.recency_weight": "0.1"}


def running_commit() -> str:
    """Return a commit that could have run: the last commit that changed PROTOCOL.md, or a fixed hash without
    git.
    """
    found = git(ROOT, "log", "-1", "--format=%H", "--", "PROTOCOL.md").stdout.decode().split()
    return found[-1] if found else "ab" * 20


class CommonWords(Pgmnemo):
    """A fake of the extension that ranks by the number of words shared by text and question."""

    recognised = True

    def __init__(self, place: SystemContext, minimum: int, modes: Mapping[str, int]) -> None:
        facts = DatabaseFacts("--dsn", "bench", "18.4", "0.8.5", "0.2.1", FINGERPRINT, "pgmnemo_runner")
        self.database, self.width = SimpleNamespace(facts=facts, exists=False), 1024
        self.place, self.settings = place, dict(place.settings)
        self.engine, self.minimum, self.loaded = current().engine("0.2.1"), minimum, list[Lesson]()
        self.modes = {"bm25": 4, **modes}

    @property
    def retrievers(self) -> Mapping[str, tuple[Mapping[str, str], str]]:
        return {
            name: ({"minimum": str(least), "leg": name}, RETRIEVER_WORDS[name])
            for name, least in self.modes.items()
        }

    def state(self) -> dict[str, str]:
        return {"pgmnemo.tenant_id": str(uuid5(NAMESPACE, self.place.label)), **SETTINGS}

    def defaults(self) -> dict[str, str]:
        return dict(DEFAULTS)

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        self.loaded = list(lessons)
        return {"store": 0.01}

    def client(self, settings: Mapping[str, str] | None = None) -> Any:
        given = settings or {}
        minimum, alone = int(given.get("minimum", self.minimum)), given.get("leg") == "bm25"
        return SimpleNamespace(
            ask=lambda query, k: self._ranked(query, minimum, alone)[:k], close=lambda: None
        )

    def _ranked(self, query: Query, minimum: int, alone: bool = False) -> list[Match]:
        """Return matches by the number of common words: words of at least `modes['bm25']` letters (4 by
        default) as bm25, and other words of at least `minimum` letters as graph, which `alone` leaves out.
        """
        words = set(query.text.lower().split())
        matches = []
        for lesson in self.loaded:
            if query.project in (None, lesson.project):
                common = words & set(lesson.text.lower().split())
                own = float(sum(len(word) >= self.modes["bm25"] for word in common))
                more = float(sum(len(word) >= minimum for word in common)) - own
                score = own if alone else own + more + 0.075
                matches.append(Match(lesson.number, score, (None, own, 0.5, 0.25, more)))
        return sorted(matches, key=lambda match: (-(match.score or 0), match.number))

    def sizes(self) -> Mapping[str, int]:
        return {}

    def memory(self) -> int | None:
        return None

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Finished:
    """A run's folder, its corpus, and the folder with the release list that knows its extension."""

    folder: Path
    corpus: Path
    sql: Path


@pytest.fixture(scope="session")
def sample_path() -> Path:
    return Path(__file__).parents[1] / "benchmarks" / "sample" / "sample.json"


@pytest.fixture(scope="session")
def finish(tmp_path_factory: pytest.TempPathFactory, sample_path: Path) -> Callable[..., Finished]:
    """Return a function that makes a run of the sample with five components and no database.

    It takes the options of a Request. Words of at least `minimum` letters count; `modes` are more legs by
    name, each with its own minimum.
    """
    sql, home = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("home")
    (sql / "releases.toml").write_text(f'["0.2.1"]\nfingerprint = "{FINGERPRINT}"\n')
    (sql / "defaults.toml").write_text(
        '["0.2.1"]\ngate_strict = "enforce"\nrecency_weight = "0.10"\n'
        'cosine_weight = "1.5"\nbm25_weight = "1"\nimportance_weight = "0.10"\ngraph_weight = "1"\n'
    )
    for name in ("pgmnemo.control", "pgmnemo--0.2.1.sql"):
        (sql / name).touch()
    corpus = shutil.copy(sample_path, home)

    def make(
        base: Path | None = None, minimum: int = 1, modes: Mapping[str, int] = NO_MODES, **options: Any
    ) -> Finished:
        base = base or tmp_path_factory.mktemp("results")
        asked = {"version": VERSION, "embedder": "hash", "data": corpus, "output": base, "cache": home}
        kind = SystemSpec("pgmnemo", "words", lambda place: CommonWords(place, minimum, modes), versions=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONHASHSEED", "42")
            patch.setitem(SYSTEMS._members, "pgmnemo", kind)
            patch.setattr(pipeline, "code", lambda root: Code(running_commit(), False))
            outcome = pipeline.run(Request("sample", **{**asked, **options}), sql=sql)
        return Finished(outcome.folder, sample_path, sql)

    return make
