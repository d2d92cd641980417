"""A protocol by its version, in force or former."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from runner.errors import UsageError
from runner.protocol import DOCUMENT, PINS, load_protocol
from runner.protocol.versions import protocol_named


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """A folder that keeps an amended protocol."""
    place = tmp_path / "versions" / "1.0.9"
    place.mkdir(parents=True)
    text = PINS.read_text(encoding="utf-8").replace(f'"{load_protocol().version}"', '"1.0.9"', 1)
    (place / PINS.name).write_text(text, encoding="utf-8")
    shutil.copy(DOCUMENT, place)
    (place / DOCUMENT.name).write_text("# The protocol of old\n", encoding="utf-8")
    return place.parent


def test_the_protocol_in_force_is_known_by_its_version(former: Path) -> None:
    assert protocol_named(load_protocol().version, former) is load_protocol()


def test_a_former_protocol_keeps_its_pins_and_its_hash(former: Path) -> None:
    protocol = protocol_named("1.0.9", former)
    assert protocol.version == "1.0.9"
    assert protocol.sha256 == sha256(b"# The protocol of old\n").hexdigest()


def test_an_unknown_version_lists_those_that_are_known(former: Path) -> None:
    with pytest.raises(UsageError, match=r"protocol 3 is not known here; known are: 1\.0\.9, 1"):
        protocol_named("3", former)
