"""Sweeps of strategies: the points of a grid, scored as a run would answer them, and never a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET
from runner.cli import main
from runner.commands.tune.asking import Session, Setup
from runner.commands.tune.request import SweepOptions
from runner.commands.tune.sweep import collect_legs, point_figures, sweep
from runner.commands.tune.swept import NO_RESULT, Legs
from runner.commands.tune.tasks import load_tasks
from runner.systems import Place, open_system

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
    with open_system(f"{OVER},{given}", Place(tmp_path)) as system:
        session = Session("live", system, task, setup.vectors(task.corpus, False), Place(tmp_path))
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


def test_an_interrupted_sweep_goes_on_and_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import runner.commands.tune.sweep as module

    whole = sweep(request(tmp_path / "a"), environ={}).files[0].read_bytes()
    scored: list[Any] = []

    def cut(*given: Any) -> Any:
        if len(scored) == 2:
            raise KeyboardInterrupt
        scored.append(given[0])
        return point_figures(*given)

    monkeypatch.setattr(module, "point_figures", cut)
    with pytest.raises(KeyboardInterrupt) as raised:
        sweep(request(tmp_path / "b"), environ={})
    assert raised.value.__notes__ == ["the same command goes on where it stopped"]
    assert len(list((tmp_path / "b/swept/.sweep.partial").glob("*.npz"))) == 2
    rest: list[Any] = []
    monkeypatch.setattr(
        module, "point_figures", lambda *given: rest.append(given[0]) or point_figures(*given)
    )
    monkeypatch.setattr(module, "collect_legs", None)  # they are kept: nothing is asked again
    resumed = sweep(request(tmp_path / "b"), environ={}).files[0].read_bytes()
    assert [point.given for point in rest] == [{"weight": "1"}]
    assert resumed == whole


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"grid": ("weight=2",)}, "--grid weight: '2', but it must be a number from 0 to 1"),
        ({"grid": ("k=5",)},
         "a sweep of convex has no axis 'k'; choose one of: weight, factor, floor, candidates, recency, "
         "temporal, text"),
        ({"grid": ("weight=1,1",)}, "--grid weight names a value twice: 1,1"),
        ({"grid": ("temporal=0,1",)},
         "temporal moves nothing without an anchor: name one, as convex:anchor=built-in"),
        ({"strategy": "convex:weight=0.5"}, "weight is an axis of a sweep: give it by --grid weight=…"),
        ({"granularity": "word"}, "sample has no granularity 'word'; choose one of: session"),
        ({"k": 0}, "--k takes a positive number of ranks, not 0"),
    ],
)  # fmt: skip
def test_a_sweep_that_cannot_be_is_one_sentence(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        sweep(request(tmp_path, *change.pop("grid", ()), **change), environ={})
    assert str(raised.value) == sentence


def test_no_command_over_results_takes_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sweep(request(tmp_path, "weight=0.5"), environ={}).files[0].parent
    assert json.loads((folder / "sweep.json").read_text())["no result"] == NO_RESULT
    for command in ("history add", "leaderboard", "verify", "cite"):
        assert main([*command.split(), str(folder)]) == 2
        assert capsys.readouterr().err.startswith("wrong use: ")
