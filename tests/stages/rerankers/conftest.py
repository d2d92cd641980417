"""Pools by hand, and tiny cross-encoders with the architecture of real ones, made on the spot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from runner.stages.rerankers import Candidate, LessonIndex, Pool, RerankOptions
from runner.systems.system import Lesson, Lessons, Query

WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog", "ran", "hiking", "in", "may", "melanie", "caroline")
TEXTS = ("the cat sat on the mat", "a dog ran in may", "melanie ran hiking", "caroline sat in a mat")


class Few(Lessons):
    """Some lessons of one project, at positions 0, 1, 3, 4: two sessions of two turns."""

    def __init__(self, texts: Sequence[str] = TEXTS, passages: Sequence[tuple[str, ...]] = ()) -> None:
        self._texts, self._passages = texts, passages

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def width(self) -> int | None:
        return None

    @property
    def projects(self) -> Sequence[str]:
        return ["p"]

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        parts = self._passages[position] if self._passages else ()
        place = position + (position > 1)
        return Lesson(position, "p", str(position), self._texts[position], passages=parts, position=place)


def pool(question: str = "where did the cat sit", lessons: Lessons | None = None) -> Pool:
    """All lessons as candidates, in their order."""
    lessons = lessons or Few()
    candidates = tuple(Candidate(one, rank, 1.0 / rank, (0.5,)) for rank, one in enumerate(lessons, start=1))
    return Pool(Query(0, question, None, "p"), candidates, LessonIndex(lessons), ("cosine",))


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., RerankOptions]:
    """Options with a cache of the test's own."""
    return lambda **told: RerankOptions(rerank_cache=tmp_path / "cache", **told)


VOCABULARY = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}


def tokenizer(folder: Path) -> Path:
    """A fast tokenizer of a few words, saved as the hub's models have one."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    made = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    return folder


def tiny(folder: Path, kind: str = "BertForSequenceClassification", labels: int = 1) -> Path:
    """A BERT of two layers with a fast tokenizer, saved as the hub's models are."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer(folder)
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **special})
    _write(folder / "special_tokens_map.json", special)
    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=128, num_labels=labels,
    )  # fmt: skip
    torch.manual_seed(7)
    getattr(transformers, kind)(config).save_pretrained(folder)
    return folder


WORTH = {"cat": 4.0, "mat": 2.0, "dog": 1.0}


def graph(folder: Path, names: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids")) -> Path:
    """A cross-encoder whose logit is what the words of the text are worth in all, those of the question not.

    `names` are those of its inputs: ids, mask and types.
    """
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    worth = [WORTH.get(word, 0.0) for word in VOCABULARY]
    ids, mask, types = names
    nodes = [
        helper.make_node("Gather", ["worth", ids], ["each"]),
        helper.make_node("Mul", [mask, types], ["of_text"]),
        helper.make_node("Cast", ["of_text"], ["counted"], to=kinds.FLOAT),
        helper.make_node("Mul", ["each", "counted"], ["products"]),
        helper.make_node("ReduceSum", ["products", "axis"], ["logits"], keepdims=1),
    ]
    made = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kinds.INT64, ["texts", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits", kinds.FLOAT, ["texts", 1])],
        [
            helper.make_tensor("worth", kinds.FLOAT, [len(worth)], worth),
            helper.make_tensor("axis", kinds.INT64, [1], [1]),
        ],
    )
    tokenizer(folder)
    _write(folder / "config.json", {"architectures": ["BertForSequenceClassification"], "num_labels": 1})
    model = helper.make_model(made, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("cross-encoder") / "tiny-cross-encoder")


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
