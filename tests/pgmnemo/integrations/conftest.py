"""Frameworks in a folder of their own, because they pin other versions than the environment of the tests.

The folder is PGMNEMO_FRAMEWORKS, else .venv-frameworks of the checkout, which `make integrations` fills.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("PGMNEMO_FRAMEWORKS") or Path(__file__).parents[3] / ".venv-frameworks")
if FOLDER.is_dir():
    sys.path.append(str(FOLDER))  # behind the environment, whose packages both use


def needs(module: str) -> None:
    """Skip the tests of a file without a framework, or fail if CI demands it."""
    try:
        there = find_spec(module) is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        why = f"{FOLDER} lacks {module}: make integrations"
        if os.environ.get("PGMNEMO_REQUIRE_FRAMEWORKS"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why, allow_module_level=True)
