"""Encode vectors, and decode times, in PostgreSQL's binary format, without registering pgvector's types.

`RealArray` is a `real[]`. `VectorArray` is a `vector[]` or a single vector; the oid of pgvector's type
differs between databases. Zeros up to the `width` of a tenant's vectors do not change a cosine.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from pgmnemo.client.records import in_zone

if TYPE_CHECKING:
    from psycopg.adapt import AdaptersMap

REAL, REALS = 700, 1021  # the oids of real and real[]
ARRAY = struct.Struct(">iiIii")  # dimensions, nulls, element's oid, length, lower bound
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # where PostgreSQL counts microseconds from
FIRST, LAST = (
    (end.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) for end in (datetime.min, datetime.max)
)
MAX_DIMENSIONS = 4000  # most dimensions of a stored vector (in 0.5.0: 1,024)


class RealArray:
    """A vector, as any sequence of numbers, padded with zeros to `width`."""

    __slots__ = ("row", "width")

    def __init__(self, row: Any, width: int = 0) -> None:
        self.row, self.width = row, width

    def binary(self) -> bytes:
        """Return the vector in PostgreSQL's binary form of an array of float4."""
        import numpy as np

        numbers = np.asarray(self.row, dtype=np.float32)
        body = _zeros(max(self.width, len(numbers))).copy()
        body["number"][: len(numbers)] = numbers
        return ARRAY.pack(1, 0, REAL, len(body), 1) + bytes(body)


@cache
def _zeros(width: int) -> Any:
    """Return the elements of a float4 array of zeros, each after its length in bytes."""
    import numpy as np

    body = np.zeros(width, dtype=[("length", ">i4"), ("number", ">f4")])
    body["length"] = 4
    return body


class VectorArray:
    """The vectors of passages, or a `single` vector.

    A passage without a vector has None. `element` is the oid of pgvector's type.
    """

    __slots__ = ("element", "rows", "single", "width")

    def __init__(self, rows: Any, element: int, width: int = 0, *, single: bool = False) -> None:
        self.rows, self.element, self.width, self.single = rows, element, width, single

    def binary(self) -> bytes:
        """Return the vector in pgvector's binary form, or the vectors as PostgreSQL's array of that type."""
        import numpy as np

        if not self.single and any(row is None for row in self.rows):
            return self._with_nulls()
        matrix = np.atleast_2d(np.asarray(self.rows, dtype=np.float32))
        width = max(self.width, matrix.shape[1])
        kind = [("size", ">i4"), ("width", ">i2"), ("unused", ">i2"), ("numbers", ">f4", (width,))]
        sent = np.zeros(len(matrix), dtype=kind)
        sent["size"], sent["width"] = 4 + 4 * width, width
        sent["numbers"][:, : matrix.shape[1]] = matrix
        body = sent.tobytes()
        return body[4:] if self.single else ARRAY.pack(1, 0, self.element, len(matrix), 1) + body

    def _with_nulls(self) -> bytes:
        """Return the array with NULL, of length -1 and without a body, for each missing vector."""
        parts = [ARRAY.pack(1, 1, self.element, len(self.rows), 1)]
        for row in self.rows:
            if row is None:
                parts.append(struct.pack(">i", -1))
            else:
                body = VectorArray(row, self.element, self.width, single=True).binary()
                parts += [struct.pack(">i", len(body)), body]
        return b"".join(parts)


def unrounded(halves: Any) -> Any:
    """Return a vector near a stored vector that rounds to the same numbers in the extension.

    The extension stores l2_normalize(vector)::halfvec. The length of the stored vector is 1 up to rounding.
    """
    import numpy as np

    kept = np.asarray(halves, dtype=np.float16)
    steps = np.minimum(np.spacing(abs(kept)), np.spacing(np.nextafter(abs(kept), np.float16(0))))
    exact, room = kept.astype(np.float64), 0.45 * steps.astype(np.float64)
    found = exact
    for _ in range(30):
        unit = found / (np.linalg.norm(found) or 1.0)
        if (unit.astype(np.float32).astype(np.float16) == kept).all():
            break
        found = np.clip(unit, exact - room, exact + room)
    return found.astype(np.float32)


@cache
def client_adapters() -> AdaptersMap:
    """Return this client's adapters for the types of PostgreSQL, in place of a connection's own."""
    import psycopg
    from psycopg.adapt import AdaptersMap, Dumper, Loader
    from psycopg.pq import Format

    class Binary(Dumper):
        format = Format.BINARY

        def dump(self, obj: Any) -> bytes:
            return bytes(obj.binary())

    class OfReals(Binary):
        oid = REALS

    class TimeLoader(Loader):
        format = Format.BINARY

        def __init__(self, oid: int, context: Any = None) -> None:
            super().__init__(oid, context)
            self.zone = self.connection.info.timezone if self.connection else UTC

        def load(self, data: Any) -> datetime:
            """Return a time in the session's zone; infinity and times that datetime cannot hold become the
            nearest datetime.
            """
            since = min(max(int.from_bytes(data, "big", signed=True), FIRST), LAST)
            return in_zone(EPOCH + timedelta(microseconds=since), self.zone)

    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(RealArray, OfReals)
    adapters.register_dumper(VectorArray, Binary)
    adapters.register_loader("timestamptz", TimeLoader)
    return adapters
