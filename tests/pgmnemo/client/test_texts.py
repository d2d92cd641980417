"""Texts that no database takes, wherever they are given."""

from __future__ import annotations

from typing import Any

import pytest

from pgmnemo.errors import UsageError

VERBS = {
    "key": lambda scope, text: scope.add("text", key=text),
    "topic": lambda scope, text: scope.add("text", topic=text),
    "said": lambda scope, text: scope.add("text", role=text),
    "passages": lambda scope, text: scope.add("text", passages=[text]),
    "metadata": lambda scope, text: scope.add("text", metadata={"of": text}),
    "recall": lambda scope, text: scope.recall(text),
    "filter": lambda scope, text: list(scope.list(filter={"topic": text})),
    "get": lambda scope, text: scope.get(text),
    "update": lambda scope, text: scope.update(text, topic="topic"),
    "fact": lambda scope, text: scope.fact(text, "is", "there"),
}


@pytest.mark.parametrize("text", ["\ud800", "a\0b"], ids=["half a pair", "NUL"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_text_that_no_database_takes_is_wrong_use(verb: str, text: str, scope: Any) -> None:
    with pytest.raises(UsageError):
        VERBS[verb](scope, text)
    assert scope.count(everything=True).lessons == 0
