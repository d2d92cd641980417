"""Moves of tenants under writers, movers and routers killed: nothing acknowledged is lost.

`python -m shards torture` does so fifty times.
"""

from __future__ import annotations

import pytest

from shards.temporary import temporary
from shards.torture import Tally, report, torture


def test_nothing_acknowledged_is_lost(plproxy: None, capsys: pytest.CaptureFixture[str]) -> None:
    with temporary() as folder:
        tally = torture(folder, 12, 4, 42)
    with capsys.disabled():
        print("\n" + report(tally))
    assert tally.moved == 8
    assert tally.killed == 4 == tally.undone + tally.finished
    assert tally.calls > 300
    assert tally.most <= 1


def test_a_router_that_is_killed_at_the_switch_loses_nothing(
    plproxy: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with temporary() as folder:
        tally = torture(folder, 3, 0, 42, routers=3)
    with capsys.disabled():
        print("\n" + report(tally))
    assert tally.routers == 3
    assert tally.cut > 0


def test_the_report_fails_where_anything_is_wrong() -> None:
    with pytest.raises(Exception, match="2 things are wrong, the first: k is lost"):
        report(Tally(wrong=["k is lost", "another"]))
