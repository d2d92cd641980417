"""What a lesson's text is cut into; and that of every corpus's lessons, what the corpus itself gives."""

from __future__ import annotations

import pytest

from pgmnemo.passages.windows import passages_of
from pgmnemo.records import Passage
from runner.protocol.datasets import SUITES
from runner.records import Corpus, Segment


def both(*texts: str) -> list[Passage]:
    """Passages that are embedded as they stand."""
    return [Passage(text, text) for text in texts]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("", []),
        ("Use the staging key.", both("Use the staging key.")),
        ("[8 May 2023]\nAna: Hi.\n\nBo: Hi.", both("Ana: Hi.\nBo: Hi.")),
        ("[not a date] but words", both("[not a date] but words")),
        ("a\nb\nc\nd\ne", both("a\nb\nc\nd", "b\nc\nd\ne")),
        (
            "[now]\nuser: One\nmore.\nassistant: Two\n\nlines.\nuser: Three.",
            [Passage("user: One\nmore.", "One\nmore."), Passage("user: Three.", "Three.")],
        ),
        ("assistant: Hi.\nassistant: You?", [Passage("assistant: Hi.", "Hi.")]),
        ("A talk.\nuser: One.", [Passage("A talk.\nuser: One.", "A talk.\nOne.")]),
        ("user:\nassistant: Yes?", [Passage("assistant: Yes?", "Yes?")]),
        (f"user: {'m' * 800}", [Passage(f"user: {'m' * 800}", "m" * 700)]),
    ],
)
def test_a_text_has_these_passages(content: str, wanted: list[Passage]) -> None:
    assert list(passages_of(content)) == wanted


def others(corpus: Corpus) -> list[Segment]:
    """Lessons whose text alone gives other passages than the corpus."""
    return [one for one in corpus.segments if passages_of(one.text) != one.passages]


def test_the_sample_s_own_passages_come_out_of_its_texts() -> None:
    sample = SUITES["sample"]
    assert not others(sample.load(sample.locate(None, {})))


def test_locomo_s_own_passages_come_out_of_texts_whose_turns_are_of_one_line(
    locomo_corpora: dict[str, Corpus],
) -> None:
    turns = locomo_corpora["turn"]
    assert len(others(turns)) < 20
    assert all(one.text.count("\n") > 1 for one in others(turns))


def test_nearly_all_of_longmemeval_s_own_passages_come_out_of_its_texts(longmemeval_corpus: Corpus) -> None:
    """Elsewhere a message quotes lines that begin with a role: a text does not tell them from turns."""
    assert len(others(longmemeval_corpus)) / len(longmemeval_corpus.segments) < 0.001
