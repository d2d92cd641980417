"""The committed runs, each read once for every document that is held against them."""

from __future__ import annotations

from pathlib import Path

from runner.lint.artefacts import Shelf

ROOT = Path(__file__).parents[2]
SHELF = Shelf(ROOT)
