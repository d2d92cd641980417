"""What a user may set about an embedder; everything unset comes from the protocol or from the model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.editions import current
from runner.errors import UsageError


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """Settings of one embedder.

    `model`: a local folder with the model (for `endpoint`, the model's name). `endpoint_url`: the base
    URL, with or without `/embeddings`. `dimensions`: asked of an endpoint, or the width of `hash`.
    `max_tokens` and `batch_size`: texts are cut to that many tokens and embedded that many at a time.
    UsageError for a number that is not positive.
    """

    model: Annotated[
        str | None,
        Parameter(help="local folder of the embedder's model; for the embedder endpoint, the model's name"),
    ] = None
    endpoint_url: Annotated[
        str | None, Parameter(help="OpenAI-compatible service of the embedder endpoint")
    ] = None
    dimensions: Annotated[
        int | None, Parameter(help="width of the vectors, for the embedders endpoint and hash")
    ] = None
    query_prefix: Annotated[str, Parameter(help="put before every question before it is embedded")] = ""
    document_prefix: Annotated[str, Parameter(help="put before every text before it is embedded")] = ""
    batch_size: Annotated[
        int | None, Parameter(help="texts embedded at once (default: the protocol's, or the model's)")
    ] = None
    max_tokens: Annotated[
        int | None, Parameter(help="tokens of a text that the embedder reads (default: its own limit)")
    ] = None

    def __post_init__(self) -> None:
        for name in ("dimensions", "batch_size", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"the embedder's {name} must be a positive number, not {value}")

    @property
    def tokens(self) -> int:
        """Tokens kept of each text: as set, else the protocol's 512."""
        return self.max_tokens or current().embedding.max_tokens

    @property
    def batch(self) -> int:
        """Texts in one batch: as set, else the protocol's 8."""
        return self.batch_size or current().embedding.batch_size

    @property
    def folder(self) -> Path | None:
        """The local model folder; UsageError if it is not one."""
        if self.model is None:
            return None
        folder = Path(self.model).expanduser()
        if not folder.is_dir():
            raise UsageError(
                f"{self.model} is not a folder; give the local folder that holds the model's files"
            )
        return folder
