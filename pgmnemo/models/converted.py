"""A folder of the user's cache for each converted model, checked by hash and replaced when damaged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from pgmnemo.errors import ModelError, os_errors
from pgmnemo.models.hub import file_sha256

DIGESTS = "sha256.json"  # hashes of the folder's other files; written last


def converted_folder(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return `folder`, which contains the files that `make` writes into the folder it is given.

    If a file is missing or its hash has changed since the last call, `make` runs again. Another process sees
    the complete folder or no folder. Raise OutputError if the folder cannot be written.
    """
    if _is_complete(folder):
        return folder
    with os_errors(f"{folder} cannot be written: {{why}}; free some space, or set PGMNEMO_CACHE_DIR"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            make(made)
            digests = {path.name: file_sha256(path) for path in made.iterdir()}
            (made / DIGESTS).write_text(json.dumps(digests, sort_keys=True), encoding="utf-8")
            _exchange(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def _is_complete(folder: Path) -> bool:
    try:
        digests = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
        return bool(digests) and all(file_sha256(folder / name) == digests[name] for name in digests)
    except (OSError, ValueError, TypeError, ModelError):
        return False


def _exchange(made: Path, folder: Path) -> None:
    """Move `made` to the place of a missing or damaged folder, unless another process was first."""
    if folder.exists():
        if _is_complete(folder):
            return
        damaged = mkdtemp(prefix=f".{folder.name}-", dir=folder.parent)
        os.rename(folder, damaged)
        shutil.rmtree(damaged, ignore_errors=True)
    try:
        os.rename(made, folder)
    except OSError:
        if not _is_complete(folder):
            raise
