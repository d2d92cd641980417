"""Cross-encoders in this process, on tiny models: what they score, and what is no cross-encoder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pgmnemo.errors import ModelError
from runner.stages.rerankers import RERANKERS, RerankOptions
from tests.stages.rerankers.conftest import TEXTS, pool, tiny

Options = Callable[..., RerankOptions]
QUESTION = "where did the cat sit"


def reference(folder: Path) -> list[float]:
    """The logits of the model itself, text by text."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    model = transformers.AutoModelForSequenceClassification.from_pretrained(str(folder)).eval()
    with torch.inference_mode():
        return [float(model(**tokenizer(QUESTION, text, return_tensors="pt")).logits[0, 0]) for text in TEXTS]


@pytest.mark.parametrize("name", ["cross-encoder", "flag"])
def test_the_order_is_that_of_the_models_own_scores(name: str, cross_encoder: Path, options: Options) -> None:
    wanted = reference(cross_encoder)
    reranker = RERANKERS[name](options(rerank_model=str(cross_encoder)))
    reranker.load()
    new = reranker.rerank(pool(QUESTION))
    assert list(new.order) == sorted(range(4), key=lambda place: -wanted[place])
    assert reranker.rerank(pool(QUESTION)).calls == 0
    identity = reranker.identity
    assert identity.revision.startswith("sha256:")
    assert (identity.model, identity.max_tokens) == ("tiny-cross-encoder", 128)


@pytest.mark.parametrize("name", ["cross-encoder", "flag", "onnx"])
def test_a_folder_without_weights_is_refused(name: str, tmp_path: Path, options: Options) -> None:
    with pytest.raises(ModelError, match="holds no model weights"):
        RERANKERS[name](options(rerank_model=str(tmp_path)))


@pytest.mark.parametrize(
    ("name", "kind", "labels", "sentence"),
    [
        ("cross-encoder", "BertModel", 1, "is no cross-encoder but a BertModel"),
        ("flag", "BertForSequenceClassification", 3, "sorts into 3 labels, and a reranker has one"),
    ],
)
def test_what_is_no_cross_encoder_is_refused(
    name: str, kind: str, labels: int, sentence: str, tmp_path: Path, options: Options
) -> None:
    with pytest.raises(ModelError, match=sentence):
        RERANKERS[name](options(rerank_model=str(tiny(tmp_path / "model", kind, labels))))


@pytest.mark.parametrize("changed", [{"architectures": 7}, {"id2label": 7}, {"max_position_embeddings": "x"}])
def test_a_damaged_configuration_is_one_sentence(
    changed: dict[str, object], cross_encoder: Path, tmp_path: Path, options: Options
) -> None:
    folder = Path(shutil.copytree(cross_encoder, tmp_path / "damaged"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changed}))
    with pytest.raises(ModelError, match="is not a model configuration"):
        RERANKERS["cross-encoder"](options(rerank_model=str(folder)))


def test_damaged_weights_are_one_sentence(cross_encoder: Path, tmp_path: Path, options: Options) -> None:
    folder = Path(shutil.copytree(cross_encoder, tmp_path / "damaged"))
    (folder / "model.safetensors").write_bytes(b"\xff" * 64)
    reranker = RERANKERS["cross-encoder"](options(rerank_model=str(folder)))
    with pytest.raises(ModelError, match="cannot be loaded as a cross-encoder"):
        reranker.load()


def test_other_weights_are_another_identity(cross_encoder: Path, tmp_path: Path, options: Options) -> None:
    folder = Path(shutil.copytree(cross_encoder, tmp_path / "other"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-5}))
    one, other = (
        RERANKERS["cross-encoder"](options(rerank_model=str(place))).identity.revision
        for place in (cross_encoder, folder)
    )
    assert one != other
