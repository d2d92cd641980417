"""The worst answer decides; what was not checked cannot pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from runner.gates import GATES, RunFacts, check_all, check_before, deviations, judge
from runner.protocol import load_protocol
from runner.records import GateResult, Status, Verdict
from runner.suites import SUITES

Run = Callable[..., RunFacts]

DEV_SPLIT = "1b6e84ec6f26bed1a4b8e41b828ed99476627b46dfd0cd4b801f40324ec95c53"
RANK = [Status.FAILED, Status.UNVERIFIED, Status.DEVIATION, Status.PASSED]
WORDS = [Verdict.BLOCKED, Verdict.UNVERIFIED, Verdict.DEVIATION, Verdict.VERIFIED]


@pytest.mark.parametrize("statuses", list(combinations_with_replacement(RANK, 3)))
def test_the_worst_gate_decides(statuses: tuple[Status, ...]) -> None:
    results = [GateResult("gate", status, "", "") for status in statuses]
    assert judge(results) is WORDS[min(map(RANK.index, statuses))]


def test_before_the_run_its_results_are_not_yet_known(verified: RunFacts) -> None:
    statuses = {result.gate: result.status for result in check_before(verified)}
    later = {"retrievals", "artefacts", "blocked"}
    assert {gate for gate, status in statuses.items() if status is Status.NOT_YET} == later
    assert set(statuses) == set(GATES)
    assert judge(check_before(verified)) is Verdict.VERIFIED


def test_after_the_run_what_is_not_known_has_failed(run: Run) -> None:
    results = check_all(run(database=None, settings=None))
    failed = {result.gate for result in results if result.status is Status.FAILED}
    assert failed == {"version", "settings"}
    assert judge(results) is Verdict.BLOCKED


def test_every_departure_is_named_for_the_history(run: Run) -> None:
    results = check_all(run(dirty=True, limit=5))
    assert [line.partition(":")[0] for line in deviations(results)] == ["scope", "tree"]


def test_the_development_split_is_blocked_by_its_name_and_let_through_by_the_flag(
    verified: RunFacts, longmemeval_path: Path
) -> None:
    corpus = SUITES["longmemeval"].load(longmemeval_path)
    assert corpus.sha256 == DEV_SPLIT
    facts = replace(verified, protocol=load_protocol(), corpus=corpus)
    blocked = GATES["dataset"](facts)
    assert blocked.status is Status.FAILED
    assert "246-item development split" in blocked.found
    let_through = check_before(replace(facts, allow_unregistered=True))
    assert judge(let_through) is Verdict.UNVERIFIED


def test_locomo_passes_every_gate_of_the_corpus(verified: RunFacts, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path)
    facts = replace(verified, protocol=load_protocol(), corpus=corpus)
    for gate in ("dataset", "shape", "granularity", "coverage"):
        assert GATES[gate](facts).status is Status.PASSED, GATES[gate](facts)
    assert "1,982 of 1,982 questions" in GATES["coverage"](facts).found


def test_locomo_by_turns_names_the_turns_that_do_not_exist(verified: RunFacts, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path, "turn")
    facts = replace(verified, protocol=load_protocol(), corpus=corpus)
    result = GATES["coverage"](facts)
    assert result.status is Status.DEVIATION
    assert "D10:19" in result.where
    assert "D4:36" in result.where
    assert GATES["shape"](facts).status is Status.PASSED
    assert GATES["granularity"](facts).status is Status.DEVIATION
    assert (
        GATES["shape"](replace(facts, corpus=replace(corpus, granularity="session"))).status is Status.FAILED
    )


def test_the_sample_passes_every_gate_of_the_corpus(verified: RunFacts) -> None:
    suite = SUITES["sample"]
    facts = replace(verified, protocol=load_protocol(), corpus=suite.load(suite.locate(None, {})))
    for gate in ("dataset", "shape", "granularity", "coverage", "leak"):
        assert GATES[gate](facts).status is Status.PASSED, GATES[gate](facts)
