"""The keyword leg reads no more postings than it must, and answers bit for bit as the sum of all of them."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import pytest

WORDS = [f"w{'abcdefghij'[n // 10]}{'bdfghklmnp'[n % 10]}x" for n in range(60)]  # no word of English, no stem
NOW = datetime(2025, 6, 30, tzinfo=UTC)
LESSONS = 1500
ONLY_BM25 = {f"{name}_weight": 0 for name in ("passage_terms", "context", "recency", "importance", "graph")}


def words(chance: random.Random, count: int) -> list[str]:
    """Zipf's distribution: the first words are in most lessons, the last in a few."""
    return chance.choices(WORDS, weights=[1 / (rank + 1) for rank in range(len(WORDS))], k=count)


@pytest.fixture(params=[1, 2], ids=lambda seed: f"corpus{seed}")
def corpus(tenant: Any, request: pytest.FixtureRequest) -> tuple[Any, random.Random]:
    """Short texts, many of them twice, with roles, expiry and provenance that chance decides."""
    chance = random.Random(request.param)
    texts = [" ".join(words(chance, chance.randint(1, 24))) for _ in range(LESSONS * 2 // 3)]
    texts += chance.choices(texts, k=LESSONS - len(texts))
    names = [f"{chance.choice('aBé')}{n:04}" for n in range(LESSONS)]
    tenant.store_many(dict(zip(names, texts, strict=True)))
    tenant.alter(
        "UPDATE pgmnemo.lesson SET role = (ARRAY['pilot', 'cook', NULL])[1 + id % 3], occurred_at = %s, "
        "commit_sha = CASE WHEN id %% 2 = 0 THEN 'c0ffee' END, "
        "expires_at = CASE WHEN id %% 5 < 2 THEN %s ELSE NULL::timestamptz END".replace("id % 3", "id %% 3"),
        NOW.replace(year=2020),
        NOW.replace(year=2024),
    )
    tenant.set(pool_depth=1, **ONLY_BM25)
    return tenant, chance


def full_sum(tenant: Any, question: str) -> dict[str, float]:
    """BM25 of every lesson that holds a term, over all postings of all terms."""
    query = (
        "SELECT l.external_id, sum(pgmnemo._impact(t.scale, x.f, a.flat, a.per_token, x.n, a.pivot)) "
        "/ 1099511627776 "
        "FROM pgmnemo._parse_question(pgmnemo._scope(%(t)s, %(p)s), %(q)s, NULL, now(), "
        "pgmnemo._settings()) a "
        "CROSS JOIN LATERAL unnest(a.terms, a.scales) AS t (term, scale) "
        "JOIN pgmnemo.posting p ON p.project_id = %(p)s AND p.lexeme = t.term "
        "CROSS JOIN LATERAL unnest(p.lesson_ids, p.frequencies, p.token_counts) AS x (id, f, n) "
        "JOIN pgmnemo.lesson l ON l.id = x.id GROUP BY l.external_id")  # fmt: skip
    with tenant.acting() as owner:
        return dict(owner.execute(query, {"t": tenant.id, "p": tenant.project, "q": question}).fetchall())


def allowed(tenant: Any, role: str | None, moment: datetime, gate: str) -> list[str]:
    rows = tenant.rows("SELECT external_id, role, expires_at, commit_sha FROM pgmnemo.lessons")
    return [
        name for name, own_role, expires, commit in rows
        if (role is None or own_role == role) and (gate == "off" or commit)
        and (expires is None or moment < expires)
    ]  # fmt: skip


@pytest.mark.parametrize(("role", "valid_at", "gate"), [
    (None, None, "off"), ("pilot", None, "off"), (None, NOW, "off"), (None, None, "enforce"),
    ("cook", NOW, "enforce"),
])  # fmt: skip
def test_pruned_and_full_sum_agree_in_order_and_bits(
    corpus: tuple[Any, random.Random], role: str | None, valid_at: datetime | None, gate: str
) -> None:
    tenant, chance = corpus
    tenant.set(gate_strict=gate)
    names = allowed(tenant, role, valid_at or NOW, gate)
    for _ in range(4):
        question = " ".join(words(chance, chance.randint(6, 16)) + chance.choices(WORDS, k=4))
        sums = full_sum(tenant, question)
        wanted = sorted((-sums.get(name, 0.0), name.encode()) for name in names)
        for k in (1, 7, 40, 200, 700):
            rows = tenant.recall(question, k=k, mode="keyword", role=role, valid_at=valid_at, as_of=NOW)
            assert [(-row["bm25"], row["external_id"].encode()) for row in rows] == wanted[:k]


def spoilt(tenant: Any, word: str, question: str) -> list[tuple[str, float]]:
    """The answer while every posting of one word leads to lessons that do not exist."""
    with tenant.client.transaction(force_rollback=True):
        spoil = (
            "UPDATE pgmnemo.posting SET lesson_ids = ARRAY(SELECT -n FROM unnest(lesson_ids) n) "
            "WHERE lexeme = %s"
        )
        assert tenant.alter(spoil, word) > 0
        return [(row["external_id"], row["bm25"]) for row in tenant.recall(question, k=5, mode="keyword")]


def test_the_postings_of_a_common_term_are_not_read_where_they_cannot_matter(
    corpus: tuple[Any, random.Random],
) -> None:
    tenant, _ = corpus
    rare, common = WORDS[-3:], WORDS[:4]
    for n in range(8):  # beyond what the common words could lift another lesson to
        tenant.store(f"z{n}", " ".join(rare * (n + 1)))
    question = " ".join(rare + common)
    before = [(row["external_id"], row["bm25"]) for row in tenant.recall(question, k=5, mode="keyword")]
    assert all(name.startswith("z") for name, _ in before)
    assert spoilt(tenant, common[0], question) == before
    assert spoilt(tenant, rare[0], question) != before
