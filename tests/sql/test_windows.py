"""`windows`: the times that a caller names in place of those that are read from the question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

from tests.sql.formula import temporal

NOW = datetime(2025, 6, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)
DATED = "Where was the boat in March 2025?"
MAY = "{[2025-05-01 00:00Z,2025-06-01 00:00Z)}"
AGES = (0, 15, 45, 70, 100, 400, 4000)
MODES = ("hybrid", "vector", "keyword")


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def filled(tenant: Any, unit: Any) -> Any:
    """Lessons that differ in their times alone, but for their vectors, and one without a time."""
    for age in AGES:
        tenant.store(f"b{age:04}", "a boat", embedding=unit(1, age / 10_000), occurred_at=NOW - age * DAY)
    tenant.store("whenever", "a boat", embedding=unit(1, 1))
    return tenant


def temporals(tenant: Any, question: str | None, vector: Any, **options: Any) -> dict[str, float]:
    rows = tenant.recall(question, vector, as_of=NOW, k=50, **options)
    return {row["external_id"]: row["temporal"] for row in rows}


def wanted(*spans: tuple[datetime, datetime]) -> dict[str, float]:
    """Of the nearest window; none of what has no time."""
    found = {
        f"b{age:04}": max(temporal(NOW - age * DAY, span) for span in spans) if spans else 0.0 for age in AGES
    }
    return {**found, "whenever": 0.0}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("windows", "spans"),
    [
        (MAY, [(day("2025-05-01"), day("2025-06-01"))]),
        ("{[2024-05-01 00:00Z,2024-06-01 00:00Z),(2025-06-20 00:00Z,2025-06-21 00:00Z]}",
         [(day("2024-05-01"), day("2024-06-01")), (day("2025-06-20"), day("2025-06-21"))]),
        ("{[2025-04-21 12:00Z,2025-04-21 12:00Z]}", [(day("2025-04-21T12:00"), day("2025-04-21T12:00"))]),
        ("{}", []),
    ],
    ids=["one", "two", "a moment", "none"],
)  # fmt: skip
def test_the_times_are_those_of_the_windows(
    filled: Any, unit: Any, mode: str, windows: str, spans: list[Any]
) -> None:
    """Whether or not the question names others, and whether or not there is a question."""
    for question in (DATED, "Where was the boat?", *([None] if mode != "keyword" else [])):
        found = temporals(filled, question, unit(1), mode=mode, windows=windows)
        assert found == pytest.approx(wanted(*spans), abs=1e-12)


def test_without_windows_the_question_is_read(filled: Any, unit: Any) -> None:
    march = wanted((day("2025-03-01"), day("2025-04-01")))
    assert temporals(filled, DATED, unit(1)) == pytest.approx(march, abs=1e-12)
    assert temporals(filled, DATED, unit(1), windows=None) == pytest.approx(march, abs=1e-12)
    assert set(temporals(filled, DATED, unit(1), mode="vector").values()) == {0}


def test_bounds_may_be_infinite(filled: Any) -> None:
    for windows, within in (
        ("{(,)}", AGES), ("{[-infinity,infinity]}", AGES), ("{[2025-06-01 00:00Z,)}", (0, 15)),
        ("{(,2025-04-01 00:00Z)}", (100, 400, 4000)),
        ("{(,2015-01-01 00:00Z),[2025-06-29 00:00Z,)}", (0, 4000)),
    ):  # fmt: skip
        found = temporals(filled, DATED, None, windows=windows)
        assert {name for name, fit in found.items() if fit == 1} == {f"b{age:04}" for age in within}
        assert all(0 <= fit <= 1 for fit in found.values())


@pytest.mark.parametrize("mode", MODES)
def test_they_rank_and_never_filter(filled: Any, unit: Any, mode: str) -> None:
    given = {"mode": mode, "as_of": NOW}
    everything = sorted(filled.ids("boat", unit(1), **given))
    for windows in (MAY, "{}", "{(,1990-01-01)}"):
        assert sorted(filled.ids("boat", unit(1), windows=windows, **given)) == everything
    assert filled.ids("boat", unit(1), windows=MAY, **given)[0] == "b0045"
    assert filled.ids("boat", unit(1), windows="{[2024-05-20,2024-06-01)}", **given)[0] == "b0400"
    assert filled.ids("boat", unit(1), windows="{}", **given)[0] == "b0000"


def test_they_raise_the_score_by_the_weight_and_the_scale_of_a_fit(filled: Any, unit: Any) -> None:
    plain, dated = (
        {
            row["external_id"]: row
            for row in filled.recall("boat of a walrus", unit(0.3, 1), as_of=NOW, windows=windows)
        }
        for windows in ("{}", MAY)
    )
    for name, row in dated.items():
        added = row["score"] - row["context"] - (plain[name]["score"] - plain[name]["context"])
        assert added == pytest.approx(12 * row["temporal"], abs=1e-6)
    assert dated["b4000"]["fit"] < plain["b4000"]["fit"]
    found = {row["score"] / row["fit"] for row in dated.values() if 0 < row["fit"] < 1}
    usual = {row["score"] / row["fit"] for row in plain.values() if 0 < row["fit"] < 1}
    assert min(found) - max(usual) == pytest.approx((1 + 1) * 12)  # context_weight 1, temporal_weight 12


@pytest.mark.parametrize(
    "windows", [MAY, "{}", "{[2024-05-01 00:00Z,2024-06-01 00:00Z),[2025-06-20 00:00Z,)}"]
)
def test_explain_agrees(filled: Any, unit: Any, windows: str) -> None:
    vector = [float(number) for number in unit(1)]
    query = (
        "SELECT section, item, value FROM pgmnemo.explain(NULL, %s, %s, embedding => %s::real[], "
        "duplicates => NULL, query_text => %s, as_of => %s, windows => %s) "
        "WHERE section IN ('score', 'answer', 'time')"
    )
    rows = filled.recall(DATED, unit(1), as_of=NOW, windows=windows)
    for rank, row in enumerate(rows, start=1):
        told = filled.rows(query, filled.project, row["external_id"], vector, DATED, NOW, windows)
        values = {(section, item): value for section, item, value in told}
        assert int(values["answer", "rank"]) == rank
        assert float(values["answer", "score"]) == row["score"]
        assert float(values["score", "temporal"]) == row["temporal"]
        times = [float(value) for section, _, value in told if section == "time"]
        assert len(times) == windows.count("Z,")
        assert max(times, default=0.0) == row["temporal"]


def ranges(count: int) -> str:
    return "{" + ",".join(f"[{year:04}-01-01,{year:04}-01-02)" for year in range(1000, 1000 + count)) + "}"


@pytest.mark.parametrize("call", ["recall_lessons(", "explain(NULL, '{p}', 'b0000', "])
def test_more_than_a_hundred_ranges_are_refused(filled: Any, call: str) -> None:
    query = (
        f"SELECT count(*) FROM pgmnemo.{call.format(p=filled.project)}query_text => 'boat', windows => %s)"
    )
    assert filled.value(query, ranges(100)) > 0
    with pytest.raises(errors.InvalidParameterValue) as raised:
        filled.value(query, ranges(101))
    assert raised.value.diag.message_primary == "windows holds more than 100 ranges"


def test_a_weight_of_nought_switches_them_off(filled: Any, unit: Any) -> None:
    filled.set(temporal_weight=0)
    rows = {windows: filled.recall("boat", unit(1), as_of=NOW, windows=windows) for windows in (MAY, "{}")}
    kept = ("external_id", "score", "fit")
    assert [[row[name] for name in kept] for row in rows[MAY]] == [
        [row[name] for name in kept] for row in rows["{}"]
    ]
