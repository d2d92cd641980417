"""Passages of a text of any length: every part in one, none longer than what is read, in bounded time."""
# ruff: noqa: RUF001

from __future__ import annotations

import random
import time
import unicodedata

import pytest

from pgmnemo.passages.estimate import estimated_spans
from pgmnemo.passages.pieces import MOST, Meter, passages_within, pieces
from pgmnemo.passages.sentences import chunks, sentences
from pgmnemo.passages.windows import turns_of

METER = Meter(estimated_spans, 256)
RANDOM = random.Random(7)
HAN = "湖北省的天气很好中国人大小上下左右"
SENTENCES = [
    ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
    ("It costs 3.5 at a.example (cheap.) Yes.", ["It costs 3.5 at a.example (cheap.) ", "Yes."]),
    ("你好。再见！好吗？是", ["你好。", "再见！", "好吗？", "是"]),
    ("नमस्ते। फिर मिलेंगे॥", ["नमस्ते। ", "फिर मिलेंगे॥"]),
    ("كيف حالك؟ بخير۔", ["كيف حالك؟ ", "بخير۔"]),
    ("မင်္ဂလာပါ။ ကျေးဇူး။", ["မင်္ဂလာပါ။ ", "ကျေးဇူး။"]),
    ("ជំរាបសួរ។ អរគុណ។", ["ជំរាបសួរ។ ", "អរគុណ។"]),
    ("བཀྲ་ཤིས། བདེ་ལེགས།", ["བཀྲ་ཤིས། ", "བདེ་ལེགས།"]),
    ("Wait... \u201cReally?\u201d Yes.", ["Wait... ", "\u201cReally?\u201d ", "Yes."]),
]
LONG = {
    "sentences": " ".join(f"Note {number} is about the garden path." for number in range(500)),
    "han": "".join(RANDOM.choice(HAN) for _ in range(50_000)),
    "thai": "การประชุมจะจัดขึ้นในวันอังคาร " * 900,
    "letters": "x" * 5_000,
    "dots": "." * 5_000,
    "lines": "\n".join(f"Ana: I sold kite {number}. " * 40 for number in range(40)),
    "emoji": "👩🏽‍👩‍👧‍👦🏳️‍🌈👍🏿" * 500,
}  # fmt: skip
COSTLY = {
    "han": "".join(RANDOM.choice(HAN) for _ in range(3_300_000)),
    "emoji": "😂" * 100_000,
    "families": "👨‍👩‍👧‍👦" * 15_000,
    "marks": "\u0301" * 100_000,
    "dots": "." * 1_000_000,
    "closed dots": ".)" * 300_000,
    "blanks": " " * 1_000_000 + "x",
    "snake": "".join(f"a{number % 97}_" for number in range(200_000)),
    "letters": "x" * 900_000,
    "lines": "".join(f"Ana: kite {number}.\n" for number in range(60_000)),
}


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(("text", "wanted"), SENTENCES)
def test_sentences_end_at_the_marks_of_every_script(text: str, wanted: list[str]) -> None:
    assert sentences(text) == wanted


@pytest.mark.parametrize("name", LONG)
def test_every_part_of_a_long_text_is_in_a_passage_that_is_read_to_its_end(name: str) -> None:
    found = passages_within(turns_of(LONG[name])[0], METER)
    assert 1 < len(found) <= MOST
    assert max(METER.sizes([one.embedded for one in found])) <= METER.limit
    if name == "lines":  # windows share lines
        assert all(f"kite {number}." in "\n".join(one.text for one in found) for number in range(40))
    else:
        assert squeezed("".join(one.embedded for one in found)) == squeezed(LONG[name])


def test_a_text_that_is_read_to_its_end_is_one_piece() -> None:
    assert pieces("Use the staging key. It is new.", METER) == ["Use the staging key. It is new."]
    assert len(pieces(LONG["sentences"], METER)) > 10


def test_no_piece_begins_inside_a_character() -> None:
    text = "e\u0301" * 1_001 + "👩🏽‍👧" * 500 + "का" * 500
    for piece in chunks(text, 7):
        assert unicodedata.category(piece[0]) not in ("Mn", "Mc", "Me")
        assert piece[0] not in "\u200d\U0001f3fd"
        assert not piece.endswith("\u200d")
    assert "".join(chunks(text, 7)) == text


def test_of_a_long_message_to_an_assistant_every_part_is_embedded() -> None:
    long = " ".join(f"I like tune {number} very much." for number in range(60))
    turns, chat = turns_of(f"user: {long}\nassistant: Fine.\nuser: Bye.")
    found = passages_within(turns, Meter(estimated_spans, 256, 700))
    assert chat
    assert [one.embedded for one in found][-1] == "Bye."
    assert " ".join(one.embedded for one in found[:-1]) == long
    assert found[0].text.startswith("user: I like tune 0")
    assert max(len(one.embedded) for one in found) <= 700


@pytest.mark.parametrize("name", COSTLY)
def test_cutting_takes_seconds_however_long_the_text_is(name: str) -> None:
    turns = turns_of(COSTLY[name])[0]
    began = time.process_time()
    found = passages_within(turns, METER)
    assert time.process_time() - began < 15
    assert 1 <= len(found) <= MOST
    assert sum(len(one.text.encode()) for one in found) <= 20_000_000
