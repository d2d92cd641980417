"""What a run may choose of its lessons besides the text: passages by characters, and a greatest length."""

from __future__ import annotations

from itertools import pairwise

import pytest

from runner.editions import PassagePins
from runner.errors import UsageError
from runner.suites.construction import Construction
from runner.texts import TEXTS, Session, Turn

PINS = PassagePins(turns=4, step=2, characters=700)
TALK = Session(
    "8 May", (Turn("Ana", "Look at it!", caption="a red kite"), Turn("Bo", "Nice one."), Turn("Ana", "Yes."))
)
CHAT = Session(
    "May", (Turn("user", "I like tea."), Turn("assistant", "Noted at length.", person=False)), chat=True
)
WHOLE = Construction().write(TALK, PINS)


def test_passages_by_characters_overlap_and_cover_the_text() -> None:
    written = Construction(passages="20/5").write(TALK, PINS)
    pieces = [passage.text for passage in written.passages]
    assert written.text == WHOLE.text
    assert all(len(piece) == 20 for piece in pieces[:-1])
    assert all(one[-5:] == other[:5] for one, other in pairwise(pieces))
    assert pieces[0] + "".join(piece[5:] for piece in pieces[1:]) == written.text
    assert all(passage.text == passage.embedded for passage in written.passages)


@pytest.mark.parametrize(("length", "pieces"), [(1, 1), (20, 1), (21, 2), (35, 2), (36, 3), (50, 3), (51, 4)])
def test_the_last_passage_ends_with_the_text_and_none_lies_within_another(length: int, pieces: int) -> None:
    session = Session("", (Turn("", "x" * length),))
    written = Construction(passages="20/5").write(session, PINS)
    assert len(written.passages) == pieces
    assert all(len(passage.text) > 5 for passage in written.passages[1:])


@pytest.mark.parametrize(
    "given", ["100/100", "100/200", "0/0", "1200", "1200/", "a/b", "-5/2", "1200/200/3", ""]
)
def test_passages_that_are_no_size_and_overlap_are_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"--passages takes turns, or the size .* such as 1200/200, not '"):
        Construction(passages=given).check()


@pytest.mark.parametrize("most", range(1, len(WHOLE.text) + 3))
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("session", [TALK, CHAT], ids=["talk", "chat"])
def test_a_lesson_keeps_the_longest_beginning_of_so_many_characters(
    text: str, session: Session, most: int
) -> None:
    whole = TEXTS[text].write(session, PINS).text
    kept = Construction(text, most=most).write(session, PINS)
    assert len(kept.text) <= most
    assert len(whole) > most or kept.text == whole
    assert all(passage.text in kept.text for passage in kept.passages)
    lines = kept.text.rstrip("]").split("\n")
    assert all(line in whole for line in lines)


def test_no_more_is_cut_than_must_be() -> None:
    assert Construction(most=len(WHOLE.text) - 2).write(TALK, PINS).text == WHOLE.text[:-2]
    captioned = Session("", (Turn("Ana", "Look", caption="a kite"),))
    assert Construction(most=17).write(captioned, PINS).text == "Ana: Look [a kit]"


def test_a_length_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="--max-chars takes a positive number of characters, not 0"):
        Construction(most=0).check()
