"""Recall and precision of the linter by line, on lines of which half are wrong (claims/README.md).

A document is one line under the paragraph that it names; a wrong line is found when any finding stands on it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.lint import lint_text
from tests.lint.committed import ROOT, SHELF
from tests.lint.counting import Counts

CLAIMS = Path(__file__).with_name("claims")
Line = dict[str, Any]


def read_json(name: str) -> Any:
    return json.loads((CLAIMS / f"{name}.json").read_text(encoding="utf-8"))


def document(line: Line) -> tuple[str, int]:
    """The document that holds a line, and the number of lines in front of it."""
    parts = read_json("contexts")
    before = "# Notes\n\n"
    if context := parts["contexts"][line["context"]]:
        before += f"{context}\n\n"
    if line["table"]:
        before += f"{parts['tables'][line['table']]}\n"
    return f"{before}{line['line']}\n", before.count("\n")


def flagged(line: Line) -> list[str]:
    text, before = document(line)
    findings = lint_text(text, ROOT / "NOTES.md", SHELF).findings
    assert not [f for f in findings if f.line <= before], "the context is right"
    return [str(finding) for finding in findings]


def count(name: str) -> Counts:
    lines = [(line["right"], bool(flagged(line))) for line in read_json(name)["lines"]]
    return Counts(lines.count((False, True)), lines.count((False, False)), lines.count((True, True)))


def test_right_lines_that_provoke_false_alarms_pass() -> None:
    lines = read_json("adversarial")["lines"]
    assert len(lines) > 100
    assert not [found for line in lines for found in flagged(line)]


def test_wrong_twins_of_such_lines_are_found() -> None:
    assert not [line for line in read_json("wrong")["lines"] if not flagged(line)]


@pytest.mark.parametrize(("name", "precision"), [("development", 0.97), ("held_out", 0.95)])
def test_recall_and_precision_by_line_are_printed_and_high(
    name: str, precision: float, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = count(name)
    with capsys.disabled():
        print(f"\nlint, {name} lines: {counts}")
    assert counts.recall >= 0.9
    assert counts.precision >= precision
