"""bge-m3 and DRAGON+ through their real loaders, on tiny models of the same architecture."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.embedders import bge_m3 as bge
from pgmnemo.embedders import dragon_plus as dragon
from pgmnemo.errors import ModelError
from pgmnemo.models.hub import HubModel, file_sha256

pytest.importorskip("torch")
TEXTS = ["the cat sat", "hiking in may with melanie and caroline", "dog"]


def reference(folder: Path, text: str) -> Any:
    """The CLS vector of one text, alone in its batch, straight from transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(str(folder))(text, return_tensors="pt")
    with torch.inference_mode():
        model: Any = AutoModel.from_pretrained(str(folder)).eval()
        row = model(**tokens).last_hidden_state[0, 0].numpy()
    return row / np.linalg.norm(row)


def test_bge_m3_is_the_normalised_cls_vector(
    tiny_xlm_roberta: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("FlagEmbedding")
    embedder = EMBEDDERS["bge-m3"](EmbedderOptions(model=str(tiny_xlm_roberta)))
    rows = embedder.embed_documents(TEXTS * 3)  # nine texts: longer than one canonical batch
    assert rows.shape == (9, 32)
    assert rows.dtype == np.float32
    for row, text in zip(rows, TEXTS * 3, strict=True):
        np.testing.assert_allclose(row, reference(tiny_xlm_roberta, text), atol=1e-5)
    np.testing.assert_array_equal(embedder.embed_queries(TEXTS * 3), rows)
    assert capfd.readouterr() == ("", "")


def test_dragon_plus_has_two_encoders(tiny_dragon: Path, capfd: pytest.CaptureFixture[str]) -> None:
    embedder = EMBEDDERS["dragon-plus"](EmbedderOptions(model=str(tiny_dragon)))
    documents, queries = embedder.embed_documents(TEXTS), embedder.embed_queries(TEXTS)
    assert documents.shape == (3, 24)
    for half, rows in (("query", queries), ("context", documents)):
        for row, text in zip(rows, TEXTS, strict=True):
            expected = reference(tiny_dragon / f"dragon-plus-{half}-encoder", text)
            np.testing.assert_allclose(row, expected, atol=1e-5)
    assert not np.allclose(documents, queries, atol=1e-3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["bge-m3", "dragon-plus"])
def test_texts_are_cut_at_512_tokens_and_questions_have_their_prefix(
    name: str, tiny_xlm_roberta: Path, tiny_dragon: Path
) -> None:
    pytest.importorskip("FlagEmbedding" if name == "bge-m3" else "transformers")
    folder = str(tiny_xlm_roberta if name == "bge-m3" else tiny_dragon)
    plain, prefixed = (
        EMBEDDERS[name](EmbedderOptions(model=folder, query_prefix=prefix)) for prefix in ("", "may ")
    )
    long = "cat " * 600
    cut, tail, short = plain.embed_documents([long, long + "dog", "cat " * 400])
    np.testing.assert_array_equal(cut, tail)
    assert not np.allclose(cut, short, atol=1e-6)
    there = plain.embed_queries(["may dog ran"])
    np.testing.assert_allclose(prefixed.embed_queries(["dog ran"]), there, atol=1e-6)


def copied(folder: Path, target: Path) -> Path:
    shutil.copytree(folder, target)
    return target


def revision(folder: Path) -> str:
    return EMBEDDERS["bge-m3"](EmbedderOptions(model=str(folder))).identity.revision


@pytest.mark.parametrize("name", ["pytorch_model.bin", "config.json", "tokenizer.json"])
def test_a_folders_revision_follows_every_file_that_matters(
    name: str, tiny_xlm_roberta: Path, tmp_path: Path
) -> None:
    folder = copied(tiny_xlm_roberta, tmp_path / "copy")
    before = revision(folder)
    assert before == revision(tiny_xlm_roberta)
    assert before.startswith("sha256:")
    with (folder / name).open("ab") as file:
        file.write(b"\n")
    assert revision(folder) != before


def test_a_folder_with_the_pinned_files_is_the_canonical_model(
    tiny_xlm_roberta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(tiny_xlm_roberta, tmp_path / "copy")
    monkeypatch.setattr(bge, "BGE_M3", pinned(bge.BGE_M3, folder))
    assert revision(folder) == bge.BGE_M3.revision
    (folder / "model.safetensors").write_bytes(b"other weights, which would be loaded instead")
    assert revision(folder).startswith("sha256:")


def pinned(model: HubModel, folder: Path) -> HubModel:
    """`model` with the hashes of the files in `folder`."""
    return replace(model, sha256={name: file_sha256(folder / name) for name in model.sha256})


def test_folders_that_cannot_serve_are_refused(
    tiny_xlm_roberta: Path, tiny_dragon: Path, tmp_path: Path
) -> None:
    def build(name: str, folder: Path, **settings: Any) -> None:
        EMBEDDERS[name](EmbedderOptions(model=str(folder), **settings))

    with pytest.raises(ModelError, match="holds no model weights"):
        build("bge-m3", tmp_path)
    with pytest.raises(ModelError, match="has no folder dragon-plus-query-encoder"):
        build("dragon-plus", tiny_xlm_roberta)
    with pytest.raises(ModelError, match="takes 512 tokens, not 513"):
        build("bge-m3", tiny_xlm_roberta, max_tokens=513)
    broken = copied(tiny_xlm_roberta, tmp_path / "broken")
    (broken / "config.json").write_text("{")
    with pytest.raises(ModelError, match="is not a model configuration"):
        build("bge-m3", broken)
    uneven = copied(tiny_dragon, tmp_path / "uneven")
    config = uneven / "dragon-plus-query-encoder" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "hidden_size": 48}))
    with pytest.raises(ModelError, match=r"differ in width: \[24, 48\]"):
        build("dragon-plus", uneven)


