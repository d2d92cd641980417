"""A language model that rewrites, against a real server that is whole or broken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.errors import ModelError
from pgmnemo.models.chat import prompt_sha256
from runner.stages.rewriters import REWRITERS, RewriteOptions, Rewriter, rule_rewriter
from runner.stages.rewriters.llm import PROMPT
from tests.service import Server, chat, serving

QUESTION = "Where did Melanie go hiking in May?"


@contextmanager
def rewriter(server: Server, folder: Path, **told: Any) -> Iterator[Rewriter]:
    told = {"rewrite_url": server.url, "rewrite_model": "m", "rewrite_cache": folder, **told}
    made = REWRITERS["llm"](RewriteOptions(**told))
    try:
        yield made
    finally:
        made.close()


def test_a_question_is_asked_for_once_and_its_words_are_kept(tmp_path: Path) -> None:
    with serving(lambda *_: chat(' "Melanie hiking May" \n')) as server:
        for calls, cached in ((1, 0), (0, 1)):
            with rewriter(server, tmp_path) as made:
                said = made.rewrite(QUESTION)
            assert (said.text, said.calls, said.cached) == ("Melanie hiking May", calls, cached)
        with rewriter(server, tmp_path) as made:
            made.load([QUESTION])  # the cache has it: nobody is asked
    [(path, _, body)] = server.requests
    assert path == "/v1/chat/completions"
    assert body["messages"] == [{"role": "user", "content": PROMPT.format(question=QUESTION)}]
    assert (body["model"], body["temperature"]) == ("m", 0)


def test_another_model_is_another_file(tmp_path: Path) -> None:
    with serving(lambda _, body: chat(f"as {body['model']} says")) as server:
        said = []
        for model in ("one", "other"):
            with rewriter(server, tmp_path, rewrite_model=model) as made:
                said.append(made.rewrite(QUESTION).text)
    assert said == ["as one says", "as other says"]


def test_its_identity_has_the_hash_of_the_prompt_and_no_rule(tmp_path: Path) -> None:
    with serving(lambda *_: chat("x")) as server, rewriter(server, tmp_path) as made:
        assert made.identity.prompt_sha256 == prompt_sha256(PROMPT)
        assert made.identity.revision == f"unknown, as served by {server.url}/chat/completions"
        assert rule_rewriter(made.identity) is None


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            chat("Melanie went to Oslo.\nOr to Bergen."),
            "did not answer with one line of up to 1,000 characters",
        ),
        (chat(""), "did not answer with one line"),
        (chat("x" * 1001), "did not answer with one line"),
        (chat("a\x1b[31mb"), "did not answer with one line"),
        (chat("", refusal="I cannot help with that."), r"the model refused \(I cannot help"),
    ],
)
def test_what_is_no_line_of_words_is_a_failure_and_is_not_kept(
    answer: Any, sentence: str, tmp_path: Path
) -> None:
    with serving(lambda *_: answer) as server, rewriter(server, tmp_path) as made:
        for _ in range(2):
            with pytest.raises(ModelError, match=sentence):
                made.rewrite(QUESTION)
    assert len(server.requests) == 2
