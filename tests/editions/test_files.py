"""The hashes of a folder's files stand beside edition.toml, which pins their list."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from runner.editions import current, listed, registered_files
from runner.editions.load import FOLDER
from runner.errors import RunnerError

FOLDERS = [name for name, pins in current().suites.items() if pins.files]


@pytest.mark.parametrize("suite", FOLDERS)
def test_the_list_is_the_one_that_the_edition_pins(suite: str) -> None:
    files = registered_files(current(), suite)
    assert listed(files) == current().suites[suite].sha256
    text = (FOLDER / current().version / str(current().suites[suite].files)).read_text(encoding="utf-8")
    assert text == "".join(f"{files[name]}  {name}\n" for name in sorted(files))


def test_the_folders_hold_as_many_files_as_they_have_chats() -> None:
    chats = {suite: current().suites[suite].shape["projects"] for suite in FOLDERS}
    assert {suite: len(registered_files(current(), suite)) for suite in FOLDERS} == {
        "realtalk": chats["realtalk"],
        "beam": 2 * chats["beam"],
        "beam-500k": 2 * chats["beam-500k"],
    }


def test_a_corpus_of_one_file_or_of_no_edition_has_no_list() -> None:
    assert not registered_files(current(), "locomo")
    assert not registered_files(current(), "pages")


def test_a_list_that_was_changed_or_is_missing_is_one_sentence() -> None:
    def with_pin(**pin: str) -> None:
        pins = replace(current().suites["realtalk"], **pin)
        registered_files(replace(current(), suites={"realtalk": pins}), "realtalk")

    with pytest.raises(
        RunnerError, match=r"realtalk\.sha256 is not the list that its edition pins; restore it"
    ):
        with_pin(sha256="0" * 64)
    with pytest.raises(RunnerError, match=r"gone\.sha256 cannot be read"):
        with_pin(files="gone.sha256")
    assert (FOLDER / current().version / str(current().suites["realtalk"].files)).is_file()
