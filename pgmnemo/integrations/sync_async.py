"""Work over a scope or its files, written once for sync and async, as a generator that yields calls."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from pgmnemo.errors import PgmnemoError

Answer = TypeVar("Answer")
Work = Generator[Callable[[Any], Any], Any, Answer]
"""A generator that yields functions of a scope, as methodcaller("get", "key"), and is sent their results."""


def run(scope: Any, work: Work[Answer]) -> Answer:
    """Return the result of work over a `Scope`; a PgmnemoError is thrown into the work at its call."""
    answer, error = None, None
    while True:
        try:
            step = work.send(answer) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer, error = None, None
        try:
            answer = step(scope)
        except PgmnemoError as problem:
            error = problem


async def arun(scope: Any, work: Work[Answer]) -> Answer:
    """Run work as `run` does, over an `AsyncScope`."""
    answer, error = None, None
    while True:
        try:
            step = work.send(answer) if error is None else work.throw(error)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        answer, error = None, None
        try:
            answer = await step(scope)
        except PgmnemoError as problem:
            error = problem
