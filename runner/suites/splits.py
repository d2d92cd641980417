"""Splits of a suite's questions: what is chosen on one is reported on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256

Split = Callable[[str], bool]
"""Whether the question with a key belongs to it."""


def _odd(key: str) -> bool:
    """The parity of the SHA-256 of a question's id, as a number: of its last bit."""
    return bool(sha256(key.encode()).digest()[-1] & 1)


PARITY: Mapping[str, Split] = {"development": lambda key: not _odd(key), "held-out": _odd}
