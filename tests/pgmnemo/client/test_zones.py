"""The days that a question names are those of the zone of its `now`.

Times are the same in sessions of any zone.
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pgmnemo import Item
from tests.pgmnemo.client.driving import Place, Shell

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
ENDS = [FIRST, FIRST + timedelta(hours=3), LAST - timedelta(hours=3), LAST.replace(microsecond=0), LAST]
SESSIONS = ["UTC", "Etc/GMT+12", "Etc/GMT-14"]
TOKYO = ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 9, 16, 8, tzinfo=TOKYO)  # in UTC still the 15th
DENVER = timezone(timedelta(hours=-7))


def fits(scope: Any, question: str, now: datetime) -> dict[str, float]:
    hits = scope.recall(question, as_of=now, mode="keyword")
    return {hit.key: hit.components["temporal"] for hit in hits}


@pytest.mark.parametrize("zone", [TOKYO, timezone(timedelta(hours=9))], ids=["name", "offset"])
def test_today_is_that_of_the_zone_of_now(zone: tzinfo, scope: Any) -> None:
    scope.add("tea with Ada", key="before", at=NOW - timedelta(hours=12))
    scope.add("tea with Ben", key="after", at=NOW - timedelta(hours=1))
    found = fits(scope, "Who came to tea today?", NOW.astimezone(zone))
    assert found["after"] == 1 > found["before"]
    assert fits(scope, "Who came to tea today?", NOW.astimezone(UTC)) == {"before": 1, "after": 1}


def test_a_zone_behind_utc_is_behind(scope: Any) -> None:
    now = datetime(2026, 9, 15, 20, tzinfo=DENVER)  # in UTC already the 16th
    scope.add("tea with Ada", key="noon", at=now - timedelta(hours=8))
    scope.add("tea with Ben", key="eve", at=now - timedelta(hours=21))
    found = fits(scope, "Who came to tea today?", now)
    assert found["noon"] == 1 > found["eve"]


def test_explain_counts_by_the_same_days(scope: Any) -> None:
    scope.add("tea with Ada", key="tea", at=NOW)
    told = [
        reason for reason in scope.explain("tea", "Who came today?", as_of=NOW) if reason.section == "time"
    ]
    assert float(told[0].value) == 1


def test_a_context_prints_the_dates_of_the_zone(scope: Any) -> None:
    scope.add("tea with Ada", key="tea", at=NOW)
    assert "2026-09-16" in scope.context("tea", as_of=NOW).text
    assert "2026-09-15" in scope.context("tea", as_of=NOW.astimezone(UTC)).text
    assert "2026-09-15" in scope.context("tea").text


@pytest.mark.parametrize("zone", SESSIONS)
@pytest.mark.parametrize("at", ENDS, ids=str)
def test_a_time_near_the_ends_of_the_range_comes_back_as_it_is(
    shell: Shell, place: Place, zone: str, at: datetime
) -> None:
    memory = shell.open(place.dsn(options=f"-c timezone={zone}"))
    scope, other = (memory.tenant(place.tenant()).project("kitchen") for _ in range(2))
    scope.add("tea with Ada", key="one", at=at, expires_at=at, verified_at=at, commit_sha="a")
    scope.add_many([Item("tea with Ben", "many", at=at, expires_at=at), "a lesson"])
    scope.fact("Ada", "lives in", "Porto", at=at)
    for key in ("first", "second"):
        scope.add(f"the {key} cup", key=key)
    scope.link("first", "second", "next")
    scope.supersede("first", "second", at=at)
    one, many = scope.get("one"), scope.get("many")
    assert {one.at, one.expires_at, one.verified_at, many.at, many.expires_at} == {at}
    assert scope.get("first").superseded_at == at
    assert scope.timeline("first")[0].valid_to == at
    assert [fact.valid_from for fact in scope.facts(history=True)] == [at]
    scope.export(file := io.BytesIO())
    written = [json.loads(line) for line in file.getvalue().splitlines()]
    told = {datetime.fromisoformat(line["at"]) for line in written if line.get("at")}
    assert told == {at}
    other.import_(io.BytesIO(file.getvalue()))
    moved = other.get("one")
    assert {moved.at, moved.expires_at, moved.verified_at, other.get("first").superseded_at} == {at}


@pytest.mark.parametrize("zone", SESSIONS)
def test_a_time_beyond_the_range_becomes_the_nearest(shell: Shell, place: Place, zone: str) -> None:
    memory = shell.open(place.dsn(options=f"-c timezone={zone}"))
    scope = memory.tenant(place.tenant()).project("kitchen")
    with place.connect() as root:
        for key, at in (("a", "-infinity"), ("b", "0044-03-15 BC"), ("c", "12000-01-01"), ("d", "infinity")):
            scope.add(f"tea with {key}", key=key)
            root.execute(
                "UPDATE pgmnemo.lesson SET expires_at = %s::timestamptz WHERE project_id = %s "
                "AND external_id = %s",
                (at, scope.project_id, key),
            )
    assert [scope.get(key).expires_at for key in "abcd"] == [FIRST, FIRST, LAST, LAST]


@pytest.mark.parametrize("hours", [-14, 14])
def test_a_context_prints_the_dates_of_the_ends(scope: Any, hours: int) -> None:
    scope.add("tea with Ada", key="first", at=FIRST)
    scope.add("tea with Ben", key="last", at=LAST)
    told = scope.context("tea", as_of=NOW.astimezone(timezone(timedelta(hours=hours)))).text
    assert f"{FIRST:%Y-%m-%d}" in told
    assert "9999-12-31" in told


@pytest.mark.parametrize("minutes", [-1439, -960, 960, 1439])
def test_an_offset_that_is_no_zone_of_the_database_is_taken_as_utc(scope: Any, minutes: int) -> None:
    now = NOW.astimezone(timezone(timedelta(minutes=minutes)))
    scope.add("tea with Ada", key="tea", at=NOW - timedelta(hours=1))
    assert fits(scope, "Who came to tea today?", now) == fits(
        scope, "Who came to tea today?", NOW.astimezone(UTC)
    )
    assert scope.explain("tea", "Who came today?", as_of=now)
