"""Embedders: texts to unit vectors, through one cache on disk. One registry; `embed_corpus` is the way in."""

from collections.abc import Callable

from runner.embedders.bge_m3 import BgeM3
from runner.embedders.dragon_plus import DragonPlus
from runner.embedders.embedder import Embedder, pad, unit_rows
from runner.embedders.embedding import embed_corpus, embed_texts
from runner.embedders.endpoint import Endpoint
from runner.embedders.hashing import FeatureHashing
from runner.embedders.minilm import MiniLM
from runner.embedders.options import EmbedderOptions
from runner.embedders.store import default_cache_dir
from runner.registry import Registry

EMBEDDERS: Registry[Callable[[EmbedderOptions], Embedder]] = Registry(
    "embedder",
    {
        "bge-m3": BgeM3,
        "dragon-plus": DragonPlus,
        "minilm": MiniLM,
        "endpoint": Endpoint,
        "hash": FeatureHashing,
    },
)

__all__ = [
    "EMBEDDERS",
    "Embedder",
    "EmbedderOptions",
    "default_cache_dir",
    "embed_corpus",
    "embed_texts",
    "pad",
    "unit_rows",
]
