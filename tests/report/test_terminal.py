"""The command line's tables: everything a user needs, within 80 columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table

from runner.records import GateResult, Status
from runner.report import gate_table, summary_table, to_do


def _shown(table: Table) -> str:
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_the_summary_shows_each_arm_in_each_scope(run_of: Any) -> None:
    results = [replace(score, n=1982) for score in run_of.scores()]
    shown = _shown(summary_table(*run_of(results=results)))
    assert "LoCoMo, pgmnemo v0.2.1: deviation" in shown
    assert " pgmnemo       88.0 [78.0, 96.0]  89.0 [79.0, 97.0]  0.910 [0.810, 0.990]  1,982" in shown
    assert shown.count("ceiling") == 2
    assert [line.strip() for line in shown.splitlines()].count("pool") == 1


def test_a_gate_that_failed_says_what_to_do() -> None:
    results = [
        GateResult("corpus hash", Status.FAILED, "cd" * 32, "[red]ab", resolve="Fetch the file again."),
        GateResult("seed", Status.PASSED, "42", "42", resolve="Never shown."),
    ]
    shown = _shown(gate_table(results))
    assert "cdcdcdcdcdcd…" in shown
    assert "[red]ab" in shown
    assert to_do(results) == ["corpus hash: Fetch the file again."]
