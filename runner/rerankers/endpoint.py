"""A Cohere-style `/rerank` endpoint: a question and documents in, an index and a relevance score each out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runner.errors import ModelError, UsageError
from runner.models.http import Service, service_url
from runner.progress import QUIET, Progress
from runner.records import RerankerIdentity
from runner.rerankers.options import RerankOptions
from runner.rerankers.scoring import Scoring

KEY_VARIABLE = "PGMNEMO_RERANK_API_KEY"


class Endpoint(Scoring):
    """What Cohere, Jina, Voyage, vLLM, llama.cpp, Infinity and text-embeddings-inference's proxies speak."""

    alone = False

    def __init__(self, options: RerankOptions) -> None:
        super().__init__(options)
        if not options.rerank_url or not options.rerank_model:
            raise UsageError("the reranker endpoint needs both --rerank-url and --rerank-model")
        url = service_url(options.rerank_url, "/rerank", KEY_VARIABLE)
        self._service = Service(url, KEY_VARIABLE, options.rerank_timeout)
        self.identity = RerankerIdentity(
            name="endpoint",
            model=options.rerank_model,
            revision=f"unknown, as served by {self._service.where}",
            depth=options.rerank_depth,
            characters=options.rerank_chars,
            note="weights unknown; a long text is cut, or refused, by the service besides",
        )

    def load(self, progress: Progress = QUIET) -> None:
        """Ask once, so that a wrong address or key is told before anything else is done."""
        self.scores("which one?", ["one", "other"])

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        answer = self._service.post(
            {"model": self.identity.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        )
        return _scores(answer, len(texts), self._service.where)


def _scores(answer: Any, count: int, where: str) -> list[float]:
    """The scores in the order of the texts; ModelError unless each index occurs once."""
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
