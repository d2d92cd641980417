"""What a tenant remembers of its embedder, seen by memories that were open before."""

from __future__ import annotations

import pytest

from pgmnemo.errors import UsageError
from tests.pgmnemo.client.driving import Place, Shell


def two(texts: list[str]) -> list[list[float]]:
    return [[1.0, 2.0]] * len(texts)


def three(texts: list[str]) -> list[list[float]]:
    return [[1.0, 2.0, 3.0]] * len(texts)


def test_who_asked_before_anything_was_stored_learns_whose_the_vectors_are(
    shell: Shell, place: Place
) -> None:
    tenant = place.tenant()
    asking, writing = (
        shell.open(place.dsn(), embedder=one).tenant(tenant).project("kitchen") for one in (two, three)
    )
    assert asking.recall("What is there?") == []
    writing.add("A table.")
    with pytest.raises(UsageError, match="cannot be compared"):
        asking.recall("What is there?")
