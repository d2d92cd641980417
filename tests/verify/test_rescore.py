"""Figures anew from the raw rankings of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import UsageError
from runner.errors import UnusableRunError
from runner.protocol.metrics import DIFFERENCES
from runner.protocol.statistics import Interval, Method
from runner.runs.run import metrics_text
from runner.verification.rescore import summary_lines


@pytest.fixture(scope="module")
def finished(finish: Callable[..., Any]) -> Any:
    return finish(limit=4, k=(1, 5))


def wider(*given: Any) -> Interval:
    found = DIFFERENCES["1.1.0"].interval(*given)
    return Interval(found.value, found.low - 0.5, found.high + 0.5)


@pytest.fixture
def future(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric code of the future, under which every difference has a wider interval."""
    method = Method("an interval of the future", "clustered", wider)
    monkeypatch.setitem(DIFFERENCES._members, "2.0.0", method)


def test_nothing_moves_under_the_same_code(finished: Any) -> None:
    done = runner.rescore(finished.folder)
    assert (done.moves, done.why) == ((), ())
    assert done.report == (finished.folder / "report.md").read_text(encoding="utf-8")
    metrics = json.loads((finished.folder / "metrics.json").read_bytes())
    rows = len(metrics["results"]) + len(metrics["differences"])
    assert rows >= 448
    assert list(summary_lines(done))[-1].endswith(
        f" 0 figures in {rows} rows moved, metric code 1.1.0 → 1.1.0"
    )


@pytest.mark.usefixtures("future")
def test_another_code_says_what_moved_and_why(finished: Any) -> None:
    done = runner.rescore(finished.folder, metric_code="2.0.0")
    assert {move.row.split(", ")[1] for move in done.moves} == {
        "minus bm25", "minus cosine", "minus random", "minus plain-bm25",
    }  # fmt: skip
    assert {move.figure for move in done.moves} == {"ci95_low", "ci95_high"}
    assert done.why[0] == "metric code 2.0.0 instead of 1.1.0"
    assert done.why[1].startswith(
        "intervals, difference: an interval of the future, unclustered (before: paired"
    )
    assert "metric code 2.0.0" in done.report
    assert any(
        line.startswith("pgmnemo, minus bm25, conversation, all, MRR@50: ci95_low ")
        for line in summary_lines(done)
    )


@pytest.mark.usefixtures("future")
def test_a_run_is_verified_under_the_code_of_its_edition(finished: Any) -> None:
    assert runner.verify(finished.folder, sql=finished.sql).intact


def changed(folder: Path, base: Path, change: Callable[[Any], object]) -> Path:
    """A copy of a run with changed figures."""
    place = Path(shutil.copytree(folder, base / folder.name))
    metrics = json.loads((place / "metrics.json").read_bytes())
    change(metrics)
    (place / "metrics.json").write_text(metrics_text(metrics), encoding="utf-8")
    return place


def test_figures_that_never_followed_are_told(finished: Any, tmp_path: Path) -> None:
    folder = changed(finished.folder, tmp_path, lambda metrics: metrics["results"][0].update(value=0.123))
    done = runner.rescore(folder)
    assert [(move.figure, move.before) for move in done.moves] == [("value", 0.123)]
    assert "why: metrics.json did not follow from the raw rankings" in "\n".join(summary_lines(done))


@pytest.mark.parametrize("name", ["raw_retrievals.jsonl", "run.json"])
def test_a_changed_run_is_refused(finished: Any, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(finished.folder, tmp_path / finished.folder.name))
    with (folder / name).open("a") as file:
        file.write("\n")
    with pytest.raises(UnusableRunError, match=rf"{name} is not the file that manifest.json lists"):
        runner.rescore(folder)


def test_a_new_folder_holds_the_figures_and_where_they_come_from(finished: Any, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in finished.folder.iterdir()}
    runner.rescore(finished.folder, output=tmp_path / "new" / "draft")
    new = {path.name: path.read_bytes() for path in (tmp_path / "new" / "draft").iterdir()}
    assert sorted(new) == ["metrics.json", "report.md", "rescored.json"]
    assert new["metrics.json"] == before["metrics.json"]
    assert json.loads(new["rescored.json"])["source"] == finished.folder.name
    assert {path.name: path.read_bytes() for path in finished.folder.iterdir()} == before


def test_a_link_into_the_run_is_no_way_around(finished: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(finished.folder, tmp_path / finished.folder.name))
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(UsageError, match="lies in the results folder itself"):
        runner.rescore(folder, output=tmp_path / "link" / "draft")
    with pytest.raises(UsageError, match="lies in the results folder itself"):
        runner.rescore(tmp_path / "link", output=folder / "draft")
