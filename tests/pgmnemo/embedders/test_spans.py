"""Where the tokens of a text are, and which of its letters a model knows."""

from __future__ import annotations

import importlib.util

import pytest

from pgmnemo.embedders import EMBEDDERS, Embedder, EmbedderOptions
from pgmnemo.embedders.minilm import PACKAGE as FLOAT
from pgmnemo.embedders.minilm_int8 import PACKAGE
from pgmnemo.embedders.spans import known_share

pytestmark = pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="needs the local extra")

KNOWN = [
    "The meeting is on Tuesday at nine.", "Die Besprechung findet am Dienstag um neun Uhr statt.",
    "La réunion de l'équipe aura lieu mardi à neuf heures.", "Mi hermana vive en Sevilla y es enfermera.",
    "Spotkanie odbędzie się we wtorek o dziewiątej rano.", "Cuộc họp sẽ diễn ra vào thứ Ba lúc chín giờ.",
    "lol 😂😂 ok", "QX-7781", "m" * 800, "12.5 %", "PROJ-137: TypeError in utils.py, line 42",
    "Meet 王小明 at the station on Monday.", "The word for thanks is спасибо in Russian.", "",
    "12.50 €", "2026-06-24", ":-)",
]  # fmt: skip
UNKNOWN = [
    "会议于星期二上午九点在大会议室举行。", "会議は火曜日の午前九時に開かれます。",
    "회의는 화요일 오전 아홉 시에 열립니다.",
    "การประชุมจะจัดขึ้นในวันอังคาร", "ការប្រជុំនឹងធ្វើឡើងនៅថ្ងៃអង្គារ", "సమావేశం మంగళవారం జరుగుతుంది",
    "बैठक मंगलवार को सुबह नौ बजे होगी।", "سيعقد الاجتماع يوم الثلاثاء في التاسعة صباحا.",
    "Встреча состоится во вторник в девять утра.", "Αύριο θα γίνει η συνάντηση.",
    "👍", "🎉 🎉", "🍕🍕 🚀",
]  # fmt: skip


@pytest.fixture(scope="module", params=[PACKAGE, FLOAT])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if importlib.util.find_spec(request.param) is None:
        pytest.skip("needs the embed extra")
    return EMBEDDERS["minilm-int8" if request.param == PACKAGE else "minilm"](EmbedderOptions())


def share(embedder: Embedder, text: str) -> float:
    spans = embedder.token_spans([text])
    return known_share(text, spans[0])


@pytest.mark.parametrize("text", KNOWN)
def test_a_model_of_english_knows_texts_in_latin_letters(embedder: Embedder, text: str) -> None:
    assert share(embedder, text) > 0.75


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_model_of_english_knows_no_text_in_another_script(embedder: Embedder, text: str) -> None:
    assert share(embedder, text) < 0.5


def test_spans_are_those_of_the_whole_text_in_characters(embedder: Embedder) -> None:
    text = "Zoë 😂 湖 unaffable" + " river" * 1000
    [spans] = embedder.token_spans([text]) or []
    assert [text[start:end] for start, end, _ in spans[:4]] == ["Zoë", "😂", "湖", "una"]
    assert [known for *_, known in spans[:4]] == [True, False, False, True]
    assert len(spans) > 1000


def test_an_embedder_that_cannot_tell_says_so() -> None:
    assert EMBEDDERS["hash"](EmbedderOptions()).token_spans(["a text"]) is None
