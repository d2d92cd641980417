"""Where the repository is, and what in it a run may write to."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
