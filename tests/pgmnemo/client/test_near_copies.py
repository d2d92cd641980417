"""A context shows the newest of lessons that say nearly the same, and how many others there are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pgmnemo import Scope
from pgmnemo.errors import UsageError

DAY = datetime(2026, 5, 1, tzinfo=UTC)
OLD = "Ada prefers tabs over spaces in all Python code of the boats project"
NEW = "Ada prefers tabs over spaces in all Python code of the whole boats project"


def test_the_newest_of_near_copies_is_shown_with_the_number_of_the_others(scope: Scope) -> None:
    for day, text in enumerate((OLD, NEW, OLD.replace("Ada", "She"), "Spaces of the harbour are dear.")):
        scope.add(text, key=f"k{day}", at=DAY + timedelta(days=day))
    found = scope.context("tabs or spaces in Python?")
    assert [(hit.key, hit.near_copies) for hit in found.hits] == [("k2", 2), ("k3", 0)]
    assert "+2 similar" in found.text
    each = [
        scope.context("tabs or spaces?", least_words=None),
        scope.context("tabs or spaces?", duplicates=True),
    ]
    assert [{hit.key for hit in one.hits} for one in each] == [{"k0", "k1", "k2", "k3"}] * 2
    assert len(scope.context("tabs or spaces?", least_words=1).hits) == 4
    assert len(scope.recall("tabs or spaces?")) == 4


def test_what_differs_in_a_number_is_shown_each(scope: Scope) -> None:
    for port in (8080, 8081):
        scope.add(
            f"The service of the boats project in the harbour listens on port {port} there", key=f"p{port}"
        )
    assert len(scope.context("Which port?").hits) == 2


def test_a_near_copy_that_is_superseded_is_not_shown(scope: Scope) -> None:
    scope.add(OLD, key="old", at=DAY)
    scope.add(NEW, key="new", at=DAY + timedelta(days=1))
    scope.supersede("new", "old")
    assert [hit.key for hit in scope.context("tabs or spaces?").hits] == ["old"]


@pytest.mark.parametrize("least", [0.4, 1.1, "many", float("nan")])
def test_a_share_that_is_none_is_refused(scope: Scope, least: float) -> None:
    with pytest.raises(UsageError, match="least_words"):
        scope.context("tabs?", least_words=least)
