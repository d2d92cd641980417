"""A language model that reorders: all candidates in one prompt, the whole list anew or one promoted."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Sequence

from runner.errors import ModelError, UsageError
from runner.models.chat import Reply, begun, chat_of, prompt_sha256
from runner.models.kept import key_of
from runner.progress import QUIET, Progress
from runner.records import RerankerIdentity
from runner.rerankers.kept import Keeper
from runner.rerankers.options import RerankOptions
from runner.rerankers.prompts import LIST, PROMOTE, filled
from runner.rerankers.reranker import Pool, Reordered

NAMED = 10  # passages that a list-wise answer should name at least
TOKENS = 1024  # of an answer
ARRAY = re.compile(r"\[[\d\s,]*\]")
NUMBER = re.compile(r"\d+")


class LanguageModel(Keeper):
    """Asks once a question. An answer is kept by the question and all its candidates."""

    kind = ""
    template = ""

    def __init__(self, options: RerankOptions) -> None:
        if not options.rerank_url or not options.rerank_model:
            raise UsageError(f"the reranker {self.kind} needs both --rerank-url and --rerank-model")
        super().__init__(options)
        self._chat = chat_of(options.rerank_url, options.rerank_model, timeout=options.rerank_timeout)
        self.identity = RerankerIdentity(
            name=self.kind,
            model=options.rerank_model,
            revision=f"unknown, as served by {self._chat.service.where}",
            depth=options.rerank_depth,
            characters=options.rerank_chars,
            prompt_sha256=prompt_sha256(self.template),
            note="temperature 0; weights unknown; of each lesson the beginning is read",
        )

    @abstractmethod
    def order(self, answer: str, count: int) -> tuple[int, ...]:
        """The places that an answer names, best first; ModelError where it names none."""

    def load(self, progress: Progress = QUIET) -> None:
        """Ask once, so that a wrong address or key is told before anything else is done."""
        self._chat.ask("Answer with the number 1 alone.", TOKENS)

    def rerank(self, pool: Pool) -> Reordered:
        texts = [one.lesson.text[: self.identity.characters] for one in pool.candidates]
        key = key_of(pool.query.text, texts)
        if kept := self.read([key]):
            return Reordered(self.order(kept[key].decode(), len(texts)), cached=1)
        reply = self._chat.ask(filled(self.template, pool.query.text, texts, min(NAMED, len(texts))), TOKENS)
        order = self.order(_said(reply, self.kind), len(texts))
        self.write([key], [reply.text.encode()])
        return Reordered(order, calls=1, pairs=len(texts))


class ListWise(LanguageModel):
    """The whole list anew (Sun et al. 2023, arXiv:2304.09542, without their sliding window)."""

    kind, template = "llm-list", LIST

    def order(self, answer: str, count: int) -> tuple[int, ...]:
        array = ARRAY.search(answer)
        numbers: Sequence[int] = json.loads(array[0]) if array and NUMBER.search(array[0]) else ()
        places = tuple(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= count))
        if not places:
            raise ModelError(f"{self.kind}: the model named no passage in a JSON array: {begun(answer)!r}")
        return places


class PromoteOne(LanguageModel):
    """One candidate to the top, the others as they were; 0 leaves all as they were."""

    kind, template = "llm-promote", PROMOTE

    def order(self, answer: str, count: int) -> tuple[int, ...]:
        number = re.fullmatch(r"\W*(\d{1,6})\W*", answer)
        if number is None or int(number[1]) > count:
            raise ModelError(
                f"{self.kind}: the model named no passage by its number alone: {begun(answer)!r}"
            )
        return (int(number[1]) - 1,) if int(number[1]) else ()


def _said(reply: Reply, kind: str) -> str:
    if reply.refused:
        raise ModelError(f"{kind}: the model refused ({begun(reply.refused)})")
    return reply.text
