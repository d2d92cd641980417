"""The worst answer decides; what was not checked cannot pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import pytest

from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.protocol.gates import (
    RunFacts,
    check_after,
    check_all,
    check_before,
    deviations,
    gates_of,
    overall_verdict,
)
from runner.records import Corpus, GateResult, Status, Verdict
from runner.runs.environment import Code

Changed = Callable[..., RunFacts]
InForce = Callable[[Corpus], RunFacts]

GATES = {gate.name: gate for gate in gates_of(current())}
RANK = [Status.FAILED, Status.UNVERIFIED, Status.DEVIATION, Status.PASSED]
WORDS = [Verdict.BLOCKED, Verdict.UNVERIFIED, Verdict.DEVIATION, Verdict.VERIFIED]


@pytest.mark.parametrize("statuses", list(combinations_with_replacement(RANK, 3)))
def test_the_worst_gate_decides(statuses: tuple[Status, ...]) -> None:
    results = [GateResult("gate", status, "", "") for status in statuses]
    assert overall_verdict(results) is WORDS[min(map(RANK.index, statuses))]


def test_before_the_run_its_results_are_not_yet_known(verified: RunFacts) -> None:
    statuses = {result.gate: result.status for result in check_before(verified)}
    later = {"retrievals", "artefacts", "blocked"}
    assert {gate for gate, status in statuses.items() if status is Status.NOT_YET} == later
    assert set(statuses) == set(verified.edition.gates)
    assert overall_verdict(check_before(verified)) is Verdict.VERIFIED


def test_after_the_run_what_is_not_known_has_failed(changed: Changed) -> None:
    results = check_all(changed(run_database=None, run_guc_state={}))
    failed = {result.gate for result in results if result.status is Status.FAILED}
    assert failed == {"version", "settings"}
    assert overall_verdict(results) is Verdict.BLOCKED


def test_every_departure_is_named_for_the_history(changed: Changed) -> None:
    results = check_all(changed(run_code=Code("d" * 40, True), choice_limit=5))
    assert [line.partition(":")[0] for line in deviations(results)] == ["scope", "tree"]


def test_locomo_passes_every_gate_of_the_corpus(in_force: InForce, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path)
    facts = in_force(corpus)
    for gate in ("dataset", "shape", "granularity", "coverage"):
        assert GATES[gate](facts).status is Status.PASSED, GATES[gate](facts)
    assert "1,982 of 1,982 questions" in GATES["coverage"](facts).found


def test_locomo_by_turns_names_the_turns_that_do_not_exist(in_force: InForce, locomo_path: Path) -> None:
    corpus = SUITES["locomo"].load(locomo_path, "turn")
    facts = in_force(corpus)
    result = GATES["coverage"](facts)
    assert result.status is Status.DEVIATION
    assert "D10:19" in result.where
    assert "D4:36" in result.where
    assert GATES["shape"](facts).status is Status.PASSED
    assert GATES["granularity"](facts).status is Status.DEVIATION
    assert (
        GATES["shape"](replace(facts, corpus=replace(corpus, granularity="session"))).status is Status.FAILED
    )


def test_what_the_corpus_alone_decides_is_looked_at_once(changed: Changed, verified: RunFacts) -> None:
    before = check_before(verified)
    after = check_after(before, changed(corpus_questions=(), corpus_granularity="turn", run_seed=7))
    apart = {old.gate for old, new in zip(before, after, strict=True) if old != new}
    assert apart == {"seed", "retrievals", "artefacts", "blocked"}
    assert overall_verdict(after) is Verdict.BLOCKED


def test_another_system_is_not_asked_what_pgmnemo_is(changed: Changed) -> None:
    facts = changed(choice_system="sqlite-fts5", choice_version="", run_database=None, run_guc_state={})
    results = check_all(facts)
    assert [result.gate for result in results] == [
        name for name in facts.edition.gates if name not in ("version", "settings")
    ]
    assert overall_verdict(results) is Verdict.VERIFIED


def test_pgmnemo_is_pgmnemo_at_whichever_version(changed: Changed) -> None:
    facts = changed(choice_system="pgmnemo@0.2.1")
    assert tuple(result.gate for result in check_all(facts)) == facts.edition.gates
