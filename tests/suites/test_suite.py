"""The registry of suites, and a wrong file called by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.errors import CorpusError, UsageError
from runner.protocol import load_protocol
from runner.suites import SUITES


def test_registry_holds_the_suites_that_the_protocol_pins() -> None:
    assert list(SUITES) == ["locomo", "longmemeval", "sample"]
    assert set(SUITES) == set(load_protocol().suites)


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "sample"])
def test_suite_offers_the_canonical_granularity_and_the_whole_view_first(name: str) -> None:
    suite = SUITES[name]
    assert suite.granularities[0] == load_protocol().suites[name].granularity
    assert next(iter(suite.views)) == "all"
    assert set(suite.types) <= set(load_protocol().suites[name].shape)


def test_unknown_suite_and_granularity_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of: locomo, longmemeval, sample"):
        SUITES["loco"]
    with pytest.raises(UsageError, match="locomo has no granularity 'word'; choose one of: session, turn"):
        SUITES["locomo"].load(tmp_path, "word")


def test_locomo_given_to_longmemeval_is_called_by_its_name(locomo_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"is LoCoMo.*, no corpus of the suite longmemeval"):
        SUITES["longmemeval"].load(locomo_path)


def test_longmemeval_given_to_locomo_is_called_by_its_name(longmemeval_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"is the .*development split.*, no corpus of the suite locomo"):
        SUITES["locomo"].load(longmemeval_path)


def test_file_that_nobody_knows_is_described_by_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "foreign.json"
    path.write_text('[{"title": "x", "body": "y"}]')
    with pytest.raises(CorpusError, match=r"item 0 of .* has no 'sample_id'; its keys are: title, body"):
        SUITES["locomo"].load(path)


def test_cut_copy_of_a_real_corpus_says_where_it_ends(locomo_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "locomo10.json"
    path.write_bytes(locomo_path.read_bytes()[:1_000_000])
    with pytest.raises(CorpusError, match=r"is cut off .* after \d whole items"):
        SUITES["locomo"].load(path)
