"""What people read: report.md, and the tables of the command line."""

from runner.report.render import RENDERERS, render
from runner.report.terminal import gate_table, summary_table, to_do

__all__ = ["RENDERERS", "gate_table", "render", "summary_table", "to_do"]
