"""Scores of another author's rankings against a local corpus; their verdict is *stated*."""

from runner.commands.score.score_rankings import StatedScores, score

__all__ = ["StatedScores", "score"]
