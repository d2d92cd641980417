"""Recall and precision on all the documents that the linter was mended on; `make forge` runs this."""

from __future__ import annotations

import pytest

from tests.lint.strangers import count, read, show


def test_recall_and_precision_on_the_documents_mended_on_are_printed_and_high(
    capsys: pytest.CaptureFixture[str],
) -> None:
    documents = read("development")
    assert [one.right for one in documents].count(True) == len(documents) / 2 == 1620
    with capsys.disabled():
        show("development", documents)
    counts = count(documents, form=False)
    assert counts.recall >= 0.95
    assert counts.precision >= 0.98
