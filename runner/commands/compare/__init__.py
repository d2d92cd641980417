"""Comparison of two runs, question by question; `gate` also verifies both runs, for a release job."""

from runner.commands.compare.compare_runs import compare
from runner.commands.compare.comparison import Comparison
from runner.commands.compare.release_gate import GateOutcome, gate

__all__ = ["Comparison", "GateOutcome", "compare", "gate"]
