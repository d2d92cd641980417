"""Arrays in a file beside the cache of vectors, with a few words: what costs minutes to collect again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

SAID = "said"  # the array that holds the words, as JSON
Arrays = dict[str, NDArray[Any]]


def load(path: Path) -> tuple[Arrays, Any] | None:
    """The arrays and the words that were kept; None where there is nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file) as held:
            arrays = {name: held[name] for name in held.files}
        return arrays, json.loads(str(arrays.pop(SAID)))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None


def save(path: Path, arrays: Mapping[str, NDArray[Any]], said: Any) -> bool:
    """Write the file whole or not at all; False where it cannot be written, which costs time and no more."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    given: dict[str, Any] = {SAID: np.array(json.dumps(said)), **arrays}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, **given)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        return False
    return True
