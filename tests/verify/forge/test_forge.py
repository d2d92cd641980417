"""Consistent forgeries of honest runs: how many of each class `verify` finds, and no fewer than before.

Each forgery is made from three runs of the sample (two are committed, one is fresh, of the newest edition) or
from the committed run that it names: REALTALK's have systems beside and a reranker.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from random import Random

import pytest

from runner.bench import pipeline
from runner.bench.request import Request
from runner.errors import RunnerError
from runner.runs.environment import Code
from runner.verify import verify
from tests.finished import running_commit
from tests.verify.forge import arms, beside, costs, questions, rankings, record, releases, words
from tests.verify.forge.draft import Inapplicable, forged, read, written
from tests.verify.forge.table import FORGERIES

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "sample" / "results"
COMMITTED = ("v0.3.1_20261122_minilm", "v0.4.0_20261122_minilm")
CORPUS = BENCHMARKS / "sample" / "sample.json"  # other corpora are not in the repository
BEFORE = Path(__file__).with_name("found.json")
OF = sorted({one.of for one in FORGERIES if one.of})
SEED = 42
TABLES = (
    rankings,
    questions,
    record,
    arms,
    releases,
    words,
    costs,
    beside,
)  # which enter their forgeries when they are imported


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one forgery."""

    kind: str
    words: str
    found: bool
    with_corpus: bool
    checks: tuple[str, ...]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two committed runs and a fresh one, which deviates by its embedder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONHASHSEED", "42")
        patch.setattr(pipeline, "code", lambda root: Code(running_commit(), False))
        output = tmp_path_factory.mktemp("fresh")
        fresh = pipeline.run(Request("sample", embedder="hash", output=output)).folder
    return [*(RESULTS / name for name in COMMITTED), fresh]


def attempt(number: int, source: Path, home: Path) -> Outcome | None:
    """Make one forgery and ask `verify`.

    None where the run has nothing that it could change, or where this project's code refuses to compute what
    would follow.
    """
    one = FORGERIES[number]
    chance = Random(f"{SEED} {one.kind} {one.words} {source.name[:6]}")
    try:
        folder = forged(read(source), one.change, chance, home / str(number) / source.name)
    except (Inapplicable, RunnerError):
        return None
    history = folder.parent / "HISTORY.md"
    faults = [answer.check for answer in verify(folder, history=history).faults]
    corpus = None if one.of else CORPUS
    more = faults or [answer.check for answer in verify(folder, corpus=corpus, history=history).faults]
    return Outcome(one.kind, one.words, bool(faults), bool(more), tuple(more))


def counted(outcomes: list[Outcome]) -> dict[str, dict[str, int]]:
    """By class: forgeries made, found, and found with the corpus at hand."""
    table: dict[str, Counter[str]] = {}
    for one in outcomes:
        row = table.setdefault(one.kind, Counter(made=0, found=0, with_corpus=0))
        row.update(made=1, found=one.found, with_corpus=one.with_corpus)
    return {kind: dict(table[kind]) for kind in sorted(table)}


def text(table: dict[str, dict[str, int]]) -> str:
    """The table for people, which is printed."""
    total = {what: sum(row[what] for row in table.values()) for what in ("made", "found", "with_corpus")}
    rows = [*table.items(), (f"**all {len(table)} classes**", total)]
    lines = [f"| {kind} | {row['made']} | {row['found']} | {row['with_corpus']} |" for kind, row in rows]
    return "\n".join(["| Class | Made | Found | Found with `--corpus` |", "|---|---|---|---|", *lines])


def test_an_honest_run_made_consistent_in_the_same_way_is_intact(honest: list[Path], tmp_path: Path) -> None:
    for source in [*honest, *(BENCHMARKS / of for of in OF)]:
        folder = written(read(source), tmp_path / source.name)
        corpus = CORPUS if source in honest else None
        done = verify(folder, corpus=corpus, history=folder.parent / "HISTORY.md")
        assert not done.faults, (source.name, done.faults)


def test_no_class_of_forgeries_is_found_less_often_than_before(
    honest: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = [number for number, one in enumerate(FORGERIES) if not one.of]
    tasks = [
        task for task in product(usual, honest) if task[1] == honest[-1] or not FORGERIES[task[0]].newest
    ]
    tasks += [(number, BENCHMARKS / one.of) for number, one in enumerate(FORGERIES) if one.of]
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as workers:
        ended = list(workers.map(partial(attempt, home=tmp_path), *zip(*tasks, strict=True), chunksize=4))
    outcomes = [one for one in ended if one is not None]
    table = counted(outcomes)
    if os.environ.get("PGMNEMO_WRITE_FOUND") == "1":  # after reading what has changed, and why
        BEFORE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    before = json.loads(BEFORE.read_text(encoding="utf-8"))
    with capsys.disabled():
        print(f"\n{text(table)}\n")
        for one in sorted({(one.kind, one.words) for one in outcomes if not one.found}):
            print("not found without the corpus:", *one, sep=" · ")
    worse = {
        kind: (row, table.get(kind))
        for kind, row in before.items()
        if any(table.get(kind, {}).get(what, 0) < number for what, number in row.items())
    }
    assert not worse, "a class of forgeries is made or found less often than found.json says"
    assert len(outcomes) >= 200
    assert len(table) >= 25
