"""A short question and nothing else counts with a share of its relevance, what tells something whole."""

# ruff: noqa: RUF001

from __future__ import annotations

from typing import Any

import pytest

QUESTIONS = (
    "What colour is my boat?", "Hey! What colour is my boat?", "Sorry, once more: where is it?",
    "[1:56 pm on 8 May, 2023]\nCaroline: What did you do?", "Du, sag mal: Wo arbeite ich?", "¿Dónde vivo?",
    "我的船是什么颜色？", "不好意思再问一下，我住在哪里？", "أين أسكن؟", "What else ;",
)  # fmt: skip
STATEMENTS = (
    "My boat is blue.", "My boat is blue. What is yours?", "I went to Lisbon! How about you?",
    "The boat is blue: a gift from Ada, who sold hers in May, is that not kind of her?", "a?b", "", "?!",
    "我的船是蓝色的。你的呢？", " ".join(["word"] * 13) + "?", "x" * 200 + "?",
)  # fmt: skip


@pytest.mark.parametrize("text", QUESTIONS)
def test_it_is_one(owner: Any, text: str) -> None:
    assert owner.execute("SELECT pgmnemo._is_bare_question(%s)", (text,)).fetchone() == (True,)


@pytest.mark.parametrize("text", STATEMENTS)
def test_it_is_none(owner: Any, text: str) -> None:
    assert owner.execute("SELECT pgmnemo._is_bare_question(%s)", (text,)).fetchone() == (False,)


@pytest.mark.parametrize("spoken", [{"role": "user"}, {'"position"': 1}])
def test_it_counts_with_its_share_in_a_conversation(tenant: Any, spoken: dict[str, Any]) -> None:
    tenant.set(recency_weight=0, importance_weight=0, neighbours_weight=0)
    tenant.store("asks", "Where did the boat go?", **spoken)
    tenant.store("tells", "Where the boat did go.")
    found = {row["external_id"]: row["score"] for row in tenant.recall("boat", mode="keyword")}
    assert found["asks"] == pytest.approx(0.4 * found["tells"])
    tenant.set(question_weight=1)
    found = {row["external_id"]: row["score"] for row in tenant.recall("boat", mode="keyword")}
    assert found["asks"] == found["tells"]


def test_a_note_that_asks_counts_whole(tenant: Any) -> None:
    tenant.store("open point", "Does the food truck need a permit?")
    tenant.store("other", "The food truck sells tacos.")
    assert tenant.ids("food truck permit") == ["open point", "other"]
