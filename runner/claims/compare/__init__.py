"""Two runs against each other, paired by question: what moved, how sure it is, and one word for it."""

from runner.claims.compare.comparing import compare
from runner.claims.compare.comparison import Comparison
from runner.claims.compare.conditions import CONDITIONS
from runner.claims.compare.verdict import Finding

__all__ = ["CONDITIONS", "Comparison", "Finding", "compare"]
