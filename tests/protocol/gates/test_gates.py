"""Each gate passes in a verified run and answers as PROTOCOL.md §5 says when its condition is not met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.protocol.editions import current
from runner.protocol.gates import RunFacts, check_all, gates_of, overall_verdict
from runner.records import Evidence, Status, Verdict
from runner.runs.environment import Code
from runner.runs.run import Arm

Changed = Callable[..., RunFacts]

GATES = {gate.name: gate for gate in gates_of(current())}
FOREIGN = "b" * 64
OTHER = "e" * 64


def database(version: str = "0.2.1", fingerprint: str = "c" * 64) -> DatabaseFacts:
    return DatabaseFacts("--dsn", "bench", "18.4", "0.8.5", version, fingerprint, "runner")


def identity(**changes: Any) -> EmbedderIdentity:
    return replace(EmbedderIdentity("tiny-embedder", "example/tiny", "1", 8, 512, 8), **changes)


FLAG = {"choice_allow_unregistered_corpus": True}
FAILED, DEVIATION, UNVERIFIED = Status.FAILED, Status.DEVIATION, Status.UNVERIFIED

OWN = {"gate_strict": "warn", "recency_weight": "0.10", "tenant_id": "t"}
# gate, changed facts, status, a word that the sentence must hold
CASES: list[tuple[str, dict[str, Any], Status, str]] = [
    ("dataset", {"corpus_sha256": FOREIGN}, FAILED, "no file that the protocol knows"),
    ("dataset", {"corpus_sha256": FOREIGN, **FLAG}, UNVERIFIED, FOREIGN),
    ("dataset", {"corpus_suite": "memories"}, FAILED, "which is the tiny corpus"),
    ("shape", {"corpus_shape": {"turns": 8}}, FAILED, "8 turns instead of 9"),
    ("shape", {"corpus_questions": ()}, FAILED, "0 questions instead of 3"),
    ("shape", {"corpus_questions": (), "corpus_sha256": FOREIGN, **FLAG}, UNVERIFIED, "0 questions"),
    ("granularity", {"corpus_granularity": "turn"}, DEVIATION, "non-canonical"),
    ("version", {"choice_version": "0.3.0"}, FAILED, "another version"),
    ("version", {"run_database": database(fingerprint=OTHER)}, FAILED, "patched copy"),
    (
        "version",
        {"run_database": database(fingerprint=OTHER), "recognised": False},
        FAILED,
        "public upstream extension",
    ),
    ("version", {"run_database": database(fingerprint=OTHER), "recognised": None}, FAILED, "no release"),
    ("version", {"fingerprint": None}, FAILED, "no release of this repository"),
    ("version", {"changed": "x.sql is not that of release 0.2.1"}, FAILED, "x.sql is not that of release"),
    ("seed", {"run_python_hash_seed": None}, FAILED, "(not set)"),
    ("seed", {"run_python_hash_seed": "0"}, FAILED, "PYTHONHASHSEED=0"),
    ("settings", {"run_guc_state": {"gate_strict": "warn", "recency_weight": "0.1"}}, FAILED, "tenant_id"),
    (
        "settings",
        {"run_guc_state": OWN | {"gate_strict": "off"}},
        DEVIATION,
        "gate_strict = off instead of warn",
    ),
    (
        "settings",
        {"run_guc_state": OWN | {"bm25_b": "0.4"}, "run_guc_defaults": {"bm25_b": "0.75", "tenant_id": ""}},
        DEVIATION,
        "bm25_b = 0.4 instead of 0.75",
    ),
    ("embedder", {"choice_embedder": "minilm", "run_embedder": identity(name="minilm")}, DEVIATION, "minilm"),
    ("embedder", {"choice_embedder": "none", "run_embedder": None}, DEVIATION, "keyword-only"),
    ("embedder", {"run_embedder": identity(max_tokens=256)}, DEVIATION, "max_tokens 256 instead of 512"),
    ("embedder", {"run_embedder": identity(revision="sha256:0")}, DEVIATION, "revision"),
    ("scope", {"choice_limit": 20}, DEVIATION, "only 20 questions"),
    ("scope", {"choice_k": (1, 5, 10)}, DEVIATION, "20, 50"),
    ("scope", {"choice_settings": {"bm25_b": "0.4"}}, DEVIATION, "bm25_b = 0.4"),
    ("tree", {"run_code": Code(None, None)}, DEVIATION, "no commit"),
    ("tree", {"run_code": Code("d" * 40, True)}, DEVIATION, "uncommitted changes"),
    ("history", {"history_ready": False}, FAILED, "cannot be written"),
    ("retrievals", {"retrievals": {}}, FAILED, "0 lines of pgmnemo in conversation"),
    ("retrievals", {"retrievals": {("pgmnemo", "conversation"): 2}}, FAILED, "0 lines of pgmnemo in pool"),
    ("retrievals", {"asked": 3}, FAILED, "2 lines of pgmnemo"),
    ("artefacts", {"artefacts": {"metrics.json": True}}, FAILED, "no report.md"),
]


def names(case: object) -> str | None:
    return case if isinstance(case, str) else None


@pytest.mark.parametrize(("gate", "facts", "status", "word"), CASES, ids=names)
def test_a_gate_answers_as_the_protocol_says(
    changed: Changed, gate: str, facts: dict[str, Any], status: Status, word: str
) -> None:
    result = GATES[gate](changed(**facts))
    assert result.status is status, result
    assert word in result.found
    assert result.expected
    assert result.resolve


def test_every_gate_passes_in_a_verified_run(verified: RunFacts) -> None:
    found = {name: gate(verified).status for name, gate in GATES.items()}
    told = "a new gate needs facts in `verified` of conftest.py with which it passes"
    assert found == dict.fromkeys(GATES, Status.PASSED), told
    assert overall_verdict(check_all(verified)) is Verdict.VERIFIED


def test_every_gate_has_a_case_in_which_it_does_not_pass() -> None:
    elsewhere = {"coverage", "leak", "blocked"}
    cases = {case[0] for case in CASES} | elsewhere
    assert cases == set(GATES), "a new gate needs a case in CASES in which it does not pass"


def test_a_blocked_md_blocks(changed: Changed, verified: RunFacts) -> None:
    result = GATES["blocked"](changed(artefacts={**(verified.artefacts or {}), "BLOCKED.md": True}))
    assert result.status is FAILED


def test_a_cut_by_turns_is_called_so(changed: Changed, verified: RunFacts) -> None:
    turns = tuple(replace(verified.corpus.segments[0], id=f"conv-1/D1:{n}") for n in range(9))
    result = GATES["shape"](changed(corpus_segments=turns))
    assert result.status is FAILED
    assert "9 segments instead of 4" in result.found
    assert "cut into turns" in result.resolve


def test_the_turn_level_is_counted_in_turns(changed: Changed, verified: RunFacts) -> None:
    project = {"conv-1": 5, "conv-2": 4}
    turns = tuple(
        replace(verified.corpus.segments[0], project=name, id=f"{name}/D1:{turn}")
        for name, number in project.items()
        for turn in range(number)
    )
    assert GATES["shape"](changed(corpus_segments=turns, corpus_granularity="turn")).status is Status.PASSED


def test_more_cutoffs_and_a_float_of_another_form_are_no_deviation(changed: Changed) -> None:
    settings = {"gate_strict": "warn", "recency_weight": "0.100", "tenant_id": "t", "bm25_b": "0.75"}
    facts = changed(
        choice_k=(1, 3, 5, 10, 20, 50), run_guc_state=settings, run_guc_defaults={"bm25_b": "0.750"}
    )
    assert GATES["scope"](facts).status is Status.PASSED
    assert GATES["settings"](facts).status is Status.PASSED


def test_part_of_the_questions_counts_as_asked(changed: Changed) -> None:
    counts = {(arm, scope): 1 for arm in ("pgmnemo", "random") for scope in ("conversation", "pool")}
    facts = changed(choice_limit=1, asked=1, retrievals=counts)
    assert GATES["retrievals"](facts).status is Status.PASSED


def test_another_system_that_failed_has_no_line(changed: Changed, verified: RunFacts) -> None:
    gate, lines = GATES["retrievals"], dict(verified.retrievals or {})
    failed = Arm("chroma", "another system", "system", failed="it could not be opened")
    assert gate(changed(run_arms=(*verified.run.arms, failed))).status is Status.PASSED
    stands = replace(failed, failed="")
    assert "0 lines of chroma" in gate(changed(run_arms=(*verified.run.arms, stands))).found
    part = {**lines, ("chroma", "pool"): 1}
    result = gate(changed(run_arms=(*verified.run.arms, failed), retrievals=part))
    assert result.status is FAILED
    assert "1 lines of chroma in pool" in result.found


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({}, Status.FAILED),
        ({"corpus_granularity": "turn"}, Status.DEVIATION),
        ({"corpus_sha256": FOREIGN, **FLAG}, Status.UNVERIFIED),
        ({"corpus_sha256": FOREIGN}, Status.FAILED),
    ],
)
def test_one_evidence_id_that_resolves_to_nothing_is_counted(
    changed: Changed, verified: RunFacts, facts: dict[str, Any], status: Status
) -> None:
    first, *others = verified.corpus.questions
    broken = replace(first, evidence=(*first.evidence, Evidence("D9:9", None)))
    result = GATES["coverage"](changed(corpus_questions=(broken, *others), **facts))
    assert result.status is status
    assert "2 of 3 ids and 2 of 2 questions" in result.found
    assert "conv-1/q0 cites D9:9" in result.where


def test_a_corpus_in_which_no_gold_resolves_fails_whatever_the_flag(
    changed: Changed, verified: RunFacts
) -> None:
    broken = tuple(replace(one, evidence=(Evidence("D", None),)) for one in verified.corpus.questions)
    facts = changed(corpus_questions=broken, corpus_sha256=FOREIGN, **FLAG)
    result = GATES["coverage"](facts)
    assert result.status is FAILED
    assert "0 of 3 questions" in result.found
