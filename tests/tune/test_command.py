"""The command on the sample: what it asks of the extension, what it leaves, what it refuses."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import runner
from runner.bench.material import Asked, CorpusLessons, Material
from runner.cli import app, main
from runner.editions import current
from runner.embedders import EMBEDDERS, EmbedderOptions, embed_corpus
from runner.records import SearchScope
from runner.systems import Place, open_system
from runner.systems.asking import Judge as AnswerJudge
from runner.systems.asking import answers
from runner.systems.pgmnemo import Pgmnemo
from runner.systems.pgmnemo.system import EVERYTHING
from runner.tune import tasks, tuning
from runner.tune.agreement import check_agreement, check_trials
from runner.tune.collecting import collect
from runner.tune.layout import Layout
from runner.tune.scoring import Judge
from runner.tune.store import load_components, save_components
from runner.tune.trials import NUMBER
from runner.tune.weights import NAMES, short
from tests.helping import CURRENT

ROOT = Path(runner.__file__).parents[1]
SAMPLE = ("--suite", "sample", "--embedder", "hash", "--quiet")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The sample in an open system, and its components."""
    settings = {name: str(value) for name, value in current().settings.items()} | EVERYTHING
    place = Place(tmp_path_factory.mktemp("tune"), CURRENT, "tune", settings, environ={})
    with open_system("pgmnemo", place) as system:
        assert isinstance(system, Pgmnemo)
        [task] = tasks.load_tasks("sample", None, {})
        vectors = embed_corpus(task.corpus, EMBEDDERS["hash"](EmbedderOptions()), None, passages=True)
        layout = Layout.of(task)
        collected = collect(system, place, task, layout, vectors, current())
        judge = Judge(task, layout, collected.values, collected.company)
        yield SimpleNamespace(system=system, task=task, vectors=vectors, collected=collected, judge=judge)


def test_the_scores_here_are_those_of_the_extension(asked: SimpleNamespace) -> None:
    found = check_agreement(asked.judge, asked.collected.weights)
    assert found.scores == 36 * 13
    assert found.displaced == 0


def test_they_are_so_at_weights_drawn_at_random(asked: SimpleNamespace) -> None:
    found = check_trials(asked.judge, asked.collected.weights)
    assert found.scores == NUMBER * 36 * 13
    assert found.displaced == 0


def test_they_are_so_under_other_weights_too(asked: SimpleNamespace) -> None:
    """What is moved offline is what the extension would do with those settings."""
    other = {
        **asked.collected.weights, "passage_term_bonus": 1, "bm25_weight": 0.5, "passage_terms_weight": 2,
        "pair_cosine_weight": 0, "temporal_weight": 4, "context_weight": 0.7, "graph_weight": 0,
        "neighbours_weight": 0.3, "assistant_weight": 0.9, "length_pivot": 50,
    }  # fmt: skip
    assert set(other) == set(NAMES)
    judge, task = asked.judge, asked.task
    overrides = {name: short(value) for name, value in other.items()}
    here = judge.scores(other)
    questions = tuple(Asked(position, question) for position, question in task.questions)
    lessons = CorpusLessons(task.corpus, asked.vectors)
    material = Material(task.corpus, asked.vectors, questions, lessons)
    queries = material.queries(questions, SearchScope("conversation"))
    found = answers(asked.system, "pgmnemo", queries, 13, AnswerJudge("pgmnemo", lessons), settings=overrides)
    compared = 0
    for row, answer in enumerate(found):
        columns = judge.layout.columns[task.questions[row][1].project]
        for hit in material.hits(answer.matches):
            assert here[row, columns[hit.id]] == pytest.approx(hit.score, abs=1e-9)
            compared += 1
    assert compared == 36 * 13


