"""Changes to a results folder that tests hold commands against."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

Change = Callable[[Path], Any]


def put(name: str, content: str | bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(
        content.encode() if isinstance(content, str) else content
    )


def swap(name: str, old: str, new: str, count: int = -1) -> Change:
    """Write `new` where a file has `old`, `count` times at most."""
    return lambda folder: (folder / name).write_text((folder / name).read_text().replace(old, new, count))


def instead(name: str, make: Change) -> Change:
    """Make something else in the place of a file."""
    return lambda folder: ((folder / name).unlink(), make(folder / name))


def seal(folder: Path) -> None:
    """Let the manifest list the regular files as they are now."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry in manifest["files"]:
        if (place := folder / entry["name"]).is_file():
            content = place.read_bytes()
            entry.update(bytes=len(content), sha256=sha256(content).hexdigest())
    (folder / "manifest.json").write_text(json.dumps(manifest))
