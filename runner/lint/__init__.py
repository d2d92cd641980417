"""Recall figures in documents, held against the artefacts that they name."""

from runner.lint.finding import RULES, Exemption, Finding, Report
from runner.lint.linting import lint, lint_text
from runner.verb import verb

__all__ = ["RULES", "Exemption", "Finding", "Report", "lint", "lint_text"]

verb(__name__)
