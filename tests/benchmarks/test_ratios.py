"""The ratios of runs: medians and their spread, what is missing, what is too few, and runs that differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.performance import ratios
from lab.perf.document import NAME, load

RUNS = Path(__file__).parents[2] / "benchmarks" / "performance"
Change = Callable[[dict[str, Any]], None]


def system(made: Any, name: str) -> Any:
    return next(one for one in made["systems"] if one["name"] == name)


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str, Change], str]:
    """A committed run, changed, in a folder of its own, where pg_textsearch was asked 32 questions."""

    def make(name: str, change: Change) -> str:
        made = load(RUNS / "v1.0.0_20261130_100000_384d")
        for read in system(made, "pg-textsearch")["reads"]:
            read["questions"] = 32
        change(made)
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_text(json.dumps(made))
        return str(tmp_path / name)

    return make


def printed(
    folders: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    monkeypatch.setattr(ratios.sys, "argv", ["ratios.py", *folders])
    code = ratios.main()
    return code, *capsys.readouterr()


def rows(out: str) -> dict[tuple[str, str], list[str]]:
    """The cells after `beside` of each line, by figure and `beside`."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines()[2:]]
    return {(line[0], line[2]): line[3:] for line in lines}


def load_time(factor: float) -> Change:
    """Ours is `factor` times that of the C extension."""

    def change(made: Any) -> None:
        other = system(made, "pg-textsearch")["load_seconds_total"]
        system(made, "pgmnemo")["load_seconds_total"] = factor * other

    return change


def test_the_median_of_the_runs_is_printed_with_its_spread_and_what_is_missing(
    run: Callable[[str, Change], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [run(str(factor), load_time(factor)) for factor in (1.5, 0.5, 0.75)]
    code, out, _ = printed(folders, monkeypatch, capsys)
    found = rows(out)
    assert code == 0
    assert found["load, s", "pg-textsearch"][1:] == ["0.75", "0.50 to 1.50", "–", "≤ 1.1"]  # noqa: RUF001
    assert found["add one, p50 ms", "gin-hnsw"][2:4] == ["0.40 to 0.40", "200"]
    assert found["everything, p95 ms", "pg-textsearch"][0] == "too few: n = 32"
    assert found["a tenant of 1,000, p50 ms", "pgmnemo@0.6.1"][-1] == "≤ 0.75: **missed**"
    assert found["a tenant of 100, p50 ms", "sqlite-hybrid"][0] == "not measured: sqlite-hybrid"
    assert found["everything, beside writes, p50 ms", "itself alone"][-1] == "≤ 1.3"


def test_figures_divide_into_their_quotient(
    run: Callable[[str, Change], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed([run("one", load_time(1.0))], monkeypatch, capsys)[1]
    plain = out.replace(",", "").splitlines()[2:]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in plain]
    told = [(float(own), float(other), float(times)) for _, own, _, other, times, *_ in lines if own]
    assert len(told) > 6
    assert all(own / other == pytest.approx(times, rel=0.02, abs=0.006) for own, other, times in told)


def test_a_run_that_lacks_a_system_counts_for_the_others(
    run: Callable[[str, Change], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without(made: Any) -> None:
        made["systems"].remove(system(made, "pg-textsearch"))

    folders = [run("less", without), run("all", load_time(2.0))]
    found = rows(printed(folders, monkeypatch, capsys)[1])
    assert found["load, s", "pg-textsearch"][1:] == ["2.00", "one run", "–", "≤ 1.1: **missed**"]  # noqa: RUF001


def test_runs_that_differ_and_no_runs_are_wrong_use(
    run: Callable[[str, Change], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def narrower(made: Any) -> None:
        made["request"]["k"] = 5

    code, _, err = printed([run("a", load_time(1)), run("b", narrower)], monkeypatch, capsys)
    assert code == 2
    assert "differ in k (5, 10); join runs of one kind" in err
    assert printed([], monkeypatch, capsys)[0] == 2
    assert "holds no performance.json" in printed(["nowhere"], monkeypatch, capsys)[2]
