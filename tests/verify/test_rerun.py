"""`verify --rerun N`: rankings recalled again, and what a forger who keeps every other rule cannot pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.errors import UsageError
from runner.records import Hit
from runner.systems import SYSTEMS, Kind
from runner.verify import CHECKS, Answer, Found, verify
from runner.verify.checks.rerun import TOLERANCE, faults
from runner.verify.evidence import Evidence
from tests.finished import NO_MODES, CommonWords

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks"
Copies = Callable[[], Any]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The system of the small run stands where pgmnemo does, and vectors are kept in the test's folder."""
    kind = Kind("pgmnemo", "words", lambda place: CommonWords(place, 1, NO_MODES), versions=True)
    monkeypatch.setitem(SYSTEMS._members, "pgmnemo", kind)
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path / "cache"))


def rerun(run: Any, number: int = 25, corpus: Path | None = None) -> Answer:
    return CHECKS["rerun"](Evidence(run.folder, corpus, None, run.sql, number))


def exchange(run: Any) -> None:
    """Two lessons of one question change places in every arm that a system ranked; all else follows."""
    lines = run.read("raw_retrievals.jsonl")
    first, second = next(
        (one[0], other[0])
        for one, other in zip(lines[0]["ranking"], lines[0]["ranking"][1:], strict=False)
        if one[1] != other[1]
    )
    places = {first: second, second: first}
    for line in lines:
        if line["question"] == lines[0]["question"] and line["arm"] != "random":
            line["ranking"] = [
                [places.get(rank[0], rank[0]), *rank[1:]]
                if isinstance(rank, list)
                else places.get(rank, rank)
                for rank in line["ranking"]
            ]
    run.write("raw_retrievals.jsonl", lines)
    run.recompute()
    run.seal()
    run.log()


@pytest.mark.usefixtures("system")
def test_an_honest_run_has_its_rankings_again(copy: Copies) -> None:
    answer = rerun(copy(), 3)
    assert answer.found is Found.HOLDS, answer.sentence
    assert answer.sentence.startswith("3 questions, recalled again in conversation, pool: the same ids")


@pytest.mark.usefixtures("system")
def test_exchanged_ids_that_every_other_check_lets_pass_are_found(copy: Copies) -> None:
    run = copy()
    exchange(run)
    assert run.faults(corpus=True) == {}
    found = verify(run.folder, corpus=run.corpus, sql=run.sql, rerun=25)
    assert [answer.check for answer in found.faults] == ["rerun"]
    assert ": rank " in found.faults[0].sentence


@pytest.mark.usefixtures("system")
def test_changed_scores_in_the_same_order_are_found(copy: Copies) -> None:
    run = copy()
    lines = run.read("raw_retrievals.jsonl")
    lines[0]["ranking"][0][1] += 0.01
    run.write("raw_retrievals.jsonl", lines)
    assert "the score of " in rerun(run).sentence


@pytest.mark.usefixtures("system")
def test_the_manifest_draws_the_questions(copy: Copies) -> None:
    from runner.bench.request import selected
    from runner.verify.rerunning import drawn

    evidence = Evidence(copy().folder, RESULTS / "sample" / "sample.json")
    assert evidence.corpus is not None
    asked = selected(evidence.run.choice, evidence.corpus, evidence.edition)
    draws = {tuple(one.position for one in drawn(asked, f"{salt}", 2)) for salt in range(20)}
    assert {len(one) for one in draws} == {2}
    assert len(draws) > 1
    assert drawn(asked, "a", 2) == drawn(tuple(reversed(asked)), "a", 2)[::-1]
    assert drawn(asked, "a", 99) == asked


def test_a_rerun_that_nobody_asked_for_is_not_asked(copy: Copies) -> None:
    answer = next(one for one in copy().verify().answers if one.check == "rerun")
    assert (answer.found, answer.sentence) == (Found.NOT_ASKED, "give --rerun N, such as 25")


@pytest.mark.parametrize("number", [0, -3])
def test_no_number_of_questions_is_wrong_use(copy: Copies, number: int) -> None:
    with pytest.raises(UsageError, match=f"--rerun takes a positive number of questions, not {number}"):
        verify(copy().folder, rerun=number)


