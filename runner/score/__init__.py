"""Somebody else's rankings, scored against a corpus at hand; the verdict of what comes out is *stated*."""

from runner.score.stating import Stated, score
from runner.verb import verb

__all__ = ["Stated", "score"]

verb(__name__)
