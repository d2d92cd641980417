"""A temporary folder for a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield the path of a folder to create; it is deleted after the block.

    Every user may enter its parent, because root's servers run as the user nobody.
    """
    with TemporaryDirectory(prefix="pgmnemo-shards-") as name:
        Path(name).chmod(0o755)
        yield Path(name) / "c"
