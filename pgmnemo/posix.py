"""Modules of POSIX systems, None on other systems, where a DSN works and a folder is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pgmnemo.errors import UsageError


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None


fcntl, pwd = _module("fcntl"), _module("pwd")


def check_folders() -> None:
    """Raise UsageError on a system without POSIX locks and users, such as Windows."""
    if fcntl is None or pwd is None:
        raise UsageError(
            "a memory in a folder needs Linux or macOS; give the DSN of a PostgreSQL, or run this in WSL or "
            "a container"
        )
