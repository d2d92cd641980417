"""Reports: report.md, report.html, and the tables of the command line."""

from runner.report.legs import Against, against_legs, legs_beside
from runner.report.render import RENDERERS, render
from runner.report.sections import gate_table, summary, to_do

__all__ = ["RENDERERS", "Against", "against_legs", "gate_table", "legs_beside", "render", "summary", "to_do"]
