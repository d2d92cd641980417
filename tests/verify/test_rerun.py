"""`verify --rerun N`: rankings recalled again, and what a forger who keeps every other rule cannot pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import runner
from runner.systems import SYSTEMS, Match, Query, SystemSpec
from runner.verification import CHECKS, CheckResult, CheckStatus, VerificationOutcome, verify
from runner.verification.checks.rankings import AGAIN
from runner.verification.context import RunContext
from tests.finished import NO_MODES, CommonWords
from tests.verify.conftest import Copy

Copies = Callable[[], Any]
Lines = list[dict[str, Any]]
BESIDE = "sqlite-fts5"


class Few(CommonWords):
    """One that finds five lessons and no more, so that there are some that were not found."""

    def _ranked(self, query: Query, minimum: int, alone: bool = False) -> list[Match]:
        return super()._ranked(query, minimum, alone)[:5]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[type[CommonWords]], None]:
    """The system of the small run stands where pgmnemo does, and vectors are kept in the test's folder."""
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path / "cache"))

    def put(kind: type[CommonWords]) -> None:
        made = SystemSpec("pgmnemo", "words", lambda place: kind(place, 1, NO_MODES), versions=True)
        monkeypatch.setitem(SYSTEMS._members, "pgmnemo", made)

    put(CommonWords)
    return put


@pytest.fixture(scope="module")
def beside(finish: Callable[..., Any]) -> Any:
    """A run with a system beside the one under test, and with a reranker behind both."""
    return finish(limit=4, k=(1, 5), baselines=(BESIDE,), rerank="linear")


@pytest.fixture(scope="module")
def another(finish: Callable[..., Any]) -> Any:
    """A run with another system than pgmnemo under test."""
    return finish(limit=4, k=(1, 5), system=BESIDE)


def copied(made: Any, home: Path) -> Copy:
    copytree(made.folder.parent, home / "results", dirs_exist_ok=True)
    return Copy(home / "results" / made.folder.name, made.sql, made.corpus)


def rerun(run: Any, number: int = 25, corpus: Path | None = None) -> CheckResult:
    return CHECKS["rerun"](RunContext(run.folder, corpus, None, run.sql, number))


def name(rank: Any) -> str:
    return str(rank if isinstance(rank, str) else rank[0])


def put(rank: Any, one: str) -> Any:
    return one if isinstance(rank, str) else [one, *rank[1:]]


def of(lines: Lines, arm: str) -> Iterator[dict[str, Any]]:
    return (line for line in lines if line["arm"] == arm)


def forged(run: Copy, change: Callable[[Lines], object]) -> str:
    """What `rerun` says once the raw lines are changed."""
    lines = run.read("raw_retrievals.jsonl")
    change(lines)
    run.write("raw_retrievals.jsonl", lines)
    answer = rerun(run)
    assert answer.found is CheckStatus.WRONG, answer.sentence
    return answer.sentence


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
        if line["question"] == lines[0]["question"] and line["arm"] not in AGAIN:
            before = [name(rank) for rank in line["ranking"]]
            line["ranking"] = [put(rank, places.get(name(rank), name(rank))) for rank in line["ranking"]]
            if "tokens" in line:
                lengths = dict(zip(before, line["tokens"], strict=True))
                line["tokens"] = [lengths[places.get(one, one)] for one in before]
    run.write("raw_retrievals.jsonl", lines)
    run.recompute()
    run.seal()
    run.log()


@pytest.mark.usefixtures("system")
def test_an_honest_run_has_its_rankings_again(copy: Copies) -> None:
    answer = rerun(copy(), 3)
    assert answer.found is CheckStatus.HOLDS, answer.sentence
    said = "3 questions, recalled again in conversation, pool by 5 of 5 arms: the same ids and scores"
    assert answer.sentence.startswith(said)


@pytest.mark.usefixtures("system")
def test_exchanged_ids_that_every_other_check_lets_pass_are_found(run: Any) -> None:
    exchange(run)
    assert run.faults(corpus=True) == {}
    found = verify(run.folder, corpus=run.corpus, sql=run.sql, rerun=25)
    assert [answer.check for answer in found.faults] == ["rerun"]
    assert ": rank " in found.faults[0].sentence


@pytest.mark.usefixtures("system")
def test_changed_scores_in_the_same_order_are_found(copy: Copies) -> None:
    def raised(lines: Lines) -> None:
        lines[0]["ranking"][0][1] += 0.01

    assert "the score of " in forged(copy(), raised)


