"""The small encoders of the hub through their real loader, on tiny models of the same architectures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.client.memory_embedder import memory_embedder
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.embedders.hub_encoder import FILES, HubEncoder
from pgmnemo.errors import ModelError, UsageError

pytest.importorskip("torch")
TEXTS = ["the cat sat", "hiking in may with melanie and caroline", "dog"]
SEARCH = "Represent this sentence for searching relevant passages: "
MODELS = {
    "multilingual-e5-small": ("mean", "query: ", "passage: "),
    "e5-small-v2": ("mean", "query: ", "passage: "),
    "arctic-embed-s": ("CLS", SEARCH, ""),
    "bge-small-en": ("CLS", SEARCH, ""),
}


@pytest.fixture
def folders(tiny_bert: Path, tiny_multilingual: Path) -> dict[str, Path]:
    return {name: tiny_multilingual if name == "multilingual-e5-small" else tiny_bert for name in MODELS}


def reference(folder: Path, text: str, pooling: str) -> Any:
    """The pooled vector of one text, alone in its batch, straight from transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(str(folder))(text, return_tensors="pt")
    with torch.inference_mode():
        model: Any = AutoModel.from_pretrained(str(folder)).eval()
        states = model(**tokens).last_hidden_state[0].numpy()
    row = states[0] if pooling == "CLS" else states.mean(axis=0)
    return row / np.linalg.norm(row)


@pytest.mark.parametrize("name", MODELS)
def test_questions_and_texts_are_pooled_after_their_prefixes(
    name: str, folders: dict[str, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    pooling, query, document = MODELS[name]
    embedder = EMBEDDERS[name](EmbedderOptions(model=str(folders[name])))
    for prefix, rows in (
        (query, embedder.embed_queries(TEXTS)),
        (document, embedder.embed_documents(TEXTS)),
    ):
        assert (rows.shape, rows.dtype) == ((3, 24), np.float32)
        for row, text in zip(rows, TEXTS, strict=True):
            expected = reference(folders[name], prefix + text, pooling)
            np.testing.assert_allclose(row, expected, atol=1e-5)
    assert embedder.embed_documents([]).shape == (0, 24)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", MODELS)
def test_the_identity_names_model_commit_prefixes_and_limit(name: str) -> None:
    pooling, query, document = MODELS[name]
    identity = EMBEDDERS[name](EmbedderOptions()).identity
    assert (identity.name, identity.dimensions, identity.max_tokens) == (name, 384, 512)
    assert (identity.query_prefix, identity.document_prefix) == (query, document)
    assert identity.note.startswith(pooling)
    assert re.fullmatch("[0-9a-f]{40}", identity.revision)


def test_nothing_after_the_limit_counts(tiny_bert: Path) -> None:
    embedder = EMBEDDERS["e5-small-v2"](EmbedderOptions(model=str(tiny_bert), max_tokens=16))
    cut, tail, short = embedder.embed_documents(["cat " * 30, "cat " * 30 + "dog", "cat " * 5])
    np.testing.assert_allclose(cut, tail, atol=1e-6)
    assert not np.allclose(cut, short, atol=1e-6)
    with pytest.raises(UsageError, match="at most 512 tokens, not 513"):
        EMBEDDERS["e5-small-v2"](EmbedderOptions(max_tokens=513))


def test_a_memory_distinguishes_the_weights_of_a_folder(tiny_bert: Path) -> None:
    embedding = memory_embedder(f"bge-small-en model={tiny_bert}")
    assert embedding.model.startswith("BAAI/bge-small-en-v1.5, sha256:")
    assert embedding.model.endswith(f"prefixes '{SEARCH}' and ''")
    assert (embedding.dimensions, embedding.max_tokens) == (24, 512)


@pytest.mark.parametrize("name", MODELS)
def test_without_the_hub_it_is_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def unreachable(*_: Any, **given: Any) -> Any:
        raise OSError("no route to host")

    monkeypatch.setattr(hub, "snapshot_download", unreachable)
    monkeypatch.setattr(hub.HfApi, "model_info", unreachable)
    with pytest.raises(ModelError) as raised:
        memory_embedder(name)
    told = str(raised.value)
    assert "is not on this machine and the Hugging Face hub could not be reached (no route to host)" in told
    assert told.endswith("or take multilingual-e5-small-4bit, whose weights are a package") == (
        name == "multilingual-e5-small"
    )


def test_weights_of_the_hub_whose_hash_is_another_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    for name in FILES:
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(hub, "snapshot_download", lambda *_, **given: str(tmp_path))
    embedder = EMBEDDERS["bge-small-en"](EmbedderOptions())
    assert isinstance(embedder, HubEncoder)
    with pytest.raises(ModelError, match="is not the pinned model: its sha256 is"):
        embedder.load()
