"""Rewriters, which replace the words of a question: their base, their options, one line for each.

A rewriter gets only a question's words: no id, no gold, no lesson and no time of asking.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgmnemo.models import check_numbers
from pgmnemo.models.http import TIMEOUT
from pgmnemo.models.store import cache_dir
from pgmnemo.progress import QUIET, Progress
from pgmnemo.registry import Parts
from runner.records import RewriterIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """Settings of one rewriter. UsageError for a number that makes no sense.

    Args:
        rewrite_model: name of the model that the rewriter llm asks
        rewrite_url: OpenAI-compatible service of the rewriter llm (…/chat/completions)
        rewrite_failures: questions that may fail (they are asked as they stand) before the run fails
        rewrite_timeout: seconds that one call of a service may take
        rewrite_cache: folder of what rewriters wrote (default: the user's own)
    """

    rewrite_model: str | None = None
    rewrite_url: str | None = None
    rewrite_failures: int = 10
    rewrite_timeout: float = TIMEOUT
    rewrite_cache: Path | None = None

    def __post_init__(self) -> None:
        check_numbers(self, natural=("rewrite_failures",), seconds=("rewrite_timeout",))

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Return where what rewriters wrote is kept."""
        return self.rewrite_cache or cache_dir("rewrites", environ)


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
        """Return the words for one question. ModelError where that failed, which is counted."""

    def close(self) -> None:  # noqa: B027
        """Give everything back."""


REWRITERS: Parts[Callable[[RewriteOptions], Rewriter]] = Parts(
    "rewriter",
    {
        "words": "runner.stages.rewriters.words:StopWordRewriter",
        "llm": "runner.stages.rewriters.llm:LanguageModelRewriter",
    },
)


def rule_rewriter(identity: RewriterIdentity) -> Rewriter | None:
    """Return the rewriter of a run, where it gives the same words at any time: a rule, and no language
    model.
    """
    return None if identity.prompt_sha256 else REWRITERS[identity.name](RewriteOptions())
