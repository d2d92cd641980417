"""`tune` on the sample: the extension's own scores, the same bytes twice, no held-out items."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import runner
from lab.cli import main
from lab.tune import tasks, tuning
from lab.tune.components import components
from lab.tune.loaded_task import Setup
from lab.tune.request import TuneOptions
from lab.tune.scoring import TaskScorer, check_agreement
from lab.tune.weights import TRIALS
from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET
from runner.systems import open_system
from runner.systems.pgmnemo.system import EXACT

ROOT = Path(runner.__file__).parents[1]


SAMPLE = ("--suite", "sample", "--embedder", "hash", "--quiet")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The sample in an open system, and its components."""
    options = TuneOptions(embedder="hash", cache=tmp_path_factory.mktemp("cache") / "vectors")
    setup, [task] = Setup(options, {}, QUIET, SQL_FOLDER), tasks.load_tasks("sample", None, {})
    place = setup.place("tune", **EXACT)
    with open_system("pgmnemo", place) as system:
        values, weights = components(setup, task, system, place)
        yield SimpleNamespace(
            system=system, setup=setup, task=task, place=place, values=values, weights=weights,
            judge=TaskScorer.of(task, values),
        )  # fmt: skip


def test_the_scores_here_are_those_of_the_extension(asked: SimpleNamespace) -> None:
    found = check_agreement(asked.judge, asked.weights)
    assert (found["scores"], found["displaced"]) == (36 * 13, 0)
    drawn = found["at random weights"]
    assert (drawn["scores"], drawn["displaced"]) == (TRIALS * 36 * 13, 0)


def run(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    places = ["--cache", str(folder / "cache" / "e"), "--output", str(folder / "out")]
    code = main(["tune", *SAMPLE, *places, *more])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_second_tuning_asks_nothing_and_writes_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, capsys)[0] == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.setattr(tuning, "components", None)
    code, out, err = run(tmp_path, capsys)
    assert (code, err) == (0, "")
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(first) == {"tuning.json", "TUNING.md"}
    made = json.loads(first["tuning.json"])
    assert made["agreement"][0]["displaced"] == 0
    text = first["TUNING.md"].decode()
    assert text in out
    figure = re.escape(f"{100 * made['ablation'][0]['MRR@50'][0]:+.1f}")
    assert re.search(rf"^\| no bm25 +\| +{figure} \[", text, re.MULTILINE)


def test_items_kept_for_acceptance_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "HELD_OUT", ("sample",))
    copy = tmp_path / "renamed.json"
    shutil.copy(ROOT / "benchmarks" / "sample" / "sample.json", copy)
    unread = tmp_path / "sample.json"
    unread.write_text("not even JSON")
    for path in (unread, copy):
        assert main(["tune", *SAMPLE, "--data", str(path)]) == 2
        assert f"{path} holds the items of sample that are kept for acceptance" in capsys.readouterr().err


@pytest.mark.parametrize("suite", ["realtalk", "lifebench", "lifebench-zh", "knowme"])
def test_a_corpus_that_shows_the_quality_of_a_default_is_never_tuned_on(suite: str) -> None:
    with pytest.raises(UsageError, match=f"^{suite} is never tuned on"):
        next(tasks.load_tasks(suite, None, {}))
