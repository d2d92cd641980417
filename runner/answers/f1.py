"""LoCoMo's F1 between an answer and the key (snap-research/locomo, task_eval/evaluation.py), written anew.

Words are lower-cased, without punctuation and without a, an, the, and; each is reduced to its stem by
Porter's algorithm. NLTK's variant, which LoCoMo uses, differs from Porter's own in a few words.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import cache
from statistics import fmean
from typing import Any

from runner.models.torch_runtime import library

DROPPED = re.compile(r"\b(?:a|an|the|and)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
NOTHING_SAID = ("no information available", "not mentioned")


def locomo_f1(rule: str, answer: str, key: str) -> float:
    """The figure of one answer, from 0 to 1, by the category of its question.

    Of a multi-hop question each part of the key between commas takes the best part of the answer. An
    adversarial one is right where the answer says that nothing is said of it.
    """
    if rule == "adversarial":
        return float(any(words in answer.lower() for words in NOTHING_SAID))
    if rule == "multi-hop":
        return fmean(max(overlap(said, part) for said in answer.split(",")) for part in key.split(","))
    return overlap(answer, key)


def overlap(answer: str, key: str) -> float:
    """Harmonic mean of precision and recall over stems; 0 where they share none."""
    said, wanted = _stems(answer), _stems(key)
    same = sum((Counter(said) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _stems(text: str) -> list[str]:
    words: list[str] = DROPPED.sub(" ", text.lower().translate(NO_PUNCTUATION)).split()
    return list(_stemmer().stemWords(words))


@cache
def _stemmer() -> Any:
    return library("Stemmer", "LoCoMo's F1").Stemmer("porter")
