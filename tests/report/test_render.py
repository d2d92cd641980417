"""report.md: its bytes, and what each verdict lets it say."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import OutputError
from runner.protocol.editions import current
from runner.records import GateResult, Json, Score, SearchScope, Status, Verdict
from runner.report import render
from runner.runs.run import Arm, PassageCounts, Run

Documents = tuple[Json, Run]
GOLDEN = Path(__file__).with_name("golden.md")


def test_the_report_is_the_golden_one_byte_by_byte(run_of: Callable[..., Documents]) -> None:
    """Set PGMNEMO_WRITE_GOLDEN=1 to write it anew after a wanted change; then read it."""
    text = render(*run_of())
    if os.environ.get("PGMNEMO_WRITE_GOLDEN") == "1":
        GOLDEN.write_text(text.replace(current().version, "{edition}"), encoding="utf-8")
    golden = GOLDEN.read_bytes().replace(b"{edition}", current().version.encode())
    assert text.encode() == golden


def test_a_verified_run_says_so_and_is_cited_without_a_label(run_of: Callable[..., Documents]) -> None:
    text = render(*run_of(verdict=Verdict.VERIFIED, deviations=()))
    assert "**Verified.**" in text
    protocol = f"Protocol v{current().version} (PROTOCOL.md).\n"
    assert f"\nRecall measured under pgmnemo Recall Benchmark {protocol}" in text
    assert "\nVerdict: verified. Artefacts: benchmarks/locomo/results/v0.2.1_20260509_minilm/\n" in text
    assert "eviation" not in text.split("## Gates")[0] + text.split("## Cite it")[1]


def test_a_deviation_carries_its_labels_into_the_citation(run_of: Callable[..., Documents]) -> None:
    citation = render(*run_of(deviations=("only 20 questions", "another embedder"))).split("## Cite it")[1]
    assert "\nVerdict: deviation: only 20 questions; another embedder. Artefacts: benchmarks/" in citation


def test_an_unverified_run_is_not_to_be_cited(run_of: Callable[..., Documents]) -> None:
    gate = GateResult("corpus hash", Status.UNVERIFIED, "cd" * 32, "ab" * 32)
    text = render(*run_of(verdict=Verdict.UNVERIFIED, deviations=(), gates=(gate,)))
    assert "**Unverified: not to be cited.**" in text
    assert "- corpus hash: expected cdcdcdcdcdcd…, found abababababab…" in text
    assert "Recall measured under" not in text


def test_a_blocked_run_has_no_report(run_of: Callable[..., Documents]) -> None:
    with pytest.raises(OutputError, match=r"blocked.*BLOCKED\.md"):
        render(*run_of(verdict=Verdict.BLOCKED))


def test_what_must_be_disclosed_is_cited(run_of: Callable[..., Documents]) -> None:
    text = render(*run_of(disclosures=("DRAGON+ vectors are zero-padded to 1,024.",)))
    assert "Disclosed: DRAGON+ vectors are zero-padded to 1,024." in text.split("## Cite it")[1]


def _trivial(results: list[Score], metric: str) -> list[Score]:
    return [replace(score, trivial=3) if score.metric == metric else score for score in results]


def test_a_trivial_recall_is_no_headline_and_not_cited(run_of: Any) -> None:
    text = render(*run_of(results=_trivial(run_of.scores(), "recall_any@10")))
    first = text.split("## Arms")[0]
    assert "| recall_any@10" not in first
    assert "`recall_any@10` is no headline here: for 3 of 20 questions" in first
    assert "89.0†" in text
    assert "no recall@10 to cite" in text


def test_a_run_whose_headlines_are_all_trivial_says_so(run_of: Any) -> None:
    results = [replace(score, trivial=1) for score in run_of.scores()]
    first = render(*run_of(results=results, headline=("recall_any@1",))).split("## Arms")[0]
    assert "| metric" not in first
    assert "is no headline here" in first


def test_a_figure_that_was_not_computed_is_a_dash(run_of: Callable[..., Documents]) -> None:
    text = render(*run_of(scopes=(SearchScope("conversation"), SearchScope("elsewhere"))))
    table = text.split("### Arms within the question's elsewhere")[1]
    assert table.split("| pgmnemo")[1].split("\n")[0].count("–") == 4  # noqa: RUF001


def test_documents_of_two_runs_are_not_mixed(run_of: Callable[..., Documents]) -> None:
    metrics, _ = run_of()
    _, other = run_of(seed=7)
    with pytest.raises(OutputError, match="disagree on seed"):
        render(metrics, other)


def test_an_engine_of_passages_has_them_counted(run_of: Callable[..., Documents]) -> None:
    text = render(*run_of(passages=PassageCounts(2739, 2738)))
    assert "\nPassages: 2,739, of them 2,738 distinct.\n" in text
    assert "Passages:" not in render(*run_of())


def test_the_questions_on_which_a_time_acted_are_listed(run_of: Any) -> None:
    metrics, run = run_of()
    rows = [
        {"arm": "pgmnemo", "scope": "conversation", "n": 1200, "questions": ["q7", "q9"]},
        {"arm": "pgmnemo", "scope": "pool", "n": 20, "questions": []},
    ]
    text = render(metrics | {"anchored": rows}, run)
    part = text.split("## Times that questions name")[1].split("\n## ")[0]
    assert "- `pgmnemo`, conversation: 2 of 1,200: q7, q9\n- `pgmnemo`, pool: 0 of 20\n" in part
    assert "Times that questions name" not in render(metrics | {"anchored": []}, run)


def test_systems_stand_side_by_side_with_what_they_cost_and_why_one_has_no_ranking(run_of: Any) -> None:
    first, beside, *controls = run_of()[1].arms
    arms = (
        replace(first, load_seconds={"store": 1.25}, disk_bytes=2_000_000),
        replace(beside, role="system", words="keywords alone", tuned_on="never", remarks=("it was short",)),
        *controls,
        Arm("chroma", "as it comes", "system", "Chroma", failed="chroma failed: KeyError"),
    )
    text = render(*run_of(arms=arms))
    table = text.split("## Systems side by side")[1].split("\n## ")[0]
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("|")}
    assert "1.2 |" in rows["pgmnemo"]  # seconds of loading
    assert "2.0 |" in rows["pgmnemo"]  # MB on disk
    assert "89.0 [79.0, 97.0]" in rows["pgmnemo"]
    assert "84.0 [74.0, 92.0]" in rows["bm25"]
    assert rows["chroma"].count("–") == 10  # noqa: RUF001
    assert "keywords alone. Defaults chosen on this corpus: never. It was short." in table
    assert "**No ranking**: chroma failed: KeyError." in table
    assert "Systems side by side" not in render(*run_of())


def test_what_nothing_can_prove_is_listed_as_far_as_the_run_says_it(run_of: Callable[..., Documents]) -> None:
    section = render(*run_of(passages=PassageCounts(7, 6))).split("## What is stated")[1].split("\n## ")[0]
    listed = set(section.split("`")[3::2])
    assert {"machine", "python", "passages.count", "arms.tuned_on"} <= listed
    assert not {"reranker", "arms.failed", "seed", "guc_state"} & listed


def test_every_table_stands_in_columns(run_of: Callable[..., Documents]) -> None:
    blocks = render(*run_of()).split("## What it was made with")[0].split("\n\n")
    tables = [block.splitlines() for block in blocks if block.startswith("|")]
    assert len(tables) > 10
    for lines in tables:
        assert len({len(line) for line in lines}) == 1
        assert len(lines[0]) <= 115
