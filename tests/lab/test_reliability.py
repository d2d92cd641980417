"""Faults lose nothing, and who counts them would see what is lost; writers and readers for some seconds."""

from __future__ import annotations

import re

import pytest

from lab.reliability import faults, soak
from lab.reliability.bed import fresh_server
from lab.reliability.known import Acknowledged, judge, opened
from lab.reliability.texts import HOLDS, PROJECT, moment, text_of
from pgmnemo import Item
from pgmnemo.paths import SQL_FOLDER

SHORT = [("server", "store", 1), ("link", "store", 1), ("backend", "merge", 1), ("client", "merge", 1),
         ("upkeep", "upgrade", 1)]  # fmt: skip
SPOILT = (  # what a server might do, past the verbs
    "DELETE FROM pgmnemo.posting WHERE lexeme = 'thunder'",
    "UPDATE pgmnemo.posting SET lesson_count = 18 WHERE lexeme = ''",
    "DELETE FROM pgmnemo.lesson_vector WHERE lesson_id % 2 = 0",
)
TOLD = (  # and what is told of it
    "k3 was acknowledged and is gone", "k4 is ('another', 'holds'), acknowledged was",
    "k33 is there: ('another', 'holds')",
    "check: ('posting missing'", "statistics: ('', 20, ", "answers differ from those of a fresh database",
)  # fmt: skip


def test_what_is_acknowledged_survives_a_fault_of_each_kind() -> None:
    found = faults.run(SHORT, seed=5)
    assert [one.verdict for one in found if one.verdict] == []
    assert sorted((one.kind, one.stage, 1) for one in found if one.kind != faults.LATE) == sorted(SHORT)
    assert "| all | 1 | 1 | 1 | 1 | 1 |" in "\n".join(faults.table(found))


def test_what_is_lost_or_wrong_is_told() -> None:
    keys = [f"k{n}" for n in range(20)]
    known = Acknowledged({key: (text_of(key), HOLDS) for key in keys})
    with fresh_server() as fresh:
        fresh.install("judged")
        fresh.grant("ada", "judged")
        with opened(fresh, "judged") as memory, fresh.connect(name="judged") as root:
            scope = memory.tenant("ada").project(PROJECT)
            scope.add_many(Item(text_of(key), key, at=moment(key)) for key in keys)
            assert not judge(fresh, "judged", "ada", known, fresh)
            scope.forget("k3", permanent=True)
            scope.add("another", key="k4")
            scope.add("another", key="k33")
            for statement in SPOILT:
                root.execute(statement)
        found = judge(fresh, "judged", "ada", known, fresh)
    said = [*found.lost, *found.wrong]
    assert [told for told in TOLD if not any(one.startswith(told) for one in said)] == []


def test_writers_and_readers_of_some_tenants(capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--writers", "4", "--readers", "2", "--tenants", "3", "--large", "300", "--pause", "0.01")
    assert soak.main(["--seconds", "4", *few]) == 0
    printed = capsys.readouterr().out
    assert "0 lost, 0 wrong, 0 leaked; " in printed
    for row in ("add", "forget", "supersede", "recall", "relations", "WAL", "dead rows"):
        assert f"| {row} | " in printed


def test_a_soak_runs_with_the_settings_that_are_recommended() -> None:
    [block] = re.findall(r"```ini\n(.+?)```", (SQL_FOLDER / "README.md").read_text(encoding="utf-8"), re.S)
    assert dict(line.split(" = ") for line in block.splitlines()) == soak.AUTOVACUUM
