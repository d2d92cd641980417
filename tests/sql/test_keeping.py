"""A write keeps what it does not name, says where a vector went, and clears what it is told to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

WHOLE = {
    "role": "user", "topic": "harbour", "importance": 5, "metadata": Jsonb({"lang": "de"}),
    '"position"': 7,
    "occurred_at": "2026-05-01Z", "expires_at": "2099-01-01Z", "commit_sha": "c0ffee",
    "artifact_hash": "hash",
    "verified_at": "2026-06-01Z",
}  # fmt: skip


@pytest.fixture
def kept(tenant: Any, unit: Any) -> Any:
    """A tenant with one lesson that has everything, two passages among it."""
    tenant.store("a", "the boat sails at nine", embedding=unit(1).tolist(),
                 passages=["the boat", "sails at nine"], passage_embeddings=[unit(1), unit(0, 1)],
                 **WHOLE)  # fmt: skip
    return tenant


def row(tenant: Any, key: str = "a") -> tuple[Any, ...]:
    names = ", ".join(WHOLE)
    return tenant.rows(f"SELECT {names} FROM pgmnemo.lessons WHERE external_id = %s", key)[0]  # type: ignore[no-any-return]


def vectors(tenant: Any) -> list[tuple[int, bool]]:
    """Which passages there are (0: the lesson as a whole), and whether each has a vector."""
    query = (
        "SELECT number, embedding IS NOT NULL FROM pgmnemo.passages "
        "FULL JOIN pgmnemo.vectors USING (lesson_id, number) ORDER BY number")  # fmt: skip
    return tenant.rows(query)  # type: ignore[no-any-return]


BOTH = [(0, True), (1, True), (2, True)]


def test_what_is_left_out_stays(kept: Any) -> None:
    before = row(kept)
    assert kept.store("a", "the boat sails at nine") == "unchanged"
    assert kept.store("a", "the boat sails at nine", passages=["the boat", "sails at nine"]) == "unchanged"
    assert kept.store("a", "the boat sails at nine", importance=2) == "updated"
    kept.set(gate_strict="enforce")  # its provenance stays, too, so the gate lets it pass
    assert kept.store("a", "the boat sails at nine", importance=5) == "updated"
    assert (row(kept), vectors(kept)) == (before, BOTH)


def test_a_vector_goes_with_its_text_and_the_answer_says_so(kept: Any, unit: Any) -> None:
    assert kept.store("a", "the boat sails at ten") == "unembedded"
    assert (vectors(kept), kept.ids(None, unit(1))) == ([], ["a"])  # found to fill up, by no vector
    assert kept.store("a", "the boat sails at noon") == "updated"  # there was none to lose
    assert kept.store("a", "the boat sails at noon", embedding=unit(1).tolist()) == "updated"
    assert kept.store("a", "the boat sails at one", embedding=unit(0, 1).tolist()) == "updated"
    assert vectors(kept) == [(0, True)]


@pytest.mark.parametrize("name", WHOLE)
def test_each_is_cleared_by_its_name_alone(kept: Any, name: str) -> None:
    before = dict(zip(WHOLE, row(kept), strict=True))
    assert kept.store("a", "the boat sails at nine", clear=[name.strip('"')]) == "updated"
    after = dict(zip(WHOLE, row(kept), strict=True))
    assert after == {**before, name: {"importance": 3, "metadata": {}}.get(name)}
    assert vectors(kept) == BOTH


def test_vectors_and_passages_are_cleared_by_their_names(kept: Any) -> None:
    assert kept.store("a", "the boat sails at nine", clear=["passages"]) == "updated"
    assert vectors(kept) == [(0, True)]
    assert kept.store("a", "the boat sails at nine", clear=["embedding"]) == "updated"
    assert vectors(kept) == []
    assert kept.store("a", "the boat sails at nine", clear=["embedding", "passages"]) == "unchanged"


def test_what_cannot_be_cleared_or_stored_is_refused(kept: Any) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="clear names 'content', which cannot be cleared"):
        kept.store("a", "the boat", clear=["content"])
    with pytest.raises(errors.InvalidParameterValue, match="clear names NULL"):
        kept.store("a", "the boat", clear=[None])
    for blank in ("", " \n\t"):
        with pytest.raises(errors.InvalidParameterValue, match="has no text in its content"):
            kept.store("b", blank)
    kept.set(gate_strict="enforce")
    with pytest.raises(errors.CheckViolation, match="no provenance"):
        kept.store("a", "the boat sails at nine", clear=["commit_sha", "artifact_hash"])
    assert (kept.value("SELECT content FROM pgmnemo.lessons"), vectors(kept)) == (
        "the boat sails at nine",
        BOTH,
    )


def test_what_the_gate_hides_is_said_in_the_answer(tenant: Any) -> None:
    tenant.store("bare", "the river has a bridge")
    tenant.set(gate_strict="enforce")
    with pytest.raises(errors.ObjectNotInPrerequisiteState, match="hides all lessons in scope"):
        tenant.recall("river")
    tenant.store("proven", "another river", commit_sha="c0ffee")
    assert [(line["external_id"], line["hidden"]) for line in tenant.recall("river")] == [("proven", 1)]
    assert tenant.recall("river", role="nobody") == []  # the gate is not why
    tenant.set(gate_strict="off")
    assert {line["hidden"] for line in tenant.recall("river")} == {0}


def test_a_store_that_waited_for_a_deletion_stores_anew(tenant: Any) -> None:
    tenant.store("k", "the first text")
    other, waiting = tenant.connect(), tenant.connect()
    with ThreadPoolExecutor(1) as pool:
        with other.transaction():
            other.execute("SELECT pgmnemo.forget(NULL, %s, 'j')", (tenant.project,))  # locks the tenant
            query = "SELECT pgmnemo.store(NULL, %s, 'k', 'the second text')"
            answer = pool.submit(lambda: waiting.execute(query, (tenant.project,)).fetchone())
            while not tenant.rows("SELECT FROM pg_locks WHERE NOT granted"):
                sleep(0.01)
            other.execute("SELECT pgmnemo.forget(NULL, %s, 'k', true)", (tenant.project,))
        assert answer.result() == ("inserted",)
    assert tenant.rows("SELECT content FROM pgmnemo.lessons") == [("the second text",)]
