"""Question answering over a finished run: a reader answers from what was retrieved, a judge compares.

A figure of this folder is one of reader, judge and retrieval together. It is no recall, and never stands in
one table with one (PROTOCOL.md §4.13).
"""

from __future__ import annotations

from runner.stages.answers.answer_run import AnswerRun, answer
from runner.stages.answers.options import AnswerOptions

__all__ = ["AnswerOptions", "AnswerRun", "answer"]
