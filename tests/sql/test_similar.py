"""Lessons that say nearly the same are found in pairs, each once, page by page."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from psycopg import errors

WORDS = [f"q{one}{two}z" for one in "abcdefghijklmnopqrst" for two in "abcdefghijklmno"]


def pairs(tenant: Any, most: int = 100, **options: object) -> dict[tuple[str, str], tuple[Any, Any]]:
    """Of all pages: the keys of each pair with its cosine and its share of words."""
    names = "".join(f", {name} => %s" for name in options)
    query = f"SELECT * FROM pgmnemo.similar_pairs(NULL, after => %s, most => %s{names})"
    found: dict[tuple[str, str], tuple[Any, Any]] = {}
    after = 0
    while rows := tenant.rows(query, after, most, *options.values()):
        for first, second, first_key, second_key, cosine, words, after in rows:
            if first is not None:
                assert first < second <= after
                assert (first_key, second_key) not in found
                found[first_key, second_key] = cosine, words
    return found


def test_pairs_are_those_that_a_comparison_of_all_finds(tenant: Any) -> None:
    """Without words in so many lessons that they are not followed."""
    rng, numbers = random.Random(7), np.random.default_rng(7)
    texts: list[list[str]] = []
    vectors = np.zeros((120, 1024), dtype=np.float32)
    for n in range(120):
        like = rng.randrange(n) if n and rng.random() < 0.5 else None
        said = list(texts[like]) if like is not None else rng.sample(WORDS, rng.randrange(1, 20))
        for _ in range(rng.randrange(3)):
            said[rng.randrange(len(said))] = rng.choice(WORDS)
        texts.append(said)
        direction = numbers.standard_normal(384)
        near = vectors[like, :384] * 100 * rng.random() if like is not None else 0
        vectors[n, :384] = (direction + near) / np.linalg.norm(direction + near)
    tenant.store_many({f"k{n:03}": " ".join(said) for n, said in enumerate(texts)}, vectors)
    for least_cosine, least_words in ((0.9, 0.8), (0.9, None), (None, 0.8), (None, 0.5), (None, 1)):
        wanted = {}
        for b in range(120):
            for a in range(b):
                one, other = set(texts[a]), set(texts[b])
                cosine = float(vectors[a] @ vectors[b])
                words = len(one & other) / len(one | other)
                if (least_cosine and cosine >= least_cosine) or (least_words and words >= least_words):
                    wanted[f"k{a:03}", f"k{b:03}"] = cosine, words
        for most in (7, 1000):
            found = pairs(tenant, most, least_cosine=least_cosine, least_words=least_words)
            assert found.keys() == wanted.keys()
            assert len(found) > 10
            assert all(found[pair] == pytest.approx(wanted[pair], abs=2e-3) for pair in found)


def test_only_what_a_recall_could_answer_with_is_paired(tenant: Any, make_tenant: Any) -> None:
    second = make_tenant().project
    for key in ("a", "b", "gone", "old", "expired", "bare"):
        tenant.store(key, "the same river", commit_sha=None if key == "bare" else "c0ffee")
    tenant.store("there", "the same river", project_id=second, commit_sha="c0ffee")
    tenant.value("SELECT pgmnemo.forget(NULL, %s, 'gone')", tenant.project)
    tenant.value("SELECT pgmnemo.supersede(NULL, %s, 'old', 'a')", tenant.project)
    tenant.value("SELECT pgmnemo.update(NULL, %s, 'expired', expires_at => '2025-01-01')", tenant.project)
    tenant.set(gate_strict="enforce")
    before = tenant.look("SELECT * FROM pgmnemo.lesson ORDER BY id")
    assert pairs(tenant, project_id=tenant.project) == {("a", "b"): (None, 1)}
    assert pairs(tenant).keys() == {("a", "b"), ("a", "there"), ("b", "there")}
    assert pairs(make_tenant()) == {}
    assert tenant.look("SELECT * FROM pgmnemo.lesson ORDER BY id") == before


def test_texts_of_very_many_words_are_compared_by_vectors_alone(tenant: Any, unit: Any) -> None:
    for key, words in (("a", 2000), ("b", 2000), ("c", 40_000), ("d", 40_000)):
        named = ("".join(chr(97 + n // 26**place % 26) for place in range(4)) for n in range(words))
        text = " ".join(f"{'kp'[key > 'b']}{name}z" for name in named)
        tenant.store(key, text, embedding=unit(key > "b", 1))
    assert pairs(tenant, least_words=0.5).keys() == {("a", "b"), ("c", "d")}
    assert pairs(tenant, least_words=0.5, least_cosine=None).keys() == {("a", "b")}


def test_many_copies_are_told_in_part(tenant: Any) -> None:
    tenant.store_many({f"k{n:03}": "the same river" for n in range(130)})
    found = pairs(tenant, 1000)
    told = [sum(second == f"k{n:03}" for _, second in found) for n in range(130)]
    assert told == [min(n, 50) for n in range(130)]


@pytest.mark.parametrize(("given", "told"), [
    ("least_cosine => 0.4", "least_cosine is 0.4, but must be from 0.5 to 1"),
    ("least_cosine => 'NaN'", "least_cosine is NaN"), ("least_words => 1.1", "least_words is 1.1"),
    ("least_words => NULL, least_cosine => NULL", "are both NULL"),
    ("most => 0", "most is 0, but must be from 1 to 1000"),
])  # fmt: skip
def test_what_cannot_be_asked_is_said(tenant: Any, given: str, told: str) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=told):
        tenant.rows(f"SELECT * FROM pgmnemo.similar_pairs(NULL, {given})")
