"""The command line as a process of its own: driver.py SQL_FOLDER ARGUMENTS…

With PAUSE="label" it says "paused" after the second item of the loop of that label, and waits WAIT seconds.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pgmnemo import progress
from runner import cli

T = TypeVar("T")


class Pausing(progress.Progress):
    """A progress that stops in one loop."""

    def track(
        self, items: Iterable[T], label: str, total: int | None = None, *, part: bool = False
    ) -> Iterator[T]:
        for number, item in enumerate(items, start=1):
            yield item
            if label == os.environ["PAUSE"] and number == 2:
                print("paused", flush=True)
                for _ in range(10 * int(os.environ["WAIT"])):
                    time.sleep(0.1)  # a signal that comes just before one sleep is heard at its end


if os.environ.get("PAUSE"):
    progress.Progress = Pausing  # type: ignore[misc]
sys.exit(cli.main(sys.argv[2:], sql=Path(sys.argv[1])))
