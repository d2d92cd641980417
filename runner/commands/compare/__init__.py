"""Two runs side by side, question by question; `gate` verifies both first, for a release job."""

from runner.commands.compare.comparing import compare
from runner.commands.compare.comparison import Comparison
from runner.commands.compare.gating import Gated, gate

__all__ = ["Comparison", "Gated", "compare", "gate"]
