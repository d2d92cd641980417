"""A leaderboard of many runs: runs under equal conditions share a board.

Other runs are listed with a reason.
"""

from runner.commands.leaderboard.board import Board, BoardRow, ExcludedRun, GapToBest, Group, Leaderboard
from runner.commands.leaderboard.ranking import leaderboard

__all__ = ["Board", "BoardRow", "ExcludedRun", "GapToBest", "Group", "Leaderboard", "leaderboard"]
