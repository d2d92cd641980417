"""Rewriters: the words that are asked in place of a question. One file each, and one line here."""

from collections.abc import Callable

from runner.records import RewriterIdentity
from runner.registry import Parts
from runner.rewriters.options import RewriteOptions
from runner.rewriters.rewriter import Rewriter, Rewritten

REWRITERS: Parts[Callable[[RewriteOptions], Rewriter]] = Parts(
    "rewriter",
    {
        "words": "runner.rewriters.words:Words",
        "llm": "runner.rewriters.llm:LanguageModel",
    },
)


def by_rule(identity: RewriterIdentity) -> Rewriter | None:
    """The rewriter of a run, where it gives the same words at any time: a rule, and no language model."""
    return None if identity.prompt_sha256 else REWRITERS[identity.name](RewriteOptions())


__all__ = ["REWRITERS", "RewriteOptions", "Rewriter", "Rewritten", "by_rule"]
