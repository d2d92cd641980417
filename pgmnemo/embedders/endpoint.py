"""Embed texts by an OpenAI-compatible `/embeddings` endpoint: a hosted service or a local server."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pgmnemo.embedders import Embedder, EmbedderOptions, unit_rows
from pgmnemo.errors import EmbedderError, UsageError
from pgmnemo.models.http import Service, service_url
from pgmnemo.records import EmbedderIdentity, Matrix

KEY_VARIABLE = "PGMNEMO_EMBED_API_KEY"


class Endpoint(Embedder):
    """Embed texts by a service; its vectors are ordered by `index`, checked, and scaled to unit length.

    Without `dimensions`, one request with a sample text finds the width, even if all vectors are cached.
    """

    concurrent = True  # several batches may be asked for at once

    def __init__(self, options: EmbedderOptions, pause: Callable[[float], None] = time.sleep) -> None:
        if not options.endpoint_url or not options.model:
            raise UsageError("the embedder endpoint needs both a URL and the name of a model")
        if options.max_tokens is not None:
            raise UsageError(
                "the embedder endpoint cuts no tokens; leave --max-tokens out, or take --max-chars"
            )
        self._options = options
        self._model = options.model
        url = service_url(options.endpoint_url, "/embeddings", KEY_VARIABLE)
        self._service = Service(url, KEY_VARIABLE, pause=pause)

    @cached_property
    def identity(self) -> EmbedderIdentity:  # type: ignore[override]  # asked for when it is needed
        """Return the identity of the service: its address and the model's name, because its weights are
        unknown.
        """
        return self._options.identity(
            "endpoint",
            self._model,
            f"unknown, as served by {self._service.where}",
            self._options.dimensions or self.rows(["width"]).shape[1],
            tokens=0,
            note="weights unknown; normalised here; long texts are cut, or refused, by the server",
        )

    def rows(self, texts: Sequence[str]) -> Matrix:
        request: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._options.dimensions:
            request["dimensions"] = self._options.dimensions
        return unit_rows(_matrix(self._service.post(request), len(texts), self._service.where))


def _matrix(answer: Any, count: int, where: str) -> Matrix:
    """Return the embeddings as a matrix in the order of the texts.

    Raise EmbedderError unless each index occurs once and all vectors have one width.
    """
    try:
        rows = {int(item["index"]): item["embedding"] for item in answer["data"]}
        matrix = np.array([rows[place] for place in range(count)], dtype=np.float32)
        whole = len(answer["data"]) == count and matrix.ndim == 2 and matrix.shape[1] > 0
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise EmbedderError(
            f"{where} did not answer with one embedding of one width for each of {count} texts; "
            "check that it is an OpenAI-compatible embeddings endpoint and the model an embedding model"
        )
    return matrix
