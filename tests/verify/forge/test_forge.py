"""Consistent forgeries of honest runs: how many of each class `verify` finds, and no fewer than before.

They are made from a run of the sample by the edition in force. What one change comes to, that of systems
beside and of rerankers among them, is in test_checks.py and test_each_check.py.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random

import pytest

from pgmnemo.errors import PgmnemoError
from runner.verification import verify
from tests.verify.conftest import measure
from tests.verify.forge import arms, questions, rankings, record, releases
from tests.verify.forge.draft import FORGERIES, Inapplicable, forged, read, written

CORPUS = Path(__file__).parents[3] / "benchmarks" / "sample" / "sample.json"
BEFORE = Path(__file__).with_name("found.json")
SEED = 42
TABLES = (rankings, questions, record, arms, releases)  # which enter their forgeries
WITH_CORPUS = {"corpus", "questions", "ranked", "controls"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one forgery: the checks that found it."""

    kind: str
    words: str
    checks: frozenset[str]

    @property
    def found(self) -> bool:
        return bool(self.checks - WITH_CORPUS)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measure(tmp_path_factory.mktemp("honest"))


def attempt(number: int, source: Path, home: Path) -> Outcome | None:
    """Make one forgery and ask `verify`.

    None where the run has nothing that it could change, or where this project's code refuses to compute what
    would follow.
    """
    one = FORGERIES[number]
    chance = Random(f"{SEED} {one.kind} {one.words} {source.name[:6]}")
    try:
        folder = forged(read(source), one.change, chance, home / str(number) / source.name)
    except (Inapplicable, PgmnemoError):
        return None
    done = verify(folder, corpus=CORPUS, history=folder.parent / "HISTORY.md")
    return Outcome(one.kind, one.words, frozenset(answer.check for answer in done.faults))


def counted(outcomes: list[Outcome]) -> dict[str, dict[str, int]]:
    """By class: forgeries made, found, and found with the corpus at hand."""
    table: dict[str, Counter[str]] = {}
    for one in outcomes:
        row = table.setdefault(one.kind, Counter(made=0, found=0, with_corpus=0))
        row.update(made=1, found=one.found, with_corpus=bool(one.checks))
    return {kind: dict(table[kind]) for kind in sorted(table)}


def test_an_honest_run_made_consistent_in_the_same_way_is_intact(honest: Path, tmp_path: Path) -> None:
    folder = written(read(honest), tmp_path / honest.name)
    assert not verify(folder, corpus=CORPUS, history=folder.parent / "HISTORY.md").faults


def test_no_class_of_forgeries_is_found_less_often_than_before(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Spawned: the fork of a process with threads can wait forever for a lock that another thread held.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        made = partial(attempt, source=honest, home=tmp_path)
        ended = list(workers.map(made, range(len(FORGERIES)), chunksize=4))
    outcomes = [one for one in ended if one is not None]
    table = counted(outcomes)
    if os.environ.get("PGMNEMO_WRITE_FOUND") == "1":  # after reading what has changed, and why
        BEFORE.write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")
    before = json.loads(BEFORE.read_text(encoding="utf-8"))
    with capsys.disabled():
        for one in sorted({(one.kind, one.words) for one in outcomes if not one.found}):
            print("\nnot found without the corpus:", *one, sep=" · ", end="")
    worse = {
        kind: (row, table.get(kind))
        for kind, row in before.items()
        if any(table.get(kind, {}).get(what, 0) < number for what, number in row.items())
    }
    assert not worse, "a class of forgeries is made or found less often than found.json says"
    assert len(outcomes) >= 55
