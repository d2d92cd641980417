"""A wrong argument is a UsageError in every verb, made of the verbs' own signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pgmnemo import AsyncScope, UsageError
from tests.pgmnemo.client.driving import Place, Shell

HALF = "a\ud800"
WRONG = {
    "int": (2**31, -(2**40), 1.5, True, "3", float("nan"), [1]),
    "float": ("x", True, [1]),
    "str": (HALF, 5, 1.5, b"x", ["x"]),
}
NEEDED = {
    "text": "a text", "key": "k", "old": "k", "new": "l", "source": "k", "target": "l", "subject": "ada",
    "relation": "lives in", "object": "Lisbon", "query": "Where?", "keys": ["k"], "items": ["a text"],
}  # fmt: skip
LEFT_OUT = {"project", "export", "import_", "reembed", "stats"}


def embedder(texts: list[str]) -> list[list[float]]:
    """One that fails as tokenizers do where a text is no Unicode."""
    for text in texts:
        if not isinstance(text, str) or any("\ud800" <= one <= "\udfff" for one in text):
            raise TypeError("TextInputSequence must be str")
    return [[float(len(text)), 1.0] for text in texts]


def verbs() -> list[str]:
    """The verbs that are served to others."""
    named = inspect.getmembers(AsyncScope, inspect.isfunction)
    return [name for name, _ in named if not name.startswith("_") and name not in LEFT_OUT]


def cells(verb: str) -> Iterator[tuple[str, Any]]:
    """Each argument of a verb that is a text or a number, and what that cannot be."""
    for one in inspect.signature(getattr(AsyncScope, verb)).parameters.values():
        hints = str(one.annotation).replace(" ", "").split("|")
        for kind in set(WRONG) & set(hints):
            yield from ((one.name, value) for value in WRONG[kind] if not _is_other(value, hints))


def _is_other(value: Any, hints: list[str]) -> bool:
    """Whether a value is of another type that the argument may have."""
    if isinstance(value, bool):
        return "bool" in hints
    return isinstance(value, list) and any(one.startswith("Sequence") for one in hints)


@pytest.mark.parametrize("verb", verbs())
def test_a_wrong_argument_is_wrong_use(shell: Shell, place: Place, verb: str) -> None:
    scope = shell.open(place.dsn(), embedder=embedder).tenant(place.tenant()).project("p")
    parameters = inspect.signature(getattr(AsyncScope, verb)).parameters
    given = {name: NEEDED[name] for name in parameters if name in NEEDED}
    for argument, value in cells(verb):
        with pytest.raises(UsageError) as caught:
            told(getattr(scope, verb), {**given, argument: value})
        assert "does not exist" not in str(caught.value)
        assert "\n" not in str(caught.value)


def told(verb: Callable[..., Any], given: dict[str, Any]) -> None:
    """Call a verb, and read what is read lesson by lesson."""
    found = verb(**given)
    if isinstance(found, Iterator):
        list(found)
