"""Figures anew from the raw rankings of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.artefacts.canonical import tabular
from runner.claims import recompute
from runner.claims.rescore import lines
from runner.cli import main
from runner.errors import OutputError, UsageError
from runner.metrics import METRIC_VERSION
from runner.registry import Registry


@pytest.fixture(scope="module")
def finished(finish: Callable[..., Any]) -> Any:
    return finish(limit=4, k=(1, 5))


def stricter(run: Mapping[str, Any], rows: Any, cutoffs: Any) -> dict[str, Any]:
    """A metric code of the future: one definition is another, and every value of it."""
    metrics = recompute.METRIC_CODES[METRIC_VERSION](run, rows, cutoffs)
    metrics["metric_code"] = "2.0.0"
    metrics["definitions"]["MRR@50"] = "Half of what it was."
    for row in metrics["results"]:
        if row["metric"] == "MRR@50":
            row["value"] /= 2
    return metrics


@pytest.fixture
def future(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = Registry("version of the metric code", {**recompute.METRIC_CODES, "2.0.0": stricter})
    monkeypatch.setattr("runner.claims.rescore.METRIC_CODES", codes)


def test_nothing_moves_under_the_same_code(finished: Any) -> None:
    done = runner.rescore(finished.folder)
    assert (done.moves, done.why) == ((), ())
    assert done.report == (finished.folder / "report.md").read_text(encoding="utf-8")
    assert list(lines(done))[-1].endswith(
        f"0 figures in 224 rows moved, metric code {METRIC_VERSION} → {METRIC_VERSION}"
    )


@pytest.mark.usefixtures("future")
def test_another_code_says_what_moved_and_why(finished: Any) -> None:
    done = runner.rescore(finished.folder, metric_code="2.0.0")
    assert {move.row.rsplit(", ", 1)[1] for move in done.moves} == {"MRR@50"}
    assert {move.figure for move in done.moves} == {"value"}
    assert done.why[0] == f"metric code 2.0.0 instead of {METRIC_VERSION}"
    assert done.why[1].startswith("definitions, MRR@50: Half of what it was. (before: 1 / rank")
    assert "metric code 2.0.0" in done.report
    assert any(line.startswith("pgmnemo, conversation, all, all, MRR@50: value ") for line in lines(done))


@pytest.mark.usefixtures("future")
def test_a_run_is_verified_under_the_code_that_it_names(
    finished: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = import_module("runner.claims.verify.checks.metrics")  # not the function of the same name
    monkeypatch.setattr(check, "METRIC_CODES", import_module("runner.claims.rescore").METRIC_CODES)
    assert runner.verify(finished.folder, sql=finished.sql).intact


def test_figures_that_never_followed_are_told(finished: Any, tmp_path: Path) -> None:
    folder = tmp_path / finished.folder.name
    shutil.copytree(finished.folder, folder)
    metrics = json.loads((folder / "metrics.json").read_bytes())
    metrics["results"][0]["value"] = 0.123
    (folder / "metrics.json").write_text(tabular(metrics, ("results", "differences")), encoding="utf-8")
    done = runner.rescore(folder)
    assert [(move.figure, move.before) for move in done.moves] == [("value", 0.123)]
    assert "why: metrics.json did not follow from the raw rankings" in "\n".join(lines(done))


def test_a_new_folder_holds_the_figures_and_where_they_come_from(finished: Any, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in finished.folder.iterdir()}
    runner.rescore(finished.folder, output=tmp_path / "new" / "draft")
    new = {path.name: path.read_bytes() for path in (tmp_path / "new" / "draft").iterdir()}
    assert sorted(new) == ["metrics.json", "report.md", "rescored.json"]
    assert new["metrics.json"] == before["metrics.json"]
    assert json.loads(new["rescored.json"])["source"] == finished.folder.name
    assert {path.name: path.read_bytes() for path in finished.folder.iterdir()} == before


def test_nothing_is_overwritten(finished: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists, and nothing is overwritten: name a new folder"):
        runner.rescore(finished.folder, output=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_use_is_one_sentence(finished: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no version of the metric code named '7'; choose one of: 1\.0\.0"):
        runner.rescore(finished.folder, metric_code="7")
    with pytest.raises(UsageError, match="there is no results folder"):
        runner.rescore(tmp_path / "none")
    with pytest.raises(OutputError, match=r"cannot be scored anew: run\.json cannot be read"):
        runner.rescore(tmp_path)


def test_the_command_prints_and_writes(
    finished: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rescore", str(finished.folder), "--output", str(tmp_path / "draft")]) == 0
    assert "0 figures in 224 rows moved" in capsys.readouterr().out
    assert (tmp_path / "draft" / "rescored.json").is_file()
