"""`perf` on the sample: complete documents, and a plot that joins several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.cli import main
from lab.perf import document
from lab.perf.measuring import measure
from lab.perf.plots import GROWTH
from lab.perf.request import PerfRequest, subject

TINY = (
    "--memories", "400", "--tenants", "20", "--embedder", "hash", "--seconds", "0.2", "--clients", "2",
    "--quiet",
)  # fmt: skip


SQLITE = ("--systems", "sqlite-hybrid")


def ended(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["perf", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def needs_sqlite() -> None:
    if sentence := subject("sqlite-hybrid").missing("0.2.1"):
        pytest.skip(sentence)


def test_a_run_leaves_valid_results_and_never_overwrites_them(
    results: Path, capsys: pytest.CaptureFixture[str], needs_sqlite: None
) -> None:
    pytest.importorskip("matplotlib")
    wanted = [*TINY, *SQLITE, "--output", str(results), "--name", "one"]
    code, out, err = ended(wanted, capsys)
    assert (code, err) == (0, "")
    assert "SQLite FTS5 + sqlite-vec" in out
    assert {path.name for path in (results / "one").iterdir()} == {
        "performance.json", "performance.md", "recall_over_latency.svg",
    }  # fmt: skip
    made = document.load(results / "one")
    [system] = made["systems"]
    assert made["corpus"]["tenants"] == {"whole": 400, "share": 20, "fixed": 1000, "small": 100}
    assert system["lessons"] == 1520
    assert {cell["recall"] for cell in system["reads"] if cell["leg"] == "vector"} == {1.0}
    assert {cell["complete"] for cell in system["reads"]} == {1.0}
    assert sum(cell["writes"] > 0 for cell in system["reads"]) == 4
    assert "| SQLite FTS5 + sqlite-vec |" in (results / "one" / "performance.md").read_text()
    code, _, err = ended(wanted, capsys)
    assert code == 2
    assert "one is already there; give another --name, or move it away" in err


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    pytest.importorskip("matplotlib")
    if sentence := subject("sqlite-hybrid").missing("0.2.1"):
        pytest.skip(sentence)
    output = tmp_path_factory.mktemp("runs")
    options: dict[str, Any] = {"embedder": "hash", "systems": ("sqlite-hybrid",), "clients": 1}
    options |= {"seconds": 0.1, "tenants": 20, "output": output}
    return [measure(PerfRequest(memories=memories, **options)) for memories in (400, 800)]


def test_runs_are_joined_and_our_own_growth_is_drawn_anew_but_nothing_foreign_is_written_over(
    two_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plot", "--output", str(tmp_path), *map(str, two_runs)]
    for _ in range(2):
        assert ended(words, capsys)[:2] == (0, f"{tmp_path / 'growth.md'}\n")
    assert {path.name for path in tmp_path.iterdir()} == {"growth.md", *GROWTH}
    rows = [line for line in (tmp_path / "growth.md").read_text().splitlines() if "SQLite FTS5" in line]
    assert [row.split("|")[1].strip() for row in rows] == ["400", "800"]
    for name in ("growth.md", "latency_whole.svg"):
        (tmp_path / name).write_text("precious")
        assert f"{name} is there and holds something else" in ended(words, capsys)[2]
        (tmp_path / name).unlink()
