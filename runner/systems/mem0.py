"""mem0 (PyPI `mem0ai`), its open-source `Memory` stored without inference, in a process of its own.

`add(…, infer=False)` and `search(…, filters={"user_id": …})` as its documents show them
(https://docs.mem0.ai/open-source/python-quickstart), with the vector store that is its default, Qdrant on
disk. How it is set up: runner/systems/workers/mem0_worker.py.
"""

from __future__ import annotations

from runner.systems.apart import MEM0 as ENVIRONMENT
from runner.systems.piped import WORKERS, Piped
from runner.systems.system import Kind, Place


def _open(place: Place) -> Piped:
    return Piped("mem0", place, ENVIRONMENT.python(place.environ), WORKERS / "mem0_worker.py")


MEM0 = Kind(
    "mem0",
    "mem0ai stored without inference, Qdrant on disk, a project is a user, no least similarity; given "
    "texts and vectors, no times, no LLM, no reranker, and no keyword leg (that wants a download)",
    _open,
    missing=ENVIRONMENT.missing,
    needs_vectors=True,
    hybrid=False,
    approximate=False,
    passages=True,
)
