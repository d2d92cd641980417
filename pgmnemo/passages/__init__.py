"""Passages for lessons that have none (`python -m runner passages`), such as those of an upgraded database.

It joins a database and an embedder. `add_passages` is the way in.
"""

from pgmnemo.passages.adding import Added, add_passages
from pgmnemo.passages.windows import passages_of

__all__ = ["Added", "add_passages", "passages_of"]
