"""Faults lose nothing, and who counts them would see what is lost; writers and readers for some seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks.reliability import faults, soak
from benchmarks.reliability.bed import KEPT, Databases, fresh_server
from benchmarks.reliability.known import Known, Verdict, judge, opened
from benchmarks.reliability.texts import HOLDS, PROJECT, moment, text_of
from pgmnemo import Item

SHORT = [("server", "store", 1), ("backend", "merge", 1), ("client", "upgrade", 1), ("upkeep", "compact", 1),
         ("link", "load", 1), ("server", "backup", 1)]  # fmt: skip


def test_what_is_acknowledged_survives_a_fault_of_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    found = faults.run(SHORT, seed=5)
    assert [one.verdict for one in found if one.verdict] == []
    assert sorted((one.kind, one.stage, 1) for one in found if one.kind != faults.LATE) == sorted(SHORT)
    assert "| all | 2 | 1 | 1 | 1 | 1 |" in "\n".join(faults.table(found))


@contextmanager
def known(fresh: Databases) -> Iterator[Callable[[], Verdict]]:
    """A tenant of twenty lessons, and who judges it."""
    keys = [f"k{n}" for n in range(20)]
    fresh.copy(KEPT, "judged")
    fresh.grant("ada", "judged")
    with opened(fresh, "judged") as memory:
        scope = memory.tenant("ada").project(PROJECT)
        scope.add_many(Item(text_of(key), key, at=moment(key)) for key in keys)
    held = Known({key: (text_of(key), HOLDS) for key in keys})
    yield lambda: judge(fresh, "judged", "ada", held, fresh)


def past_the_verbs(statement: str) -> Callable[[Any, Any], object]:
    return lambda root, scope: root.execute(statement)


SPOILT: dict[str, tuple[Callable[[Any, Any], object], str]] = {  # what a server might do, and what is told
    "lost": (lambda root, scope: scope.forget("k3", hard=True), "k3 was acknowledged and is gone"),
    "stale": (lambda root, scope: scope.add("another", key="k3"), "k3 is ('another', 'holds'), acknow"),
    "doubled": (lambda root, scope: scope.add("another", key="k33"), "k33 is there: ('another', 'holds')"),
    "index": (past_the_verbs("DELETE FROM pgmnemo.posting WHERE lexeme = 'river'"),
              "check: ('posting missing'"),
    "counts": (past_the_verbs("UPDATE pgmnemo.posting SET lesson_count = 19 WHERE lexeme = ''"),
               "statistics: ('', 20, 19"),
    "vectors": (past_the_verbs("DELETE FROM pgmnemo.lesson_vector WHERE lesson_id % 2 = 0"),
                "answers differ from those"),
}  # fmt: skip


@pytest.fixture(scope="module")
def fresh() -> Iterator[Databases]:
    with fresh_server() as made:
        yield made


@pytest.mark.parametrize("what", [None, *SPOILT])
def test_what_is_lost_or_wrong_is_told(what: str | None, fresh: Databases) -> None:
    with known(fresh) as judged:
        if what is None:
            assert not judged()
            return
        spoil, told = SPOILT[what]
        with fresh.connect(name="judged") as root, opened(fresh, "judged") as memory:
            spoil(root, memory.tenant("ada").project(PROJECT))
        found = judged()
        assert [one for one in (*found.lost, *found.wrong) if one.startswith(told)]


def test_writers_and_readers_of_some_tenants(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--writers", "4", "--readers", "2", "--tenants", "3", "--large", "300", "--pause", "0.01")
    assert soak.main(["--seconds", "4", *few]) == 0
    printed = capsys.readouterr().out
    assert "0 lost, 0 wrong, 0 leaked; " in printed
    for row in ("add", "forget", "supersede", "recall", "relations", "WAL", "dead rows"):
        assert f"| {row} | " in printed
