"""How a sentence is read: the arm, pair, sign, corpus, level, scope and version of a figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.lint import Report, lint_text
from runner.lint.artefacts import Shelf

ROOT = Path(__file__).parents[2]
RUN = "benchmarks/locomo/results/v0.3.1_20261121_minilm/"
CITED = f"Protocol 1.2.0, a deviation (embedder: minilm), from {RUN}."


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return Shelf(ROOT)


def read(shelf: Shelf, line: str) -> Report:
    return lint_text(f"# Notes\n\n{CITED}\n\n{line}\n", ROOT / "NOTES.md", shelf)


CELLS = "A cell has recall_any@5, then MRR@50.\n\n| arm | all |\n|---|---|\n"
PAIRS = [
    # L1: one arm that is named means that arm; several bind each value to the nearest
    ("The cosine arm reaches recall_any@5 of 51.0 %.", "The cosine arm reaches recall_any@5 of 95.6 %."),
    (
        "recall_any@5: bm25 94.0 %, vector 78.1 %, cosine 51.0 %.",
        "recall_any@5: bm25 78.1 %, vector 94.0 %, cosine 51.0 %.",
    ),
    (
        "recall_any@5 is 94.0 % for bm25 and 78.1 % for vector.",
        "recall_any@5 is 78.1 % for bm25 and 94.0 % for vector.",
    ),
    # L2: a difference has a sign and a pair
    (
        "pgmnemo gains 1.6 points of recall_any@5 over the bm25 arm.",
        "pgmnemo loses 1.6 points of recall_any@5 to the bm25 arm.",
    ),
    (
        "pgmnemo beats the cosine arm by 33.0 points of recall_any@10.",
        "pgmnemo beats the bm25 arm by 33.0 points of recall_any@10.",
    ),
    # L3: what a sentence says of its embedder, corpus, level, scope and version
    ("With MiniLM recall_any@10 is 98.4 %.", "With bge-m3 recall_any@10 is 98.4 %."),
    ("On LoCoMo recall_any@10 is 98.4 %.", "On LongMemEval recall_any@10 is 98.4 %."),
    ("At session granularity recall_any@10 is 98.4 %.", "At turn granularity recall_any@10 is 98.4 %."),
    ("In the pool recall_any@10 is 97.7 %.", "In both scopes recall_any@10 is 98.4 %."),
    ("Version 0.3.1 has a recall_any@10 of 98.4 %.", "Version 0.2.1 has a recall_any@10 of 98.4 %."),
    # L4: intervals, n, footnotes, alt text, complements
    ("recall_any@10 is 98.4 ± 1.3 %.", "recall_any@10 is 98.4 ± 0.2 %."),
    ("[^1]: In the pool recall_any@10 is 97.7 %.", "[^1]: In the pool recall_any@10 is 98.4 %."),
    ("![recall_any@10 98.4 %](a.svg)", "![recall_any@10 99.4 %](a.svg)"),
    (
        "It misses 31 of 1,982 questions at ten (recall_any@10).",
        "It misses 13 of 1,982 questions at ten (recall_any@10).",
    ),
    ("The error rate (1 - recall_any@10) is 1.6 %.", "The error rate (1 - recall_any@10) is 2.6 %."),
    (
        "| type | recall_any@5 | n |\n|---|---|---|\n| temporal | 96.9 % | 321 |",
        "| type | recall_any@5 | n |\n|---|---|---|\n| temporal | 96.9 % | 282 |",
    ),
    (
        "| metric | value | 95 % interval |\n|---|---|---|\n| MRR@50 | 0.856 | [0.831, 0.879] |",
        "| metric | value | 95 % interval |\n|---|---|---|\n| MRR@50 | 0.856 | [0.803, 0.879] |",
    ),
    (
        f"{CELLS}| pgmnemo | 95.6 [94.0, 96.8] · 0.856 |",
        f"{CELLS}| pgmnemo | 95.6 [94.0, 96.8] · 0.586 |",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), PAIRS)
def test_a_right_line_passes_and_its_wrong_twin_differs(shelf: Shelf, right: str, wrong: str) -> None:
    passed, failed = read(shelf, right), read(shelf, wrong)
    assert passed.findings == ()
    assert {finding.rule for finding in failed.findings} == {"differs"}


def test_an_exemption_that_names_a_rule_exempts_from_that_rule_alone(shelf: Shelf) -> None:
    line = "On the sample of an older run recall_any@10 is 12.3 % under protocol 1.2.0."
    kept = read(shelf, f"{line} <!-- lint: exempt no-protocol: a reason -->")
    assert "differs" in {finding.rule for finding in kept.findings}
    assert read(shelf, "recall_any@10 is 12.3 %. <!-- lint: exempt differs: a reason -->").passed
    unknown = read(shelf, "recall_any@10 is 12.3 %. <!-- lint: exempt diffres: a reason -->")
    assert "bad-marker" in {finding.rule for finding in unknown.findings}


@pytest.mark.parametrize(
    "text",
    [
        "recall_any@10 is " + "9" * 200_000,
        "recall_any@10 is 0." + "9" * 200_000 + " %",
        "recall_any@10 " + "1," * 100_000,
        "recall_any@10 is 98.4 % " + "a/" * 100_000,
        "recall_any@10 is " + " " * 100_000 + "x",
        "<!-- " * 20_000,
    ],
    ids=["digits", "decimals", "commas", "path", "spaces", "comments"],
)
def test_a_line_without_an_end_is_read_in_bounded_work(shelf: Shelf, text: str) -> None:
    assert lint_text(text, ROOT / "NOTES.md", shelf).files == 1


def test_every_one_of_1200_paragraphs_is_read(shelf: Shelf) -> None:
    paragraphs = "\n\n".join(f"Run {i}: the bm25 arm has a recall_any@10 of 97.7 %." for i in range(1200))
    report = read(shelf, paragraphs)
    assert report.passed
    assert report.figures == 1200
