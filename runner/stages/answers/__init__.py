"""Question answering over a finished run: a reader answers from the retrieved lessons, a judge compares.

A figure of this folder measures reader, judge and retrieval together. It is no recall, and never shares a
table with a recall (PROTOCOL.md §4.13).
"""

from __future__ import annotations

from runner.stages.answers.answer_run import AnswerRun, answer
from runner.stages.answers.options import AnswerOptions

__all__ = ["AnswerOptions", "AnswerRun", "answer"]
