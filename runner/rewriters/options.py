"""What a user may set about a rewriter."""

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

FAILURES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """Settings of one rewriter. UsageError for a number that makes no sense."""

    rewrite_model: Annotated[str | None, Parameter(help="name of the model that the rewriter llm asks")] = (
        None
    )
    rewrite_url: Annotated[
        str | None, Parameter(help="OpenAI-compatible service of the rewriter llm (…/chat/completions)")
    ] = None
    rewrite_failures: Annotated[
        int, Parameter(help="questions that may fail (they are asked as they stand) before the run fails")
    ] = FAILURES
    rewrite_timeout: Annotated[float, Parameter(help="seconds that one call of a service may take")] = TIMEOUT
    rewrite_cache: Annotated[
        Path | None, Parameter(help="folder of what rewriters wrote (default: the user's own)")
    ] = None

    def __post_init__(self) -> None:
        if self.rewrite_failures < 0:
            raise UsageError(f"--rewrite-failures takes 0 or more questions, not {self.rewrite_failures}")
        if not 0 < self.rewrite_timeout <= LONGEST:
            raise UsageError(
                f"--rewrite-timeout takes seconds above 0 and up to {LONGEST:,}, not {self.rewrite_timeout:g}"
            )

    def cache(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Where what rewriters wrote is kept."""
        return self.rewrite_cache or cache_dir("rewrites", environ)
