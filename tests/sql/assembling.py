"""sql/assemble.py, which is a script, as a module."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from pgmnemo.places import SQL_FOLDER


def assemble() -> ModuleType:
    """The module, loaded anew."""
    spec = importlib.util.spec_from_file_location("assemble", SQL_FOLDER / "assemble.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
