"""Python's garbage collector, held still while artefacts are read and compared.

A run's raw rankings are a million small lists without a cycle: reference counts free them, and a collector
that walks through them again and again as they grow takes a third of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collection within; as it was before, afterwards."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
