"""The names of all pins: a protocol that lacks one of them is refused."""

from __future__ import annotations

import re

_SUITE = ("file", "what", "embedder", "granularity")
_PUBLIC = ("locomo", "longmemeval")
_REGISTERED = (*_SUITE, "sha256", "bytes", "data_variable", "url")
_EMBEDDERS = ("bge-m3", "dragon-plus", "minilm")
_EMBEDDER = ("model", "revision", "dimensions", "max_tokens", "batch_size")

_SHAPES = {
    "locomo": (
        "projects", "segments", "turns", "questions", "scored",
        "multi-hop", "temporal", "open-domain", "single-hop", "adversarial",
    ),
    "longmemeval": (
        "projects", "questions", "scored", "abstention",
        "single-session-user", "multi-session", "single-session-preference",
        "temporal-reasoning", "knowledge-update", "single-session-assistant",
    ),
    "sample": (
        "projects", "segments", "edges", "questions", "scored",
        "single-hop", "multi-hop", "temporal", "knowledge-update", "preference",
        "adversarial", "graph", "importance", "recency",
    ),
}  # fmt: skip

# Each pin as its path of keys in protocol.toml.
_OF_1_1: tuple[tuple[str, ...], ...] = (
    ("version",),
    ("seed",),
    *(("retrieval", key) for key in ("depth", "default_k", "timed_k")),
    *(("metrics", key) for key in ("cutoffs", "mrr_depth", "ndcg_depth", "headline")),
    *(("embedding", key) for key in ("width", "max_tokens", "batch_size")),
    *(("embedders", name, key) for name in _EMBEDDERS for key in _EMBEDDER),
    ("artefacts", "required"),
    *(("settings", key) for key in ("gate_strict", "recency_weight")),
    *(("suites", suite, key) for suite in _PUBLIC for key in _REGISTERED),
    *(("suites", suite, "shape", count) for suite, shape in _SHAPES.items() for count in shape),
    *(("suites", "sample", key) for key in (*_SUITE, "sha256")),
    *(
        ("other_files", file, key)
        for file in ("longmemeval_oracle", "longmemeval_dev")
        for key in ("sha256", "what")
    ),
    *(("variance", suite, metric) for suite in _PUBLIC for metric in ("recall_any@10", "MRR@50")),
)
_OF_1_2: tuple[tuple[str, ...], ...] = (
    *(("passages", key) for key in ("turns", "step", "characters")),
    *(
        ("engines", name, key)
        for name in ("lessons", "passages")
        for key in ("since", "passages", "components")
    ),
)
REQUIRED = (*_OF_1_1, *_OF_1_2)  # of the protocol in force


def required(version: str) -> tuple[tuple[str, ...], ...]:
    """The pins that a protocol of `version` has."""
    return REQUIRED if release(version) >= release("1.2.0") else _OF_1_1


def release(version: str) -> tuple[int, ...]:
    """A version's numbers, for comparison: `v0.3.0-rc1` and `0.3.0` are of one release."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
