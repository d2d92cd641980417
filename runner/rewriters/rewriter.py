"""What a rewriter is: it is given a question's words, and gives those that are asked in their place.

It sees no id, no gold, no lesson and no time of asking.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from runner.progress import QUIET, Progress
from runner.records import RewriterIdentity


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The words that are asked. `calls` of a model were made for them, or they were `cached`."""

    text: str
    calls: int = 0
    cached: int = 0


class Rewriter(ABC):
    """`identity` is known once it is made. `rewrite` may be called by several threads at once."""

    identity: RewriterIdentity

    def load(self, questions: Sequence[str], progress: Progress = QUIET) -> None:  # noqa: B027
        """Make ready for those questions; ModelError where a service that they need is not there."""

    @abstractmethod
    def rewrite(self, question: str) -> Rewritten:
        """The words for one question. ModelError where that failed, which is counted."""

    def close(self) -> None:  # noqa: B027
        """Give everything back."""
