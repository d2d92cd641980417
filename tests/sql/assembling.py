"""A script of this repository as a module."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from pgmnemo.paths import SQL_FOLDER


def script(path: Path) -> ModuleType:
    """The module, loaded anew."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assemble() -> ModuleType:
    return script(SQL_FOLDER / "assemble.py")