def test_gold_that_was_never_recalled_stands_nowhere(run: Any, system: Callable[..., None]) -> None:
    """It borrowed its recorded score before, at any rank."""
    system(Few)
    lines = run.read("raw_retrievals.jsonl")
    for line in (*of(lines, "pgmnemo"), *of(lines, "bm25")):
        del line["ranking"][5:]
        if "tokens" in line:
            del line["tokens"][5:]
    run.write("raw_retrievals.jsonl", lines)
    assert rerun(run).found is CheckStatus.HOLDS

    def first(lines: Lines) -> None:
        line = next(of(lines, "pgmnemo"))
        known = {name(rank) for rank in line["ranking"]}
        gold = next(one for other in of(lines, "random") for one in map(name, other["ranking"])
                    if other["scope"] == line["scope"] and one not in known
                    and other["question"] == line["question"])  # fmt: skip
        line["ranking"][0] = put(line["ranking"][0], gold)

    assert ": rank 1 is " in forged(run, first)


def lost(lines: Lines) -> None:
    """Each gold id that a rival found becomes one that it did not find."""
    for line in of(lines, BESIDE):
        line["ranking"] = [
            put(rank, f"lost/{place}") if name(rank) in line["gold"] else rank
            for place, rank in enumerate(line["ranking"])
        ]


def gained(lines: Lines) -> None:
    """A reranker returns an id that its base has not."""
    line = next(one for one in of(lines, f"{BESIDE}+rerank") if one["scope"] == "pool")
    line["ranking"][0] = put(line["ranking"][0], "garden/nowhere")


def reordered(lines: Lines) -> None:
    """The first two of a reranked answer change places, with their scores."""
    ranks = next(of(lines, "pgmnemo+rerank"))["ranking"]
    first, second = name(ranks[0]), name(ranks[1])
    ranks[0], ranks[1] = put(ranks[0], second), put(ranks[1], first)


def chance(lines: Lines) -> None:
    ranks = next(of(lines, "random"))["ranking"]
    ranks[0], ranks[1] = ranks[1], ranks[0]


@pytest.mark.usefixtures("system")
@pytest.mark.parametrize(
    ("change", "arm"),
    [(lost, BESIDE), (gained, f"{BESIDE}+rerank"), (reordered, "pgmnemo+rerank"), (chance, "random")],
)
def test_every_arm_that_opens_here_is_recalled_again(
    beside: Any, tmp_path: Path, change: Callable[[Lines], None], arm: str
) -> None:
    assert forged(copied(beside, tmp_path), change).startswith(f"{arm}, ")


