"""The command: what it refuses, what it leaves, and that its documents are complete."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner import systems
from runner.cli import main
from runner.commands.perf import document, measuring, request
from runner.commands.perf.document import Which
from runner.commands.perf.measuring import measure
from runner.commands.perf.plots import GROWTH
from runner.commands.perf.request import USUAL, PerfRequest, subject
from runner.commands.perf.workload import LEAST

README_FOLDER = Path(__file__).parents[3] / "benchmarks" / "performance"
README = (README_FOLDER / "README.md").read_text()
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
def needs_sqlite() -> None:
    if sentence := subject("sqlite-hybrid").missing("0.2.1"):
        pytest.skip(sentence)


SIZE = ("--memories", "1000")
REFUSED = {
    "no size": ((), r"perf needs --memories N, or plot; see .*"),
    "too few": (("--memories", "5"), "--memories takes a whole number from 100 to 10,000,000, not 5"),
    "name": ((*SIZE, "--name", "a/b"), "--name takes the name of a folder, not 'a/b'"),
    "system": (
        (*SIZE, "--systems", "oracle"),
        "there is no system named 'oracle'; choose one of: pgmnemo, sqlite-fts5, sqlite-hybrid, chroma, .*",
    ),
    "version": (
        (*SIZE, "--version", "9.9"), "there is no release '9.9' of pgmnemo in .*",
    ),
    "no passages": (
        (*SIZE, "--version", "v0.2.1", "--systems", "pgmnemo+passages"),
        "none of the systems can be measured: pgmnemo 0.2.1 takes no passages; measure --version v0.6.1 .*",
    ),
    "plot of nothing": (("plot", "nowhere"), "nowhere holds no performance.json; name folders .* wrote"),
    "no name of a system": (
        (*SIZE, "--systems", ","), "--systems takes names with commas between, not ','",
    ),
    "embedder of another width": (
        (*SIZE, "--embedder", "bge-m3"),
        "--embedder takes one of 384 dimensions, minilm or hash, not 'bge-m3'",
    ),
    "plot and measure": (
        ("--memories", "400", "plot", "nowhere"),
        r"there is no place for plot nowhere \(did you mean plot\?\); a command stands before its options.*",
    ),
    "plot of a file": (("plot", __file__), ".*test_command.py is a file; name the folder that .* wrote"),
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


@pytest.mark.parametrize(
    ("lacking", "sentence"),
    [
        ("disk", "error: the run needs about .* GB of disk in .*; free some space or name another folder"),
        ("memory", "need about .* GB of memory and 0.0 GB are free; measure fewer memories"),
    ],
)
def test_a_machine_that_lacks_something_is_refused_before_anything_is_made(
    lacking: str, sentence: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if lacking == "disk":
        monkeypatch.setattr(request, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    else:
        memory = SimpleNamespace(available=10**6, total=10**10)
        monkeypatch.setattr(request.psutil, "virtual_memory", lambda: memory)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code, _, err = ended([*TINY, "--output", str(results), "--scratch", str(scratch)], capsys)
    assert code == 3
    assert re.search(sentence, err)
    assert not results.exists()
    assert not list(scratch.iterdir())


def test_what_a_run_needs_grows_with_it() -> None:
    def needed(memories: int, dimensions: int = 384) -> Any:
        return request.estimate(
            PerfRequest(memories=memories, dimensions=dimensions), [subject(name) for name in USUAL]
        )

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
    assert made["corpus"]["tenants"] == {"whole": 400, "share": 20, "fixed": 1000, "small": 100}
    assert system["lessons"] == 1520
    assert {cell["recall"] for cell in system["reads"] if cell["leg"] == "vector"} == {1.0}
    assert {cell["complete"] for cell in system["reads"]} == {1.0}
    assert sum(cell["writes"] > 0 for cell in system["reads"]) == 4
    assert "| SQLite FTS5 + sqlite-vec |" in (results / "one" / "performance.md").read_text()
    code, _, err = ended(wanted, capsys)
    assert code == 2
    assert "one is already there; give another --name, or move it away" in err


@pytest.mark.parametrize("many", [1, 2])
def test_small_tenants_have_a_row_of_their_own(results: Path, many: int, needs_sqlite: None) -> None:
    options: dict[str, Any] = {"systems": ("pgmnemo", "sqlite-hybrid")[many == 1 :], "clients": 1}
    options |= {"embedder": "hash", "seconds": 0.1, "output": results, "small_tenants": many}
    folder = measure(PerfRequest(memories=100, tenants=10, **options))
    made = document.load(folder)
    assert made["request"]["small_tenants"] == many
    for system in made["systems"]:
        cell = document.cell(system, Which("small"))
        assert cell is not None
        assert cell["complete"] == 1.0
        assert min(cell["questions"], system["add_small"]["count"]) >= LEAST  # more, where time is left
        assert system["lessons"] == 1110 + 100 * many
        assert ("relations" in system["catalogue"]) == (system["name"] == "pgmnemo")
    text = (folder / "performance.md").read_text()
    assert f"## Tenants of 100 lessons: {many}\n" in text
    assert "too few" not in text.partition("## Whole search")[0].partition("else too few")[2]


def test_a_95th_percentile_of_few_questions_is_not_printed() -> None:
    made = document.load(README_FOLDER / "v0.6.0_20261127_10000_384d")
    whole = document.cell(made["systems"][-1], Which("whole"))
    assert whole is not None
    assert "too few |" not in document.markdown(made)
    whole["questions"] = LEAST - 1
    assert [line[:8] for line in document.markdown(made).splitlines() if "too few |" in line] == ["| SQLite"]


def test_a_peer_that_is_not_installed_is_named_with_its_remedy(
    results: Path, monkeypatch: pytest.MonkeyPatch, needs_sqlite: None
) -> None:
    installed = systems._installed
    monkeypatch.setattr(systems, "_installed", lambda package: package != "chromadb" and installed(package))
    options: dict[str, Any] = {"systems": ("sqlite-hybrid", "chroma"), "clients": 1, "seconds": 0.2}
    request = PerfRequest(memories=400, tenants=20, embedder="hash", output=results, **options)
    folder = measure(request)
    made = document.load(folder)
    sentence = "not installed: chromadb; pip install -c constraints.txt -e 'runner[peers]'"
    assert made["missing"] == {"ChromaDB (vectors only)": sentence}
    assert sentence in (folder / "performance.md").read_text()


def test_a_run_that_ends_early_keeps_what_it_measured(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, needs_sqlite: None
) -> None:
    once = measuring.measure_system

    def cut(one: Any, *rest: Any) -> Any:
        if one.name == "sqlite-fts5":
            raise KeyboardInterrupt
        return once(one, *rest)

    monkeypatch.setattr(measuring, "measure_system", cut)
    wanted = [*TINY, "--systems", "sqlite-hybrid,sqlite-fts5", "--output", str(results), "--name", "cut"]
    code, _, err = ended(wanted, capsys)
    assert (code, err) == (130, f"interrupted; what was measured stands in {results / 'cut'}\n")
    made = document.load(results / "cut")
    assert [system["name"] for system in made["systems"]] == ["sqlite-hybrid"]
    assert made["missing"] == {subject("sqlite-fts5").title: measuring.CUT_SHORT}


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


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ((0,), "runs of one size show no growth"),
        ((0, 1, 0), r"two of the runs measured SQLite FTS5 \+ sqlite-vec at 400 memories"),
        ((0, "other"), r"differ in k \(5, 10\); join runs of one kind"),
        (("cut",), "performance.json cannot be read"),
        (("list",), "performance.json is not of the form"),
    ],
)
def test_runs_that_cannot_be_joined_are_told(
    places: tuple[Any, ...], sentence: str, two_runs: list[Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    made = document.load(two_runs[1])
    made["request"]["k"] = 5
    for name, text in {"other": json.dumps(made), "cut": "{", "list": "[]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / document.NAME).write_text(text)
    folders = [str(two_runs[one] if isinstance(one, int) else tmp_path / one) for one in places]
    code, _, err = ended(["plot", *folders, "--output", str(tmp_path)], capsys)
    assert code == 2
    assert re.search(sentence, err)


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    code, _, err = ended([*TINY, *SQLITE, "--output", str(tmp_path / "file"), "--name", "a"], capsys)
    assert code == 3
    assert re.search(r"file/a cannot be made: Not a directory; name another folder with --output", err)
    assert "measured" not in err


def test_every_usual_system_is_described() -> None:
    assert set(re.findall(r"^\| `([a-z][a-z+-]+)` \|", README, re.MULTILINE)) == set(USUAL)
