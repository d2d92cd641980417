"""Hand-made records of runs and results folders, for tests that need no finished run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.protocol.editions import current
from runner.protocol.metrics import metrics_for
from runner.protocol.metrics.document import metrics_document
from runner.records import (
    Difference,
    GateResult,
    Json,
    Score,
    SearchScope,
    Status,
    Verdict,
    View,
)
from runner.runs.canonical import compact
from runner.runs.config import RunConfig
from runner.runs.environment import Code, Machine
from runner.runs.manifest import write_manifest
from runner.runs.raw import RAW
from runner.runs.run import Arm, CorpusPins, ProtocolPins, Resources, Run, write_metrics, write_run
from runner.runs.timings import Latency

ANY = (Score("pgmnemo", "conversation", "all", "all", "recall_any@10", 0.9, 0.88, 0.92, 1982),)
MINILM = EmbedderIdentity("minilm", "sentence-transformers/all-MiniLM-L6-v2", "53aa51", 384, 256, 8)


def base_record() -> Run:
    edition = current()
    return Run(
        name="v0.2.1_20261121_minilm",
        verdict=Verdict.DEVIATION,
        deviations=("embedder: minilm",),
        protocol=ProtocolPins(edition.version, edition.sha256, edition.pins_sha256),
        choice=RunConfig(suite="locomo", level="session", embedder="minilm", version="0.2.1"),
        seed=42,
        python_hash_seed="42",
        corpus=CorpusPins(
            "LoCoMo", "locomo10.json", "cd" * 32, 272, 1986, True,
            {"projects": 10, "segments": 272, "questions": 1986, "scored": 1982},
        ),
        embedder=MINILM,
        arms=(
            Arm("pgmnemo", "hybrid recall of the extension", "system", "pgmnemo", "0.2.1"),
            Arm("bm25", "the keyword leg alone", "leg"),
            Arm("cosine", "exact cosine alone"),
            Arm("random", "a random order, from the seed"),
        ),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        views=(View("all"),),
        headline=edition.metrics.headline,
        components=dict.fromkeys(edition.engine("0.2.1").components, "active"),
        guc_state={"pgmnemo.gate_strict": "warn", "pgmnemo.recency_weight": "0.1"},
        guc_defaults={"pgmnemo.gate_strict": "warn", "pgmnemo.recency_weight": "0.1"},
        database=DatabaseFacts(
            "embedded", "pgmnemo_bench_0_2_1", "18.4", "0.8.5", "0.2.1", "ef" * 32, "pgmnemo_runner"
        ),
        python="3.11.9",
        packages={"numpy": "2.0"},
        code=Code("12ab" * 10, False),
        machine=Machine("a processor", 2, 16.0, "Linux x86_64"),
        gates=(
            GateResult("dataset", Status.PASSED, "cd" * 32, "cd" * 32),
            GateResult("embedder", Status.DEVIATION, "dragon-plus", "minilm", resolve="Run with it."),
        ),
        resources=Resources(0.41, 0.2, 17.2, 3.0, 9.96, 2.5, 1.5, 185.4, 812.3, 20, 2238),
        latency=(Latency("pgmnemo", "conversation", 10, 20, 2.345, 5.0),),
        started=datetime(2026, 11, 21, 8, 22, 59, tzinfo=UTC),
        finished=datetime(2026, 11, 21, 8, 26, 5, tzinfo=UTC),
    )  # fmt: skip


@pytest.fixture(scope="session")
def record() -> Callable[..., Run]:
    """Return a function that makes the record of LoCoMo by pgmnemo 0.2.1 under the current edition, or of
    `run`, with changes; a mapping changes fields of a part.
    """

    def make(run: Run | None = None, **changes: Any) -> Run:
        run = run or base_record()
        for name, value in changes.items():
            part = getattr(run, name)
            whole = replace(part, **value) if is_dataclass(part) and isinstance(value, dict) else value
            run = replace(run, **{name: whole})
        return run

    return make


@pytest.fixture(scope="session")
def shelve() -> Callable[..., Path]:
    """Return a function that writes a results folder for `read_results`: record, metrics, manifest, and raw
    rankings if given.
    """

    def write(
        folder: Path,
        run: Run,
        scores: Sequence[Score] = (),
        differences: Iterable[Difference] = (),
        raw: Iterable[Json] = (),
        **metrics: Any,
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        known = {name: metric.definition for name, metric in metrics_for(run.edition, run.cutoffs).items()}
        document = metrics_document(
            run, scores or ANY, differences, code=run.edition.metrics.code, definitions=known, intervals={}
        )
        document |= {"readings": [], "anchored": []}
        write_run(folder, run)
        write_metrics(folder, document | metrics)
        if lines := "".join(compact(line) + "\n" for line in raw):
            (folder / RAW).write_text(lines, encoding="utf-8")
        write_manifest(folder, run.edition.schemas)
        return folder

    return write


@pytest.fixture(scope="session")
def reseal() -> Callable[[Path], None]:
    """Return a function that rewrites the manifest for the current files, under the current edition."""
    return lambda folder: write_manifest(folder, current().schemas)


@pytest.fixture(scope="session")
def broken() -> Callable[..., list[Any]]:
    """Return a function that makes copies of a document, each with one key removed or added, or one value of
    another type.
    """

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
    """Yield each path at which a document can be broken, with the function that breaks it."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        yield (*place, "another"), lambda parent, key: parent.update({key: None})
    for key, part in inside:
        yield (*place, key), lambda parent, key: parent.__setitem__(key, [[None]])
        if isinstance(value, dict) and not (place and place[-1] in open_maps):
            yield (*place, key), lambda parent, key: parent.pop(key)
        yield from _places(part, open_maps, (*place, key))
