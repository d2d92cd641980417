"""A language model that rewrites a question into words for a search (Ma et al. 2023, arXiv:2305.14283)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from pgmnemo.errors import ModelError, UsageError
from pgmnemo.escaping import find_control_char
from pgmnemo.models.chat import chat_of, excerpt, prompt_sha256
from pgmnemo.models.store import Store, key_of, store_path
from pgmnemo.progress import QUIET, Progress
from runner.records import RewriterIdentity
from runner.stages.rewriters import RewriteOptions, Rewriter, Rewritten

PROMPT = """\
Below is a question about a person's past conversations. Write the words with which to search these
conversations for its answer, as they would be said there. Keep every name, date and number of the question.
Add no fact, and do not answer it.

Question: {question}

Answer with one line of words and nothing else.
"""
TOKENS = 256  # maximum tokens of an answer
LONGEST = 1000  # characters of an answer


class LanguageModelRewriter(Rewriter):
    """A language model, called once for each question at temperature 0. Replies are cached by question."""

    def __init__(self, options: RewriteOptions) -> None:
        if not options.rewrite_url or not options.rewrite_model:
            raise UsageError("the rewriter llm needs both --rewrite-url and --rewrite-model")
        self._chat = chat_of(options.rewrite_url, options.rewrite_model, timeout=options.rewrite_timeout)
        self.identity = RewriterIdentity(
            name="llm",
            model=options.rewrite_model,
            revision=self._chat.revision,
            prompt_sha256=prompt_sha256(PROMPT),
            note="temperature 0; weights unknown",
        )
        self._kept = Store(store_path(options.cache(), "llm", asdict(self.identity)), "rewrite cache")

    def load(self, questions: Sequence[str], progress: Progress = QUIET) -> None:
        """Call the service once, so that a wrong URL or key is an error at once; skip this if all replies are
        cached.
        """
        if len(self._kept.read([key_of(one) for one in questions])) < len(set(questions)):
            self._chat.ask("Answer with the word yes alone.", TOKENS)

    def rewrite(self, question: str) -> Rewritten:
        if kept := self._kept.read([key := key_of(question)]):
            return Rewritten(kept[key].decode(), cached=1)
        words = _line(self._chat.ask(PROMPT.format(question=question), TOKENS).require_text("llm"))
        self._kept.write([key], [words.encode()])
        return Rewritten(words, calls=1)

    def close(self) -> None:
        self._kept.close()


def _line(text: str) -> str:
    """Return the words of a reply; raise ModelError unless it is one line of words."""
    words = text.strip('"“”').strip()
    if not words or "\n" in words or len(words) > LONGEST or find_control_char(words):
        raise ModelError(
            f"llm: the model did not answer with one line of up to {LONGEST:,} characters: {excerpt(text)!r}"
        )
    return words
