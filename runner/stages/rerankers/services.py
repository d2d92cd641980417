"""Rerankers behind a URL: a `/rerank` service, and language models that reorder all candidates in one
prompt.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from pgmnemo.errors import ModelError
from pgmnemo.models.chat import chat_of, excerpt, prompt_sha256
from pgmnemo.models.http import Service, service_url
from pgmnemo.models.store import key_of
from pgmnemo.progress import QUIET, Progress
from runner.stages.rerankers import Pool, Reordered, RerankOptions
from runner.stages.rerankers.cached import CachedReranker, ScoringReranker

RERANK_KEY = "PGMNEMO_RERANK_API_KEY"
NAMED = 10  # passages that a list-wise answer should name at least
TOKENS = 1024  # maximum tokens of an answer
ARRAY = re.compile(r"\[[\d\s,]*\]")
NUMBER = re.compile(r"\d+")

LIST = """\
You are given a question and numbered passages of a person's past conversations. Put the passages into the
order in which they help to answer the question, the most helpful first.

Question: {question}

{passages}

Answer with a JSON array of the numbers alone, such as [3, 1, 2]. Name at least the {most} most helpful.
"""
PROMOTE = """\
You are given a question and numbered passages of a person's past conversations. Find the one passage that
helps most to answer the question.

Question: {question}

{passages}

Answer with its number alone. Answer 0 if no passage helps.
"""


class RerankEndpoint(ScoringReranker):
    """A `/rerank` service: question and documents in, an index and a relevance score for each out.

    Cohere, Jina, Voyage, vLLM, llama.cpp, Infinity and proxies of text-embeddings-inference use this format.
    """

    alone = False

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        url, model = options.service("endpoint")
        self._service = Service(service_url(url, "/rerank", RERANK_KEY), RERANK_KEY, options.rerank_timeout)
        self.identity = options.identity(
            "endpoint",
            model,
            f"unknown, as served by {self._service.where}",
            note="weights unknown; a long text is cut, or refused, by the service besides",
        )

    def load(self, progress: Progress = QUIET) -> None:
        """Call the service once, so that a wrong URL or key is an error at once."""
        self.scores("which one?", ["one", "other"])

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        answer = self._service.post(
            {"model": self.identity.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        )
        return _scores(answer, len(texts), self._service.where)


class LanguageModelReranker(CachedReranker):
    """A language model that gets all candidates in one prompt.

    Replies are cached by question and candidates.
    """

    kind = ""
    template = ""

    def __init__(self, options: RerankOptions) -> None:
        url, model = options.service(self.kind)
        super().__init__(options)
        self._chat = chat_of(url, model, timeout=options.rerank_timeout)
        self.identity = options.identity(
            self.kind,
            model,
            self._chat.revision,
            prompt_sha256=prompt_sha256(self.template),
            note="temperature 0; weights unknown; of each lesson the beginning is read",
        )

    @abstractmethod
    def order(self, answer: str, count: int) -> tuple[int, ...]:
        """Return the indexes that a reply names, best first; raise ModelError if it names none."""

    def load(self, progress: Progress = QUIET) -> None:
        """Call the service once, so that a wrong URL or key is an error at once."""
        self._chat.ask("Answer with the number 1 alone.", TOKENS)

    def rerank(self, pool: Pool) -> Reordered:
        texts = [one.lesson.text[: self.identity.characters] for one in pool.candidates]
        key = key_of(pool.query.text, texts)
        if kept := self.read([key]):
            return Reordered(self.order(kept[key].decode(), len(texts)), cached=1)
        prompt = fill_prompt(self.template, pool.query.text, texts, min(NAMED, len(texts)))
        said = self._chat.ask(prompt, TOKENS).require_text(self.kind)
        order = self.order(said, len(texts))
        self.write([key], [said.encode()])
        return Reordered(order, calls=1, pairs=len(texts))


class ListWise(LanguageModelReranker):
    """A reranker that orders the whole list (Sun et al. 2023, arXiv:2304.09542, without the sliding
    window).
    """

    kind, template = "llm-list", LIST

    def order(self, answer: str, count: int) -> tuple[int, ...]:
        array = ARRAY.search(answer)
        numbers: Sequence[int] = json.loads(array[0]) if array and NUMBER.search(array[0]) else ()
        places = tuple(dict.fromkeys(number - 1 for number in numbers if 1 <= number <= count))
        if not places:
            raise ModelError(f"{self.kind}: the model named no passage in a JSON array: {excerpt(answer)!r}")
        return places


class PromoteOne(LanguageModelReranker):
    """A reranker that moves one candidate to the top and keeps the order of the others; 0 moves nothing."""

    kind, template = "llm-promote", PROMOTE

    def order(self, answer: str, count: int) -> tuple[int, ...]:
        number = re.fullmatch(r"\W*(\d{1,6})\W*", answer)
        if number is None or int(number[1]) > count:
            raise ModelError(
                f"{self.kind}: the model named no passage by its number alone: {excerpt(answer)!r}"
            )
        return (int(number[1]) - 1,) if int(number[1]) else ()


def _scores(answer: Any, count: int, where: str) -> list[float]:
    """Return the scores in the order of the texts; raise ModelError unless each index occurs once."""
    try:
        listed = answer["results"]
        found = {int(one["index"]): float(one["relevance_score"]) for one in listed}
        if len(listed) == count:
            return [found[place] for place in range(count)]
    except (KeyError, TypeError, ValueError):
        pass
    raise ModelError(
        f"{where} did not answer with one relevance_score for each of {count} texts; check that it is a "
        "/rerank endpoint and the model a reranker"
    )


def fill_prompt(template: str, question: str, texts: Sequence[str], most: int) -> str:
    """Return the prompt of one question."""
    passages = "\n".join(f"[{number}] {' '.join(text.split())}" for number, text in enumerate(texts, start=1))
    return template.format(question=question, passages=passages, most=most)
