"""Somebody else's rankings, scored against a corpus at hand; the verdict of what comes out is *stated*."""

from runner.commands.score.score_rankings import StatedScores, score

__all__ = ["StatedScores", "score"]
