"""A question without question words and other stop words, as search engines have long done.

The list is Snowball's for English as PostgreSQL has it (tsearch_data/english.stop), so a keyword retriever in
PostgreSQL loses nothing; the rewrite changes only what an embedder reads.
"""

from __future__ import annotations

import re
from hashlib import sha256

from runner.records import RewriterIdentity
from runner.stages.rewriters import RewriteOptions, Rewriter, Rewritten

STOP_WORDS = """\
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is are
was were be been being have has had having do does did doing a an the and but if or because as until while of
at by for with about against between into through during before after above below to from up down in out on
off over under again further then once here there when where why how all any both each few more most other
some such no nor not only own same so than too very s t can will just don should now
"""
STOPPED = frozenset(STOP_WORDS.split())
RULE = "a word goes where every part of it is a stop word; question marks go; without a word left all stay"
PART = re.compile(r"\w+")


class StopWordRewriter(Rewriter):
    """The rule that removes stop words. A word such as `what's` is removed, `Caroline's` stays."""

    def __init__(self, options: RewriteOptions | None = None) -> None:
        digest = sha256(" ".join(sorted(STOPPED)).encode()).hexdigest()
        self.identity = RewriterIdentity("words", "", f"stop words sha256:{digest}", note=RULE)

    def rewrite(self, question: str) -> Rewritten:
        left = [word.rstrip("?") for word in question.split() if not _stopped(word)]
        return Rewritten(" ".join(left) or question)


def _stopped(word: str) -> bool:
    return all(part in STOPPED for part in PART.findall(word.lower()))
