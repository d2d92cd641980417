"""REALTALK becomes sessions by the ids of its turns, with the counts that another little script finds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runner.errors import CorpusError
from runner.protocol.datasets import SUITES
from runner.protocol.datasets.realtalk import resolve_spans
from runner.protocol.editions import current, list_digest, registered_files
from runner.protocol.gates import RunFacts
from runner.protocol.gates.of_corpus import dataset, shape
from runner.records import Corpus, Evidence, Status

REALTALK = SUITES["realtalk"]
KNOWN = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
Chat = dict[str, Any]
Folder = Callable[..., Path]


def turn(identifier: str, words: str, date: str, speaker: str = "Ana", caption: str = "") -> Chat:
    said = {"clean_text": words, "speaker": speaker, "date_time": date, "dia_id": identifier}
    return said | {"img_file": [], "img_url": []} | ({"blip_caption": caption} if caption else {})


@pytest.fixture
def chat() -> Chat:
    """Two sessions under three keys, of which the last is a part of the second; four questions."""
    first, second = "29.12.2023, 00:51:12", "03.01.2024, 22:11:47"
    return {
        "name": {"speaker_1": "Ana", "speaker_2": "Bo"},
        "session_1": [
            turn("D1:1", "Look\0!", first, caption="a red kite"),
            turn("D1:2", "Nice.", "29.12.2023, 00:52:00", "Bo"),
        ],
        "events_session_1": {"Ana": ["secret event"]},
        "session_1_date_time": first,
        "session_2": [turn("D2:1", "I sold the kite.", second, "Bo"), turn("D2:2", "No!", second)],
        "session_2_date_time": second,
        "session_3": [turn("D2:3", "It is true.", "04.01.2024, 09:00:00", "Bo")],
        "session_3_date_time": "04.01.2024, 09:00:00",
        "qa": [
            {"question": "Which kite?", "answer": "red", "evidence": ["D1:1. D2:1-D2:3."], "category": 1},
            {"question": "When?", "answer": "then", "evidence": ["D2:9"], "category": 2},
            {"question": "Who?", "answer": "Bo", "evidence": ["D7:1; D1:2"], "category": 3},
            {"question": "Why?", "answer": "-", "evidence": [], "category": 3},
        ],
    }


@pytest.fixture
def folder(tmp_path: Path, chat: Chat) -> Folder:
    """Write chats, by default one, as files of a folder and return it."""

    def made(**chats: Any) -> Path:
        for name, value in (chats or {"Chat_1_Ana_Bo": chat}).items():
            (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        return tmp_path

    return made


def test_the_session_of_a_turn_is_the_number_in_its_id(folder: Folder) -> None:
    first, second = REALTALK.load(folder()).segments
    assert (first.id, first.text) == (
        "Chat_1/D1",
        "[29.12.2023, 00:51:12]\nAna: Look! [a red kite]\nBo: Nice.",
    )
    assert (second.id, second.text) == (
        "Chat_1/D2",
        "[03.01.2024, 22:11:47]\nBo: I sold the kite.\nAna: No!\nBo: It is true.",
    )
    assert second.occurred_at == datetime(2024, 1, 3, 22, 11, 47, tzinfo=UTC)


def test_a_turn_has_its_speaker_and_position_and_a_session_neither(folder: Folder) -> None:
    turns = REALTALK.load(folder(), "turn").segments
    assert [one.position for one in turns] == [1, 2, 4, 5, 6]  # the second session stands under two keys
    assert [one.role for one in turns] == ["Ana", "Bo", "Bo", "Ana", "Bo"]
    assert {(one.role, one.position) for one in REALTALK.load(folder()).segments} == {(None, None)}


def test_an_id_that_two_turns_have_is_that_of_the_first(folder: Folder, chat: Chat) -> None:
    chat["session_3"][0]["dia_id"] = "D2:1"
    ids = [one.id for one in REALTALK.load(folder(), "turn").segments]
    assert ids[2:] == ["Chat_1/D2:1", "Chat_1/D2:2", "Chat_1/D2:1#2"]


def test_a_question_is_asked_when_the_chat_has_ended(folder: Folder) -> None:
    questions = REALTALK.load(folder()).questions
    assert {one.as_of for one in questions} == {datetime(2024, 1, 4, 9, 0, tzinfo=UTC)}
    assert [one.key for one in questions] == [f"Chat_1/q{at}" for at in range(4)]
    assert [one.type for one in questions] == ["multi-hop", "temporal", "commonsense", "commonsense"]


def test_what_cites_nothing_is_not_scored_and_what_no_turn_holds_has_no_gold(folder: Folder) -> None:
    path = folder()
    golds = [("Chat_1/D1", "Chat_1/D2"), ("Chat_1/D2",), ("Chat_1/D1",), ()]
    assert [one.gold for one in REALTALK.load(path).questions] == golds
    corpus = REALTALK.load(path, "turn")
    which, when, who, why = corpus.questions
    assert which.gold == ("Chat_1/D1:1", "Chat_1/D2:1", "Chat_1/D2:2", "Chat_1/D2:3")
    assert (when.scored, when.gold) == (True, ())
    assert who.gold == ("Chat_1/D1:2",)
    assert (why.scored, corpus.shape["scored"], corpus.shape["answerable"]) == (False, 3, 2)
    assert "answerable" not in REALTALK.load(path).shape


@pytest.mark.parametrize(
    ("strings", "cited"),
    [
        (["D1:1;D1:2, D2:01."], ["D1:1", "D1:2", "D2:1"]),
        (["D 2:1"], ["D2:1"]),  # so spelt in chat 8, and cited by nothing else there
        (["D1 : 1; D 2: 1 - D 2:2"], ["D1:1", "D2:1", "D2:2"]),
        (["D1:2-D2:2"], ["D1:2", "D2:1", "D2:2"]),
        (["D2:3 - D2:1"], ["D2:3", "D2:2", "D2:1"]),
        (["D9:1", "D1:1"], ["D1:1"]),
        (["D9:1"], ["D9:1"]),
        (["", "D"], []),
    ],
)
def test_every_id_and_range_of_an_evidence_string_is_read(strings: list[str], cited: list[str]) -> None:
    assert sorted(e.cited for e in resolve_spans(strings, "p", KNOWN, True)) == sorted(cited)


def test_an_id_that_no_turn_has_resolves_at_session_level_alone() -> None:
    assert resolve_spans(["D2:8"], "p", KNOWN, True) == (Evidence("D2:8", None),)
    assert resolve_spans(["D2:8"], "p", KNOWN, False) == (Evidence("D2:8", "p/D2"),)
    assert resolve_spans(["D9:8"], "p", KNOWN, False) == (Evidence("D9:8", None),)


def test_events_answers_and_ids_stand_in_no_text(folder: Folder) -> None:
    for level in REALTALK.levels:
        for one in REALTALK.load(folder(), level).segments:
            assert not re.search(r"secret|event|D\d+:\d", one.text)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda chat: chat["session_1"][0].pop("clean_text"),
         "turn 1 of session_1 of Chat_1_Ana_Bo.json has no"),
        (lambda chat: chat["session_1"][0].update(dia_id="1"),
         "'dia_id' of turn 1 .* is '1', not D<session>"),
        (lambda chat: chat["session_2"][1].update(date_time="yesterday"),
         "turn 2 of session_2 .*'yesterday'"),
        (lambda chat: chat["qa"][2].update(category=4),
         "question 2 of Chat_1_Ana_Bo.json.* none of: 1, 2, 3"),
    ],
)  # fmt: skip
def test_a_broken_chat_is_named(
    folder: Folder, chat: Chat, change: Callable[[Chat], object], complaint: str
) -> None:
    change(chat)
    with pytest.raises(CorpusError, match=complaint):
        REALTALK.load(folder(), "turn")


def test_a_strange_a_doubled_and_a_broken_file_are_named(folder: Folder, chat: Chat) -> None:
    path = folder()
    (path / "notes.json").write_text("[]")
    with pytest.raises(CorpusError, match=r"notes\.json is no file of REALTALK, .* take it out"):
        REALTALK.load(path)
    (path / "notes.json").rename(path / "Chat_1_Ana_Bo (1).json")
    with pytest.raises(CorpusError, match=r"Chat_1_Ana_Bo \(1\)\.json and Chat_1_Ana_Bo\.json .* one chat"):
        REALTALK.load(path)
    (path / "Chat_1_Ana_Bo (1).json").unlink()
    (path / "Chat_2_Ana_Cy.json").write_text('{"name": ')
    with pytest.raises(CorpusError, match=r"Chat_2_Ana_Cy\.json is cut off or is no JSON"):
        REALTALK.load(path)
    (path / "Chat_2_Ana_Cy.json").write_text("[]")
    with pytest.raises(CorpusError, match=r"Chat_2_Ana_Cy\.json holds must be an object"):
        REALTALK.load(path)


def test_chats_come_in_the_order_of_their_numbers_and_the_hash_is_that_of_the_list(
    folder: Folder, chat: Chat
) -> None:
    corpus = REALTALK.load(folder(Chat_10_Ana_Bo=chat, Chat_2_Ana_Cy=chat))
    assert list(dict.fromkeys(one.project for one in corpus.segments)) == ["Chat_2", "Chat_10"]
    assert sorted(corpus.files) == ["Chat_10_Ana_Bo.json", "Chat_2_Ana_Cy.json"]
    assert corpus.sha256 == list_digest(corpus.files)


def test_the_folder_itself_its_parent_and_the_variable_lead_to_it(folder: Folder, tmp_path: Path) -> None:
    path = folder()
    assert REALTALK.locate(path, {}) == path
    assert REALTALK.locate(None, {"REALTALK_DATA_DIR": str(path)}) == path
    parent = tmp_path / "parent"
    parent.mkdir()
    with pytest.raises(
        CorpusError, match=r"parent \(--data\) holds no Chat_\*\.json of REALTALK .* folder data"
    ):
        REALTALK.locate(parent, {})
    path.joinpath("Chat_1_Ana_Bo.json").rename(tmp_path / "kept")
    (parent / "data").mkdir()
    (tmp_path / "kept").rename(parent / "data" / "Chat_1_Ana_Bo.json")
    assert REALTALK.locate(parent, {}) == parent / "data"
    with pytest.raises(CorpusError, match=r"--data names .*Bo\.json, which is a file; name the folder data"):
        REALTALK.locate(parent / "data" / "Chat_1_Ana_Bo.json", {})
    with pytest.raises(CorpusError, match=r"REALTALK_DATA_DIR names .*gone, which does not exist"):
        REALTALK.locate(None, {"REALTALK_DATA_DIR": str(tmp_path / "gone")})


@pytest.fixture(scope="module")
def real(realtalk_path: Path) -> Corpus:
    return REALTALK.load(REALTALK.locate(realtalk_path, {}))


@pytest.fixture(scope="module")
def real_turns(realtalk_path: Path) -> Corpus:
    return REALTALK.load(REALTALK.locate(realtalk_path, {}), "turn")


def test_the_three_chats_have_the_counts_that_their_files_show(
    real: Corpus, real_turns: Corpus, realtalk_path: Path
) -> None:
    sessions, turns, kinds, lost = set(), 0, Counter[int](), 0
    for path in realtalk_path.glob("Chat_*.json"):
        chat = json.loads(path.read_text(encoding="utf-8"))
        said = [t["dia_id"] for k, v in chat.items() if re.fullmatch(r"session_\d+", k) for t in v]
        sessions |= {(path.name, one.partition(":")[0]) for one in said}
        turns += len(said)
        kinds.update(question["category"] for question in chat["qa"])
        cited = [set(re.findall(r"D\d+:\d+", " ".join(q["evidence"]))) for q in chat["qa"]]
        lost += sum(len(one - set(said)) for one in cited)
    assert (len(sessions), turns, [kinds[kind] for kind in (1, 2, 3)]) == (48, 1351, [90, 91, 33])
    assert dict(real.shape) == {
        "projects": 3, "segments": 48, "turns": 1351, "questions": 214, "scored": 214,
        "multi-hop": 90, "temporal": 91, "commonsense": 33,
    }  # fmt: skip
    assert len(real_turns.segments) == 1351
    unresolved = [e for q in real_turns.questions for e in q.evidence if e.segment is None]
    assert len(unresolved) == lost == 33
    assert all(question.gold for corpus in (real, real_turns) for question in corpus.questions)


def test_the_three_chats_are_named_as_the_part_that_they_are(
    real: Corpus, in_force: Callable[[Corpus, bool], RunFacts]
) -> None:
    found = dataset(in_force(real, True))
    assert found.status is Status.UNVERIFIED
    assert "3 of the 10 files of REALTALK (ten chats), each as registered; missing: " in found.found
    assert "Chat_4_Emi_Paola.json" in found.found
    assert shape(in_force(real, True)).found.startswith(
        "3 of the 10 files of REALTALK (ten chats): 3 projects"
    )
    blocked = dataset(in_force(real, False))
    assert blocked.status is Status.FAILED
    assert "python -m runner fetch realtalk" in blocked.resolve
    assert "--allow-unregistered-corpus" in blocked.resolve


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda files: files.pop("Chat_7_Nebraas_Vanessa.json"), "missing: Chat_7_Nebraas_Vanessa.json"),
        (lambda files: files.update({"Chat_2_Kevin_Elise.json": "0" * 64}),
         "changed: Chat_2_Kevin_Elise.json"),
        (lambda files: files.update({"Chat_11_X_Y.json": "0" * 64}),
         "foreign (a name that no registered file has): Chat_11_X_Y.json"),
        (lambda files: files.update({"Chat_11_X_Y.json": files["Chat_9_Fahim_Akib.json"]}),
         "doubled: Chat_11_X_Y.json (which is Chat_9_Fahim_Akib.json)"),
    ],
)  # fmt: skip
def test_a_missing_changed_foreign_or_doubled_file_is_named(
    real: Corpus, in_force: Callable[..., RunFacts], change: Callable[[dict[str, str]], object], words: str
) -> None:
    files = dict(registered_files(current(), "realtalk"))
    change(files)
    assert words in dataset(in_force(real, False, files)).found


def test_all_files_as_registered_are_the_registered_corpus(
    real: Corpus, in_force: Callable[..., RunFacts]
) -> None:
    whole = in_force(real, False, dict(registered_files(current(), "realtalk")))
    assert dataset(whole).status is Status.PASSED
    assert len(whole.corpus.files) == 10
