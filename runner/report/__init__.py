"""What people read: report.md, and the tables of the command line."""

from runner.report.legs import Against, against_legs
from runner.report.render import RENDERERS, render
from runner.report.terminal import gate_table, summary_table, to_do

__all__ = ["RENDERERS", "Against", "against_legs", "gate_table", "render", "summary_table", "to_do"]
