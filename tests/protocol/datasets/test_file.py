"""A user's own file: what each of its forms means, and the one sentence for what is wrong with it."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fastjsonschema
import pytest

from runner.bench.request import Request
from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.custom import SCHEMA
from runner.protocol.gates.leak import GATES
from runner.records import Corpus, Status

FILE = SUITES["file"]
MINE: dict[str, Any] = {
    "name": "chats",
    "sessions": [
        {"id": "s1", "time": "2024-05-02 09:30", "turns": [
            {"id": "t1", "speaker": "Ana", "text": "My router is a Fritz."},
            {"speaker": "Assistant", "text": "Try the new firmware."}]},
        {"id": 2, "time": "2024-05-09", "turns": [{"speaker": "Ana", "text": "I moved to Leipzig."}]},
    ],
    "questions": [
        {"id": "where", "text": "Where is Ana?", "type": "update", "evidence": [2], "answer": "Leipzig"},
        {"text": "Which router?", "evidence": ["t1", "t1"], "as_of": "2024-05-03T08:00"},
        {"text": "Which car?", "evidence": []},
    ],
}  # fmt: skip


@pytest.fixture
def mine() -> dict[str, Any]:
    return copy.deepcopy(MINE)


def load(tmp_path: Path, content: Any, level: str | None = None, name: str = "mine.json") -> Corpus:
    place = tmp_path / name
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    place.write_bytes(data)
    return FILE.load(FILE.locate(place, {}), level)


def lines(mine: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(one) for one in (*mine["sessions"], *mine["questions"])).encode()


def test_a_session_is_a_lesson_with_its_time_and_its_turns(tmp_path: Path, mine: dict[str, Any]) -> None:
    corpus = load(tmp_path, mine)
    first, second = corpus.segments
    assert (first.id, second.id) == ("s1", "2")
    assert first.text == "[2024-05-02 09:30]\nAna: My router is a Fritz.\nAssistant: Try the new firmware."
    assert first.occurred_at == datetime(2024, 5, 2, 9, 30, tzinfo=UTC)
    assert [passage.text for passage in first.passages] == ["Ana: My router is a Fritz."]
    assert corpus.title == "own data: chats"
    assert corpus.shape == {
        "projects": 1, "segments": 2, "questions": 3, "scored": 2, "turns": 3, "update": 1, "untyped": 2,
    }  # fmt: skip
    assert [scope.name for scope in corpus.scopes] == ["project"]
    assert not corpus.clustered


def test_a_question_has_its_own_key_time_and_type_or_the_next_best(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    where, router, car = load(tmp_path, mine).questions
    assert (where.key, router.key, car.key) == ("where", "q2", "q3")
    assert (where.gold, router.gold, car.gold) == (("2",), ("s1",), ())
    assert [one.cited for one in router.evidence] == ["t1"]
    assert where.as_of == datetime(2024, 5, 9, tzinfo=UTC)  # the last session's
    assert router.as_of == datetime(2024, 5, 3, 8, tzinfo=UTC)
    assert (where.type, router.type) == ("update", "untyped")


def test_turns_stand_in_the_order_of_the_file_unless_they_say_where(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    turns = load(tmp_path, mine, "turn").segments
    assert [(one.role, one.position) for one in turns] == [("Ana", 1), ("Assistant", 2), ("Ana", 4)]
    for at, turn in enumerate(turn for session in mine["sessions"] for turn in session["turns"]):
        turn["position"] = 7 - at
    assert [one.position for one in load(tmp_path, mine, "turn").segments] == [7, 6, 5]
    assert {(one.role, one.position) for one in load(tmp_path, mine).segments} == {(None, None)}


def test_each_project_counts_its_turns_by_itself(tmp_path: Path, mine: dict[str, Any]) -> None:
    for session, project in zip(mine["sessions"], ("a", "b"), strict=True):
        session["project"] = project
    for question, project in zip(mine["questions"], ("b", "a", "a"), strict=True):
        question["project"] = project
    assert [one.position for one in load(tmp_path, mine, "turn").segments] == [1, 2, 1]


def test_at_turn_level_a_lesson_is_a_turn_and_a_session_of_one_turn_is_that_turn(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    corpus = load(tmp_path, mine, "turn")
    assert [segment.id for segment in corpus.segments] == ["t1", "s1#2", "2"]
    assert corpus.segments[1].text == "[2024-05-02 09:30]\nAssistant: Try the new firmware."
    assert [question.gold for question in corpus.questions] == [("2",), ("t1",), ()]


def test_at_turn_level_a_session_of_several_turns_is_no_evidence(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    mine["questions"][0]["evidence"] = ["s1"]
    assert load(tmp_path, mine).questions[0].gold == ("s1",)
    with pytest.raises(
        CorpusError, match=r"cites 's1', a session of several turns; at --granularity turn cite"
    ):
        load(tmp_path, mine, "turn")


def test_a_turn_has_its_own_time_before_its_sessions(tmp_path: Path, mine: dict[str, Any]) -> None:
    mine["sessions"][0]["turns"][1]["time"] = "2024-05-02 09:31:30"
    times = [segment.occurred_at for segment in load(tmp_path, mine, "turn").segments]
    assert times[1] == datetime(2024, 5, 2, 9, 31, 30, tzinfo=UTC)
    del mine["sessions"][0]["time"]
    mine["sessions"][0]["turns"][0]["time"] = "2024-05-01"
    assert load(tmp_path, mine).segments[0].text.startswith("[2024-05-01]\n")


def test_times_and_speakers_may_be_left_out(tmp_path: Path) -> None:
    own = {
        "sessions": [{"id": "a", "turns": [{"text": "a note"}]}],
        "questions": [{"text": "?", "evidence": ["a"]}],
    }
    corpus = load(tmp_path, own)
    assert (corpus.segments[0].text, corpus.segments[0].occurred_at) == ("a note", None)
    assert corpus.questions[0].as_of is None
    assert corpus.title == "own data: mine"


def test_projects_are_scopes_and_clusters(tmp_path: Path, mine: dict[str, Any]) -> None:
    for one, project in zip(mine["sessions"], ("Ana B", "Bo"), strict=True):
        one["project"] = project
    for one, project in zip(mine["questions"], ("Bo", "Ana B", "Bo"), strict=True):
        one["project"] = project
    corpus = load(tmp_path, mine)
    assert [(scope.name, scope.pooled) for scope in corpus.scopes] == [("project", False), ("pool", True)]
    assert corpus.clustered


def test_jsonl_a_byte_order_mark_and_a_packed_file_say_the_same(tmp_path: Path, mine: dict[str, Any]) -> None:
    whole = load(tmp_path, mine)
    for name, data in {
        "mine.jsonl": lines(mine),
        "mine.dat": b"\xef\xbb\xbf" + lines(mine) + b"\r\n\n",
        "mine.json.gz": gzip.compress(json.dumps(mine, indent=1).encode()),
    }.items():
        other = load(tmp_path, data, name=name)
        assert (other.segments, other.questions) == (whole.segments, whole.questions), name


def test_the_shape_of_memini_is_read_at_both_levels(tmp_path: Path) -> None:
    theirs = {
        "name": "theirs",
        "items": [{"id": "m1", "content": "tea", "more": 1}, {"id": "m2", "content": "rain"}],
        "questions": [{"query": "drink?", "gold": ["m1"], "category": 3}],
    }
    for level in ("session", "turn"):
        corpus = load(tmp_path, theirs, level)
        assert [(one.id, one.text) for one in corpus.segments] == [("m1", "tea"), ("m2", "rain")]
        assert corpus.questions[0].gold == ("m1",)
    del theirs["items"][0]["id"]  # type: ignore[index]
    with pytest.raises(
        CorpusError, match=r"'id' of item 1 of mine\.json must be a whole number, or 1 to 200"
    ):
        load(tmp_path, theirs)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda own: own.update(sessions=[]), "mine.json has both 'items' and 'sessions', which mean"),
        (lambda own: own["questions"][0].update(evidence=[]), "question 1 of mine.json has both 'gold' and"),
        (lambda own: own["items"].clear(), "mine.json holds no item;"),
        (lambda own: own["items"][0].update(content=""), "'content' of item 1 of mine.json must be a text"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_of_memini_is_said_in_its_words(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    theirs = {"items": [{"id": "m", "content": "tea"}], "questions": [{"query": "drink?", "gold": ["m"]}]}
    load(tmp_path, theirs)
    change(theirs)
    with pytest.raises(CorpusError, match=re.escape(sentence)):
        load(tmp_path, theirs)


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_time_is_none_and_a_question_may_be_asked_before_every_session(
    tmp_path: Path, mine: dict[str, Any], nothing: str | None
) -> None:
    mine["sessions"][1]["time"] = nothing
    mine["sessions"][0]["turns"][0]["time"] = nothing
    mine["questions"][0]["as_of"] = nothing
    mine["questions"][1]["as_of"] = "2020-01-01"
    corpus = load(tmp_path, mine)
    last = datetime(2024, 5, 2, 9, 30, tzinfo=UTC)
    assert [one.occurred_at for one in corpus.segments] == [last, None]
    assert [one.as_of for one in corpus.questions[:2]] == [last, datetime(2020, 1, 1, tzinfo=UTC)]


def test_the_published_schema_takes_what_the_loader_takes(mine: dict[str, Any]) -> None:
    fastjsonschema.compile(json.loads(SCHEMA.read_text()))(mine)


def session(at: int = 0, **change: Any) -> Callable[[dict[str, Any]], None]:
    return lambda mine: mine["sessions"][at].update(change)


def question(at: int = 0, **change: Any) -> Callable[[dict[str, Any]], None]:
    return lambda mine: mine["questions"][at].update(change)


def turn(**change: Any) -> Callable[[dict[str, Any]], None]:
    return lambda mine: mine["sessions"][0]["turns"][0].update(change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (question(evidence=["s9"]), "question 1 of mine.json cites 's9', which is the id of no session and"),
        (session(1, id="s1"), "the id 's1' stands twice in mine.json, the second time in session 2 of mine."),
        (question(1, id="where"), "two questions have the id 'where', the second is question 2 of mine.json"),
        (question(id="q2"), "the second is question 2 of mine.json (question 2 of mine.json has no id an"),
        (question(evidence=["\ud800"]), "an id of question 1 of mine.json holds half a character (\\ud800"),
        (turn(time="yesterday"), "the time of turn 1 of session 1 of mine.json is 'yesterday', which"),
        (session(id="s 1"), "'id' of session 1 of mine.json must be a whole number, or 1 to 200 characters"),
        (turn(text=" \n"), "'turns[0].text' of session 1 of mine.json must be a text that is not empty, but"),
        (turn(text="\u200b\0"), "the text of turn 1 of session 1 of mine.json has no character that can be"),
        (question(text="\u00ad"), "the text of question 1 of mine.json has no character that can be seen"),
        (turn(said="x"), "'turns[0]' of session 1 of mine.json has the unknown key 'said'"),
        (turn(position=1), "turn 2 of session 1 of mine.json has no position, unlike the turns before it; g"),
        (session(1, turns=[{"text": "x", "position": 1}]), "turn 1 of session 2 of mine.json has a position"),
        (turn(position=2**31), "must be a whole number from 0 to 2147483647, but is 2147483648"),
        (session(turns=[{"text": "x", "position": 4}, {"text": "y", "position": 4}]),
         "turn 2 of session 1 of mine.json has the position 4, and so has turn 1 of session 1 of mine.js"),
        (session(turns=[]), "'turns' of session 1 of mine.json must be a list of at least one turn, but is"),
        (lambda mine: mine["sessions"][0].pop("id"), "session 1 of mine.json has no 'id'"),
        (question(type="a,b"), "'type' of question 1 of mine.json must be a name of 1 to 60 characters"),
        (question(type="scored"), "is 'scored', under which the runner counts; name it otherwise"),
        (session(time="2024-02-30"), "is '2024-02-30', which is none"),
        (session(time="0999-01-01"), "is '0999-01-01'; years from 1000 to 2999 are read"),
        (turn(time="2024-05-02T09:30Z"), "some times have a zone and others have none ("),
        (question(as_of="2024-05-02T09:30+02:00"), "give all of them one, such as Z, or none"),
        (session(time=20240502), "'time' of session 1 of mine.json must be a time such as"),
        (session(project="x"), "session 2 of mine.json names no project, unlike the sessions before it"),
        (question(project="x"), "question 1 of mine.json is of the project 'x', which has no session"),
        (turn(text="half \ud83d of it"), "holds half a character (\\ud83d by itself)"),
        (lambda mine: mine.pop("sessions"), "mine.json has no 'sessions'"),
        (lambda mine: mine["questions"].clear(), "mine.json holds no question"),
        (lambda mine: mine.update(questions=mine["questions"][2:]), "scored; give question 1 of mine.json "),
        (lambda mine: mine.update(question=[]), "mine.json has the unknown key 'question'"),
        (lambda mine: mine.update(name="a\nb"), "'name' of mine.json must be a name of 1 to 60 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_in_one_sentence(
    tmp_path: Path, mine: dict[str, Any], change: Callable[[dict[str, Any]], None], sentence: str
) -> None:
    change(mine)
    with pytest.raises(CorpusError, match=re.escape(sentence)):
        load(tmp_path, mine)


def test_a_question_of_several_projects_names_its_own_and_cites_it(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    for one, project in zip(mine["sessions"], ("A", "B"), strict=True):
        one["project"] = project
    with pytest.raises(
        CorpusError, match=r"question 1 of mine\.json names no 'project', and mine\.json has 2"
    ):
        load(tmp_path, mine)
    mine["questions"][0]["project"] = "A"
    with pytest.raises(CorpusError, match=r"is of the project 'A' and cites '2', which is of 'B'"):
        load(tmp_path, mine)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "mine.json is empty; docs/howto/your-data.md shows"),
        (b" \n\n", "mine.json holds nothing but blanks"),
        (b'{"sessions": [\n  {"id": 1,, }]}', "is not JSON (line 2, column 12: Expecting property name"),
        (b'[{"id": 1}]', "mine.json is no JSON object with sessions and questions"),
        (json.dumps(MINE).encode("utf-16"), "mine.json is UTF-16, and UTF-8 is read here; save it as UTF-8"),
        ("{\n\"name\": \"é\"}".encode("latin-1"), "line 2 of mine.json is not UTF-8 (byte 11); save the fil"),
        (b'{"sessions":' + b"[" * 200_000, "nested too deep"),
        (b'{"name": "a", "name": "b", "sessions": 1}', "the key 'name' stands twice in one object"),
        (b'{"sessions": [{"id": ' + b"9" * 5000 + b"}]}", "mine.json cannot be read (from line 1: Exceeds"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_corpus_is_named_with_its_place(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    with pytest.raises(CorpusError, match=re.escape(sentence)):
        load(tmp_path, content)


def test_a_telling_id_in_a_text_is_a_leak_and_a_plain_one_is_none(
    tmp_path: Path, mine: dict[str, Any]
) -> None:
    mine["sessions"][1]["turns"][0]["text"] = "I moved to Leipzig, see ticket_4711 and 2 and s1."
    assert leak(load(tmp_path, mine)).status is Status.PASSED
    mine["sessions"][0]["id"] = "ticket_4711"
    assert leak(load(tmp_path, mine)).status is Status.FAILED


def leak(corpus: Corpus) -> Any:
    return GATES[0].check(SimpleNamespace(corpus=corpus))  # type: ignore[arg-type]


def test_a_file_of_any_name_has_a_title(tmp_path: Path, mine: dict[str, Any]) -> None:
    del mine["name"]
    assert load(tmp_path, mine, name="x" * 80 + ".json").title == "own data: " + "x" * 60
    assert load(tmp_path, lines(mine), name=".jsonl").title == "own data: file"


def test_a_run_needs_no_flag_and_embeds_with_minilm() -> None:
    request = Request("file")
    assert request.choice.allow_unregistered_corpus
    assert request.embedder_name == "minilm"
    assert list(Request("file", granularity="turn").choice.labels(request.edition)) == ["turn"]
