"""Somebody else's rankings, scored against a corpus at hand; the verdict of what comes out is *stated*."""

from runner.commands.score.stating import Stated, score

__all__ = ["Stated", "score"]
