"""Splits: LongMemEval's by the parity of a hash; other suites say why they have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.suites import SUITES
from runner.suites.splits import PARITY


def test_every_item_of_the_development_file_is_of_the_development_split(longmemeval_path: Path) -> None:
    questions = SUITES["longmemeval"].load(longmemeval_path).questions
    assert len(questions) == 246
    assert all(PARITY["development"](one.key) for one in questions)
    assert not any(PARITY["held-out"](one.key) for one in questions)


@pytest.mark.parametrize("key", ["", "q1", "gpt4_372c3eed_abs", "a" * 1000, "ü"])
def test_a_question_is_of_one_split_and_no_other(key: str) -> None:
    assert [split(key) for split in PARITY.values()].count(True) == 1


def test_an_unknown_split_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="longmemeval has no split 'test'; choose one of: development, held"):
        SUITES["longmemeval"].split("test")


@pytest.mark.parametrize(
    ("suite", "why"),
    [
        ("locomo", "locomo has no split: what is chosen on it is judged by leaving one conversation out"),
        ("beam", "beam has no split: what is chosen on it is judged by leaving one chat out"),
        ("realtalk", "realtalk has no split: nothing is ever chosen on it"),
        ("sample", "sample has no split of its questions; leave --split out"),
    ],
)
def test_a_suite_without_splits_says_why(suite: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        SUITES[suite].split("development")
