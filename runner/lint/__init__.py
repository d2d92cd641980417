"""Recall figures in documents, held against the artefacts that they name.

A document's way: `written` (numbers, names of metrics) → `document` (blocks, tables, figures) → `said` (what
a sentence says of a figure) → `around` (its citation, its section) → `held` (against the rows of the
artefacts) → `linting`.
"""

from runner.lint.finding import RULES, Exemption, Finding, Report
from runner.lint.linting import lint, lint_text
from runner.verb import verb

__all__ = ["RULES", "Exemption", "Finding", "Report", "lint", "lint_text"]

verb(__name__)
