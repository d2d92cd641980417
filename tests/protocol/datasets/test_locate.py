"""A corpus is found by --data, by its variable or where `fetch` puts it; the first way used counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES

LOCOMO, LONGMEMEVAL, SAMPLE = SUITES["locomo"], SUITES["longmemeval"], SUITES["sample"]


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own"
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *args, **kwargs: str(folder))
    return folder


def made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[]")
    return path


@pytest.mark.parametrize("name", ["locomo10.json", "locomo10.json.xz", "locomo10.json.gz"])
def test_folder_may_hold_the_file_plain_or_packed(tmp_path: Path, name: str) -> None:
    path = made(tmp_path / name)
    assert LOCOMO.locate(tmp_path, {}) == path
    assert LOCOMO.locate(None, {"LOCOMO_DATA_DIR": str(tmp_path)}) == path


def test_any_file_may_be_named_itself(tmp_path: Path) -> None:
    path = made(tmp_path / "mine.txt")
    assert LOCOMO.locate(path, {}) == path
    assert LOCOMO.locate(None, {"LOCOMO_DATA_DIR": str(path)}) == path


def test_data_goes_before_the_variable_and_the_variable_before_the_own_folder(
    tmp_path: Path, own_data_folder: Path
) -> None:
    named, variable = made(tmp_path / "a" / "locomo10.json"), made(tmp_path / "b" / "locomo10.json")
    own = made(own_data_folder / "locomo" / "locomo10.json")
    environ = {"LOCOMO_DATA_DIR": str(variable.parent)}
    assert LOCOMO.locate(named, environ) == named
    assert LOCOMO.locate(None, environ) == variable
    assert LOCOMO.locate(None, {"LOCOMO_DATA_DIR": ""}) == own


def test_registered_longmemeval_file_goes_before_the_development_split(tmp_path: Path) -> None:
    split = made(tmp_path / "longmemeval_s_dev246.json.xz")
    assert LONGMEMEVAL.locate(tmp_path, {}) == split
    whole = made(tmp_path / "longmemeval_s_cleaned.json")
    assert LONGMEMEVAL.locate(tmp_path, {}) == whole


def test_folder_without_the_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"\(--data\) holds no locomo10.json, nor one as .xz or .gz"):
        LOCOMO.locate(tmp_path, {})
    with pytest.raises(CorpusError, match=r"\(LONGMEMEVAL_DATA_DIR\) holds no longmemeval_s_cleaned.json"):
        LONGMEMEVAL.locate(None, {"LONGMEMEVAL_DATA_DIR": str(tmp_path)})


def test_place_that_does_not_exist_is_an_error_though_another_way_would_do(
    tmp_path: Path, own_data_folder: Path
) -> None:
    made(own_data_folder / "locomo" / "locomo10.json")
    with pytest.raises(CorpusError, match=r"LOCOMO_DATA_DIR names .*gone, which does not exist"):
        LOCOMO.locate(None, {"LOCOMO_DATA_DIR": str(tmp_path / "gone")})


def test_nothing_found_names_the_three_ways(own_data_folder: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        LOCOMO.locate(None, {})
    for way in ("--data", "LOCOMO_DATA_DIR", "python -m runner fetch locomo", str(own_data_folder)):
        assert way in str(caught.value)


def test_sample_lies_in_the_repository(tmp_path: Path) -> None:
    assert SAMPLE.locate(None, {}).parts[-3:] == ("benchmarks", "sample", "sample.json")
    copy = made(tmp_path / "sample.json")
    assert SAMPLE.locate(tmp_path, {}) == copy
