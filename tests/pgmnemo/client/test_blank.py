"""A blank question is an empty one, and a blank text is no lesson, in every script."""

from __future__ import annotations

import pytest

from pgmnemo import UsageError
from tests.pgmnemo.client.driving import Place, Shell

BLANKS = ["", "   ", "\t\n", "\u3000", "\u200b", "\u00a0", "\ufeff\u00ad"]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_question_fits_nothing(shell: Shell, place: Place, blank: str) -> None:
    scope = shell.open(place.dsn(), embedder="hash").tenant(place.tenant()).project("p")
    scope.add("I moved to Lisbon in May.")
    assert [hit.fit for hit in scope.recall(blank)] == [0]
    assert scope.recall(blank, min_fit=0.01) == []


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_text_is_refused(shell: Shell, place: Place, blank: str) -> None:
    scope = shell.open(place.dsn(), embedder=None).tenant(place.tenant()).project("p")
    with pytest.raises(UsageError, match="empty"):
        scope.add(blank)
