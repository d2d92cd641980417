"""How the turns of a session become the text of a lesson, by each construction."""

from __future__ import annotations

import pytest

from pgmnemo.records import Passage
from runner.protocol.editions import PassagePins
from runner.protocol.templates import TEMPLATES, Session, Turn, WrittenText

PINS = PassagePins(turns=4, step=2, characters=12)
UNDATED = ("undated-without-captions", "undated", "user-only")
DATED = ("full", "dated-without-captions")
LINED = (*DATED, "undated-without-captions", "undated")  # with a line for every turn
TALK = Session(
    "8 May, 2023", (Turn("Ana", "Look\0!", caption="a red\0 kite"), Turn("Bo", "Nice."), Turn("Ana", "Yes."))
)
CHAT = Session(
    "2023/05/20", (Turn("user", "I drink\0 tea a lot."), Turn("assistant", "Noted.", person=False)), chat=True
)


def written(name: str, session: Session) -> WrittenText:
    return TEMPLATES[name].write(session, PINS)


def test_the_full_text_is_a_line_with_the_date_and_a_line_a_turn_with_its_caption() -> None:
    lines = "Ana: Look! [a red kite]\nBo: Nice.\nAna: Yes."
    assert written("full", TALK) == WrittenText(f"[8 May, 2023]\n{lines}", (Passage(lines, lines),))


@pytest.mark.parametrize(
    ("name", "head"), [("dated-without-captions", "[8 May, 2023]\n"), ("undated-without-captions", "")]
)
def test_without_captions_the_words_of_people_alone_stand_there(name: str, head: str) -> None:
    lines = "Ana: Look!\nBo: Nice.\nAna: Yes."
    assert written(name, TALK) == WrittenText(f"{head}{lines}", (Passage(lines, lines),))


def test_the_undated_text_is_the_full_one_without_its_first_line() -> None:
    lines = "Ana: Look! [a red kite]\nBo: Nice.\nAna: Yes."
    assert written("undated", TALK) == WrittenText(lines, (Passage(lines, lines),))


@pytest.mark.parametrize(("name", "head"), [("user-only", ""), ("user-only-dated", "[2023/05/20]\n")])
def test_of_a_chat_the_words_of_the_user_alone_can_be_kept(name: str, head: str) -> None:
    words = "I drink tea a lot."
    assert written(name, CHAT) == WrittenText(f"{head}{words}", (Passage(words, words[:12]),))


@pytest.mark.parametrize(("name", "head"), [("user-only", ""), ("user-only-dated", "[8 May, 2023]\n")])
def test_where_two_people_talk_both_are_kept_without_their_names(name: str, head: str) -> None:
    words = "Look!\nNice.\nYes."
    assert written(name, TALK) == WrittenText(f"{head}{words}", (Passage(words, words),))


def test_of_a_session_of_the_assistant_alone_the_first_turn_is_kept() -> None:
    turns = tuple(Turn("assistant", words, person=False) for words in ("Hello?", "Anybody?"))
    assert written("user-only", Session("2023/05/20", turns, chat=True)).text == "Hello?"


@pytest.mark.parametrize("name", LINED)
def test_of_a_chat_the_beginning_of_the_words_is_embedded_without_who_says_them(name: str) -> None:
    date = [] if name in UNDATED else ["[2023/05/20]"]
    text = "\n".join([*date, "user: I drink tea a lot.", "assistant: Noted."])
    assert written(name, CHAT) == WrittenText(text, (Passage("user: I drink tea a lot.", "I drink tea "),))


def test_a_construction_says_what_it_keeps() -> None:
    words = [text.words for text in TEMPLATES.values()]
    assert all(words)
    assert len(set(words)) == len(words)
