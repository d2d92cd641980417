"""`tune sweep`: the points of a grid, scored as a run would answer them, and never a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.tune.loaded_task import LoadedTask, Setup
from lab.tune.request import SweepOptions
from lab.tune.sweep import collect_legs, point_figures, sweep
from lab.tune.sweep_report import NO_RESULT, Legs
from lab.tune.tasks import load_tasks
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET
from runner.systems import SystemContext, open_system

pytest.importorskip("apsw")
OVER = "convex:over=sqlite-hybrid"


def request(folder: Path, *grid: str, **more: Any) -> SweepOptions:
    usual = {
        "suite": "sample", "strategy": OVER, "embedder": "hash", "output": folder / "swept", "k": 50,
        "cache": folder / "cache" / "vectors",
    }  # fmt: skip
    return SweepOptions(**{**usual, "grid": grid or ("weight=0,0.5,1",), **more})


@pytest.mark.parametrize(
    "given",
    ["weight=0.3,factor=1,floor=3", "weight=0.7,candidates=vector,factor=1,floor=5,recency=0.2"],
)
def test_a_point_is_scored_as_the_strategy_answers(given: str, tmp_path: Path) -> None:
    asked = request(tmp_path, *given.split(","))
    setup, [task], [point] = Setup(asked, {}, QUIET, SQL_FOLDER), load_tasks("sample", None, {}), asked.points
    with open_system(OVER, place := setup.place("x")) as system:
        arrays, facts = collect_legs(setup, task, OVER, system, place, 100, passages=False)
    swept = point_figures(point, 3, task.layout, Legs(facts=facts, **arrays))
    live = np.full(task.layout.shape, -np.inf)
    with open_system(f"{OVER},{given}", SystemContext(tmp_path)) as system:
        session = LoadedTask("live", system, task, setup.vectors(task.corpus, False), SystemContext(tmp_path))
        for row, columns, answer in session.answers("live", 3):
            live[row, columns] = [match.score for match in answer.matches]
    assert 0 < swept[:, 0].mean() < 1
    assert swept[:, 0].tolist() == task.layout.figures(live, ("recall_any@1",))[:, 0].tolist()


def test_every_point_stands_in_a_table_that_says_what_it_is(tmp_path: Path) -> None:
    made = sweep(request(tmp_path, "weight=0,0.5,1", "floor=30,50"), environ={})
    assert [one["point"] for one in made.document["points"]][:3] == [
        {"weight": "0", "floor": "30"}, {"weight": "0", "floor": "50"}, {"weight": "0.5", "floor": "30"},
    ]  # fmt: skip
    text = (tmp_path / "swept" / "SWEEP.md").read_text(encoding="utf-8")
    assert NO_RESULT in text
    assert len([line for line in text.splitlines() if line.startswith("| 0.5 ")]) == 4  # figures, and by type
    assert "## Confirmation: the other half, once" in text
    assert made.document["n"] + made.document["confirmation"]["n"] == 36
    assert not (tmp_path / "swept" / ".sweep.partial").exists()
    names = {path.name for path in (tmp_path / "swept").iterdir()}
    assert {"sweep.json", "SWEEP.md"} <= names <= {"sweep.json", "SWEEP.md", "sweep.svg"}
    gate = made.document["gate"]["rows"]
    assert (gate[0]["false negatives"], gate[-1]["false negatives"]) == (0, 1)
