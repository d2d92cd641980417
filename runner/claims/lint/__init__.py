"""Recall figures in documents, held against the artefacts that they name."""

from runner.claims.lint.finding import RULES, Exemption, Finding, Report
from runner.claims.lint.linting import lint, lint_text

__all__ = ["RULES", "Exemption", "Finding", "Report", "lint", "lint_text"]
