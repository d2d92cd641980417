"""Equal texts are one row of recall, however many there are; recall_lessons ranks every lesson."""

from __future__ import annotations

from typing import Any

import pytest

AS_OF = "2026-02-01T00:00Z"
OF_TENANT = """
SELECT external_id, content, equal_lessons, score FROM pgmnemo.recall(
    pgmnemo.current_tenant(), query_text => %s, k => %s, mode => %s, duplicates => %s, project_id => %s,
    as_of => '2026-02-01T00:00Z')
"""


def rows(tenant: Any, question: str, k: int, mode: str = "hybrid", duplicates: bool | None = False) -> Any:
    return tenant.rows(OF_TENANT, question, k, mode, duplicates, tenant.project)


@pytest.fixture
def chat(tenant: Any) -> Any:
    tenant.store_many({f"ok-{n:04}": "ok" for n in range(700)})
    tenant.store_many({f"other-{n:02}": f"ok, thing number {n}" for n in range(49)})
    return tenant


@pytest.mark.parametrize("question", ["ok", "zebra"])
def test_a_pool_full_of_one_text_goes_deeper(chat: Any, question: str) -> None:
    deep = rows(chat, question, 50)
    assert len({content for _, content, *_ in deep}) == 50
    assert [equal for _, content, equal, _ in deep if content == "ok"] == [699]
    assert rows(chat, question, 10) == deep[:10]


def test_recall_lessons_ranks_every_lesson_by_its_score_alone(chat: Any) -> None:
    plain = [(row["external_id"], row["score"]) for row in chat.recall("ok", k=50, as_of=AS_OF)]
    assert plain == [(key, score) for key, _, _, score in rows(chat, "ok", 50, duplicates=None)]
    assert sum(key.startswith("ok-") for key, _ in plain) == 50


def test_the_newest_that_holds_is_shown_with_the_score_of_the_best(tenant: Any) -> None:
    for day in (1, 3, 2, 4):
        tenant.store(f"t{day}", "the kettle is blue", occurred_at=f"2026-01-0{day}T00:00Z")
    tenant.value("SELECT pgmnemo.supersede(NULL, %s, 't4', 't3', at => '2026-01-05T00:00Z')", tenant.project)
    best = max(row["score"] for row in tenant.recall("kettle", as_of=AS_OF))
    assert rows(tenant, "kettle", 10) == [("t3", "the kettle is blue", 2, best)]


def test_long_texts_are_equal_to_the_letter_alone(tenant: Any) -> None:
    long = "the kettle is blue and " * 200
    for key, text in (("a", long), ("b", long), ("c", long.upper())):
        tenant.store(key, text)
    assert sorted(equal for *_, equal, _ in rows(tenant, "kettle", 10)) == [0, 1]
