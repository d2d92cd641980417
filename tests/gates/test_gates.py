"""Each gate passes in a verified run and answers as PROTOCOL.md §5 says when its condition is not met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from runner.gates import GATES, RunFacts, check_all, judge
from runner.records import DatabaseFacts, EmbedderIdentity, Evidence, Status, Verdict
from runner.registry import Registry

Run = Callable[..., RunFacts]

FOREIGN = "b" * 64
OTHER = "e" * 64


def database(version: str = "0.2.1", fingerprint: str = "c" * 64) -> DatabaseFacts:
    return DatabaseFacts("--dsn", "bench", "18.4", "0.8.5", version, fingerprint, "runner")


def identity(**changes: Any) -> EmbedderIdentity:
    return replace(EmbedderIdentity("tiny-embedder", "example/tiny", "1", 8, 512, 8), **changes)


FAILED, DEVIATION, UNVERIFIED = Status.FAILED, Status.DEVIATION, Status.UNVERIFIED

# gate, changed facts, status, a word that the sentence must hold
CASES: list[tuple[str, dict[str, Any], Status, str]] = [
    ("dataset", {"corpus_sha256": FOREIGN}, FAILED, "no file that the protocol knows"),
    ("dataset", {"corpus_sha256": FOREIGN, "allow_unregistered": True}, UNVERIFIED, FOREIGN),
    ("dataset", {"corpus_suite": "memories"}, FAILED, "no file that the protocol knows"),
    ("shape", {"corpus_shape": {"turns": 8}}, FAILED, "8 turns instead of 9"),
    ("shape", {"corpus_questions": ()}, FAILED, "0 questions instead of 3"),
    ("shape", {"corpus_questions": (), "allow_unregistered": True}, FAILED, "0 questions"),
    (
        "shape",
        {"corpus_questions": (), "corpus_sha256": FOREIGN, "allow_unregistered": True},
        UNVERIFIED,
        "0 questions",
    ),
    ("granularity", {"corpus_granularity": "turn"}, DEVIATION, "non-canonical"),
    ("version", {"requested_version": "v0.3.0"}, FAILED, "another version"),
    ("version", {"database": database(fingerprint=OTHER)}, FAILED, "patched copy"),
    (
        "version",
        {"database": database(fingerprint=OTHER), "ours": False},
        FAILED,
        "public upstream extension",
    ),
    ("version", {"database": database(fingerprint=OTHER), "ours": None}, FAILED, "no release"),
    ("version", {"database": database("0.7.0", OTHER), "ours": False}, FAILED, "public upstream extension"),
    ("version", {"fingerprint": None}, FAILED, "no release of this repository"),
    ("seed", {"hash_seed": None}, FAILED, "(not set)"),
    ("seed", {"hash_seed": "0"}, FAILED, "PYTHONHASHSEED=0"),
    ("seed", {"seed": 7}, FAILED, "seed 7"),
    ("settings", {"settings": {"gate_strict": "warn", "recency_weight": "0.1"}}, FAILED, "tenant_id"),
    ("settings", {"settings": {}}, FAILED, "recency_weight"),
    (
        "settings",
        {"settings": {"gate_strict": "off", "recency_weight": "0.10", "tenant_id": "t"}},
        DEVIATION,
        "gate_strict = off instead of warn",
    ),
    (
        "settings",
        {
            "settings": {"gate_strict": "warn", "recency_weight": "0.10", "tenant_id": "t", "bm25_b": "0.4"},
            "defaults": {"gate_strict": "enforce", "bm25_b": "0.75", "tenant_id": ""},
        },
        DEVIATION,
        "bm25_b = 0.4 instead of 0.75",
    ),
    ("embedder", {"embedder": "minilm", "identity": identity(name="minilm")}, DEVIATION, "minilm"),
    ("embedder", {"embedder": "none", "identity": None}, DEVIATION, "keyword-only"),
    ("embedder", {"identity": identity(query_prefix="query: ")}, DEVIATION, "query_prefix"),
    ("embedder", {"identity": identity(max_tokens=256)}, DEVIATION, "max_tokens 256 instead of 512"),
    ("embedder", {"identity": identity(revision="sha256:0")}, DEVIATION, "revision"),
    ("scope", {"limit": 20}, DEVIATION, "first 20"),
    ("scope", {"types": ("temporal",)}, DEVIATION, "temporal"),
    ("scope", {"cutoffs": (1, 5, 10)}, DEVIATION, "20, 50"),
    ("scope", {"departures": {"mode": "keyword"}}, DEVIATION, "mode keyword"),
    ("tree", {"commit": None, "dirty": None}, DEVIATION, "no commit"),
    ("tree", {"dirty": True}, DEVIATION, "uncommitted changes"),
    ("tree", {"dirty": None}, DEVIATION, "uncommitted changes"),
    ("history", {"history_ready": False}, FAILED, "cannot be written"),
    ("retrievals", {"retrievals": {}}, FAILED, "none in conversation"),
    ("retrievals", {"retrievals": {("pgmnemo", "conversation"): 2}}, FAILED, "none in pool"),
    ("retrievals", {"asked": 3}, FAILED, "2 lines of pgmnemo"),
    ("artefacts", {"artefacts": {"metrics.json": True}}, FAILED, "no report.md"),
]


def names(case: object) -> str | None:
    return case if isinstance(case, str) else None


@pytest.mark.parametrize(("gate", "facts", "status", "word"), CASES, ids=names)
def test_a_gate_answers_as_the_protocol_says(
    run: Run, gate: str, facts: dict[str, Any], status: Status, word: str
) -> None:
    result = GATES[gate](run(**facts))
    assert result.status is status, result
    assert word in result.found
    assert result.expected
    assert result.resolve


def test_every_gate_passes_in_a_verified_run(verified: RunFacts) -> None:
    results = check_all(verified)
    assert {result.gate: result.status for result in results} == dict.fromkeys(GATES, Status.PASSED)
    assert judge(results) is Verdict.VERIFIED


def test_every_gate_has_a_case_in_which_it_does_not_pass() -> None:
    elsewhere = {"coverage", "leak", "blocked"}
    assert isinstance(GATES, Registry)
    assert {case[0] for case in CASES} | elsewhere == set(GATES)


def test_a_blocked_md_blocks(run: Run, verified: RunFacts) -> None:
    result = GATES["blocked"](run(artefacts={**(verified.artefacts or {}), "BLOCKED.md": True}))
    assert result.status is FAILED


def test_a_cut_by_turns_is_called_so(run: Run, verified: RunFacts) -> None:
    turns = tuple(replace(verified.corpus.segments[0], id=f"conv-1/D1:{n}") for n in range(9))
    result = GATES["shape"](run(corpus_segments=turns))
    assert result.status is FAILED
    assert "9 segments instead of 4" in result.found
    assert "cut into turns" in result.resolve


def test_the_turn_level_is_counted_in_turns(run: Run, verified: RunFacts) -> None:
    project = {"conv-1": 5, "conv-2": 4}
    turns = tuple(
        replace(verified.corpus.segments[0], project=name, id=f"{name}/D1:{turn}")
        for name, number in project.items()
        for turn in range(number)
    )
    assert GATES["shape"](run(corpus_segments=turns, corpus_granularity="turn")).status is Status.PASSED


def test_more_cutoffs_and_a_float_of_another_form_are_no_deviation(run: Run) -> None:
    settings = {"gate_strict": "warn", "recency_weight": "0.100", "tenant_id": "t", "bm25_b": "0.75"}
    facts = run(cutoffs=(1, 3, 5, 10, 20, 50), settings=settings, defaults={"bm25_b": "0.750"})
    assert GATES["scope"](facts).status is Status.PASSED
    assert GATES["settings"](facts).status is Status.PASSED


def test_part_of_the_questions_counts_as_asked(run: Run) -> None:
    counts = {("pgmnemo", "conversation"): 1, ("pgmnemo", "pool"): 1}
    assert GATES["retrievals"](run(limit=1, asked=1, retrievals=counts)).status is Status.PASSED


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({}, Status.FAILED),
        ({"corpus_granularity": "turn"}, Status.DEVIATION),
        ({"corpus_sha256": FOREIGN, "allow_unregistered": True}, Status.UNVERIFIED),
        ({"corpus_sha256": FOREIGN}, Status.FAILED),
    ],
)
def test_one_evidence_id_that_resolves_to_nothing_is_counted(
    run: Run, verified: RunFacts, facts: dict[str, Any], status: Status
) -> None:
    first, *others = verified.corpus.questions
    broken = replace(first, evidence=(*first.evidence, Evidence("D9:9", None)))
    result = GATES["coverage"](run(corpus_questions=(broken, *others), **facts))
    assert result.status is status
    assert "2 of 3 ids and 2 of 2 questions" in result.found
    assert "conv-1/q0 cites D9:9" in result.where


def test_a_corpus_in_which_no_gold_resolves_fails_whatever_the_flag(run: Run, verified: RunFacts) -> None:
    broken = tuple(replace(one, evidence=(Evidence("D", None),)) for one in verified.corpus.questions)
    facts = run(corpus_questions=broken, corpus_sha256=FOREIGN, allow_unregistered=True)
    result = GATES["coverage"](facts)
    assert result.status is FAILED
    assert "0 of 3 questions" in result.found
