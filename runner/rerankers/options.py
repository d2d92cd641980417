"""What a user may set about a reranker."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from runner.errors import UsageError
from runner.models.http import LONGEST, TIMEOUT
from runner.models.store import cache_dir

DEPTH, CHARACTERS, FAILURES, BATCH = 50, 1024, 10, 32
POSITIVE = ("rerank_depth", "rerank_chars", "rerank_batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankOptions:
    """Settings of one reranker. UsageError for a number that makes no sense."""

    rerank_model: Annotated[
        str | None,
        Parameter(
            help="of the reranker: a local folder or ORG/NAME[@REVISION] of the hub; the name for a service"
        ),
    ] = None
    rerank_url: Annotated[
        str | None, Parameter(help="of the rerankers endpoint (…/rerank) and llm-… (OpenAI-compatible)")
    ] = None
    rerank_depth: Annotated[int, Parameter(help="candidates of a system that are reordered")] = DEPTH
    rerank_chars: Annotated[int, Parameter(help="characters of each text that a reranker reads")] = CHARACTERS
    rerank_batch: Annotated[int, Parameter(help="texts in one call of a model or a service")] = BATCH
    rerank_failures: Annotated[
        int, Parameter(help="questions whose rerank may fail (they keep their order) before the run fails")
    ] = FAILURES
    rerank_timeout: Annotated[float, Parameter(help="seconds that one call of a service may take")] = TIMEOUT
    rerank_cache: Annotated[
        Path | None, Parameter(help="folder of what rerankers said (default: the user's own)")
    ] = None

    def __post_init__(self) -> None:
        for name in POSITIVE:
            if (value := getattr(self, name)) < 1:
                raise UsageError(f"--{name.replace('_', '-')} takes a positive number, not {value}")
        if self.rerank_failures < 0:
            raise UsageError(f"--rerank-failures takes 0 or more questions, not {self.rerank_failures}")
        if not 0 < self.rerank_timeout <= LONGEST:
            raise UsageError(
                f"--rerank-timeout takes seconds above 0 and up to {LONGEST:,}, not {self.rerank_timeout:g}"
            )

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Where what rerankers said is kept."""
        return self.rerank_cache or cache_dir("reranks", environ)
