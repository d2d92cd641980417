"""Rows, options and the test embedder."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions, pad, unit_rows
from pgmnemo.errors import EmbedderError, UsageError
from runner.protocol.editions import current
from runner.protocol.templates.embedding import make_embedder


def test_padding_leaves_cosines_as_they_were() -> None:
    rows = unit_rows(np.random.default_rng(42).normal(size=(5, 384)).astype(np.float32))
    padded = pad(rows)
    assert padded.shape == (5, 1024)
    assert padded.dtype == np.float32
    np.testing.assert_allclose(padded @ padded.T, rows @ rows.T, atol=1e-6)


def test_rows_that_are_too_wide_are_refused() -> None:
    with pytest.raises(EmbedderError, match="1536 dimensions and 1024 are stored"):
        pad(np.ones((1, 1536), dtype=np.float32))


def test_rows_without_a_length_stay_as_they_are() -> None:
    rows = unit_rows(np.array([[3, 4], [0, 0], [np.nan, 1]], dtype=np.float32))
    np.testing.assert_array_equal(rows, np.array([[0.6, 0.8], [0, 0], [np.nan, 1]], dtype=np.float32))


def test_what_is_not_set_is_as_the_edition_pins_it() -> None:
    pins = replace(current().embedding, max_tokens=99, batch_size=5)
    made = make_embedder("bge-m3", edition=replace(current(), embedding=pins)).identity
    assert (made.max_tokens, made.batch_size) == (99, 5)
    own = make_embedder("minilm", EmbedderOptions(max_tokens=7, batch_size=3)).identity
    assert (own.max_tokens, own.batch_size) == (7, 3)
    pinned = current().embedding
    assert (EmbedderOptions().tokens, EmbedderOptions().usual_batch) == (pinned.max_tokens, pinned.batch_size)


def test_hashing_is_deterministic_and_labelled() -> None:
    first, second = (EMBEDDERS["hash"](EmbedderOptions()) for _ in range(2))
    texts = ["The cat sat.", "the CAT sat", "", "?!"]
    rows = first.embed_documents(texts)
    np.testing.assert_array_equal(rows, second.embed_queries(texts))
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-6)
    assert rows.shape == (4, 256)
    assert "tests only" in first.identity.note


def test_prefixes_are_part_of_the_text() -> None:
    plain = EMBEDDERS["hash"](EmbedderOptions())
    prefixed = EMBEDDERS["hash"](EmbedderOptions(query_prefix="query: ", document_prefix="passage: "))
    np.testing.assert_array_equal(prefixed.embed_queries(["cat"]), plain.embed_queries(["query: cat"]))
    np.testing.assert_array_equal(prefixed.embed_documents(["cat"]), plain.embed_documents(["passage: cat"]))


@pytest.mark.parametrize("name", ["minilm", "minilm-int8", "minilm-onnx"])
def test_more_tokens_than_positions_is_wrong_use(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} takes at most 512 tokens, not 513"):
        EMBEDDERS[name](EmbedderOptions(max_tokens=513))
