"""Many lessons are forgotten at once by what they are, and those that have expired are swept away."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import errors

NOW = datetime.now(UTC)


def forget(tenant: Any, filter: Any, **options: object) -> int:
    names = "".join(f", {name} => %s" for name in options)
    return int(
        tenant.value(
            f"SELECT pgmnemo.forget_matching(NULL, %s{names})", json.dumps(filter), *options.values()
        )
    )


def sweep(tenant: Any, before: datetime | None = None, most: int = 10000) -> int:
    return int(tenant.value("SELECT pgmnemo.delete_expired(NULL, %s, %s)", before, most))


def kept(tenant: Any, everything: bool = True) -> list[str]:
    return [
        key
        for (key,) in tenant.rows("SELECT external_id FROM pgmnemo.list(NULL, everything => %s)", everything)
    ]


def sound(tenant: Any) -> bool:
    return tenant.rows("SELECT * FROM pgmnemo.check(%s)", tenant.id) == []


@pytest.fixture
def states(tenant: Any) -> Any:
    """Lessons in every state, with topic t and without."""
    for key in ("plain", "old", "expired", "gone", "bare", "other", "other gone"):
        topic = None if key.startswith("other") else "t"
        proof = None if key == "bare" else "c0ffee"
        tenant.store(key, f"the {key} river", commit_sha=proof, topic=topic, metadata='{"a": 1}')
    tenant.value("SELECT pgmnemo.supersede(NULL, %s, 'old', 'plain')", tenant.project)
    tenant.value("SELECT pgmnemo.update(NULL, %s, 'expired', expires_at => '2025-01-01')", tenant.project)
    for key in ("gone", "other gone"):
        tenant.value("SELECT pgmnemo.forget(%s, %s, %s)", tenant.id, tenant.project, key)
    tenant.set(gate_strict="enforce")
    return tenant


@pytest.mark.parametrize("filter", [
    {"topic": "t"}, {"topic_prefix": "t"}, {"topic": "t", "metadata": {"a": {"gt": 0}}},
    {"topic": "t", "metadata": {"contains": {"a": 1}}},
])  # fmt: skip
@pytest.mark.parametrize("hard", [False, True])
def test_what_matches_is_forgotten_in_whatever_state(states: Any, filter: Any, hard: bool) -> None:
    matching = ["plain", "old", "expired", "bare", *(["gone"] if hard else [])]
    before = states.look("SELECT * FROM pgmnemo.lesson ORDER BY id")
    assert forget(states, filter, hard=hard, dry_run=True) == len(matching)
    assert states.look("SELECT * FROM pgmnemo.lesson ORDER BY id") == before
    assert forget(states, filter, hard=hard) == len(matching)
    assert forget(states, filter, hard=hard, dry_run=True) == forget(states, filter, hard=hard) == 0
    assert kept(states, everything=False) == ["other"]
    assert kept(states) == (["other", "other gone"] if hard else [row[3] for row in before])
    assert sound(states)


@pytest.mark.parametrize("filter", ["NULL", "'{}'"])
def test_all_of_them_are_forgotten_by_another_verb(tenant: Any, filter: str) -> None:
    tenant.store("a", "river")
    for dry_run in ("false", "true"):
        with pytest.raises(errors.InvalidParameterValue, match="must say which lessons") as error:
            tenant.rows(f"SELECT pgmnemo.forget_matching(NULL, {filter}, dry_run => {dry_run})")
        assert "forget_all" in (error.value.diag.message_hint or "")
    assert kept(tenant) == ["a"]


def test_a_dry_run_holds_nobody_up(tenant: Any) -> None:
    tenant.store("a", "river", topic="t")
    other = tenant.connect()
    with other.transaction():
        other.execute("SELECT pgmnemo.forget(%s, %s, 'a')", (tenant.id, tenant.project))
        tenant.client.execute("SET lock_timeout = '2s'")
        assert forget(tenant, {"topic": "t"}, dry_run=True) == 1
        with pytest.raises(errors.LockNotAvailable):
            forget(tenant, {"topic": "t"})
    assert forget(tenant, {"topic": "t"}) == 0


def test_what_has_expired_is_swept_in_order(tenant: Any, make_tenant: Any) -> None:
    other = make_tenant()
    for days in (5, 4, 3, 2, 1, -1):
        for each in (tenant, other):
            each.store(f"{days} ago", "river", expires_at=NOW - timedelta(days=days), metadata='{"a": 1}')
    tenant.store("lasting", "river")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, '2 ago')", tenant.project)
    assert sweep(tenant, most=1) == 1
    assert kept(tenant) == ["4 ago", "3 ago", "2 ago", "1 ago", "-1 ago", "lasting"]
    assert sweep(tenant, NOW - timedelta(days=3)) == 2
    assert sweep(tenant) == 2
    assert sweep(tenant) == 0
    assert kept(tenant) == ["-1 ago", "lasting"]
    assert len(kept(other)) == 6
    assert sound(tenant)
    assert tenant.look("SELECT count(*) FROM pgmnemo.lesson_entry") == [(1,)]


@pytest.mark.parametrize(("before", "most", "told"), [
    (NOW + timedelta(days=1), 10, "must not be in the future"),
    (None, 0, "most is 0, but must be from 1 to 10000"), (None, 10001, "most is 10001"),
])  # fmt: skip
def test_what_cannot_be_swept_is_said(tenant: Any, before: datetime | None, most: int, told: str) -> None:
    tenant.store("a", "river", expires_at=NOW - timedelta(days=1))
    with pytest.raises(errors.InvalidParameterValue, match=told):
        sweep(tenant, before, most)
    assert kept(tenant) == ["a"]
