"""The protocol loads whole or not at all, and says which pin is missing."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from runner.errors import RunnerError, UsageError
from runner.protocol import DOCUMENT, PINS, load_protocol
from runner.protocol.required import REQUIRED


def leaves(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def without(text: str, pin: tuple[str, ...]) -> str:
    """The TOML text less the line of one pin."""
    table: tuple[str, ...] = ()
    kept = []
    for line in text.splitlines():
        if line.startswith("["):
            table = tuple(line.split("]")[0].strip("[").split("."))
        key = line.split("=")[0].strip().strip('"')
        if (*table, key) != pin:
            kept.append(line)
    return "\n".join(kept)


@pytest.mark.parametrize("pin", REQUIRED, ids=".".join)
def test_a_missing_pin_is_refused_by_name(tmp_path: Path, pin: tuple[str, ...]) -> None:
    file = tmp_path / "protocol.toml"
    file.write_text(without(PINS.read_text(), pin))
    with pytest.raises(UsageError) as error:
        load_protocol(file)
    assert f"lacks the pin {'.'.join(pin)};" in str(error.value)


def test_every_pin_of_the_file_is_required() -> None:
    assert set(leaves(tomllib.loads(PINS.read_text()))) == set(REQUIRED)
    assert len(REQUIRED) == len(set(REQUIRED))


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "protocol.toml"
    file.write_text(PINS.read_text().replace("[suites.locomo.shape]", "[suites.other.shape]"))
    with pytest.raises(UsageError, match=r"suites\.locomo\.shape\.projects"):
        load_protocol(file)


def test_the_hash_is_that_of_the_document() -> None:
    assert load_protocol().sha256 == sha256(DOCUMENT.read_bytes()).hexdigest()


def test_a_missing_document_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match=r"PROTOCOL\.md cannot be read .* checkout") as error:
        load_protocol(PINS, tmp_path / "PROTOCOL.md")
    assert error.value.code == 3


def test_broken_toml_is_one_clear_sentence(tmp_path: Path) -> None:
    file = tmp_path / "protocol.toml"
    file.write_text("version = ")
    with pytest.raises(UsageError, match="is not valid TOML"):
        load_protocol(file)


def test_the_protocol_is_loaded_once_and_cannot_be_changed() -> None:
    protocol = load_protocol()
    assert load_protocol() is protocol
    with pytest.raises(FrozenInstanceError):
        protocol.seed = 7  # type: ignore[misc]


def test_a_wrong_file_can_be_called_by_its_name() -> None:
    protocol = load_protocol()
    names = protocol.known_files
    assert "oracle" in names["821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c"]
    assert "development split" in names["1b6e84ec6f26bed1a4b8e41b828ed99476627b46dfd0cd4b801f40324ec95c53"]
    for pins in protocol.suites.values():
        assert names[str(pins.sha256)] == pins.what


def test_the_counts_of_each_corpus_add_up() -> None:
    suites = load_protocol().suites
    categories = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
    types = (
        "single-session-user", "multi-session", "single-session-preference",
        "temporal-reasoning", "knowledge-update", "single-session-assistant",
    )  # fmt: skip
    assert sum(suites["locomo"].shape[name] for name in categories) == suites["locomo"].shape["questions"]
    assert (
        sum(suites["longmemeval"].shape[name] for name in types) == suites["longmemeval"].shape["questions"]
    )