@pytest.mark.parametrize(
    ("field", "value", "found", "sentence"),
    [
        ("choice.system", "bm25s", Found.NOT_ASKED, "bm25s is under test, and pgmnemo alone can be"),
        ("choice.embedder", "endpoint", Found.NOT_ASKED, "the vectors are of a service (endpoint)"),
        ("choice.version", "0.0.9", Found.WRONG, "could not be recalled again: "),
        ("embedder.revision", "2", Found.WRONG, "the embedder hash that is here is not the run's"),
    ],
)
@pytest.mark.usefixtures("system")
def test_what_cannot_be_recalled_again_is_said(
    copy: Copies, field: str, value: str, found: Found, sentence: str
) -> None:
    run = copy()
    part, name = field.split(".")
    record = run.read("run.json")
    record[part][name] = value
    run.write("run.json", record)
    answer = rerun(run)
    assert answer.found is found
    assert sentence in answer.sentence


@pytest.mark.usefixtures("system")
def test_another_corpus_is_said(copy: Copies, tmp_path: Path) -> None:
    run = copy()
    other = tmp_path / "sample.json"
    other.write_text(json.dumps(json.loads(run.corpus.read_text(encoding="utf-8"))), encoding="utf-8")
    assert "name that one with --corpus" in rerun(run, corpus=other).sentence


def test_a_corpus_that_is_not_here_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LOCOMO_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    run = next((RESULTS / "locomo" / "results").glob("v0.4.0_*_minilm_side-by-side"))
    answer = CHECKS["rerun"](Evidence(run, rerun=25))
    assert answer.found is Found.WRONG
    assert answer.sentence.startswith("could not be recalled again: no locomo10.json was found")


def test_a_package_that_is_not_here_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path))  # with the vectors at hand nothing is missing
    monkeypatch.setattr("runner.embedders.minilm.PACKAGE", "no_such_package")
    run = next((RESULTS / "sample" / "results").glob("v0.4.0_*"))
    answer = CHECKS["rerun"](Evidence(run, rerun=2))
    assert answer.found is Found.WRONG
    assert answer.sentence.startswith("could not be recalled again: the embedder minilm")


def hits(*scores: float, names: str = "abcdef") -> tuple[Hit, ...]:
    return tuple(Hit(name, score) for name, score in zip(names, scores, strict=False))


NEAR = 0.5 * (1 + TOLERANCE / 2)


@pytest.mark.parametrize(
    ("recorded", "again", "number"),
    [
        (hits(0.9, 0.5), hits(0.9, 0.5), 0),
        (hits(0.9, 0.5), hits(0.9, NEAR), 0),
        (hits(0.9, NEAR, 0.5), hits(0.9, NEAR, 0.5, names="acb"), 0),  # tied: either order
        (hits(0.9, 0.5), hits(0.9, NEAR, names="ac"), 0),  # tied at the end: either may be the last
        (hits(0.9, 0.5), hits(0.9, 0.5 * (1 + 3 * TOLERANCE)), 1),
        (hits(0.9, 0.5, names="ba"), hits(0.9, 0.5), 4),
        (hits(0.9, 0.5), hits(0.9, 0.4, names="ac"), 1),
        (hits(0.9, 0.5), hits(0.9), 1),
        ((Hit("b"), Hit("a")), hits(0.9, 0.5), 2),  # ids alone must be in order, too
        ((Hit("a"), Hit("b")), hits(0.9, 0.5), 0),
        ((Hit("a", 0.9, (0.5, None)),), (Hit("a", 0.9, (0.5, 0.1)),), 1),
        ((Hit("a", 0.9, (0.5, None)),), (Hit("a", 0.9, (0.50009, None)),), 0),
    ],
)
def test_ids_and_scores_are_equal_to_the_tolerance(
    recorded: tuple[Hit, ...], again: tuple[Hit, ...], number: int
) -> None:
    assert len(list(faults(recorded, again))) == number


def test_the_engine_itself_recalls_a_committed_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An embedded database, the model of the run, and no server that the environment names."""
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PGMNEMO_DSN", "postgresql://nobody@127.0.0.1:1/none")
    run = next((RESULTS / "sample" / "results").glob("v0.4.0_*"))
    answer = CHECKS["rerun"](Evidence(run, rerun=5))
    assert answer.found is Found.HOLDS, answer.sentence
