"""A citation says what protocol §8 asks, from the artefacts, or says why it says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.records import EmbedderIdentity
from runner.cli import main
from runner.commands.cite import cite
from runner.errors import GateError, UnusableRunError
from runner.protocol.editions import current
from runner.records import Score, Verdict
from runner.runs.results import Results
from runner.runs.run import Arm
from tests.helping import kept_run

pytestmark = pytest.mark.usefixtures("believed")
Make = Callable[..., Path]
BGE = EmbedderIdentity("bge-m3", "BAAI/bge-m3", "56", 1024, 512, 8)
OTHER = {"choice": {"embedder": "bge-m3"}, "embedder": BGE}
CHROMA = {"choice": {"system": "chroma"}, "arms": (Arm("chroma", "as it comes", "system"),)}
NEWER = {"name": "v0.3.0_20261122_minilm", "choice": {"version": "0.3.0"}}


def test_the_paragraph_is_the_protocols_word_for_word(results: Make) -> None:
    assert cite(results()).text.splitlines() == [
        f"Recall measured under pgmnemo Recall Benchmark Protocol v{current().version} (PROTOCOL.md).",
        "Corpus: LoCoMo, scope conversation, n = 1,982. Embedder: minilm.",
        "recall_any@10 = 0.975 [0.956, 0.986] (v0.2.1).",
        "Verdict: deviation: embedder: minilm. Artefacts: benchmarks/locomo/results/v0.2.1_20261121_minilm/",
    ]


def test_the_best_of_the_others_and_chance_follow_the_paragraph() -> None:
    text = cite(kept_run("locomo")).text
    words = "Best of the others in the same run, by recall_any@1: "
    line = next(line for line in text.splitlines() if line.startswith(words))
    figures = Results(kept_run("locomo")).metrics["results"]
    values = {
        row["arm"]: row["value"]
        for row in figures
        if (row["scope"], row["view"], row["type"], row["metric"])
        == ("conversation", "all", "all", "recall_any@1")
    }
    others = {arm: value for arm, value in values.items() if arm not in ("pgmnemo", "random", "ceiling")}
    best = max(others, key=others.__getitem__)
    assert f": {best} (" in line
    assert f") {others[best]:.3f}, chance (a random order) {values['random']:.3f}." in line


def test_others_with_the_same_value_are_all_named(
    tmp_path: Path, record: Callable[..., Any], shelve: Make
) -> None:
    run = record()
    more = (Arm("random", "a random order"), Arm("cosine", "by angle"), Arm("older", "as before"))
    run = replace(run, arms=(*(arm for arm in run.arms if arm.name in ("pgmnemo", "bm25")), *more))
    shares = {"pgmnemo": 0.6, "bm25": 0.5, "cosine": 0.5, "older": 0.4, "random": 0.1}
    figures = [
        Score(arm, "conversation", "all", "all", metric, value + gain, value + gain, value + gain, 1982)
        for metric, gain in (("recall_any@1", 0.0), ("recall_any@10", 0.3))
        for arm, value in shares.items()
    ]
    folder = shelve(tmp_path / run.path, run, figures)
    bm25 = next(arm for arm in run.arms if arm.name == "bm25")
    assert cite(folder).text.splitlines()[-1] == (
        f"Best of the others in the same run, by recall_any@1: bm25 ({bm25.words}) and cosine (by angle) "
        "0.500, chance (a random order) 0.100."
    )


def test_a_comparable_previous_run_stands_beside_with_its_own_label(results: Make) -> None:
    before = results()
    after = results((0.981, 0.97, 0.99), **NEWER)
    lines = cite(after, previous=before).text.splitlines()
    assert lines[2] == "recall_any@10 = 0.981 [0.970, 0.990] (v0.2.1: 0.975 → v0.3.0: 0.981)."
    assert lines[4] == (
        "Previous: v0.2.1, deviation: embedder: minilm. "
        "Artefacts: benchmarks/locomo/results/v0.2.1_20261121_minilm/"
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (OTHER, "embedder minilm against bge-m3"),
        ({"embedder": {"revision": "54"}}, "embedder revision 53aa51 against 54"),
        ({"choice": {"limit": 20}}, "questions asked all against 20, spread evenly"),
        (CHROMA, "system pgmnemo against chroma"),
    ],
)
def test_a_run_that_differs_in_more_than_the_version_is_no_previous_one(
    results: Make, change: dict[str, Any], word: str
) -> None:
    choice = {"version": "0.3.0", **change.get("choice", {})}
    after = results(**{**change, "choice": choice, "name": "v0.3.0_20261122"})
    with pytest.raises(UsageError, match=word):
        cite(after, previous=results())


@pytest.mark.parametrize("version", ["0.2.1", "0.10.0"])
def test_a_version_that_is_not_earlier_is_no_previous_one(results: Make, version: str) -> None:
    after = results(name="v0.2.1_20261122_minilm")
    before = results(name=f"v{version}_20261120_minilm", choice={"version": version})
    with pytest.raises(UsageError, match=f"version {version} is not earlier than 0.2.1"):
        cite(after, previous=before)


SAMPLE = {"choice": {"suite": "sample"}, "corpus": {"title": "the sample", "segments": 39, "citable": False}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [({"verdict": Verdict.UNVERIFIED}, "the run is unverified"), (SAMPLE, "no evidence of recall")],
)
def test_a_run_that_may_not_be_cited_is_refused_and_no_previous_value_either(
    results: Make, change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    refused, after = results(**change), results(**NEWER)
    with pytest.raises(GateError, match=sentence):
        cite(refused)
    with pytest.raises(GateError, match=sentence):
        cite(after, previous=refused)
    with pytest.raises(UsageError, match="is no results folder; name one that a run has finished"):
        cite(tmp_path)


def test_the_bibtex_entry_carries_the_whole_citation(results: Make) -> None:
    entry = cite(results()).bibtex
    assert entry.startswith("@misc{pgmnemo-locomo-v0-2-1-20261121-minilm,")
    assert entry.count("{") == entry.count("}")
    assert r"recall\_any@10 = 0.975 [0.956, 0.986] (v0.2.1). Verdict: deviation" in entry
    assert r"\url{benchmarks/locomo/results/v0.2.1_20261121_minilm/}" in entry


def test_a_folder_elsewhere_is_noted(results: Make, tmp_path: Path) -> None:
    folder = results()
    assert cite(folder).notes == ()
    elsewhere = folder.rename(tmp_path / "elsewhere")
    assert "commit it there" in cite(elsewhere).notes[0]


def test_the_command_prints_the_paragraph_or_bibtex(
    results: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results()
    assert main(["cite", str(folder)]) == 0
    assert capsys.readouterr().out == cite(folder).text + "\n"
    assert main(["cite", str(folder), "--bibtex"]) == 0
    assert capsys.readouterr().out == cite(folder).bibtex + "\n"


def test_a_run_that_is_not_kept_is_not_cited(results: Make) -> None:
    folder = results()
    local = folder.parent.with_name("local") / folder.name
    local.parent.mkdir()
    folder.rename(local)
    with pytest.raises(UnusableRunError, match=r"is not kept.*`python -m runner history add \S+`"):
        cite(local)
