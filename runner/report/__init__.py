"""Reports: report.md, report.html, and the tables of the command line."""

from runner.report.component_comparison import (
    ComponentComparison,
    compare_baseline_strategies,
    compare_with_components,
)
from runner.report.render import RENDERERS, render
from runner.report.sections import PROVES_INSTALLATION, gate_table, remedies, summary

__all__ = [
    "PROVES_INSTALLATION",
    "RENDERERS",
    "ComponentComparison",
    "compare_baseline_strategies",
    "compare_with_components",
    "gate_table",
    "remedies",
    "render",
    "summary",
]
