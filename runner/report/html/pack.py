"""Whole numbers in as few bits as the widest of them takes, column by column, as base64.

A page of 2,000 questions would be several megabytes of JSON. General compression would make it smaller still,
but its bytes differ from one zlib to the next, and the same artefacts must always give the same page.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.records import Json

WIDEST = 25  # bits; what assets/unpack.js can take out of one aligned 32-bit read
Integers = NDArray[np.int64]


class Pack:
    """Columns one behind another. `header` says where each begins and how its numbers are read back."""

    def __init__(self) -> None:
        self.header: dict[str, Json] = {}
        self._bits: list[NDArray[np.uint8]] = []
        self._at = 0

    def add(self, name: str, values: Sequence[int] | Integers) -> None:
        """A column of whole numbers that span less than 2**25."""
        numbers = np.asarray(values, dtype=np.int64)
        low = int(numbers.min()) if numbers.size else 0
        self._append(name, numbers - low, {"low": low})

    def add_decimals(self, name: str, values: Sequence[float | None], places: int) -> None:
        """A column of numbers kept to at most `places` decimals, fewer where their span is too wide.

        None is kept as the code 0, and every number then moves up by one.
        """
        floats = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        missing = np.isnan(floats)
        known = floats[~missing]
        span = float(known.max() - known.min()) if known.size else 0.0
        while places > 0 and span * 10**places >= 2**WIDEST - 2:
            places -= 1
        low = round(float(known.min()) * 10**places) if known.size else 0
        codes = np.zeros(floats.size, dtype=np.int64)
        codes[~missing] = np.rint(known * 10**places).astype(np.int64) - low + int(missing.any())
        self._append(name, codes, {"low": low, "places": places, "none": bool(missing.any())})

    def _append(self, name: str, codes: Integers, facts: dict[str, Any]) -> None:
        width = int(codes.max()).bit_length() if codes.size else 0
        if width > WIDEST:
            raise ValueError(f"column {name} spans {width} bits, and {WIDEST} can be read back")
        self.header[name] = {"at": self._at, "bits": width, "n": int(codes.size), **facts}
        shifted = codes[:, np.newaxis] >> np.arange(width, dtype=np.int64)
        self._bits.append((shifted & 1).astype(np.uint8).ravel())
        self._at += width * int(codes.size)

    def base64(self) -> str:
        """All columns; the lowest bit first, in each byte and in each number."""
        bits = np.concatenate([*self._bits, np.zeros(32, dtype=np.uint8)])  # the last read may reach beyond
        return b64encode(np.packbits(bits, bitorder="little").tobytes()).decode()
