"""Sweeps of strategies: the points of a grid, scored as a run would answer them, and never a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner.bench.material import Asked, CorpusLessons, Material
from runner.cli import main
from runner.embedders import EMBEDDERS, EmbedderOptions, embed_corpus
from runner.errors import UsageError
from runner.progress import QUIET
from runner.records import SearchScope
from runner.systems import Place, open_system
from runner.tune.collected_legs import collect_legs
from runner.tune.grid import axes, points
from runner.tune.layout import Layout
from runner.tune.scoring import figures_of
from runner.tune.sweep import point_figures, sweep
from runner.tune.sweep_document import NO_RESULT
from runner.tune.sweep_folds import folds
from runner.tune.sweep_request import SweepRequest
from runner.tune.tasks import Task, load_tasks

pytest.importorskip("apsw")
OVER = "convex:over=sqlite-hybrid"


def request(folder: Path, *grid: str, **more: Any) -> SweepRequest:
    usual = {
        "suite": "sample", "strategy": OVER, "embedder": "hash", "output": folder / "swept", "k": 50,
        "cache": folder / "cache" / "vectors",
    }  # fmt: skip
    return SweepRequest(**{**usual, "grid": grid or ("weight=0,0.5,1",), **more})


@pytest.fixture(scope="module")
def task() -> Task:
    [task] = load_tasks("sample", None, {})
    return task


@pytest.mark.parametrize(
    "given",
    ["weight=0.3,factor=1,floor=3", "weight=0.7,candidates=vector,factor=1,floor=5,recency=0.2"],
)
def test_a_point_is_scored_as_the_strategy_answers(given: str, task: Task, tmp_path: Path) -> None:
    vectors, layout = embed_corpus(task.corpus, EMBEDDERS["hash"](EmbedderOptions()), None), Layout.of(task)
    legs = collect_legs(OVER, Place(tmp_path, label="x"), task, layout, vectors, 100, QUIET)
    asked = tuple(Asked(position, question) for position, question in task.questions)
    material = Material(task.corpus, vectors, asked, CorpusLessons(task.corpus, vectors))
    [point] = points("convex", axes("convex", given.split(",")))
    swept, live = point_figures(point, 3, layout, legs), np.full(layout.shape, -np.inf)
    with open_system(f"{OVER},{given}", Place(tmp_path)) as system:
        system.load(material.lessons)
        for row, query in enumerate(material.queries(asked, SearchScope("conversation"))):
            columns = layout.columns[task.questions[row][1].project]
            for hit in material.hits(system.ask(query, 3)):
                live[row, columns[hit.id]] = hit.score
    assert 0 < swept[:, 0].mean() < 1
    assert swept[:, 0].tolist() == figures_of(layout, live, ("recall_any@1",))[:, 0].tolist()


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


def test_a_confirmation_is_of_what_the_choice_did_not_see(task: Task) -> None:
    [once] = folds(task)
    assert (once.tuned ^ once.held).all()
    made = folds(replace(task, corpus=replace(task.corpus, clustered=True)))
    assert len(made) == 3  # conversations of the sample
    for fold in made:
        assert not (fold.tuned & fold.held).any()
        projects = {one.project for (_, one), held in zip(task.questions, fold.held, strict=True) if held}
        assert projects == {fold.name}
    assert (np.sum([fold.held for fold in made], axis=0) == 1).all()


def test_an_interrupted_sweep_goes_on_and_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import runner.tune.sweep as module

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
    assert sorted(path.name for path in (tmp_path / "b/swept/.sweep.partial").glob("*.npy")) == [
        "0.npy",
        "1.npy",
    ]
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
        ({"grid": ("weight",)}, "--grid takes NAME=VALUE,VALUE,…, each name once, not 'weight'"),
        ({"grid": ("weight=2",)}, "--grid weight: '2', but it must be a number from 0 to 1"),
        ({"grid": ("k=5",)},
         "a sweep of convex has no axis 'k'; choose one of: weight, factor, floor, candidates, recency, "
         "temporal, text"),
        ({"grid": ("weight=1,1",)}, "--grid weight names a value twice: 1,1"),
        ({"grid": ("temporal=0,1",)},
         "temporal moves nothing without an anchor: name one, as convex:anchor=built-in"),
        ({"strategy": "chroma"}, "--strategy takes convex or rrf, not 'chroma'"),
        ({"strategy": "convex:weight=0.5"}, "weight is an axis of a sweep: give it by --grid weight=…"),
        ({"suite": "realtalk"}, "realtalk is never tuned on, so that its figures count; leave it out"),
        ({"granularity": "word"}, "sample has no granularity 'word'; choose one of: session"),
        ({"k": 0}, "--k takes a positive number of ranks, not 0"),
        ({"output": Path("/x/benchmarks/sample/results/best")},
         "--output: /x/benchmarks/sample/results/best is a place of runs, and a sweep is no result; name "
         "another"),
    ],
)  # fmt: skip
def test_a_sweep_that_cannot_be_is_one_sentence(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as raised:
        request(tmp_path, **change) if "grid" not in change else request(tmp_path, *change["grid"])
    assert str(raised.value) == sentence


def test_no_grid_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a sweep has axes by --grid"):
        SweepRequest(suite="sample", embedder="hash", output=tmp_path)


@pytest.mark.parametrize("command", ["history add", "leaderboard", "verify", "cite"])
def test_no_command_over_results_takes_a_sweep(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Callable[..., Any] = sweep
    folder = made(request(tmp_path, "weight=0.5"), environ={}).files[0].parent
    assert json.loads((folder / "sweep.json").read_text())["no result"] == NO_RESULT
    assert main([*command.split(), str(folder)]) == 2
    assert capsys.readouterr().err.startswith("wrong use: ")
