"""The same run several times, against the protocol's bands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from runner import cli
from runner.bench import repeat as module
from runner.bench.finish import RunResult
from runner.bench.repeat import Spread, repeat, summary_lines
from runner.bench.request import Request
from runner.records import SearchScope, Verdict

Made = Callable[..., RunResult]


@pytest.fixture
def outcome(record: Callable[..., Any], tmp_path: Path) -> Made:
    """A run of LoCoMo whose every headline metric has one value."""

    def make(name: str, value: float, raw: bytes = b"{}\n") -> RunResult:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "raw_retrievals.jsonl").write_bytes(raw)
        run = record(verdict=Verdict.VERIFIED, deviations=(), scopes=(SearchScope("conversation"),))
        place = {"arm": "pgmnemo", "scope": "conversation", "view": "all", "type": "all"}
        figures = {"value": value, "ci95_low": value, "ci95_high": value, "n": 9, "trivial": 0}
        results = [{**place, "metric": metric, **figures} for metric in run.headline]
        return RunResult(folder, run, {"results": results, "definitions": dict.fromkeys(run.headline, "")})

    return make


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What the runs will give, one after the other."""

    def plan(*outcomes: RunResult) -> None:
        given: Iterator[RunResult] = iter(outcomes)
        monkeypatch.setattr(module, "run", lambda request, **keywords: next(given))

    return plan


def test_the_same_run_twice_is_within_the_bands(runs: Callable[..., None], outcome: Made) -> None:
    runs(outcome("a", 0.9), outcome("b", 0.9))
    repeated = repeat(Request("locomo", embedder="hash"), 2)
    assert repeated.within
    assert list(summary_lines(repeated)) == [
        "conversation, recall_any@1: 0.9000, 0.9000; spread 0.0000, no band in the protocol",
        "conversation, MRR@50: 0.9000, 0.9000; spread 0.0000, band 0.015: within",
        "conversation, recall_all@5: 0.9000, 0.9000; spread 0.0000, no band in the protocol",
        "conversation, recall_any@10: 0.9000, 0.9000; spread 0.0000, band 0.01: within",
        "2 runs: raw rankings are the same bytes",
    ]


def test_the_band_is_what_two_runs_may_differ_by(runs: Callable[..., None], outcome: Made) -> None:
    runs(*(outcome(str(value), value, str(value).encode()) for value in (0.9, 0.905, 0.912)))
    repeated = repeat(Request("locomo", embedder="hash"), 3)
    assert [spread.metric for spread in repeated.spreads if spread.outside] == ["recall_any@10"]
    assert not repeated.within
    assert not repeated.identical
    assert Spread("pool", "MRR@50", (0.9, 0.915), 0.015).outside is False


def test_the_command_exits_with_1_outside(
    runs: Callable[..., None], outcome: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    runs(outcome("a", 0.9), outcome("b", 0.92))
    assert cli.main(["locomo", "--repeat", "2", "--embedder", "hash"]) == 1
    out = capsys.readouterr().out
    assert "recall_any@10: 0.9000, 0.9200; spread 0.0200, band 0.01: OUTSIDE" in out
    assert out.count("artefacts: ") == 2


@pytest.mark.parametrize(("times", "changes"), [(0, {}), (2, {"resume": Path("x")})])
def test_no_run_and_a_resumed_run_cannot_be_repeated(times: int, changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--repeat takes a positive number of runs, and no --resume"):
        repeat(replace(Request("locomo", embedder="hash"), **changes), times)
