"""all-MiniLM-L6-v2 by onnxruntime: nearly the same numbers under another name, from a graph exported once."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions
from pgmnemo.embedders.minilm import PACKAGE, WEIGHTS_SHA256, _package_folder
from pgmnemo.embedders.minilm_onnx import GRAPH, MiniLMOnnx
from pgmnemo.errors import ModelError
from pgmnemo.models.hub import file_sha256

NEEDED = (PACKAGE, "onnxruntime", "onnx", "onnxscript")
pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in NEEDED), reason="needs the onnx extra"
)
TEXTS = [
    "Melanie: I ran a charity race in May.", "x", "river " * 300,
    "Caroline: the painting shows a lake. 湖 ß!",
]  # fmt: skip


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """With a cache of its own, so that a graph is exported."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PGMNEMO_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        made = EMBEDDERS["minilm-onnx"](EmbedderOptions())
        made.load()
        yield made


def test_the_graph_answers_as_the_weights_do(embedder: Embedder) -> None:
    here, there = (
        embedder.embed_documents(TEXTS),
        EMBEDDERS["minilm"](EmbedderOptions()).embed_documents(TEXTS),
    )
    assert here.dtype == np.float32
    np.testing.assert_allclose(here, there, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(here, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(here[:1], embedder.embed_queries(TEXTS[:1]), atol=2e-6)  # a batch of any size
    cut, tail = embedder.embed_documents(["river " * 300, "river " * 300 + "volcano"])
    np.testing.assert_array_equal(cut, tail)


def test_its_identity_is_another_than_that_of_the_weights(embedder: Embedder) -> None:
    own, theirs = embedder.identity, EMBEDDERS["minilm"](EmbedderOptions()).identity
    assert own.name == "minilm-onnx"
    assert own.revision.startswith(f"sha256:{WEIGHTS_SHA256}, exported by torch ")
    assert (own.dimensions, own.max_tokens) == (theirs.dimensions, theirs.max_tokens)


def test_the_graph_is_exported_once(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    again = MiniLMOnnx(EmbedderOptions(max_tokens=32))
    monkeypatch.setattr("pgmnemo.embedders.minilm_onnx._export", lambda *_: pytest.fail("exported again"))
    again.load()
    assert again.embed_documents(TEXTS).shape == (4, 384)


def test_a_folder_with_a_graph_is_taken_as_it_is(embedder: Embedder, tmp_path: Path) -> None:
    assert isinstance(embedder, MiniLMOnnx)
    shutil.copy(embedder.place, tmp_path / GRAPH)
    shutil.copy(Path(str(_package_folder())) / "tokenizer.json", tmp_path)
    given = MiniLMOnnx(EmbedderOptions(model=str(tmp_path)))
    assert given.identity.revision == f"onnx sha256:{file_sha256(tmp_path / GRAPH)}"
    np.testing.assert_array_equal(given.embed_documents(TEXTS), embedder.embed_documents(TEXTS))


def test_a_broken_graph_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / GRAPH).write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded by onnxruntime .* delete that file"):
        MiniLMOnnx(EmbedderOptions(model=str(tmp_path))).load()


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ModelError, match=r"needs onnxscript, which is not installed; .* '\.\[onnx\]'"):
        MiniLMOnnx(EmbedderOptions()).load()
