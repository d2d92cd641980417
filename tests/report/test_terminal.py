"""What the command line prints of a run: Markdown as it is into a pipe, laid out on a terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgmnemo.terminal import SafeConsole
from runner import markdown
from runner.markdown import print_markdown, table
from runner.records import GateResult, Status
from runner.report import gate_table, remedies, summary


def test_the_summary_shows_each_arm_in_each_scope(run_of: Any) -> None:
    results = [replace(score, n=1982) for score in run_of.scores()]
    shown = summary(*run_of(results=results))
    assert shown.startswith("# LoCoMo, pgmnemo v0.2.1: deviation\n\n## conversation\n")
    cells = "88.0 [78.0, 96.0] | 0.910 [0.810, 0.990] | 92.0 [82.0, 100.0] | 1,982 |"
    assert f"| pgmnemo      | {cells}" in shown
    assert shown.count("| ceiling ") == 2
    assert "\n## pool\n" in shown


def test_a_gate_that_failed_says_what_to_do() -> None:
    results = [
        GateResult("corpus hash", Status.FAILED, "cd" * 32, "[red]ab", resolve="Fetch the file again."),
        GateResult("seed", Status.PASSED, "42", "42", resolve="Never shown."),
    ]
    shown = gate_table(results)
    assert "cdcdcdcdcdcd…" in shown
    assert "[red]ab" in shown
    assert remedies(results) == ["corpus hash: Fetch the file again."]


ROWS = [("`a|b [/x]`", "97.5 [95.6, 98.6]"), ("ünï\u001b[2J", "1")]
TEXT = f"# A run\n\n{table(('arm', 'recall_any@10'), ROWS)}\n\n- *verdict*: deviation\n"


def test_into_a_pipe_markdown_goes_as_it_is_but_for_what_steers_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_markdown(TEXT)
    assert capsys.readouterr().out == TEXT.replace("\u001b", "\\u001b")


@pytest.mark.parametrize("width", [20, 80])
def test_a_terminal_shows_every_figure_however_narrow_it_is(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = SafeConsole(width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(markdown, "SafeConsole", lambda: terminal)
    print_markdown(TEXT)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    words = "".join(out.split())
    for part in ("Arun", "a|b[/x]", "97.5", "98.6]", "ünï\\u001", "•verdict:deviation"):
        assert part in words
    assert "\u001b" not in out
    assert "|--" not in out
