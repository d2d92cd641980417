"""The table of several runs beside one another, in this repository's README."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from runner.commands.cite.mark_contents import mark_content
from runner.commands.cite.run_cache import RunCache
from runner.commands.cite.systems_table import LEGEND, plot, systems_table

ROOT = Path(__file__).parents[3]
RUN = "v1.0.0_20261130_minilm_side-by-side"


@pytest.fixture(scope="module")
def text() -> str:
    """BEAM, on part of which pgmnemo was tuned, and REALTALK."""
    runs = [RunCache(ROOT).run(f"{suite}/{RUN}", ROOT) for suite in ("beam", "realtalk")]
    assert "REALTALK, session" in plot(runs)
    some = plot(runs, ("pgmnemo", "pgvector+passages"))
    assert "<title>pgvector+passages: " in some  # a ring, and no dot of what was not chosen
    assert "<title>pgvector: " not in some
    return systems_table(runs, "plot.svg")


def test_a_figure_of_a_corpus_that_a_system_was_tuned_on_is_marked(text: str) -> None:
    rows = (line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|"))
    lines = {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows}
    marked = {name: [cell.endswith("‡") for cell in cells] for name, cells in lines.items()}
    assert marked["pgmnemo"] == [True, False, False]  # BEAM, REALTALK, p50
    assert marked["pgmnemo@0.6.1"] == marked["pgmnemo"]
    assert not any(
        any(cells) for name, cells in marked.items() if not name.startswith(("pgmnemo", "rrf", "convex"))
    )


def test_a_table_says_what_is_not_verified_and_which_runs_it_is_of(text: str) -> None:
    head = " ".join(text.split("\n")[0].split())
    assert "| BEAM 100K, message, n = 200 pointed questions (deviation) |" in head
    assert "| REALTALK, session, n = 726 (deviation) |" in head
    assert LEGEND in text
    assert "Protocol 2.2.0" in text
    assert f"`benchmarks/beam/results/{RUN}/`" in text


def chosen(*words: str) -> str:
    return mark_content(RunCache(ROOT), ROOT, ("systems", "plot.svg", *words)).text


def test_a_mark_may_name_the_systems_of_its_table_in_their_order() -> None:
    text = chosen("mempalace,pgmnemo", f"realtalk/{RUN}")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("| ")] == [
        "system", "mempalace", "pgmnemo",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("pgmnemo,nobody", f"realtalk/{RUN}"), "these runs have no system nobody: they have pgmnemo"),
        (("pgmnemo,mempalace",), "the mark names no run"),
    ],
)
def test_systems_that_were_not_measured_and_no_runs_are_refused(
    words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        chosen(*words)
