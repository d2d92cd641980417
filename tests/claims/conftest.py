"""A finished run of the sample suite without a database: a system that counts words takes its place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.artefacts import RAW, Code, RunFolder, read_raw
from runner.conclusion import log, publish
from runner.gates import check_all
from runner.metrics import score
from runner.records import Corpus, DatabaseFacts, Hit, SearchScope
from runner.request import Request
from runner.retrieve import retrieve, time_recall
from runner.state import RunState
from runner.stopwatch import Stopwatch
from runner.systems import Answer, Asked, Inputs
from runner.systems.controls import RandomOrder

VERSION = "v0.2.1"  # whose components are those of CommonWords
FINGERPRINT = "f" * 64
SETTINGS = {"pgmnemo.gate_strict": "warn", "pgmnemo.recency_weight": "0.1"}
WRITTEN = ("run.json", "metrics.json", "report.md", "manifest.json", "timings.jsonl", RAW)


class CommonWords:
    """Ranks by the number of words that a text shares with the question."""

    def __init__(self, corpus: Corpus, name: str, detailed: bool, minimum: int = 1) -> None:
        self.corpus, self.name, self.detailed, self.minimum = corpus, name, detailed, minimum
        self.words = f"common words of {minimum} letters and more"

    def answers(self, asked: Sequence[Asked], scope: SearchScope) -> Iterator[Answer]:
        for one in asked:
            yield Answer(tuple(self._ranked(one, scope)), 0.0)

    def timed(self, asked: Sequence[Asked], scope: SearchScope, k: int) -> Iterator[Answer]:
        for number, one in enumerate(asked):
            yield Answer(tuple(self._ranked(one, scope)[:k]), 0.0001 * (number + 1))

    def _ranked(self, one: Asked, scope: SearchScope) -> list[Hit]:
        project = None if scope.pooled else one.question.project
        terms = {word for word in one.question.text.lower().split() if len(word) >= self.minimum}
        hits = []
        for segment in self.corpus.segments:
            if project in (None, segment.project):
                common = len(terms & set(segment.text.lower().split()))
                hits.append(Hit(segment.id, common + 0.25, (0.0, float(common), 0.5, 0.25, None)))
        return sorted(hits, key=lambda hit: (-(hit.score or 0), hit.id))[:50]


@dataclass(frozen=True)
class Finished:
    """A run's folder, its corpus, and the list of releases that knows its extension."""

    folder: Path
    corpus: Path
    sql: Path


@pytest.fixture(scope="session")
def sample_path() -> Path:
    return Path(__file__).parents[2] / "benchmarks" / "sample" / "sample.json"


@pytest.fixture(scope="session")
def finish(tmp_path_factory: pytest.TempPathFactory, sample_path: Path) -> Callable[..., Finished]:
    """Make a run of 0.2.1, with five components: the options of a Request."""
    sql = tmp_path_factory.mktemp("release")
    (sql / "releases.toml").write_text(f'["0.2.1"]\nfingerprint = "{FINGERPRINT}"\n')

    def make(base: Path | None = None, minimum: int = 1, **options: Any) -> Finished:
        base = base or tmp_path_factory.mktemp("results")
        request = Request("sample", VERSION, embedder="hash", output=base, **options)
        corpus = request.suite_parts.load(sample_path, request.level)
        state = _state(request, corpus, base)
        systems = (
            CommonWords(corpus, "pgmnemo", detailed=True, minimum=minimum),
            CommonWords(corpus, "bm25", detailed=False, minimum=4),
            RandomOrder(Inputs(corpus, None, request.protocol.depth, request.protocol.seed)),
        )
        state.systems = systems
        asked = [Asked(position, question) for position, question in request.selected(corpus)]
        with RunFolder.start(base, state.name) as folder:
            with state.watch.stage("recall"):
                retrieve(folder.path, corpus, asked, systems)
            time_recall(folder.path, corpus, asked, systems[0], request.protocol.timed_k)
            state.watch._seconds["time"] = state.watch._seconds.pop("recall")  # as if it took that long
            rows = list(read_raw(folder.path / RAW))
            counts = {(row.arm, row.scope): len(asked) for row in rows}
            state.gates = check_all(state.facts(counts, dict.fromkeys(WRITTEN, True)))
            scores = score(
                rows, views=request.suite_parts.views, clustered=corpus.clustered, cutoffs=request.cutoffs
            )
            outcome = publish(state, folder, scores)
            log(state, outcome)
        return Finished(outcome.folder, sample_path, sql)

    return make


def _state(request: Request, corpus: Corpus, base: Path) -> RunState:
    facts = DatabaseFacts("--dsn", "bench", "18.4", "0.8.5", "0.2.1", FINGERPRINT, "pgmnemo_runner")
    return RunState(
        request=request,
        corpus=replace(corpus, path=f"/home/ada/{Path(corpus.path).name}"),
        embedder=request.make_embedder(),
        base=base,
        code=Code("ab" * 20, False),
        hash_seed="42",
        started=datetime.now(UTC),
        watch=Stopwatch(),
        asked=len(request.selected(corpus)),
        database=facts,
        fingerprint=FINGERPRINT,
        ours=True,
        settings={"pgmnemo.tenant_id": "40ce5b98-d2be-57f3-af69-eb889de34161", **SETTINGS},
        defaults={**SETTINGS, "pgmnemo.recency_weight": "0.10"},
    )


@pytest.fixture(autouse=True)
def no_git_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that runs the tests must not lend them its repository."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def broken() -> Callable[..., list[Any]]:
    """Copies of a document, each with one key taken away or added, or one value of another type."""

    def make(document: Any, *open_maps: str) -> list[Any]:
        whole = json.dumps(document)
        places = list(_places(document, open_maps))

        def changed(change: Callable[[Any, Any], None], place: tuple[Any, ...]) -> Any:
            copy = json.loads(whole)
            parent = copy
            for step in place[:-1]:
                parent = parent[step]
            change(parent, place[-1])
            return copy

        return [changed(change, place) for place, change in places]

    return make


def _places(
    value: Any, open_maps: tuple[str, ...], place: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Callable[[Any, Any], None]]]:
    """Where a document can be broken, and how."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield (*place, "another"), lambda parent, key: parent.update({key: None})
    for key, part in inside:
        yield (*place, key), lambda parent, key: parent.__setitem__(key, [[None]])
        if isinstance(value, dict) and not (place and place[-1] in open_maps):
            yield (*place, key), lambda parent, key: parent.pop(key)
        yield from _places(part, open_maps, (*place, key))
