"""The command on the sample: what it asks of the extension, what it leaves, what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import runner
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.progress import QUIET
from runner.cli import app, main
from runner.commands.tune import tasks, tuning
from runner.commands.tune.asking import Setup, load, save
from runner.commands.tune.collecting import components
from runner.commands.tune.request import TuneOptions
from runner.commands.tune.scoring import Judge, check_agreement
from runner.commands.tune.weights import TRIALS
from runner.systems import open_system
from runner.systems.pgmnemo.system import EVERYTHING

ROOT = Path(runner.__file__).parents[1]
SAMPLE = ("--suite", "sample", "--embedder", "hash", "--quiet")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The sample in an open system, and its components."""
    options = TuneOptions(embedder="hash", cache=tmp_path_factory.mktemp("cache") / "vectors")
    setup, [task] = Setup(options, {}, QUIET, SQL_FOLDER), tasks.load_tasks("sample", None, {})
    place = setup.place("tune", **EVERYTHING)
    with open_system("pgmnemo", place) as system:
        values, weights = components(setup, task, system, place)
        yield SimpleNamespace(
            system=system, setup=setup, task=task, place=place, values=values, weights=weights,
            judge=Judge.of(task, values),
        )  # fmt: skip


def test_the_scores_here_are_those_of_the_extension(asked: SimpleNamespace) -> None:
    found = check_agreement(asked.judge, asked.weights)
    assert (found["scores"], found["displaced"]) == (36 * 13, 0)
    drawn = found["at random weights"]
    assert (drawn["scores"], drawn["displaced"]) == (TRIALS * 36 * 13, 0)


def test_lessons_that_only_ask_lend_what_they_lend_in_the_extension(tmp_path: Path) -> None:
    """A chat, in which each fourth turn is a question and nothing else, and what is beside it counts."""
    options = TuneOptions(embedder="hash", cache=tmp_path / "vectors")
    setup, [task] = Setup(options, {}, QUIET, SQL_FOLDER), tasks.load_tasks("sample", None, {})
    segments = tuple(
        replace(
            one, position=place + 1, passages=(), text="Where is the boat?" if place % 4 == 1 else one.text
        )
        for place, one in enumerate(task.corpus.segments)
    )
    task, place = (
        replace(task, corpus=replace(task.corpus, segments=segments)),
        setup.place("asks", **EVERYTHING),
    )
    with open_system("pgmnemo", place) as system:
        values, weights = components(setup, task, system, place)
    found = check_agreement(Judge.of(task, values), weights)
    assert found["displaced"] == found["at random weights"]["displaced"] == 0


def test_forms_are_merged_in_one_ingest_and_not_in_the_other(asked: SimpleNamespace) -> None:
    values = asked.values
    assert (values["plain bm25"] != values["bm25~70"]).any()
    assert (values["passage_terms~70+1"] <= values["passage_terms~70+2"]).all()
    assert (values["passage_terms~70+1"] != values["passage_terms~70+2"]).any()
    assert (values["tenant bm25"] != values["project bm25"]).any()
    with asked.system.database.admin() as owner:
        left = owner.execute("SELECT count(*) FROM pg_ts_config WHERE cfgname LIKE 'pgmnemo%'").fetchone()
    assert left == (0,)


def test_components_are_read_as_they_were_kept(asked: SimpleNamespace, tmp_path: Path) -> None:
    assert save(tmp_path / "a" / "b.npz", asked.values, asked.weights)
    arrays, weights = load(tmp_path / "a" / "b.npz") or ({}, {})
    assert weights == asked.weights
    assert arrays.keys() == asked.values.keys()
    for name, matrix in asked.values.items():
        np.testing.assert_array_equal(arrays[name], matrix)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut", None])
def test_components_that_cannot_be_read_are_asked_for_again(tmp_path: Path, damage: bytes | None) -> None:
    if damage is not None:
        (tmp_path / "c.npz").write_bytes(damage)
    assert load(tmp_path / "c.npz") is None


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


REFUSED = {
    "suite": (("--suite", "nothing"), "there is no suite named 'nothing'; choose one of: .*"),
    "twice": (("--suite", "sample", "--suite", "sample"), "--suite names one twice: sample, sample"),
    "engine": (
        ("--suite", "sample", "--version", "v0.6.1"),
        r"the score of pgmnemo 0\.6\.1 is not made of what is read here; name --version v1\.0\.0 or later, "
        "or take the runner of that release",
    ),
    "release": (
        ("--suite", "sample", "--version", "9.9"), r"there is no release '9\.9' of pgmnemo in .*"
    ),
    "kept": (("--suite", "realtalk"), "realtalk is never tuned on, so that its figures count; .*"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_use_is_one_sentence(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = REFUSED[case]
    assert main(["tune", *arguments]) == 2
    assert re.fullmatch(f"wrong use: {words}\n", capsys.readouterr().err)


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


def test_every_file_that_is_given_is_a_corpus() -> None:
    data = ["file=a.jsonl", "locomo=x", "file=b.jsonl", "locomo=y"]
    options = TuneOptions(data=data)
    assert options.places("file") == [Path("a.jsonl"), Path("b.jsonl")]
    assert (options.places("locomo"), options.places("beam")) == ([Path("y")], [None])


def test_the_development_items_are_meant_where_they_lie_beside_the_others(tmp_path: Path) -> None:
    whole = tmp_path / "longmemeval_s_cleaned.json"
    assert tasks._development("longmemeval", whole) == whole
    beside = tmp_path / "longmemeval_s_dev246.json.xz"
    beside.touch()
    assert tasks._development("longmemeval", whole) == beside
    assert tasks._development("locomo", whole) == whole


def test_every_option_is_documented() -> None:
    told = (ROOT / "runner" / "README.md").read_text().partition("### Tuning")[2].partition("\n## ")[0]
    tuning, _, rest = told.partition("`tune sweep` scores")
    sweeping = rest.partition("`train` fits")[0]
    tune, sweep = (
        {one.name for one in command.assemble_argument_collection() if one.show}
        for command in (app()["tune"], app()["tune"]["sweep"])
    )
    assert set(re.findall(r"`(--\w+)", tuning)) == tune
    assert set(re.findall(r"`(--\w+)", sweeping)) | tune == sweep | tune
