"""How a suite is known, split, written and cut: what all suites share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.client import scope_calls
from pgmnemo.errors import UsageError
from runner.bench.request import Request, selected
from runner.commands.score.command import write_ids
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES, Suite
from runner.protocol.datasets.corpus import MAX_QUESTION, cut_lessons
from runner.protocol.datasets.corpus_file import CorpusFile
from runner.protocol.datasets.suite import PARITY, LessonConstruction, Write
from runner.protocol.editions import PassagePins, current, edition, known
from runner.protocol.editions.load import FOLDER, tables_of
from runner.protocol.templates import TEMPLATES, Session, Turn
from runner.records import Corpus, SearchScope, Segment, View


def test_registry_holds_the_suites_that_the_protocol_pins() -> None:
    assert list(SUITES)[:3] == ["locomo", "longmemeval", "sample"]
    coming = tables_of(FOLDER / "next.toml").get("suites", {})
    assert set(SUITES) - {"file"} <= {*current().suites, *coming}
    assert "file" not in current().suites  # a user's own data, which nobody can register


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "sample"])
def test_suite_offers_the_canonical_granularity_and_the_whole_view_first(name: str) -> None:
    suite = SUITES[name]
    assert suite.levels[0] == current().suites[name].granularity
    assert suite.views(current())[0].name == "all"
    assert set(suite.types) <= set(current().suites[name].shape)


def test_a_run_and_a_score_ask_the_same_questions_of_every_suite_and_level(
    write: Callable[[Any], Path], conversation: dict[str, Any], item: dict[str, Any], tmp_path: Path
) -> None:
    told = {"question": "Who?", "answer": "Bo", "category": 1}
    conversation["qa"] += [{**told, "evidence": cited} for cited in (["D9:9"], ["D9:9", "D1:1"], ["D:1"])]
    unmarked = [[{"role": "user", "content": "Rain?"}]] * 3
    items = [item, {**item, "question_id": "q2", "haystack_sessions": unmarked}]
    asked = [{"text": "?", "evidence": cited} for cited in (["a"], [])]
    own = {"sessions": [{"id": "a", "turns": [{"text": "x"}]}], "questions": asked}
    places: dict[str, Any] = {"locomo": [conversation], "longmemeval": items, "file": own}
    for name, value in {**places, "sample": None}.items():
        for level in SUITES[name].levels:
            place = write(value) if value else SUITES[name].locate(None, {})
            request = Request(name, data=place, granularity=level, embedder="none")
            corpus = SUITES[name].load(place, level, edition=request.edition)
            write_ids(folder := tmp_path / f"{name} {level}", name, granularity=level, data=place)
            written = [json.loads(line)["id"] for line in (folder / "queries.jsonl").read_text().splitlines()]
            assert written == [one.question.key for one in selected(request.choice, corpus, request.edition)]
            all_count = name == "sample" or (name, level) == ("longmemeval", "session")
            assert (len(corpus.questions) == len(written) > 0) == all_count


@pytest.mark.parametrize("scored", [True, False])
def test_a_question_may_be_as_long_as_the_extension_takes(write: Callable[[Any], Path], scored: bool) -> None:
    assert MAX_QUESTION == scope_calls.MAX_QUESTION

    def load(text: str) -> Corpus:
        asked = [
            {"id": "long", "text": text, "evidence": ["a"] if scored else []},
            {"text": "?", "evidence": ["a"]},
        ]
        return SUITES["file"].load(
            write({"sessions": [{"id": "a", "turns": [{"text": "x"}]}], "questions": asked})
        )

    assert load("é" * (MAX_QUESTION // 2)).questions
    if scored:  # only such a question is asked
        with pytest.raises(CorpusError, match=r"the question long has 100,001 bytes; shorten it to 100,000"):
            load("x" + "é" * (MAX_QUESTION // 2))
    else:
        assert load("x" + "é" * (MAX_QUESTION // 2)).questions


def test_unknown_suite_and_granularity_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose one of: locomo, longmemeval, sample"):
        SUITES["loco"]
    with pytest.raises(UsageError, match="locomo has no granularity 'word'; choose one of: session, turn"):
        SUITES["locomo"].load(tmp_path, "word")
    with pytest.raises(UsageError, match="no template named 'short'; choose one of: full, dated"):
        SUITES["locomo"].load(tmp_path, template="short")


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


def test_a_suite_that_no_edition_registers_has_the_whole_view_and_its_own_file(tmp_path: Path) -> None:
    page = Segment("book", "book/1", "a page")

    def read(source: CorpusFile, level: str, write: Write) -> Corpus:
        scopes = (SearchScope("book"),)
        return Corpus("pages", str(source.path), source.sha256(), level, (page,), (), scopes)

    suite = Suite("pages", "Pages", ("page",), (), read, file="pages.json")
    (tmp_path / "pages.json").write_text("[]")
    assert suite.views(current()) == (View("all"),)
    corpus = suite.load(suite.locate(tmp_path, {}))
    assert (corpus.granularity, corpus.segments) == ("page", (page,))
    with pytest.raises(CorpusError, match=r"no pages\.json was found: name it with --data"):
        suite.locate(None, {})


@pytest.mark.parametrize("key", ["", "q1", "gpt4_372c3eed_abs", "a" * 1000, "ü"])
def test_a_question_is_of_one_split_and_no_other(key: str) -> None:
    assert [split(key) for split in PARITY.values()].count(True) == 1


def test_two_sessions_are_apart_and_two_turns_of_one_are_not() -> None:
    lessons = list(cut_lessons(["ab", "c", "", "def"], turns=True))
    assert [(at, position) for at, _, position in lessons] == [(0, 1), (0, 2), (1, 4), (3, 7), (3, 8), (3, 9)]
    assert [part for _, [part], _ in lessons] == list("abcdef")
    assert list(cut_lessons(["ab", "c"], turns=False)) == [(0, "ab", None), (1, "c", None)]


PINS = PassagePins(turns=4, step=2, characters=700)
TALK = Session(
    "8 May", (Turn("Ana", "Look at it!", caption="a red kite"), Turn("Bo", "Nice one."), Turn("Ana", "Yes."))
)
CHAT = Session(
    "May", (Turn("user", "I like tea."), Turn("assistant", "Noted at length.", person=False)), chat=True
)
WHOLE = LessonConstruction().write(TALK, PINS)


def test_passages_by_characters_overlap_and_cover_the_text() -> None:
    written = LessonConstruction(passages="20/5").write(TALK, PINS)
    pieces = [passage.text for passage in written.passages]
    assert written.text == WHOLE.text
    assert all(len(piece) == 20 for piece in pieces[:-1])
    assert all(one[-5:] == other[:5] for one, other in pairwise(pieces))
    assert pieces[0] + "".join(piece[5:] for piece in pieces[1:]) == written.text
    assert all(passage.text == passage.embedded for passage in written.passages)


@pytest.mark.parametrize(("length", "pieces"), [(1, 1), (20, 1), (21, 2), (35, 2), (36, 3)])
def test_the_last_passage_ends_with_the_text_and_none_lies_within_another(length: int, pieces: int) -> None:
    session = Session("", (Turn("", "x" * length),))
    written = LessonConstruction(passages="20/5").write(session, PINS)
    assert len(written.passages) == pieces
    assert all(len(passage.text) > 5 for passage in written.passages[1:])


def beginnings(session: Session) -> Iterator[Session]:
    """What a cut can leave: no turn, or a part of the last one, whose caption goes first."""
    yield replace(session, turns=())
    for at, last in enumerate(session.turns):
        for end in range(-len(last.words), len(last.caption) + 1):
            words = last.words[: len(last.words) + min(end, 0)]
            kept = replace(last, words=words, caption=last.caption[: max(end, 0)])
            yield replace(session, turns=(*session.turns[:at], kept))


@pytest.mark.parametrize("most", [1, 20, 30, 41, len(WHOLE.text), len(WHOLE.text) + 1])
@pytest.mark.parametrize("text", TEMPLATES)
@pytest.mark.parametrize("session", [TALK, CHAT], ids=["talk", "chat"])
def test_a_lesson_keeps_the_longest_beginning_of_so_many_characters(
    text: str, session: Session, most: int
) -> None:
    whole = TEMPLATES[text].write(session, PINS).text
    kept = LessonConstruction(text, most=most).write(session, PINS)
    assert len(kept.text) <= most
    assert len(whole) > most or kept.text == whole
    assert all(passage.text in kept.text for passage in kept.passages)
    texts = [TEMPLATES[text].write(one, PINS).text for one in beginnings(session)]
    assert kept.text in (*texts, texts[0][:most])


def test_no_more_is_cut_than_must_be() -> None:
    assert LessonConstruction(most=len(WHOLE.text) - 2).write(TALK, PINS).text == WHOLE.text[:-2]
    captioned = Session("", (Turn("Ana", "Look", caption="a kite"),))
    assert LessonConstruction(most=17).write(captioned, PINS).text == "Ana: Look [a kit]"
