"""Rewriters, which replace the words of a question: their base, options and registry.

A rewriter gets only a question's words: no id, no gold, no lesson and no time of the question.
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
    """The settings of a rewriter; raises UsageError for a number out of range.

    Args:
        rewrite_model: name of the model for the rewriter llm
        rewrite_url: OpenAI-compatible service of the rewriter llm (…/chat/completions)
        rewrite_failures: maximum number of failed rewrites; such a question is asked unchanged
        rewrite_timeout: maximum seconds of one call of a service
        rewrite_cache: folder of the rewrite cache (default: the user's own)
    """

    rewrite_model: str | None = None
    rewrite_url: str | None = None
    rewrite_failures: int = 10
    rewrite_timeout: float = TIMEOUT
    rewrite_cache: Path | None = None

    def __post_init__(self) -> None:
        check_numbers(self, natural=("rewrite_failures",), seconds=("rewrite_timeout",))

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Return the folder of the rewrite cache."""
        return self.rewrite_cache or cache_dir("rewrites", environ)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The rewritten words of a question. `calls` of a model were made, or `cached` results were used."""

    text: str
    calls: int = 0
    cached: int = 0


class Rewriter(ABC):
    """The base of rewriters.

    `identity` is set by the constructor. Several threads may call `rewrite` at once.
    """

    identity: RewriterIdentity

    def load(self, questions: Sequence[str], progress: Progress = QUIET) -> None:  # noqa: B027
        """Prepare to rewrite these questions; raise ModelError if a required service is not available."""

    @abstractmethod
    def rewrite(self, question: str) -> Rewritten:
        """Return the words for one question; raise ModelError on failure, which is counted."""

    def close(self) -> None:  # noqa: B027
        """Release all resources."""


REWRITERS: Parts[Callable[[RewriteOptions], Rewriter]] = Parts(
    "rewriter",
    {
        "words": "runner.stages.rewriters.words:StopWordRewriter",
        "llm": "runner.stages.rewriters.llm:LanguageModelRewriter",
    },
)


def rule_rewriter(identity: RewriterIdentity) -> Rewriter | None:
    """Return the run's rewriter if it is a deterministic rule; None if it is a language model."""
    return None if identity.prompt_sha256 else REWRITERS[identity.name](RewriteOptions())