@pytest.mark.usefixtures("system")
def test_an_arm_that_does_not_open_here_is_named(
    beside: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = replace(SYSTEMS[BESIDE], packages=("no-such-package",), remedy="install it")
    monkeypatch.setitem(SYSTEMS._members, BESIDE, absent)
    answer = rerun(copied(beside, tmp_path))
    assert answer.found is CheckStatus.HOLDS
    assert "by 6 of 10 arms: " in answer.sentence
    why = f"not installed: no-such-package; {absent.remedy}"
    assert f"; not held: {BESIDE} ({why}), {BESIDE}+rerank ({why}), " in answer.sentence


@pytest.mark.usefixtures("system")
def test_a_reranker_that_is_not_here_is_named(beside: Any, tmp_path: Path) -> None:
    run = copied(beside, tmp_path)
    record = run.read("run.json")
    record["reranker"]["revision"] = "sha256:other"
    run.write("run.json", record)
    assert (
        "; not held: pgmnemo+rerank (the reranker linear that is here is not the run's)"
        in rerun(run).sentence
    )


@pytest.mark.usefixtures("system")
def test_another_version_of_a_rival_is_named_where_it_ranks_otherwise(beside: Any, tmp_path: Path) -> None:
    run = copied(beside, tmp_path)
    record = run.read("run.json")
    next(one for one in record["arms"] if one["name"] == BESIDE)["version"] = "1.0"
    run.write("run.json", record)
    assert "by 10 of 10 arms" in rerun(run).sentence
    lines = run.read("raw_retrievals.jsonl")
    lost(lines)
    run.write("raw_retrievals.jsonl", lines)
    answer = rerun(run)
    assert answer.found is CheckStatus.HOLDS
    assert "is here, the run's was 1.0: " in answer.sentence


def test_a_system_other_than_pgmnemo_is_recalled_again(another: Any, tmp_path: Path) -> None:
    run = copied(another, tmp_path)
    assert rerun(run).found is CheckStatus.HOLDS
    found = runner.verify(run.folder, sql=run.sql, rerun=25)
    assert (found.outcome, BESIDE in found.arms) == (VerificationOutcome.HELD, True)

    def turned(lines: Lines) -> None:
        line = max(of(lines, BESIDE), key=lambda one: len(one["ranking"]))
        ids = [name(rank) for rank in line["ranking"]][::-1]
        line["ranking"] = [put(rank, one) for rank, one in zip(line["ranking"], ids, strict=True)]

    assert forged(run, turned).startswith(f"{BESIDE}, ")


@pytest.mark.usefixtures("system")
def test_the_manifest_draws_the_questions(run: Any) -> None:
    from runner.bench.request import selected
    from runner.verification.rerun import draw_questions

    evidence = RunContext(run.folder, run.corpus)
    assert evidence.corpus is not None
    asked = selected(evidence.run.choice, evidence.corpus, evidence.edition)
    draws = {tuple(one.position for one in draw_questions(asked, f"{salt}", 2)) for salt in range(20)}
    assert {len(one) for one in draws} == {2}
    assert len(draws) > 1
    assert draw_questions(asked, "a", 2) == draw_questions(tuple(reversed(asked)), "a", 2)[::-1]
    assert draw_questions(asked, "a", 99) == asked


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("choice.system", "bm25z", "could not be recalled again here: "),
        ("choice.embedder", "endpoint", "the vectors are of a service (endpoint)"),
        ("choice.version", "0.0.9", "could not be recalled again here: pgmnemo is "),
        ("embedder.revision", "2", "the embedder hash that is here is not the run's"),
    ],
)
@pytest.mark.usefixtures("system")
def test_what_cannot_be_recalled_again_is_not_asked(run: Any, field: str, value: str, sentence: str) -> None:
    part, inner = field.split(".")
    record = run.read("run.json")
    record[part][inner] = value
    run.write("run.json", record)
    answer = rerun(run)
    assert answer.found is CheckStatus.NOT_ASKED
    assert sentence in answer.sentence


@pytest.mark.usefixtures("system")
def test_another_corpus_is_a_fault_where_it_is_named_and_not_at_hand_where_it_is_found(
    run: Any, tmp_path: Path
) -> None:
    other = tmp_path / "sample.json"
    other.write_text(json.dumps(json.loads(run.corpus.read_text(encoding="utf-8"))), encoding="utf-8")
    assert "corpus" in {one.check for one in verify(run.folder, corpus=other, sql=run.sql, rerun=2).faults}
    document = run.read("run.json")
    document["corpus"]["sha256"] = "0" * 64
    run.write("run.json", document)
    answer = rerun(run)
    assert answer.found is CheckStatus.NOT_ASKED
    assert "name that one with --corpus" in answer.sentence


def test_a_corpus_that_is_not_here_is_said(run: Any) -> None:
    document = run.read("run.json")
    document["choice"]["suite"] = "file"
    run.write("run.json", document)
    for check in ("rerun", "questions"):
        answer = CHECKS[check](RunContext(run.folder, rerun=25))
        assert answer.found is CheckStatus.NOT_ASKED
        assert "the corpus is its owner's own file: give --corpus PATH" in answer.sentence


@pytest.mark.usefixtures("system")
def test_another_major_version_of_postgresql_proves_nothing_against_a_run(copy: Copies) -> None:
    run = copy()
    record = run.read("run.json")
    record["database"]["postgresql"] = "16.4"
    run.write("run.json", record)
    assert rerun(run).found is CheckStatus.HOLDS
    lines = run.read("raw_retrievals.jsonl")
    for line in of(lines, "pgmnemo"):
        ids = [name(rank) for rank in line["ranking"]][::-1]
        line["ranking"] = [put(rank, one) for rank, one in zip(line["ranking"], ids, strict=True)]
    run.write("raw_retrievals.jsonl", lines)
    answer = rerun(run)
    assert answer.found is CheckStatus.NOT_ASKED
    assert "pgmnemo is not held: PostgreSQL 18 is here, the run's was 16: " in answer.sentence
