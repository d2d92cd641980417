"""The days that a question names are those of the zone of its `now`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest

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
