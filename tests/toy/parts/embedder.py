"""A toy embedder: feature hashing into few places."""

from __future__ import annotations

from dataclasses import replace

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.hashing import FeatureHashing


class Toy(FeatureHashing):
    def __init__(self, options: EmbedderOptions) -> None:
        super().__init__(replace(options, dimensions=options.dimensions or 48))
        self.identity = replace(self.identity, name="toy", model="toy hashing")
