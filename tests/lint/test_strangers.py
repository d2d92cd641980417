"""Recall and precision on documents of authors who did not know the rules: those that were put aside."""

from __future__ import annotations

import pytest

from tests.lint.strangers import count, read, show


def test_recall_and_precision_on_the_held_out_documents_are_printed_and_high(
    capsys: pytest.CaptureFixture[str],
) -> None:
    documents = read("held_out")
    assert [one.right for one in documents].count(True) == len(documents) / 2 == 200
    with capsys.disabled():
        show("held_out", documents)
    counts = count(documents, form=False)
    assert counts.recall >= 0.92
    assert counts.precision >= 0.97
