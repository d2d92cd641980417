"""Protocols by version, so that a result is held against the protocol that it names and no other.

The one in force stands in PROTOCOL.md and protocol.toml. When it is amended, both files of the former version
move to `versions/<version>/` beside this file, unchanged.
"""

from __future__ import annotations

from pathlib import Path

from runner.errors import UsageError
from runner.protocol.load import DOCUMENT, PINS, load_protocol
from runner.protocol.pins import Protocol

FORMER = Path(__file__).with_name("versions")


def protocol_named(version: str, former: Path = FORMER) -> Protocol:
    """The protocol of `version`, in force or former. UsageError lists the versions that are known."""
    current = load_protocol()
    if version == current.version:
        return current
    kept = sorted(place.name for place in former.glob("*") if (place / PINS.name).is_file())
    if version not in kept:
        known = ", ".join([*kept, current.version])
        raise UsageError(f"protocol {version} is not known here; known are: {known}")
    return load_protocol(former / version / PINS.name, former / version / DOCUMENT.name)
