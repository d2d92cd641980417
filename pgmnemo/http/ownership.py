"""Check that other users cannot change a file, by owner and mode of the file and the folders above it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pgmnemo.errors import UsageError

OTHERS = stat.S_IWGRP | stat.S_IWOTH


def check_ownership(path: Path) -> None:
    """Raise UsageError if a user other than this one and root could change or replace a file.

    For a missing file only its folders are checked; for a link, its own folders and the folders of its
    target. A folder with the sticky bit, such as /tmp, is accepted, because only owners can replace its
    files.
    """
    named, real = Path(os.path.abspath(path)), Path(os.path.realpath(path))
    if real.exists():
        _check(real, real.stat(), OTHERS)
    for folder in {*named.parents, *real.parents}:
        state = folder.stat()
        _check(folder, state, 0 if state.st_mode & stat.S_ISVTX else OTHERS)


def _check(path: Path, state: os.stat_result, forbidden: int) -> None:
    if state.st_uid not in (0, os.geteuid()):
        raise UsageError(
            f"{path} belongs to the user {state.st_uid}, who could change the tokens; give it to this user "
            "or to root, or keep them elsewhere"
        )
    if state.st_mode & forbidden:
        mend = "chmod 600" if path.is_file() else "chmod go-w"
        raise UsageError(f"others may write {path}; run {mend} {path}, or keep the tokens elsewhere")
