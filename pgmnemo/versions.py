"""Versions as numbers that can be compared, and the one place of ours: sql/pgmnemo.control."""

from __future__ import annotations

import re

CONTROL = "pgmnemo.control"
DEFAULT = re.compile(r"^default_version\s*=\s*'([^']+)'", re.MULTILINE)


def release(version: str) -> tuple[int, ...]:
    """A version's numbers: `v0.3.0-rc1` and `0.3.0` are of one release."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
