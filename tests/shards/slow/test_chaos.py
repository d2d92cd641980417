"""Moves of tenants under writers, whoever takes part killed: nothing acknowledged is lost.

`pgmnemo-shards chaos` does so at length; benchmarks/reliability/moves.md has the figures.
"""

from __future__ import annotations

from collections import Counter

import pytest

from pgmnemo_shards.chaos import VICTIMS, Tally, report, run_chaos
from pgmnemo_shards.temporary_folder import temporary_folder


def test_nothing_acknowledged_is_lost(plproxy: None, capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_folder() as folder:
        tally = run_chaos(folder, 20, 14, 42, routers=3)
    with capsys.disabled():
        print("\n" + report(tally))
    assert (tally.moved, sum(tally.killed.values())) == (3, 17)
    assert {victim for victim, _ in tally.killed} >= set(VICTIMS)
    assert tally.calls > 300
    assert tally.cut > 0
    assert tally.max_tries <= 1
    assert tally.compared > 50


def test_the_report_fails_where_anything_is_wrong() -> None:
    with pytest.raises(Exception, match="2 things are wrong, the first: k is lost"):
        report(Tally(wrong=["k is lost", "another"]))
    told = report(Tally(killed=Counter({("mover", "switch"): 2}), finished=Counter({("mover", "switch"): 1})))
    assert "2 killed (2 at the switch): 1 of these ended as moved" in told
    assert "| switch | 2 (1) |" in told
