"""The gate on finished runs of the sample: verified, compared, one exit code, one summary."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from runner.cli import main
from runner.commands.compare import command as module
from runner.commands.compare import gate
from runner.commands.compare.release_gate import newest_run
from runner.commands.compare.rows import ComparisonFinding
from runner.commands.compare.text import gate_text as markdown
from runner.errors import UnusableRunError
from runner.verification import verify
from runner.verification.checks import CHECKS
from runner.verification.context import Check


@pytest.fixture(scope="module")
def runs(finish: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run, the same again, and one that ranks by words of twelve letters and more."""
    base = tmp_path_factory.mktemp("runs")
    return {name: finish(base / name, minimum=m) for name, m in (("old", 1), ("same", 1), ("worse", 12))}


@pytest.fixture(scope="module")
def check(runs: dict[str, Any]) -> Callable[..., Any]:
    """`verify`, once a run, with the list of releases that knows these runs' extension."""
    return cache(partial(verify, sql=runs["old"].sql))


@pytest.fixture
def spoiled(runs: dict[str, Any], tmp_path: Path) -> Path:
    """The same run with one figure changed by hand."""
    base = tmp_path / "spoiled"
    shutil.copytree(runs["same"].folder.parent, base)
    folder = base / runs["same"].folder.name
    report = folder / "report.md"
    report.write_text(report.read_text().replace("0.", "1.", 1))
    return folder


def test_an_equal_candidate_passes(runs: dict[str, Any], check: Callable[..., Any]) -> None:
    found = gate(runs["old"].folder, runs["same"].folder, check=check, strict=True)
    assert (found.exit_code, found.word) == (0, "passed")
    assert found.comparison.finding is ComparisonFinding.EQUIVALENT


def test_a_regression_fails_and_the_summary_says_where(
    runs: dict[str, Any], check: Callable[..., Any]
) -> None:
    found = gate(runs["old"].folder, runs["worse"].folder, check=check)
    text = markdown(found)
    assert (found.exit_code, found.comparison and found.comparison.finding) == (
        1,
        ComparisonFinding.REGRESSED,
    )
    assert text.startswith("## Recall gate: failed\n")
    assert "❌ **regressed**" in text
    assert "| conversation | recall_all@5" in text
    assert "`garden/q" in text  # a question lost, by its key
    assert "no evidence of recall" in text


@pytest.fixture(scope="module")
def halves(finish: Callable[..., Any]) -> dict[str, Any]:
    """Runs with both legs, each made twice: neither is ahead of hybrid in the one, one is in the other."""
    level, behind = (
        {"modes": {"keyword": 1, "vector": 12}},
        {"minimum": 5, "modes": {"keyword": 1, "vector": 12}},
    )
    made = {"level": level, "level again": level, "behind": behind, "behind again": behind}
    return {name: finish(**options) for name, options in made.items()}


