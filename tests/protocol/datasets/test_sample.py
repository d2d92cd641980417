"""The committed sample is what the protocol pins, and a file that is not is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.editions import current
from runner.records import Corpus

SAMPLE = SUITES["sample"]
Projects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return SAMPLE.load(SAMPLE.locate(None, {}))


@pytest.fixture
def projects() -> Projects:
    value: Projects = json.loads(SAMPLE.locate(None, {}).read_bytes())
    return value


def test_sample_has_the_hash_and_shape_that_the_protocol_pins(corpus: Corpus) -> None:
    pins = current().suites["sample"]
    assert corpus.sha256 == pins.sha256
    assert dict(corpus.shape) == dict(pins.shape)
    assert {segment.importance for segment in corpus.segments} == {1, 2, 3, 4, 5}


def test_a_session_of_five_turns_has_two_passages_without_its_date() -> None:
    corpus = SAMPLE.load(SAMPLE.locate(None, {}))
    counts = {one.text.count("\n"): len(one.passages) for one in corpus.segments}
    assert counts == {4: 1, 5: 2}
    assert all(passage.text == passage.embedded for one in corpus.segments for passage in one.passages)
    assert all(passage.text in one.text for one in corpus.segments for passage in one.passages)
    assert not any(passage.text.startswith("[") for one in corpus.segments for passage in one.passages)


def _session(**change: Any) -> Callable[[Projects], None]:
    return lambda projects: projects[0]["sessions"][0].update(change)


def _question(**change: Any) -> Callable[[Projects], None]:
    return lambda projects: projects[0]["questions"][0].update(change)


def _edge(**change: Any) -> Callable[[Projects], None]:
    return lambda projects: projects[0]["edges"][0].update(change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_session(mood="good"), "garden/s01 lacks or does not know the keys: mood"),
        (_session(id="s01"), "the id 's01' must begin with its project, garden/"),
        (_session(id="garden/s02"), "names 'garden/s01', no session of its project; restore"),
        (_session(importance=6), "'importance' of garden/s01 is 6, which is none of: 1, 2, 3, 4, 5"),
        (_session(turns=["hello"]), "a turn of garden/s01 is not 'Speaker: text': 'hello'"),
        (_edge(weight=0.0), "'weight' of the edge garden/s02 → garden/s13 is 0.0, which is not in"),
        (_question(evidence=["garden/s99"]), "names 'garden/s99', no session"),
        (_question(evidence=[]), "garden/q01 cites no evidence"),
        (_question(key="garden/q02"), "the question 'garden/q02' occurs twice"),
    ],
)
def test_loader_names_what_is_wrong(
    tmp_path: Path, projects: Projects, change: Callable[[Projects], None], sentence: str
) -> None:
    change(projects)
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(projects))
    with pytest.raises(CorpusError, match=re.escape(sentence)):
        SAMPLE.load(path)
