"""The words that a language model is asked with to reorder; their hash is recorded with every run."""

from __future__ import annotations

from collections.abc import Sequence

LIST = """\
You are given a question and numbered passages of a person's past conversations. Put the passages into the
order in which they help to answer the question, the most helpful first.

Question: {question}

{passages}

Answer with a JSON array of the numbers alone, such as [3, 1, 2]. Name at least the {most} most helpful.
"""
PROMOTE = """\
You are given a question and numbered passages of a person's past conversations. Find the one passage that
helps most to answer the question.

Question: {question}

{passages}

Answer with its number alone. Answer 0 if no passage helps.
"""


def filled(template: str, question: str, texts: Sequence[str], most: int) -> str:
    """The prompt of one question."""
    passages = "\n".join(f"[{number}] {' '.join(text.split())}" for number, text in enumerate(texts, start=1))
    return template.format(question=question, passages=passages, most=most)
