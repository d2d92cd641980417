"""Many runs in one table: like beside like, everything else apart, with its reason."""

from runner.commands.leaderboard.board import Aside, Behind, Board, Group, Leaderboard, Row
from runner.commands.leaderboard.ranking import leaderboard

__all__ = ["Aside", "Behind", "Board", "Group", "Leaderboard", "Row", "leaderboard"]
