"""Many runs in one table: like beside like, everything else apart, with its reason."""

from runner.claims.leaderboard.board import Aside, Behind, Board, Group, Leaderboard, Row
from runner.claims.leaderboard.ranking import leaderboard

__all__ = ["Aside", "Behind", "Board", "Group", "Leaderboard", "Row", "leaderboard"]
