"""How a sentence is read: the arm, pair, sign, corpus, level, scope and version of a figure."""

from __future__ import annotations

import pytest

from runner.lint import Report, lint_text
from runner.lint.artefacts import Shelf
from tests.lint.committed import ROOT, SHELF

RUN = "benchmarks/locomo/results/v0.3.1_20261121_minilm/"
LATER = "pool: 50 candidates a leg where k = 50 was asked"  # a deviation that HISTORY.md tells of it later
CITED = f"Protocol 1.2.0, a deviation (embedder: minilm; {LATER}), from {RUN}."


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    return SHELF


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


NEWER = (
    "Protocol 1.4.0; LoCoMo, sessions, pgmnemo v0.4.0, embedder minilm; deviation: embedder: minilm. "
    "Artefacts: benchmarks/locomo/results/v0.4.0_20261122_minilm_side-by-side/."
)
RERANKED = (
    "Protocol 1.5.0; LoCoMo, turns, pgmnemo v0.4.1, embedder minilm; deviation: granularity: turn level; "
    "coverage: 2,820 of 2,822 ids; embedder: minilm; scope: every system behind the reranker, too. "
    "Artefacts: benchmarks/locomo/results/v0.4.1_20261123_minilm_turn_rerank-linear_side-by-side/."
)
APART = [
    # the citation stands behind the figure, and is held itself
    (
        f"recall_any@5 is 95.5 %.\n\n{NEWER}",
        f"recall_any@5 is 95.5 %.\n\n{NEWER.replace('embedder minilm', 'embedder bge-m3')}",
    ),
    (
        f"With whole sessions as lessons recall_any@5 is 95.5 %.\n\n{NEWER}",
        f"With single turns as lessons recall_any@5 is 95.5 %.\n\n{NEWER}",
    ),
    # a variant of a system is spoken of apart from it
    (
        f"recall_any@5 on turns: 77.7 % plain, 81.7 % reranked.\n\n{RERANKED}",
        f"recall_any@5 on turns: 81.7 % plain, 77.7 % reranked.\n\n{RERANKED}",
    ),
    (
        f"With the reranker recall_any@5 on turns goes from 77.7 % to 81.7 %.\n\n{RERANKED}",
        f"With the reranker recall_any@5 on turns goes from 81.7 % to 77.7 %.\n\n{RERANKED}",
    ),
    (
        f"The reranker adds 4.0 points of recall_any@5 on turns.\n\n{RERANKED}",
        f"The reranker costs 4.0 points of recall_any@5 on turns.\n\n{RERANKED}",
    ),
    # a direction says which of two values is whose
    (
        f"It is behind v0.3.1 in MRR@50, 0.855 against 0.856.\n\n{NEWER}",
        f"It is ahead of v0.3.1 in MRR@50, 0.856 against 0.855.\n\n{NEWER}",
    ),
    # ratios, further counts, further values behind a semicolon, values in turn
    (
        f"vector misses five times as many as the hybrid (22.6 % against 4.5 %, recall_any@5).\n\n{NEWER}",
        f"vector misses three times as many as the hybrid (22.6 % against 4.5 %, recall_any@5).\n\n{NEWER}",
    ),
    (
        f"It finds 1,892 of 1,982 questions (recall_any@5), 1,877 with the keyword leg.\n\n{NEWER}",
        f"It finds 1,892 of 1,982 questions (recall_any@5), 1,534 with the keyword leg.\n\n{NEWER}",
    ),
    (
        f"The hybrid has a recall_any@5 of 95.5 %; the vector leg has 77.4 %.\n\n{NEWER}",
        f"The hybrid has a recall_any@5 of 95.5 %; the vector leg has 94.7 %.\n\n{NEWER}",
    ),
    (
        f"recall_any@5 95.5 % and MRR@50 0.855, keyword 94.7 % and 0.846.\n\n{NEWER}",
        f"recall_any@5 95.5 % and MRR@50 0.855, keyword 94.7 % and 0.856.\n\n{NEWER}",
    ),
    (
        f"We have 95.5 % at five and 98.5 % at ten (recall_any).\n\n{NEWER}",
        f"We have 98.5 % at five and 95.5 % at ten (recall_any).\n\n{NEWER}",
    ),
    # steps without a unit, and both ends of a move
    (
        f"It gains 0.8 points of recall_any@5 over keyword (94.7 → 95.5), and 18.1 over vector.\n\n{NEWER}",
        f"It gains 0.8 points of recall_any@5 over keyword (95.5 → 94.7), and 18.1 over vector.\n\n{NEWER}",
    ),
    (
        f"MRR@50 rises by 0.010 over the keyword leg.\n\n{NEWER}",
        f"MRR@50 rises by 0.101 over the keyword leg.\n\n{NEWER}",
    ),
]  # fmt: skip