@pytest.fixture
def other_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in says that it is 0.2.1, which had no such legs: `verify` is not to make its record anew."""
    monkeypatch.setitem(CHECKS._members, "record", Check("record", lambda evidence: "as told"))


@pytest.mark.usefixtures("other_arms")
def test_hybrid_below_a_leg_fails_only_where_that_is_asked(
    halves: dict[str, Any], check: Callable[..., Any]
) -> None:
    level, behind = (halves[name].folder for name in ("level", "behind"))
    once, twice = (halves[f"{name} again"].folder for name in ("level", "behind"))
    found = gate(once, level, check=check, legs=True)
    assert (found.exit_code, found.legs and found.legs.falls) == (0, ())
    assert markdown(found).endswith("\n\nlegs: ✅ hybrid is not below keyword or vector in recall_any@1, "
                                    "MRR@50, recall_all@5, recall_any@10\n")  # fmt: skip
    found = gate(twice, behind, check=check, legs=True)
    assert (found.exit_code, found.word) == (1, "failed")
    assert "\n\nlegs: ❌ hybrid is below keyword in " in markdown(found)
    assert gate(twice, behind, check=check).exit_code == 0
    assert "legs" not in markdown(gate(twice, behind, check=check))


@pytest.mark.usefixtures("other_arms")
def test_the_command_takes_the_condition(
    halves: dict[str, Any], command: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    words = ("--baseline", halves["behind again"].folder, halves["behind"].folder)
    assert command(*words)[0] == 0
    assert command(*words, "--legs")[0] == 1


def test_a_run_that_does_not_verify_fails_and_is_not_compared(
    runs: dict[str, Any], spoiled: Path, check: Callable[..., Any]
) -> None:
    found = gate(runs["old"].folder, spoiled, check=check)
    text = markdown(found)
    assert (found.exit_code, found.comparison) == (1, None)
    assert gate(spoiled, runs["old"].folder, check=check).exit_code == 1
    assert "- `report`: " in text
    assert "The runs were not compared" in text
    assert "**baseline** `v0.2.1" in text
    assert "intact, " in text


def test_of_a_folder_of_runs_the_newest_is_taken(
    runs: dict[str, Any], check: Callable[..., Any], finish: Callable[..., Any], tmp_path: Path
) -> None:
    first, second = (finish(tmp_path) for _ in range(2))
    assert newest_run(tmp_path) == second.folder != first.folder
    assert newest_run(first.folder) == first.folder
    assert gate(tmp_path, runs["same"].folder.parent, check=check).exit_code == 0


def test_a_baseline_is_another_run_and_like_the_candidate_where_one_is(
    finish: Callable[..., Any], tmp_path: Path
) -> None:
    older, tried, unlike = (finish(tmp_path).folder for _ in range(3))
    run = json.loads((unlike / "run.json").read_bytes())
    run["embedder"]["revision"] = "another"
    (unlike / "run.json").write_text(json.dumps(run))
    assert newest_run(tmp_path) == unlike
    assert newest_run(tmp_path, tried) == older
    assert newest_run(tmp_path, unlike) == tried  # none is like it, which the comparison then says
    shutil.rmtree(older)
    (unlike / "BLOCKED.md").write_text("# BLOCKED\n")  # has no figure
    with pytest.raises(UsageError, match="holds no other finished run"):
        newest_run(tmp_path, tried)


def test_a_blocked_newest_run_is_the_candidate_and_refused(
    runs: dict[str, Any], finish: Callable[..., Any], tmp_path: Path
) -> None:
    first, blocked = (finish(tmp_path).folder for _ in range(2))
    (blocked / "BLOCKED.md").write_text("# BLOCKED\n")
    record = json.loads((blocked / "run.json").read_bytes())
    (blocked / "run.json").write_text(json.dumps(record | {"verdict": "blocked"}))
    assert newest_run(tmp_path) == blocked
    with pytest.raises(UnusableRunError, match=f"the candidate {blocked} is blocked"):
        gate(runs["old"].folder, tmp_path)
    assert newest_run(tmp_path, runs["old"].folder) == first  # a baseline needs figures
    (blocked / "run.json").write_text(json.dumps(record | {"started": "2001-01-01T00:00:00Z"}))
    assert newest_run(tmp_path) == first


@pytest.mark.parametrize("content", [None, '{"schema": "pgmnemo/run', "{}"])
def test_a_folder_with_a_damaged_run_is_refused(
    runs: dict[str, Any], finish: Callable[..., Any], tmp_path: Path, content: str | None
) -> None:
    _, damaged = (finish(tmp_path).folder for _ in range(2))
    (damaged / "run.json").unlink()
    if content is not None:
        (damaged / "run.json").write_text(content)
    for before, after in ((runs["old"].folder, tmp_path), (tmp_path, runs["old"].folder)):
        with pytest.raises(
            UnusableRunError, match=rf"{damaged}, which .* unreadable run.json: .*move it away"
        ):
            gate(before, after)


@pytest.mark.parametrize("place", ["baseline", "candidate"])
def test_a_damaged_run_that_is_named_does_not_verify(
    runs: dict[str, Any], tmp_path: Path, check: Callable[..., Any], place: str
) -> None:
    damaged = Path(shutil.copytree(runs["same"].folder, tmp_path / runs["same"].folder.name))
    (damaged / "run.json").unlink()
    named = {"baseline": runs["old"].folder, "candidate": runs["old"].folder, place: damaged}
    assert gate(**named, check=check).exit_code == 1


@pytest.fixture
def command(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setattr(module, "gate", partial(gate, check=check))

    def run(*words: object) -> tuple[int, str]:
        code = main(["gate", *map(str, words)])
        return code, capsys.readouterr().out

    return run


def test_the_command_appends_its_summary_for_github(
    command: Callable[..., tuple[int, str]],
    runs: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, out = command("--baseline", runs["old"].folder, runs["same"].folder)
    assert code == 0
    assert summary.read_text() == f"# before\n{out}\n"
    assert command("--baseline", runs["old"].folder, runs["worse"].folder)[0] == 1


def test_a_forbidden_drop_and_a_strict_gate_fail(
    command: Callable[..., tuple[int, str]], runs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert command("--baseline", runs["worse"].folder, runs["old"].folder)[0] == 0
    words = ("--baseline", runs["old"].folder, runs["worse"].folder)
    code, out = command(*words, "--max-drop", "recall_any@1=0.01")
    assert code == 1
    assert "more than the 1.0 that --max-drop allows" in out
