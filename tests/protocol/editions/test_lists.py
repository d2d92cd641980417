"""Each suite whose corpus is a folder is pinned by a list of its files, in this edition and in the next."""

from __future__ import annotations

import msgspec
import pytest

from pgmnemo.embedders import EMBEDDERS
from runner.protocol.datasets import SUITES
from runner.protocol.editions import Edition, current, registered_files
from runner.protocol.editions.load import FOLDER, PINS, merged, tables_of


def next_edition() -> Edition:
    """Return the edition in force with all that the next one adds."""
    tables = merged(tables_of(FOLDER / current().version / PINS), tables_of(FOLDER / "next.toml"))
    return msgspec.convert({**tables, "sha256": "", "pins_sha256": ""}, Edition)


NEXT = next_edition()


@pytest.mark.parametrize("name", [name for name, pins in NEXT.suites.items() if pins.files])
def test_the_pins_of_a_folder_agree_with_its_list_and_its_suite(name: str) -> None:
    pins, suite, files = NEXT.suites[name], SUITES[name], registered_files(NEXT, name)
    assert files  # the list is that of the pinned hash: registered_files raises otherwise
    assert pins.url is not None
    assert pins.url.endswith(f"/{pins.file}/")
    assert pins.granularity == suite.levels[0]
    assert pins.embedder in EMBEDDERS
    assert sum(pins.shape[kind] for kind in suite.types) == pins.shape["questions"]
    assert {kind for view in pins.views for kind in view.without_types or ()} <= set(suite.types)