WORDS = [
    # depths in words, of a sentence that names no metric
    (f"Top five, 0.4.0, LoCoMo: 95.5 %.\n\n{NEWER}", f"Top five, 0.4.0, LoCoMo: 98.5 %.\n\n{NEWER}"),
    (
        f"A gold session comes first for 77.7 % of the questions.\n\n{NEWER}",
        f"A gold session comes first for 95.5 % of the questions.\n\n{NEWER}",
    ),
    # odds, subtractions, counts as differences
    (
        f"One question in 22 has no gold session among the first five.\n\n{NEWER}",
        f"One question in 12 has no gold session among the first five.\n\n{NEWER}",
    ),
    (
        f"recall_any@5: pgmnemo − vector +18.1, pgmnemo − keyword +0.8 points.\n\n{NEWER}",  # noqa: RUF001
        f"recall_any@5: pgmnemo − vector +0.8, pgmnemo − keyword +18.1 points.\n\n{NEWER}",  # noqa: RUF001
    ),
    # a version stands for our system among others
    (
        f"recall_any@5: 0.4.0 has 95.5 %, bm25 94.1 %.\n\n{NEWER}",
        f"recall_any@5: 0.4.0 has 94.1 %, bm25 95.5 %.\n\n{NEWER}",
    ),
    # a list has the metric of its introduction, a table of spaces that of its head
    (
        f"recall_any@5 by leg:\n\n- keyword: 94.7 %\n- vector: 77.4 %\n\n{NEWER}",
        f"recall_any@5 by leg:\n\n- keyword: 77.4 %\n- vector: 94.7 %\n\n{NEWER}",
    ),
    (
        f"```text\narm      recall_any@5  MRR@50\nkeyword          94.7   0.846\n```\n\n{NEWER}",
        f"```text\narm      recall_any@5  MRR@50\nkeyword          94.7   0.855\n```\n\n{NEWER}",
    ),
    # what is said of all of them, and who is ahead
    (
        f"Both keyword and bm25 reach a recall_any@5 of at least 94 %.\n\n{NEWER}",
        f"Both keyword and vector reach a recall_any@5 of at least 94 %.\n\n{NEWER}",
    ),
    (
        f"No type lies below 0.59 in MRR@50.\n\n{NEWER}",
        f"No type lies below 0.70 in MRR@50.\n\n{NEWER}",
    ),
    (
        f"bm25 (94.1 %) trails keyword (94.7 %) in recall_any@5.\n\n{NEWER}",
        f"bm25 (94.1 %) beats keyword (94.7 %) in recall_any@5.\n\n{NEWER}",
    ),
    # n and the embedder, said in passing
    (
        f"On the 321 temporal questions recall_any@5 is 96.3 %.\n\n{NEWER}",
        f"On the 282 temporal questions recall_any@5 is 96.3 %.\n\n{NEWER}",
    ),
    (
        f"recall_any@5 is 95.5 %; the embedder was MiniLM.\n\n{NEWER}",
        f"recall_any@5 is 95.5 %; the embedder was DRAGON+.\n\n{NEWER}",
    ),
]


@pytest.mark.parametrize(("right", "wrong"), WORDS)
def test_a_figure_is_read_by_the_words_that_people_use(shelf: Shelf, right: str, wrong: str) -> None:
    passed, failed = (lint_text(f"{text}\n", ROOT / "NOTES.md", shelf) for text in (right, wrong))
    assert passed.findings == ()
    assert "differs" in {finding.rule for finding in failed.findings}


def test_a_value_passes_that_may_be_of_another_word_of_its_sentence(shelf: Shelf) -> None:
    text = "0.4.0 is below its keyword leg on open-domain questions, 73.9 % recall_any@5 there for 75.0 %."
    assert lint_text(f"{text}\n\n{NEWER}\n", ROOT / "NOTES.md", shelf).passed


def test_a_marker_above_the_words_that_introduce_a_list_is_about_the_list_too(shelf: Shelf) -> None:
    text = "<!-- lint: exempt: a reason -->\nrecall_any@5 by leg:\n\n- keyword: 12.3 %\n- vector: 45.6 %\n"
    report = lint_text(f"{text}\n{NEWER}\n", ROOT / "NOTES.md", shelf)
    assert report.passed
    assert [exemption.findings for exemption in report.exemptions] == [2]


@pytest.mark.parametrize(("right", "wrong"), APART)
def test_a_figure_is_held_against_a_citation_that_stands_behind_it(
    shelf: Shelf, right: str, wrong: str
) -> None:
    passed, failed = (lint_text(f"{text}\n", ROOT / "NOTES.md", shelf) for text in (right, wrong))
    assert passed.findings == ()
    assert "differs" in {finding.rule for finding in failed.findings}


def test_a_deviation_that_became_known_later_is_owed_like_any_other(shelf: Shelf) -> None:
    text = f"recall_any@10 is 98.4 %.\n\n{CITED.replace(LATER, '')}\n"
    (finding,) = lint_text(text, ROOT / "NOTES.md", shelf).findings
    assert finding.rule == "no-label"
    assert "pool: 50 candidates a leg" in finding.message


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