@pytest.mark.parametrize("name", ["bge-m3", "dragon-plus"])
@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json", "pytorch_model.bin"])
def test_a_damaged_file_of_a_model_is_one_sentence(
    name: str, file: str, tiny_xlm_roberta: Path, tiny_dragon: Path, tmp_path: Path
) -> None:
    pytest.importorskip("FlagEmbedding" if name == "bge-m3" else "transformers")
    folder = copied(tiny_xlm_roberta if name == "bge-m3" else tiny_dragon, tmp_path / "damaged")
    for path in folder.rglob(file):
        path.write_bytes(path.read_bytes()[:20])
    embedder = EMBEDDERS[name](EmbedderOptions(model=str(folder)))
    with pytest.raises(ModelError, match=r"damaged.* cannot be loaded as a model \(.*\); fetch it again"):
        embedder.load()


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and a hub that answers nowhere."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path / "hub"


def into_cache(cache: Path, model: HubModel, folder: Path) -> None:
    snapshot = cache / f"models--{model.repository.replace('/', '--')}" / "snapshots" / model.revision
    snapshot.mkdir(parents=True)
    for name in model.files:
        (snapshot / name).write_bytes((folder / name).read_bytes())


def test_a_cached_snapshot_of_the_pinned_commit_needs_no_network(
    hub_cache: Path, tiny_dragon: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for half in ("QUERY", "CONTEXT"):
        folder = tiny_dragon / f"dragon-plus-{half.lower()}-encoder"
        monkeypatch.setattr(dragon, half, pinned(getattr(dragon, half), folder))
        into_cache(hub_cache, getattr(dragon, half), folder)
    rows = EMBEDDERS["dragon-plus"](EmbedderOptions()).embed_queries(TEXTS)
    expected = EMBEDDERS["dragon-plus"](EmbedderOptions(model=str(tiny_dragon))).embed_queries(TEXTS)
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize(
    ("name", "module"),
    [("bge-m3", "FlagEmbedding"), ("dragon-plus", "transformers"), ("minilm", "sentence_transformers")],
)
def test_a_missing_library_names_the_extra(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    extra = r"pip install -c constraints\.txt -e '\.\[embed\]'"
    with pytest.raises(ModelError, match=rf"{name} needs {module}.*{extra}"):
        EMBEDDERS[name](EmbedderOptions()).load()
