"""Wrappers: what stands behind the + of a system's name and changes how that system is asked.

Each is one file and one line here; several are applied from the left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runner.registry import Parts
from runner.systems.system import Kind, System


@dataclass(frozen=True, slots=True)
class Wrapper:
    """`wrap` takes the name of the whole and the open system within; `words` say what it does to it.

    `refuses` says why a kind cannot be wrapped so, in the words that follow its name; empty where it can.
    """

    words: str
    wrap: Callable[[str, System], System]
    refuses: Callable[[Kind], str] = lambda kind: ""


PASSAGES = "passages"
WRAPPERS: Parts[Wrapper] = Parts(
    "wrapper",
    {
        PASSAGES: "runner.systems.best_passage:BEST_PASSAGE",
        "keyword": "runner.systems.boosts:KEYWORD",
        "names": "runner.systems.boosts:NAMES",
        "quoted": "runner.systems.boosts:QUOTED_PHRASES",
        "preference": "runner.systems.boosts:PREFERENCE",
    },
)
