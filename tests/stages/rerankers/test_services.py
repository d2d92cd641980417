"""A /rerank service and a language model that reorders, against a real server that is whole or broken."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from pgmnemo.errors import ModelError
from runner.stages.rerankers import RERANKERS, Reranker, RerankOptions
from tests.service import Server, chat, reranked, serving
from tests.stages.rerankers.conftest import Few, pool

Options = Callable[..., RerankOptions]


def made(name: str, server: Server, options: Options, **told: Any) -> Reranker:
    return RERANKERS[name](options(rerank_url=server.url, rerank_model="m", **told))


def test_a_service_scores_each_text_and_is_asked_for_none_twice(options: Options) -> None:
    with serving(reranked) as server:
        reranker = made("endpoint", server, options, rerank_batch=3)
        new = reranker.rerank(pool("the cat sat on a mat"))
        again = reranker.rerank(pool("the cat sat on a mat"))
    assert new.order == (0, 3, 1, 2)
    assert (new.calls, new.pairs, new.cached) == (2, 4, 0)
    assert (again.order, again.scores) == (new.order, new.scores)
    assert (again.calls, again.pairs, again.cached) == (0, 0, 4)
    path, _, body = server.requests[0]
    assert path == "/v1/rerank"
    assert {**body, "documents": len(body["documents"])} == {
        "model": "m", "query": "the cat sat on a mat", "documents": 3, "top_n": 3,
    }  # fmt: skip


def test_what_is_timed_comes_from_no_cache(options: Options) -> None:
    with serving(reranked) as server:
        reranker = made("endpoint", server, options)
        reranker.rerank(pool())
        assert reranker.without_cache().rerank(pool()).calls == 1
        assert reranker.rerank(pool()).calls == 0


def test_every_passage_is_scored_and_the_best_stands_for_its_lesson(options: Options) -> None:
    passages = [("a dog", "a dog"), ("nothing here", "the cat sat on a mat"), ("may",)]
    with serving(reranked) as server:
        new = made("endpoint", server, options).rerank(
            pool("the cat sat on a mat", Few(("x", "y", "z"), passages))
        )
    assert new.order[0] == 1
    assert new.pairs == 4  # a passage that stands twice is scored once


def test_a_text_is_cut_before_it_is_read(options: Options) -> None:
    with serving(reranked) as server:
        made("endpoint", server, options, rerank_chars=7).rerank(pool())
    assert server.requests[0][2]["documents"][0] == "the cat"


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ([], "one relevance_score for each of 4 texts"),
        ([{"index": 0, "relevance_score": 1}] * 4, "one relevance_score for each of 4 texts"),
        ([{"index": n, "relevance_score": math.nan} for n in range(4)], "gave 4 scores .* that is no number"),
    ],
)
def test_scores_that_are_none_are_one_sentence(results: Any, sentence: str, options: Options) -> None:
    with serving(lambda *_: {"results": results}) as server:
        with pytest.raises(ModelError, match=sentence):
            made("endpoint", server, options).rerank(pool())
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "said", "order"),
    [
        ("llm-list", "[3, 1]", (2, 0)), ("llm-list", "The order is:\n[ 4,2, 2, 9, 1 ] as you see", (3, 1, 0)),
        ("llm-promote", "2", (1,)), ("llm-promote", "[3].", (2,)), ("llm-promote", "0", ()),
    ],
)  # fmt: skip
def test_a_language_model_names_passages(name: str, said: str, order: Any, options: Options) -> None:
    with serving(lambda *_: chat(said)) as server:
        reranker = made(name, server, options)
        new, again = reranker.rerank(pool()), reranker.rerank(pool())
    assert (new.order, new.scores, new.calls) == (order, (), 1)
    assert (again.order, again.calls, again.cached) == (order, 0, 1)
    assert "[1] the cat sat on the mat" in server.requests[0][2]["messages"][0]["content"]
    assert server.requests[0][2]["temperature"] == 0
    assert len(reranker.identity.prompt_sha256) == 64


@pytest.mark.parametrize(
    ("name", "answer", "sentence"),
    [
        ("llm-list", chat("Passage three seems best to me."), "named no passage in a JSON array: 'Passage"),
        ("llm-list", chat("[77]"), "named no passage in a JSON array"),
        ("llm-promote", chat("I would take the second."), "named no passage by its number alone"),
        ("llm-list", chat("", refusal="I cannot help with that."), r"the model refused \(I cannot help"),
    ],
)
def test_prose_and_refusals_are_failures_and_are_not_kept(
    name: str, answer: Any, sentence: str, options: Options
) -> None:
    with serving(lambda *_: answer) as server:
        reranker = made(name, server, options)
        for _ in range(2):
            with pytest.raises(ModelError, match=sentence):
                reranker.rerank(pool())
        assert len(server.requests) == 2
