"""A place for a cluster that is gone afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield the path of a folder to create; every user may enter its parent, since root's servers run as the
    user nobody.
    """
    with TemporaryDirectory(prefix="pgmnemo-shards-") as name:
        Path(name).chmod(0o755)
        yield Path(name) / "c"
