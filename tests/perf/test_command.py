"""The command: what it refuses, what it leaves, and that its documents are complete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from runner import systems
from runner.cli import app, main
from runner.perf import document, estimate, measuring
from runner.perf.figures import Which, ratio
from runner.perf.measuring import measure
from runner.perf.plots import COLOURS, recall_over_latency
from runner.perf.request import PerfRequest
from runner.perf.results import Cell, Result, Writes
from runner.perf.subjects import USUAL, subject, subjects

README_FOLDER = Path(__file__).parents[2] / "benchmarks" / "performance"
README = (README_FOLDER / "README.md").read_text()
TINY = (
    "--memories", "400", "--tenants", "20", "--embedder", "hash", "--seconds", "0.2", "--clients", "2",
    "--quiet",
)  # fmt: skip
SQLITE = ("--systems", "sqlite-hybrid")
CELL = Cell("vector", "whole", 1, None, 20, 1.0, 2.0, 3.0, 1.0, 900.0, 10.0, 1.0, recall=1.0)
WRITES = Writes(20, 1.0, 2.0)


def ended(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(["perf", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture
def needs_sqlite() -> None:
    if sentence := subject("sqlite-hybrid").missing("0.2.1"):
        pytest.skip(sentence)


SIZE = ("--memories", "100")
REFUSED = {
    "no size": ((), r"perf needs --memories N, or plot; see .*"),
    "too few": (("--memories", "5"), "--memories takes a whole number from 100 to 10,000,000, not 5"),
    "tenants": ((*SIZE, "--tenants", "99"), "--tenants takes a whole number from 1 to 10, not 99"),
    "k": ((*SIZE, "--tenants", "9", "--k", "0"), "--k takes a whole number from 1 to 50, not 0"),
    "width": ((*SIZE, "--tenants", "9", "--dimensions", "7"), "--dimensions takes 384 or 1024, not 7"),
    "time": (
        (*SIZE, "--tenants", "9", "--seconds", "0"),
        "--seconds takes a number above 0 and up to 600, not 0",
    ),
    "name": ((*SIZE, "--tenants", "9", "--name", "a/b"), "--name takes the name of a folder, not 'a/b'"),
    "system": (
        (*SIZE, "--tenants", "9", "--systems", "oracle"),
        "there is no system named 'oracle'; choose one of: pgmnemo, sqlite-fts5, sqlite-hybrid, chroma, .*",
    ),
    "version": (
        (*SIZE, "--tenants", "9", "--version", "9.9"), "there is no release '9.9' of pgmnemo in .*",
    ),
    "corpus": (
        (*SIZE, "--tenants", "9", "--corpus", "x", *SQLITE), "there is no suite named 'x'; choose one of: .*",
    ),
    "no passages": (
        (*SIZE, "--tenants", "9", "--version", "v0.2.1", "--systems", "pgmnemo+passages"),
        "none of the systems can be measured: pgmnemo 0.2.1 takes no passages; measure --version v0.3.0 .*",
    ),
    "no name of a system": (
        (*SIZE, "--tenants", "9", "--systems", ","), "--systems takes names with commas between, not ','",
    ),
    "embedder of another width": (
        (*SIZE, "--tenants", "9", "--embedder", "bge-m3"),
        "--embedder takes one of 384 dimensions, minilm or hash, not 'bge-m3'",
    ),
    "plot and measure": (
        ("--memories", "400", "plot", "nowhere"),
        r"there is no place for plot nowhere \(did you mean plot\?\); a command stands before its options.*",
    ),
    "plot of a file": (("plot", __file__), ".*test_command.py is a file; name the folder that .* wrote"),
    "plot of nothing": (("plot", "nowhere"), "nowhere holds no performance.json; name folders .* wrote"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_wrong_use_is_one_sentence(
    arguments: tuple[str, ...],
    sentence: str,
    results: Path,
    capsys: pytest.CaptureFixture[str],
    needs_sqlite: None,
) -> None:
    place = () if "plot" in arguments else ("--output", str(results))
    code, out, err = ended([*arguments, *place], capsys)
    last = err.strip().splitlines()[-1]
    assert (code, out) == (2, "")
    assert re.fullmatch(f"wrong use: {sentence}", last), last
    assert not results.exists()


def test_a_machine_that_lacks_disk_is_refused_before_anything_is_made(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "disk_usage", lambda _: type("Disk", (), {"free": 10**9})())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code, _, err = ended([*TINY, "--output", str(results), "--scratch", str(scratch)], capsys)
    assert code == 3
    assert re.search(
        "error: the run needs about .* GB of disk in .*; free some space or name another folder", err
    )
    assert not results.exists()
    assert not list(scratch.iterdir())


def test_a_machine_that_lacks_memory_is_refused(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = type("Memory", (), {"available": 10**6, "total": 10**10})()
    monkeypatch.setattr(estimate.psutil, "virtual_memory", lambda: memory)
    code, _, err = ended([*TINY, "--output", str(results)], capsys)
    assert code == 3
    assert re.search(r"need about .* GB of memory and 0.0 GB are free; measure fewer memories", err)


def test_what_a_run_needs_grows_with_it() -> None:
    def needed(memories: int, dimensions: int = 384) -> Any:
        return estimate.estimate(PerfRequest(memories=memories, dimensions=dimensions), subjects(USUAL))

    small, large, wide = needed(10_000), needed(1_000_000), needed(1_000_000, 1024)
    for part in ("seconds", "corpus_bytes", "system_bytes", "memory_bytes"):
        assert getattr(small, part) < getattr(large, part) <= getattr(wide, part)
    assert wide.seconds > large.seconds


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
    assert made["corpus"]["tenants"] == {"whole": 400, "share": 20, "fixed": 1000}
    assert system["lessons"] == 1420
    assert {cell["recall"] for cell in system["reads"] if cell["leg"] == "vector"} == {1.0}
    assert {cell["complete"] for cell in system["reads"]} == {1.0}
    assert sum(cell["writes"] > 0 for cell in system["reads"]) == 4
    assert "| SQLite FTS5 + sqlite-vec |" in (results / "one" / "performance.md").read_text()
    code, _, err = ended(wanted, capsys)
    assert code == 2
    assert "one is already there; give another --name, or move it away" in err


def test_a_peer_that_is_not_installed_is_named_with_its_remedy(
    results: Path, monkeypatch: pytest.MonkeyPatch, needs_sqlite: None
) -> None:
    installed = systems._installed
    monkeypatch.setattr(systems, "_installed", lambda package: package != "chromadb" and installed(package))
    options: dict[str, Any] = {"systems": ("sqlite-hybrid", "chroma"), "clients": 1, "seconds": 0.2}
    request = PerfRequest(memories=400, tenants=20, embedder="hash", output=results, **options)
    folder = measure(request)
    made = document.load(folder)
    sentence = "not installed: chromadb; pip install -c constraints.txt -e '.[peers]'"
    assert made["missing"] == {"ChromaDB (vectors only)": sentence}
    assert sentence in (folder / "performance.md").read_text()


def test_a_run_that_ends_early_keeps_what_it_measured(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, needs_sqlite: None
) -> None:
    def measured(*_: Any) -> Iterator[Result]:
        stored, size = {"store": 1.0}, {"file": 1}
        yield Result("sqlite-hybrid", "S", "", True, {}, 1420, stored, size, None, [CELL], WRITES)
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "_measured", measured)
    wanted = [*TINY, "--systems", "sqlite-hybrid,gin-hnsw", "--output", str(results), "--name", "cut"]
    code, _, err = ended(wanted, capsys)
    assert (code, err) == (130, f"interrupted; what was measured stands in {results / 'cut'}\n")
    made = document.load(results / "cut")
    assert [system["name"] for system in made["systems"]] == ["sqlite-hybrid"]
    assert made["missing"] == {"GIN + ts_rank_cd + HNSW": measuring.CUT_SHORT}


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    pytest.importorskip("matplotlib")
    if sentence := subject("sqlite-hybrid").missing("0.2.1"):
        pytest.skip(sentence)
    output = tmp_path_factory.mktemp("runs")
    options: dict[str, Any] = {"embedder": "hash", "systems": ("sqlite-hybrid",), "clients": 1}
    options |= {"seconds": 0.1, "tenants": 20, "output": output}
    return [measure(PerfRequest(memories=memories, **options)) for memories in (400, 800)]


def test_runs_are_joined_into_growth_plots(
    two_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = ended(["plot", *map(str, two_runs), "--output", str(tmp_path)], capsys)
    assert (code, out) == (0, f"{tmp_path / 'growth.md'}\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        "growth.md", "latency_whole.svg", "latency_share.svg", "latency_fixed.svg", "load.svg", "size.svg",
    }  # fmt: skip
    rows = [line for line in (tmp_path / "growth.md").read_text().splitlines() if "SQLite FTS5" in line]
    assert [row.split("|")[1].strip() for row in rows] == ["400", "800"]


def test_our_own_growth_is_drawn_anew_and_nothing_foreign_is_written_over(
    two_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plot", "--output", str(tmp_path), *map(str, two_runs)]
    for _ in range(2):
        assert ended(words, capsys)[:2] == (0, f"{tmp_path / 'growth.md'}\n")
    (tmp_path / "growth.md").write_text("precious")
    assert re.search(r"growth.md is there and holds something else", ended(words, capsys)[2])
    (tmp_path / "growth.md").unlink()
    assert re.search(r"latency_whole.svg is there and may not be ours", ended(words, capsys)[2])


def test_runs_that_show_no_growth_are_not_joined(
    two_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = map(str, two_runs)
    for folders, sentence in (
        ([one], r"runs of one size show no growth"),
        ([one, other, one], r"two of the runs measured SQLite FTS5 \+ sqlite-vec at 400 memories"),
    ):
        code, _, err = ended(["plot", *folders, "--output", str(tmp_path)], capsys)
        assert (code, bool(re.search(sentence, err))) == (2, True)


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    code, _, err = ended([*TINY, *SQLITE, "--output", str(tmp_path / "file"), "--name", "a"], capsys)
    assert code == 3
    assert re.search(r"file/a cannot be made: Not a directory; name another folder with --output", err)
    assert "measured" not in err


def test_the_same_figures_give_the_same_plot(two_runs: list[Path], tmp_path: Path) -> None:
    name = recall_over_latency(document.load(two_runs[0]), tmp_path)
    assert (tmp_path / name).read_bytes() == (two_runs[0] / name).read_bytes()


def test_runs_of_different_kinds_are_not_joined(
    two_runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document.load(two_runs[1])
    made["request"]["k"] = 5
    document.write(tmp_path, made)
    code, _, err = ended(["plot", str(two_runs[0]), str(tmp_path)], capsys)
    assert code == 2
    assert re.search(r"differ in k \(5, 10\); join runs of one kind", err)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "pgmnemo/performance/1"}'], ids=["cut", "list", "bare"]
)
def test_a_damaged_document_is_told(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / document.NAME).write_text(text)
    code, _, err = ended(["plot", str(tmp_path)], capsys)
    assert code == 2
    assert re.search(r"performance.json (cannot be read|is not of the form)", err)


def test_every_option_is_documented_and_exists() -> None:
    shown = (one for one in app()["perf"].assemble_argument_collection() if one.show)
    taken = {(one.name, one.hint is not bool) for one in shown}
    documented = [row.split(" ") for row in re.findall(r"^\| `(--[^`]+)` \|", README, re.MULTILINE)]
    assert {(name, bool(value)) for name, *value in documented} == taken
    assert set(re.findall(r"^\| `([a-z][a-z+-]+)` \|", README, re.MULTILINE)) == set(USUAL)


def test_documents_of_before_name_their_systems_as_those_of_today() -> None:
    """So that their rows are held against SQLite's, and drawn in the colours that they have."""
    [folder] = README_FOLDER.glob("v0.3.1_*_100000_384d")
    made = document.load(folder)
    assert {system["name"] for system in made["systems"]} == set(USUAL) == set(COLOURS)
    [own] = (system for system in made["systems"] if system["name"] == "pgmnemo")
    assert ratio(made, own, Which("whole")) == pytest.approx(10.6, abs=0.1)
