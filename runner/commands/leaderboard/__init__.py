"""Many runs in one table: like beside like, everything else apart, with its reason."""

from runner.commands.leaderboard.board import Board, BoardRow, ExcludedRun, GapToBest, Group, Leaderboard
from runner.commands.leaderboard.ranking import leaderboard

__all__ = ["Board", "BoardRow", "ExcludedRun", "GapToBest", "Group", "Leaderboard", "leaderboard"]
