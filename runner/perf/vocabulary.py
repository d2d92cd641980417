"""Rare words: a vocabulary of pronounceable strings, drawn as words are in a language.

Zipf-Mandelbrot: the word of rank r has a share proportional to 1 / (r + OFFSET) (Mandelbrot 1953), so that
a few are common, most stand in a handful of lessons, and the vocabulary grows with the corpus.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

WORDS = 200_000
OFFSET = 10.0
ONSETS = (*"bdfgklmnprstvz", "br", "dr", "kr", "pl", "st", "tr")
VOWELS = "aeiou"


class Vocabulary:
    """`WORDS` distinct words in an order that the seed decides; `draw` picks by rank."""

    def __init__(self, seed: int) -> None:
        syllables = np.array([onset + vowel for onset, vowel in product(ONSETS, VOWELS)])
        chance = np.random.default_rng([seed, 1])
        numbers = chance.permutation(len(syllables) ** 3)[:WORDS]
        base = len(syllables)
        parts = (syllables[numbers // base**2], syllables[numbers // base % base], syllables[numbers % base])
        self.words: list[str] = ["".join(triple) + "x" for triple in zip(*parts, strict=True)]
        shares = 1.0 / (np.arange(WORDS) + OFFSET)
        self._below = np.cumsum(shares / shares.sum())

    def draw(self, chance: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.intp]:
        """Ranks (from 0) of words, drawn independently: an array of `shape`."""
        return np.searchsorted(self._below, chance.random(shape)).clip(max=WORDS - 1)
