"""Reports: report.md, report.html, and the tables of the command line."""

from runner.report.component_comparison import ComponentComparison, against_legs, legs_beside
from runner.report.render import RENDERERS, render
from runner.report.sections import gate_table, summary, to_do

__all__ = [
    "RENDERERS",
    "ComponentComparison",
    "against_legs",
    "gate_table",
    "legs_beside",
    "render",
    "summary",
    "to_do",
]
