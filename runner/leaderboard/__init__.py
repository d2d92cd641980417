"""Many runs in one table: like beside like, everything else apart, with its reason."""

from runner.leaderboard.board import Aside, Behind, Board, Group, Leaderboard, Row
from runner.leaderboard.ranking import leaderboard
from runner.verb import verb

__all__ = ["Aside", "Behind", "Board", "Group", "Leaderboard", "Row", "leaderboard"]

verb(__name__)
