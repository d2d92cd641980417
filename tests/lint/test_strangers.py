"""Recall and precision on documents of an author who knew neither the rules nor CITING.md."""

from __future__ import annotations

import pytest

from tests.lint.strangers import count, read, show


@pytest.mark.parametrize(
    ("name", "recall", "precision"), [("development", 0.9, 0.97), ("held_out", 0.8, 0.85)]
)
def test_recall_and_precision_on_a_strangers_documents_are_printed_and_high(
    name: str, recall: float, precision: float, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = read(name)
    assert [one.right for one in documents].count(True) == len(documents) / 2 == 60
    with capsys.disabled():
        show(name, documents)
    counts = count(documents, form=False)
    assert counts.recall >= recall
    assert counts.precision >= precision
