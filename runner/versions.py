"""Versions as numbers that can be compared."""

from __future__ import annotations

import re


def release(version: str) -> tuple[int, ...]:
    """A version's numbers: `v0.3.0-rc1` and `0.3.0` are of one release."""
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))
