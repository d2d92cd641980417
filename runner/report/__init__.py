"""What people read: report.md, and the tables of the command line."""

from runner.report.legs import Against, against_legs, legs_beside
from runner.report.render import RENDERERS, render
from runner.report.terminal import gate_table, summary_table, to_do

__all__ = [
    "RENDERERS",
    "Against",
    "against_legs",
    "gate_table",
    "legs_beside",
    "render",
    "summary_table",
    "to_do",
]
