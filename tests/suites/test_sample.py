"""The committed sample is what the protocol pins, and each of its types rests on what it says it rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.editions import current
from runner.errors import CorpusError
from runner.records import Corpus, Segment, opaque
from runner.suites import SUITES

SAMPLE = SUITES["sample"]
EMPTY = {"what", "how", "the"}  # words that carry nothing
Projects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return SAMPLE.load(SAMPLE.locate(None, {}))


@pytest.fixture
def projects() -> Projects:
    value: Projects = json.loads(SAMPLE.locate(None, {}).read_bytes())
    return value


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower())) - EMPTY


def twin(corpus: Corpus, gold: Segment) -> Segment:
    """The other session of the project that shares almost all words with `gold`."""
    others = [one for one in corpus.segments if one.project == gold.project and one.id != gold.id]
    return max(others, key=lambda one: len(words(one.text) & words(gold.text)))


def gold_of(corpus: Corpus, kind: str) -> list[Segment]:
    segments = {one.id: one for one in corpus.segments}
    return [segments[question.gold[0]] for question in corpus.questions if question.type == kind]


def test_sample_has_the_hash_and_shape_that_the_protocol_pins(corpus: Corpus) -> None:
    pins = current().suites["sample"]
    assert corpus.sha256 == pins.sha256
    assert dict(corpus.shape) == dict(pins.shape)
    assert {segment.importance for segment in corpus.segments} == {1, 2, 3, 4, 5}


def test_graph_answers_share_no_word_with_their_question_but_an_edge_with_one_that_does(
    corpus: Corpus,
) -> None:
    texts = {one.id: one.text for one in corpus.segments}
    for question in (one for one in corpus.questions if one.type == "graph"):
        (gold,) = question.gold
        assert not words(question.text) & words(texts[gold])
        sources = [edge.source for edge in corpus.edges if edge.target == gold]
        assert any(len(words(question.text) & words(texts[source])) >= 2 for source in sources)


def test_importance_pairs_differ_in_one_word_and_importance_alone(corpus: Corpus) -> None:
    for gold in gold_of(corpus, "importance"):
        other = twin(corpus, gold)
        assert len(words(gold.text) ^ words(other.text)) == 2
        assert (gold.importance, other.importance) == (5, 1)
        assert gold.occurred_at == other.occurred_at


def test_recency_pairs_differ_in_one_word_and_the_date(corpus: Corpus) -> None:
    for gold in gold_of(corpus, "recency"):
        other = twin(corpus, gold)
        bodies = (one.text.partition("\n")[2] for one in (gold, other))
        assert len(set.symmetric_difference(*map(words, bodies))) == 2
        assert gold.importance == other.importance
        assert gold.occurred_at is not None
        assert other.occurred_at is not None
        assert (gold.occurred_at - other.occurred_at).days > 60


def test_ties_alone_would_put_the_wrong_one_of_each_pair_first(corpus: Corpus) -> None:
    for kind in ("importance", "recency"):
        for gold in gold_of(corpus, kind):
            assert opaque(twin(corpus, gold).id) < opaque(gold.id)


def test_multi_hop_questions_need_two_sessions(corpus: Corpus) -> None:
    for question in corpus.questions:
        assert len(question.gold) == (2 if question.type == "multi-hop" else 1)


def test_every_question_is_asked_after_its_evidence(corpus: Corpus) -> None:
    times = {one.id: one.occurred_at for one in corpus.segments}
    for question in corpus.questions:
        for gold in question.gold:
            happened = times[gold]
            assert happened is not None
            assert question.as_of is not None
            assert happened < question.as_of


def test_answers_and_ids_stay_out_of_the_texts(corpus: Corpus) -> None:
    for segment in corpus.segments:
        assert not re.search(r"\b(garden|boat|bakery)/|\bs\d\d\b", segment.text)
        assert re.match(r"\[\d{1,2} [A-Z][a-z]+ 2024, \d\d:\d\d\]\n", segment.text)


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
        (_session(date="3.2.2024"), "the date of garden/s01 cannot be read"),
        (_session(turns=["hello"]), "a turn of garden/s01 is not 'Speaker: text': 'hello'"),
        (_edge(weight=0.0), "'weight' of the edge garden/s02 → garden/s13 is 0.0, which is not in"),
        (_edge(target="boat/s01"), "names 'boat/s01', no session"),
        (_question(type="riddle"), "'type' of garden/q01 is 'riddle', which is none of"),
        (_question(evidence=["garden/s99"]), "names 'garden/s99', no session"),
        (_question(evidence=[]), "garden/q01 cites no evidence"),
        (_question(key="garden/q02"), "the question 'garden/q02' occurs twice"),
        (lambda projects: projects[1].pop("edges"), "boat lacks or does not know the keys: edges"),
        (lambda projects: projects.append(projects[0]), "the session 'garden/s01' occurs twice"),
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
