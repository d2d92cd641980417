"""Two runs side by side, question by question; `gate` verifies both first, for a release job."""

from runner.compare.comparing import compare
from runner.compare.comparison import Comparison
from runner.compare.gating import Gated, gate
from runner.verb import verb

__all__ = ["Comparison", "Gated", "compare", "gate"]

verb(__name__)
