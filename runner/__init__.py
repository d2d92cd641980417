"""The recall benchmark of pgmnemo, from Python: `runner.run(runner.Request("sample", embedder="minilm"))`.

The names are those of the command line; `runner.api` lists them. Importing this package is cheap: the first
name that is used loads them. Python must have been started with PYTHONHASHSEED=42.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.api import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Import and return a public name."""
    api = import_module("runner.api")
    if name not in api.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(api, name)


def __dir__() -> list[str]:
    return list(import_module("runner.api").__all__)
