"""Numbers of answers are checked before anything is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import UsageError


@pytest.mark.parametrize("most", [0, -1, 2**31, 1.5, True])
def test_a_number_of_answers_that_none_can_have_is_refused(scope: Scope, most: object) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda most: list(scope.list(most=most)),
        lambda most: scope.facts(most=most),
        lambda most: scope.similar(most=most),
    ]
    for call in calls:
        with pytest.raises(UsageError, match="must be a whole number from 1 to"):
            call(most)
