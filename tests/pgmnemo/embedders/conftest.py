"""Small corpora, and tiny models with the architecture of the real ones, in the hub's own file layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pgmnemo.progress import Progress
from runner.records import Corpus, Question, SearchScope, Segment

WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog", "ran", "hiking", "in", "may", "melanie", "caroline")


class Lines(Progress):
    """Keeps what would be said."""

    def __init__(self) -> None:
        super().__init__(console=Console(stderr=True, quiet=True))
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture(scope="session")
def make_corpus() -> Callable[[list[str], list[str]], Corpus]:
    def make(segments: list[str], questions: list[str]) -> Corpus:
        return Corpus(
            suite="tiny", path="tiny", sha256="0" * 64, granularity="session",
            segments=tuple(Segment("p", f"s{n}", text) for n, text in enumerate(segments)),
            questions=tuple(Question(f"q{n}", "p", text, "t") for n, text in enumerate(questions)),
            scopes=(SearchScope("pool", pooled=True),),
        )  # fmt: skip

    return make


@pytest.fixture
def corpus(make_corpus: Callable[[list[str], list[str]], Corpus]) -> Corpus:
    """40 segments of which two are alike, 9 questions; lengths vary."""
    segments = [f"segment {n} " + "word " * (n % 7) for n in range(39)]
    return make_corpus([*segments, segments[0]], [f"question {n}?" for n in range(9)])


@pytest.fixture(scope="session")
def tiny_xlm_roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like BAAI/bge-m3: XLM-RoBERTa, pytorch_model.bin, a unigram tokenizer.json; 32 dimensions."""
    folder = tmp_path_factory.mktemp("tiny-bge-m3")
    size = _multilingual_tokenizer(folder)
    more = {"max_position_embeddings": 514, "type_vocab_size": 1, "pad_token_id": 1}
    _save(_tiny("XLMRoberta", size, 32, seed=1, **more), folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those of e5-small-v2, arctic-embed-s and bge-small-en: BERT, model.safetensors."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny-bert")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", "?", "query", "passage", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(
        folder
    )
    _tiny("Bert", len(vocabulary), 24, seed=2).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like multilingual-e5-small: BERT over XLM-RoBERTa's tokenizer, 512 positions."""
    folder = tmp_path_factory.mktemp("tiny-multilingual-e5")
    _tiny("Bert", _multilingual_tokenizer(folder), 24, seed=3, pad_token_id=1).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_dragon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two BERT encoders like DRAGON+'s, each with a vocab.txt and no tokenizer.json."""
    root = tmp_path_factory.mktemp("tiny-dragon-plus")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", ":", "?", *WORDS]
    for seed, half in enumerate(("query", "context")):
        folder = root / f"dragon-plus-{half}-encoder"
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
        _write(folder / "tokenizer_config.json", {"do_lower_case": True})
        _write(folder / "special_tokens_map.json", {"unk_token": "[UNK]", "pad_token": "[PAD]"})
        _save(_tiny("Bert", len(vocabulary), 24, seed), folder)
    return root


def _tiny(kind: str, words: int, width: int, seed: int, **more: int) -> Any:
    """Return a model of two layers of transformers' class, with random weights."""
    torch, transformers = map(pytest.importorskip, ("torch", "transformers"))
    sizes = {"hidden_size": width, "intermediate_size": 2 * width, "num_attention_heads": 2}
    given = {"max_position_embeddings": 512, "num_hidden_layers": 2, "vocab_size": words, **sizes, **more}
    torch.manual_seed(seed)
    return getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**given))


def _multilingual_tokenizer(folder: Path) -> int:
    """Write the tokenizer of XLM-RoBERTa's kind, and return how many words it has."""
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer", **special})
    _write(folder / "special_tokens_map.json", {**special, "cls_token": "<s>", "sep_token": "</s>"})
    return _unigram_tokenizer(folder / "tokenizer.json")


def _save(model: object, folder: Path) -> None:
    import torch

    model.config.save_pretrained(folder)  # type: ignore[attr-defined]
    torch.save(model.state_dict(), folder / "pytorch_model.bin")  # type: ignore[attr-defined]


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def _unigram_tokenizer(path: Path) -> int:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ("<s>", "<pad>", "</s>", "<unk>")
    pieces = [*special, *("▁" + word for word in WORDS), *"▁abcdefghijklmnopqrstuvwxyz?[]:"]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(path))
    return len(pieces)