def test_forms_are_merged_in_one_ingest_and_not_in_the_other(asked: SimpleNamespace) -> None:
    values = asked.collected.values
    assert (values["plain bm25"] != values["bm25~70"]).any()
    assert (values["passage_terms~70+1"] <= values["passage_terms~70+2"]).all()
    assert (values["passage_terms~70+1"] != values["passage_terms~70+2"]).any()
    assert (values["tenant bm25"] != values["project bm25"]).any()
    with asked.system.database.admin() as owner:
        left = owner.execute("SELECT count(*) FROM pg_ts_config WHERE cfgname LIKE 'pgmnemo%'").fetchone()
    assert left == (0,)


def test_components_are_read_as_they_were_kept(asked: SimpleNamespace, tmp_path: Path) -> None:
    assert save_components(tmp_path / "a" / "b.npz", asked.collected)
    read = load_components(tmp_path / "a" / "b.npz")
    assert read is not None
    assert read.weights == asked.collected.weights
    for name, matrix in asked.collected.values.items():
        np.testing.assert_array_equal(read.values[name], matrix)
    for name in ("share", "moment", "source", "factor"):
        np.testing.assert_array_equal(getattr(read.company, name), getattr(asked.collected.company, name))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut", None])
def test_components_that_cannot_be_read_are_asked_for_again(tmp_path: Path, damage: bytes | None) -> None:
    if damage is not None:
        (tmp_path / "c.npz").write_bytes(damage)
    assert load_components(tmp_path / "c.npz") is None


def run(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    arguments = [
        "tune",
        *SAMPLE,
        "--cache",
        str(folder / "cache" / "e"),
        "--output",
        str(folder / "out"),
        *more,
    ]
    code = main(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_second_tuning_asks_nothing_and_writes_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "os", SimpleNamespace(environ={}))
    assert run(tmp_path, capsys)[0] == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.setattr(tuning, "collect", None)
    code, out, err = run(tmp_path, capsys)
    assert (code, err) == (0, "")
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(first) == {"tuning.json", "TUNING.md"}
    made = json.loads(first["tuning.json"])
    assert made["agreement"][0]["displaced"] == 0
    [default] = [
        row for row in made["figures"] if row["weights"] == "default" and row["depth"] == "whole scope"
    ]
    assert f"{100 * default['MRR@50'][0]:.2f}" in out
    figure = re.escape(f"{100 * made['ablation'][0]['recall_any@5'][0]:+.2f}")
    assert re.search(rf"^\| no bm25 +\| +{figure} \[", first["TUNING.md"].decode(), re.MULTILINE)


REFUSED = {
    "suite": (("--suite", "nothing"), "there is no suite named 'nothing'; choose one of: .*"),
    "twice": (("--suite", "sample", "--suite", "sample"), "--suite names one twice: sample, sample"),
    "engine": (
        ("--suite", "sample", "--version", "v0.3.1"),
        r"pgmnemo 0\.3\.1 does not say by itself what each component adds; name --version v0\.4\.0 or later, "
        "or take the runner of that release",
    ),
    "release": (
        ("--suite", "sample", "--version", "9.9"), r"there is no release '9\.9' of pgmnemo in .*"
    ),
    "embedder": (
        ("--suite", "sample", "--embedder", "none"), "there is no embedder named 'none'; choose one of: .*"
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


def test_the_development_items_are_meant_where_they_lie_beside_the_others(tmp_path: Path) -> None:
    whole = tmp_path / "longmemeval_s_cleaned.json"
    assert tasks._development("longmemeval", whole) == whole
    beside = tmp_path / "longmemeval_s_dev246.json.xz"
    beside.touch()
    assert tasks._development("longmemeval", whole) == beside
    assert tasks._development("locomo", whole) == whole


def test_every_option_is_documented() -> None:
    told = (ROOT / "runner" / "README.md").read_text().partition("### Tuning")[2].partition("\n## ")[0]
    tuning, _, sweeps = told.partition("### Training")[0].partition("### Sweeps")
    for command, text in ((app()["tune"], tuning), (app()["tune"]["sweep"], sweeps)):
        options = {one.name for one in command.assemble_argument_collection() if one.show}
        assert set(re.findall(r"`(--\w+)", text)) == options
