"""Fifty moves of tenants under writers, ten of the movers killed: nothing acknowledged is lost."""

from __future__ import annotations

import pytest

from shards.temporary import temporary
from shards.torture import Tally, report, torture


def test_nothing_acknowledged_is_lost(plproxy: None, capsys: pytest.CaptureFixture[str]) -> None:
    with temporary() as folder:
        tally = torture(folder, 50, 10, 42)
    with capsys.disabled():
        print("\n" + report(tally))
    assert tally.moved == 40
    assert tally.killed == 10 == tally.undone + tally.finished
    assert tally.calls > 1000
    assert tally.most <= 1


def test_the_report_fails_where_anything_is_wrong() -> None:
    with pytest.raises(Exception, match="2 things are wrong, the first: k is lost"):
        report(Tally(wrong=["k is lost", "another"]))
