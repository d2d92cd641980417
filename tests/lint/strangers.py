"""Recall and precision of the linter on documents of authors who did not know its rules.

stranger/README.md says how they came about. A wrong document is *found* when a `differs` stands in it, and a
right one is a *false alarm* when one does; findings of the other rules alone are of form and counted apart.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.lint import lint_text
from tests.lint.committed import ROOT, SHELF
from tests.lint.counting import Counts

STRANGER = Path(__file__).with_name("stranger")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: whether it is right, what kind it is of, and the rules of which something was found."""

    id: str
    right: bool
    kind: str
    rules: frozenset[str]

    @property
    def by_figures(self) -> bool:
        """Whether a figure, or what is said of it, is found not to be that of the artefacts."""
        return "differs" in self.rules


def read(name: str) -> list[Document]:
    lines = (STRANGER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_document(json.loads(line)) for line in lines]


def _document(line: dict[str, Any]) -> Document:
    findings = lint_text(line["document"], ROOT / "NOTES.md", SHELF).findings
    return Document(line["id"], line["right"], line["kind"], frozenset(finding.rule for finding in findings))


def count(documents: list[Document], *, form: bool) -> Counts:
    """Found, missed and false alarms by document; with `form` by a finding of any rule."""
    found = [(one.right, bool(one.rules) if form else one.by_figures) for one in documents]
    return Counts(found.count((False, True)), found.count((False, False)), found.count((True, True)))


def show(name: str, documents: list[Document]) -> None:
    print(f"\nlint, {name} documents of a stranger, by figures: {count(documents, form=False)}")
    print(f"  by a finding of any rule: {count(documents, form=True)}")
    for one in documents:
        if one.right == bool(one.rules) or one.right == one.by_figures:
            rules = ", ".join(sorted(one.rules)) or "nothing found"
            print(f"  {one.id}, {'right' if one.right else 'wrong'}, {one.kind}: {rules}")
