"""Where an edition's headline is of a view, every headline figure is of that view and says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runner.commands.cite.run_cache import row_of
from runner.commands.compare import compare
from runner.commands.compare.compared_run import ComparedRun
from runner.commands.compare.release_gate import GateOutcome
from runner.commands.compare.text import comparison_text, gate_text
from runner.commands.leaderboard import leaderboard
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.protocol.metrics.document import metrics_of
from runner.records import Json, RankedSegment, Retrieval, Verdict
from runner.report import render, summary
from runner.report.citation import citation
from runner.report.formats import Figures
from runner.report.html import render_page
from runner.report.html.panels import forest
from runner.runs.canonical import compact
from runner.runs.manifest import write_manifest
from runner.runs.raw import RAW
from runner.runs.run import Arm, CorpusPins, Run, write_metrics, write_run
from runner.verification import Verification

POINTED, OTHER = "knowledge_update", "summarization"
QUESTIONS = 20  # of each of both types, half of them in each of two chats


def rows(found: int, arm: str) -> Iterator[Retrieval]:
    """The arm finds the gold of `found` pointed questions at rank 1, and of no other."""
    for number in range(2 * QUESTIONS):
        kind = POINTED if number % 2 == 0 else OTHER
        first = "gold" if kind == POINTED and number // 2 < found else "miss"
        for scope, size in (("conversation", 100), ("pool", 200)):
            yield Retrieval(
                f"q{number}",
                kind,
                arm,
                scope,
                f"chat{number % 4 // 2}",
                size,
                ("gold",),
                (RankedSegment(first),),
            )


@pytest.fixture
def made(record: Callable[..., Run], tmp_path: Path) -> Callable[[int], tuple[Path, Run, Json]]:
    """A run of BEAM, as its folder, its record and its figures, that finds so many pointed golds."""

    def make(found: int) -> tuple[Path, Run, Json]:
        shape = {"projects": 2, "segments": 200, "questions": 40, "scored": 40, POINTED: 20, OTHER: 20}
        run = record(
            name=f"run{found}",
            verdict=Verdict.DEVIATION,
            choice={"suite": "beam", "level": "message"},
            corpus=CorpusPins(
                "BEAM 100K", "100K", "ab" * 32, 200, 40, True, shape, files={"1/chat.json": "cd" * 32}
            ),
            arms=(Arm("pgmnemo", "the extension", "system", "pgmnemo", "0.2.1"), Arm("bm25", "a leg", "leg")),
            views=SUITES["beam"].views(current()),
        )
        lines = sorted(
            [*rows(found, "pgmnemo"), *rows(5, "bm25")], key=lambda row: (row.arm != "pgmnemo", row.scope)
        )
        metrics = metrics_of(run, lines)
        folder = tmp_path / run.name
        folder.mkdir()
        write_run(folder, run)
        write_metrics(folder, metrics)
        raw = "".join(compact(_line(row)) + "\n" for row in lines)
        (folder / RAW).write_text(raw, encoding="utf-8")
        write_manifest(folder, run.edition.schemas)
        return folder, run, metrics

    return make


def _line(row: Retrieval) -> Json:
    named = ("question", "type", "arm", "scope", "project", "size")
    line = {name: getattr(row, name) for name in named}
    return line | {"gold": list(row.gold), "ranking": [[hit.id, 1.0] for hit in row.ranking]}


def test_the_run_has_the_headline_view_of_its_edition(made: Callable[..., tuple[Path, Run, Json]]) -> None:
    _, run, _ = made(10)
    assert run.headline_view == "pointed"
    only = replace(run, choice=replace(run.choice, types=(OTHER,)))
    assert only.headline_view == "all"
    locomo = replace(run, choice=replace(run.choice, suite="locomo"))
    assert locomo.headline_view == "all"


def test_the_report_and_the_terminal_head_with_that_view_and_keep_the_others(
    made: Callable[..., tuple[Path, Run, Json]],
) -> None:
    _, run, metrics = made(10)
    text = render(metrics, run)
    assert re.search(r"\| recall_any@10 \| +50\.0 % \| +\[.*\] \| +20 \|", text)
    assert "within the question's conversation, pointed questions; recalls in percent." in text
    assert "The headline is of the pointed questions: all but those of the types event_ordering," in text
    views = text.partition("## Views")[2].partition("## Every")[0]
    for name, value in (("all", "25.0"), ("pointed", "50.0"), ("not pointed", "0.0")):
        assert any(line.startswith(f"| {name} ") and value in line for line in views.splitlines())
    whole = text.partition("### Metrics within the question's conversation, all questions")[2]
    assert "25.0" in next(line for line in whole.splitlines() if line.startswith("| recall_any@10 "))
    assert "n = 40" in whole
    shown = summary(metrics, run)
    assert "BEAM 100K, pointed questions" in shown
    assert "50.0" in shown
    assert "25.0 [" not in shown.partition("bm25")[0]


def test_the_page_heads_with_that_view(made: Callable[..., tuple[Path, Run, Json]]) -> None:
    _, run, metrics = made(10)
    page = render_page(metrics, run, [*rows(10, "pgmnemo"), *rows(5, "bm25")], [])
    assert "with the evidence ranks first for 50.0\u00a0% of the pointed questions" in page
    assert "20 pointed questions, each searched" in page
    assert "The headline is of the pointed questions: all but" in page


def test_a_citation_and_a_mark_are_of_that_view(made: Callable[..., tuple[Path, Run, Json]]) -> None:
    folder, run, metrics = made(10)
    text = citation(Figures(metrics, run.headline_view), run) or ""
    assert "n = 20 pointed questions. Embedder" in text
    assert "recall_any@10 = 0.500 [" in text
    assert row_of(ComparedRun(folder), "pgmnemo", "conversation", "recall_any@10")["view"] == "pointed"


def test_a_comparison_decides_on_that_view(made: Callable[..., tuple[Path, Run, Json]]) -> None:
    (before, *_), (after, *_) = made(4), made(16)
    found = compare(before, after)
    assert {(one.row.view, one.row.type, one.row.n) for one in found.family} == {("pointed", "all", 20)}
    assert {len(one.won) for one in found.moved} == {12}
    document = found.document()
    assert document["family"]["view"] == "pointed"
    (panel,) = (one for one in forest(document, found.baseline.run.headline, "pool") if one.title == "MRR@50")
    assert "0.200 → 0.800; 12 questions won, 0 lost" in panel.words
    assert "conversation, pointed questions, n = 20" in comparison_text(found)
    assert "BEAM 100K, pointed questions, " in gate_text(GateOutcome((), found))


def test_a_leaderboard_ranks_by_that_view(made: Callable[..., tuple[Path, Run, Json]]) -> None:
    (before, *_), (after, *_) = made(4), made(16)
    found = leaderboard([before, after], check=lambda folder: Verification(folder, "deviation", ()))
    (group,) = found.groups
    assert group.title.startswith("BEAM 100K, pointed questions, message level, ")
    board = group.boards[0]
    assert (board.n, [row.name for row in board.rows]) == (20, ["run16", "run4"])
    behind = board.rows[1].behind
    assert behind.difference == -0.6
