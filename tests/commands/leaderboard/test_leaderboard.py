"""Like beside like, the best first; what is unlike, blocked, unverified or changed stands apart."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError
from runner.commands.compare import compare
from runner.commands.compare.compared_run import ComparedRun, read_side
from runner.commands.history import log_deviation
from runner.commands.leaderboard import Leaderboard, leaderboard
from runner.commands.leaderboard.board import SHARED, behind_text, leaderboard_markdown, rank_text
from runner.commands.leaderboard.verified_runs import NAMES, condition_differences, results_folders
from runner.verification import verify


@pytest.fixture(scope="session")
def found(base: Path, check: Any) -> Leaderboard:
    return leaderboard([f"{base}/*"], check=check)


def parent(folder: str) -> str:
    return Path(folder).parent.name


def test_runs_that_are_alike_share_a_board_and_the_best_is_first(found: Leaderboard) -> None:
    first = found.groups[0]
    for board in first.boards:
        assert [parent(row.folder) for row in board.rows] == ["good", "fair", "poor"]
        assert [row.rank for row in board.rows] == [1, 2, 3]
        assert [row.label for row in board.rows] == [f"{name}/{row.name}" for name, row in zip(
            ("good", "fair", "poor"), board.rows, strict=True)]  # fmt: skip
        values = [row.values[1]["value"] for row in board.rows]
        assert values == sorted(values, reverse=True)
    assert [board.scope for board in first.boards] == ["conversation", "pool"]
    assert not first.apart
    assert not first.citable  # the sample is no evidence


def test_equal_runs_share_a_rank_and_the_next_counts_them(base: Path, check: Any, tmp_path: Path) -> None:
    for name, source in {"good": "good", "same": "good", "poor": "poor"}.items():
        shutil.copytree(base / source, tmp_path / name)
    found = leaderboard([f"{tmp_path}/*"], check=check)
    board = found.groups[0].boards[0]
    assert [row.rank for row in board.rows] == [1, 1, 3]
    assert [rank_text(board, row) for row in board.rows] == ["1=", "1=", "3"]
    behind_first = board.rows[1].behind
    assert (behind_first.difference, behind_first.told_apart) == (0.0, False)
    assert "| 1= |" in re.sub(" +", " ", leaderboard_markdown(found))
    assert SHARED in leaderboard_markdown(found)
    without = leaderboard([tmp_path / "good", tmp_path / "poor"], check=check)
    assert "1=" not in leaderboard_markdown(without)
    assert SHARED not in leaderboard_markdown(without)


def test_what_is_not_alike_has_a_group_of_its_own_and_the_reason(found: Leaderboard) -> None:
    [other] = found.groups[1:]
    assert other.apart == ("questions asked: 12, spread evenly against all", "n: 12 against 36")
    assert [parent(row.folder) for row in other.boards[0].rows] == ["short"]
    assert [row.label for row in other.boards[0].rows] == [other.boards[0].rows[0].name]


def test_blocked_and_changed_runs_stand_on_no_board(found: Leaderboard) -> None:
    asides = {parent(aside.folder): aside for aside in found.asides}
    assert {name: aside.kind for name, aside in asides.items()} == {
        "blocked": "blocked",
        "spoiled": "not intact",
    }
    assert asides["spoiled"].reason.startswith("verify: manifest: report.md")
    assert "BLOCKED.md" in asides["blocked"].reason


@pytest.mark.parametrize("kind", ["unverified", "unreadable"])
def test_where_no_run_is_left_it_says_so(kind: str, base: Path, check: Any) -> None:
    def doubting(folder: Path) -> Any:
        if kind == "unreadable":
            raise OutputError("of an edition that is not known here")
        return replace(check(folder), verdict="unverified")

    found = leaderboard([base / "good"], check=doubting)
    assert not found.groups
    assert [aside.kind for aside in found.asides] == [kind]
    assert "no run stands on a board" in leaderboard_markdown(found)


def test_a_run_is_verified_by_default_as_verify_does(base: Path) -> None:
    [aside] = leaderboard([base / "good"]).asides  # its made-up extension is no release
    first = verify(next((base / "good").glob("v*"))).faults[0]
    assert aside.reason.startswith(f"verify: {first.check}: {first.sentence}")


def test_the_difference_to_the_best_is_that_of_compare(found: Leaderboard) -> None:
    board = found.groups[0].boards[0]
    best, *others = board.rows
    assert best.behind is None
    assert behind_text(best) == "best"
    for row in others:
        rows = compare(best.folder, row.folder).rows
        [same] = (r for r in rows if r.of("all") and (r.scope, r.metric) == (board.scope, board.metric))
        assert row.behind.difference == pytest.approx(same.difference, abs=1e-6)
        assert (row.behind.ci95_low, row.behind.ci95_high) == (same.ci95_low, same.ci95_high)
        assert row.behind.told_apart == (same.ci95_high < 0)


def test_a_deviation_that_became_known_later_is_shown(base: Path, check: Any, tmp_path: Path) -> None:
    shutil.copytree(base / "good", tmp_path / "good")
    [folder] = (tmp_path / "good").glob("v*")
    log_deviation(folder, "the clock was wrong")
    [row] = leaderboard([folder], check=check).groups[0].boards[0].rows
    assert row.verdict == "deviation"
    assert row.deviations[-1] == "the clock was wrong"


def test_a_folder_a_folder_of_runs_and_a_pattern_name_the_same_run_once(base: Path, tmp_path: Path) -> None:
    [run] = (base / "good").glob("v*")
    assert results_folders([run, base / "good", f"{base}/go*", f"{base}/go*/*"]) == (run,)
    (base / "good" / ".partial").mkdir(exist_ok=True)
    assert results_folders([base / "good"]) == (run,)
    for name in ("[a]", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    assert results_folders([tmp_path / "[a]"]) == (tmp_path / "[a]",)
    assert results_folders([tmp_path / "[!x]"]) == (tmp_path / "a",)


def changed(**parts: Any) -> Callable[[ComparedRun], None]:
    """Another run.json: parts that are records get these fields, others these values."""

    def alter(side: ComparedRun) -> None:
        new = {name: replace(getattr(side.run, name), **part) if isinstance(part, dict) else part
               for name, part in parts.items()}  # fmt: skip
        side.run = replace(side.run, **new)

    return alter


def fewer(side: ComparedRun) -> None:
    for row in side.metrics["results"]:
        row["n"] -= 1


@pytest.mark.parametrize(
    ("name", "alter"),
    {
        "suite": changed(choice={"suite": "locomo"}),
        "questions asked": changed(choice={"types": ("temporal",)}),
        "protocol": changed(protocol={"version": "9.0.0"}),
        "n": fewer,
        "metric definitions": lambda side: side.metrics["definitions"].update({"MRR@50": "another"}),
        "major version of the metric code": lambda side: side.metrics.update(metric_code="9.0.0"),
    }.items(),
)
def test_every_condition_alone_sets_a_run_apart(
    name: str, alter: Callable[[ComparedRun], None], base: Path
) -> None:
    [run] = (base / "good").glob("v*")
    first, other = read_side(run), read_side(run)
    alter(other)
    sentence = next(condition_differences(first, other))
    assert sentence.startswith(f"{name}: ")
    assert " against " in sentence
    assert name in NAMES
