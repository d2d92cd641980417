"""No id and no label of a real corpus reaches a text that is indexed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner.protocol.suites import SUITES
from runner.records import Corpus

TURN_ID = re.compile(r"\bD\d+:\d+")


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_locomo_texts_hold_no_id(locomo_path: Path, granularity: str) -> None:
    for segment in SUITES["locomo"].load(locomo_path, granularity).segments:
        assert not TURN_ID.search(segment.text)
        for label in ("dia_id", "session_", "conv-", segment.id, segment.external_id):
            assert label not in segment.text


@pytest.fixture(scope="module")
def longmemeval(longmemeval_path: Path) -> Corpus:
    return SUITES["longmemeval"].load(longmemeval_path)


def test_longmemeval_texts_hold_no_id(longmemeval: Corpus) -> None:
    """No raw turn of the corpus holds such a string by chance, so the check needs no exception."""
    labels = ("answer_", "has_answer", "sharegpt_", "ultrachat_", "_session_ids", "question_id")
    for segment in longmemeval.segments:
        for label in (*labels, segment.id, segment.project, segment.external_id):
            assert label not in segment.text


def test_order_of_opaque_ids_does_not_put_evidence_first(longmemeval: Corpus) -> None:
    """Ties go by the opaque id: gold stands in the first half of its haystack about as often as not."""
    gold = {(question.project, one) for question in longmemeval.questions for one in question.gold}
    ranks: list[float] = []
    haystacks: dict[str, list[tuple[str, bool]]] = {}
    for one in longmemeval.segments:
        haystacks.setdefault(one.project, []).append((one.external_id, (one.project, one.id) in gold))
    for rows in haystacks.values():
        ranks += [at / len(rows) for at, (_, hit) in enumerate(sorted(rows)) if hit]
    assert 0.44 < sum(ranks) / len(ranks) < 0.54
