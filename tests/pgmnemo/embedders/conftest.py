"""Small corpora, and tiny models with the architecture of the real ones, in the hub's own file layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

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
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny-bge-m3")
    size = _unigram_tokenizer(folder / "tokenizer.json")
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer", **special})
    _write(folder / "special_tokens_map.json", {**special, "cls_token": "<s>", "sep_token": "</s>"})
    config = transformers.XLMRobertaConfig(
        vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=514, type_vocab_size=1, pad_token_id=1,
    )  # fmt: skip
    torch.manual_seed(1)
    _save(transformers.XLMRobertaModel(config), folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like those of e5-small-v2, arctic-embed-s and bge-small-en: BERT, model.safetensors."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny-bert")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", "?", "query", "passage", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(
        folder
    )
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=48, max_position_embeddings=512,
    )  # fmt: skip
    torch.manual_seed(2)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like multilingual-e5-small: BERT over XLM-RoBERTa's tokenizer, 512 positions."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny-multilingual-e5")
    size = _unigram_tokenizer(folder / "tokenizer.json")
    special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    _write(folder / "tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer", **special})
    _write(folder / "special_tokens_map.json", {**special, "cls_token": "<s>", "sep_token": "</s>"})
    config = transformers.BertConfig(
        vocab_size=size, hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=512, pad_token_id=1,
    )  # fmt: skip
    torch.manual_seed(3)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_dragon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two BERT encoders like DRAGON+'s, each with a vocab.txt and no tokenizer.json."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    root = tmp_path_factory.mktemp("tiny-dragon-plus")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[", "]", ":", "?", *WORDS]
    for seed, half in enumerate(("query", "context")):
        folder = root / f"dragon-plus-{half}-encoder"
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
        _write(folder / "tokenizer_config.json", {"do_lower_case": True})
        _write(folder / "special_tokens_map.json", {"unk_token": "[UNK]", "pad_token": "[PAD]"})
        config = transformers.BertConfig(
            vocab_size=len(vocabulary), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=48, max_position_embeddings=512,
        )  # fmt: skip
        torch.manual_seed(seed)
        _save(transformers.BertModel(config), folder)
    return root


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
