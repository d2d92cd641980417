"""MemPalace (PyPI `mempalace`), its own hybrid search over a palace in Chroma, in a process of its own.

As its MCP server searches: `search_memories` with its defaults, 0.6 similarity and 0.4 BM25 among the nearest
4 k. It reads its settings from the environment and the home folder, hence the process. How it is set up:
runner/systems/workers/mempalace_worker.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from runner.systems.piped import WORKERS, Piped
from runner.systems.system import Kind, Place


def _open(place: Place) -> Piped:
    return Piped("mempalace", place, Path(sys.executable), WORKERS / "mempalace_worker.py")


MEMPALACE = Kind(
    "MemPalace",
    "search_memories with its defaults: Chroma's nearest, ranked anew with BM25; a project is a wing, a "
    "lesson one drawer; given texts and vectors, no times, no LLM, none of its chunks, rooms and closets",
    _open,
    packages=("mempalace",),
    remedy="pip install -c constraints.txt -e '.[peers]'",
    needs_vectors=True,
    passages=True,
)
