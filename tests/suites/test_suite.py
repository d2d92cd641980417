"""The registry of suites, and a wrong file called by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.editions import current, edition, known
from runner.errors import CorpusError, UsageError
from runner.records import Corpus, SearchScope, Segment, View
from runner.suites import SUITES, Suite
from runner.suites.reading import Source
from runner.suites.suite import Write


def test_registry_holds_the_suites_that_the_protocol_pins() -> None:
    assert list(SUITES)[:3] == ["locomo", "longmemeval", "sample"]
    assert set(SUITES) - {"file"} <= set(current().suites)
    assert "file" not in current().suites  # a user's own data, which nobody can register


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "sample"])
def test_suite_offers_the_canonical_granularity_and_the_whole_view_first(name: str) -> None:
    suite = SUITES[name]
    assert suite.levels[0] == current().suites[name].granularity
    assert suite.views(current())[0].name == "all"
    assert set(suite.types) <= set(current().suites[name].shape)


def test_unknown_suite_and_granularity_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of: locomo, longmemeval, sample"):
        SUITES["loco"]
    with pytest.raises(UsageError, match="locomo has no granularity 'word'; choose one of: session, turn"):
        SUITES["locomo"].load(tmp_path, "word")
    with pytest.raises(UsageError, match="no text named 'short'; choose one of: full, dated"):
        SUITES["locomo"].load(tmp_path, text="short")


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


@pytest.mark.parametrize("version", known())
@pytest.mark.parametrize("name", ["locomo", "sample"])
def test_a_corpus_is_searched_and_clustered_as_each_edition_pins_it(
    name: str, version: str, locomo_path: Path
) -> None:
    suite, pins = SUITES[name], edition(version).suites[name]
    path = locomo_path if name == "locomo" else suite.locate(None, {})
    corpus = suite.load(path, edition=edition(version))
    assert tuple(scope.name for scope in corpus.scopes) == pins.scopes
    assert corpus.clustered is pins.clustered


def test_an_edition_that_knows_no_passages_has_them_cut_as_the_one_in_force() -> None:
    sample = SUITES["sample"]
    path = sample.locate(None, {})
    assert edition("1.1.0").passages is None
    assert sample.load(path, edition=edition("1.1.0")) == sample.load(path)


def test_a_suite_that_no_edition_registers_has_the_whole_view_and_its_own_file(tmp_path: Path) -> None:
    page = Segment("book", "book/1", "a page")

    def read(source: Source, level: str, write: Write) -> Corpus:
        scopes = (SearchScope("book"),)
        return Corpus("pages", str(source.path), source.sha256(), level, (page,), (), scopes)

    suite = Suite("pages", "Pages", ("page",), (), read, file="pages.json")
    (tmp_path / "pages.json").write_text("[]")
    assert suite.views(current()) == (View("all"),)
    corpus = suite.load(suite.locate(tmp_path, {}))
    assert (corpus.granularity, corpus.segments) == ("page", (page,))
    with pytest.raises(CorpusError, match=r"no pages\.json was found: name it with --data"):
        suite.locate(None, {})
