"""Embedders: texts to unit vectors, through one cache on disk. One file each, and one line here."""

from collections.abc import Callable

from runner.embedders.embedder import Embedder, pad, unit_rows
from runner.embedders.embedding import embed_corpus, embed_texts, rehearse
from runner.embedders.options import EmbedderOptions
from runner.embedders.store import default_cache_dir, rows_of
from runner.registry import Parts

EMBEDDERS: Parts[Callable[[EmbedderOptions], Embedder]] = Parts(
    "embedder",
    {
        "bge-m3": "runner.embedders.bge_m3:BgeM3",
        "dragon-plus": "runner.embedders.dragon_plus:DragonPlus",
        "minilm": "runner.embedders.minilm:MiniLM",
        "minilm-onnx": "runner.embedders.minilm_onnx:MiniLMOnnx",
        "endpoint": "runner.embedders.endpoint:Endpoint",
        "hash": "runner.embedders.hashing:FeatureHashing",
    },
)
PACKAGED = "minilm"  # the one whose model is a package, so that it needs no hub

__all__ = [
    "EMBEDDERS", "PACKAGED", "Embedder", "EmbedderOptions", "default_cache_dir", "embed_corpus",
    "embed_texts", "pad", "rehearse", "rows_of", "unit_rows",
]  # fmt: skip
