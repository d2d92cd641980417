"""What people read: report.md, and the tables of the command line."""

from runner.report.render import TEMPLATE, render
from runner.report.terminal import gate_table, summary_table, to_do

__all__ = ["TEMPLATE", "gate_table", "render", "summary_table", "to_do"]
