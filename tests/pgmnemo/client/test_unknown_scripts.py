"""Texts of any length and script in a memory whose embedder knows English: found, and never confused."""
# ruff: noqa: RUF001

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pgmnemo import Item
from pgmnemo.embedders.minilm_int8 import PACKAGE
from pgmnemo.errors import UnknownScriptWarning
from tests.pgmnemo.client.driving import Place, Shell

pytestmark = pytest.mark.skipif(importlib.util.find_spec(PACKAGE) is None, reason="needs the local extra")

NOTES = {
    "thai": ["การประชุมจะจัดขึ้นในวันอังคาร", "น้องสาวของฉันแพ้ถั่วลิสง", "รหัสผ่านเซิร์ฟเวอร์เปลี่ยนแล้ว"],
    "khmer": ["ការប្រជុំនឹងធ្វើឡើងនៅថ្ងៃអង្គារ", "បងស្រីខ្ញុំធ្វើការនៅភ្នំពេញ"],
    "chinese": ["会议于星期二上午九点举行。", "我妹妹对花生过敏。", "服务器的密码昨天改了。"],
    "japanese": ["会議は火曜日の午前九時です。", "妹はピーナッツアレルギーです。"],
    "korean": ["회의는 화요일 오전에 열립니다.", "여동생은 땅콩 알레르기가 있습니다."],
    "arabic": ["سيعقد الاجتماع يوم الثلاثاء.", "أختي تعاني من حساسية الفول السوداني."],
    "russian": ["Встреча состоится во вторник.", "У моей сестры аллергия на арахис."],
}
QUESTIONS = [
    "Which colour has the ship?",
    "船是什么颜色？",
    "เรือสีอะไร",
    "Какого цвета корабль?",
    "ما لون السفينة؟",
]


@pytest.fixture
def scope(shell: Shell, place: Place) -> Any:
    return shell.open(place.dsn(), embedder="minilm-int8").tenant(place.tenant()).project("p")


@pytest.mark.filterwarnings("ignore::pgmnemo.errors.UnknownScriptWarning")
@pytest.mark.parametrize("language", NOTES)
def test_an_unrelated_question_passes_no_floor_and_nothing_is_a_duplicate(scope: Any, language: str) -> None:
    scope.add_many(NOTES[language])
    for question in QUESTIONS:
        assert scope.recall(question, min_fit=0.4) == []
    assert scope.similar() == []


def test_the_first_such_text_of_a_tenant_is_said_once(scope: Any) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        scope.add(NOTES["thai"][0], key="a")
        scope.add(NOTES["thai"][1], key="b")
        scope.recall(NOTES["thai"][2])
    [one] = [one for one in said if one.category is UnknownScriptWarning]
    assert "multilingual-e5-small" in str(one.message)


def test_an_emoji_is_found_by_itself_alone_and_without_a_warning(scope: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scope.add("👍", key="thumb")
        scope.add("The release went well 🚀", key="rocket")
        scope.add("I moved to Lisbon in May.", key="lisbon")
        assert scope.recall("🚀", k=1)[0].key == "rocket"
        assert scope.recall("🍕", min_fit=0.1) == []
        assert scope.recall("👍 Where do I live?", k=1)[0].key == "lisbon"


def test_a_text_of_two_scripts_is_embedded_where_most_of_it_is_known(scope: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scope.add("My colleague 王小明 is allergic to peanuts.", key="peanuts")
        scope.add("The bridge is closed until May.", key="bridge")
        [best] = scope.recall("Who cannot eat nuts?", mode="vector", k=1)
    assert best.key == "peanuts"


@pytest.mark.filterwarnings("ignore::pgmnemo.errors.UnknownScriptWarning")
def test_of_a_lesson_some_passages_have_vectors(scope: Any) -> None:
    known = [f"Ana: my sister is allergic to peanuts, number {number}." for number in range(4)]
    scope.add("\n".join([*known, *NOTES["thai"] * 3]), key="both")
    scope.add_many([Item("\n".join([*NOTES["khmer"] * 3, *known]), "batch")])
    found = {hit.key for hit in scope.recall("Who cannot eat nuts?", mode="vector")}
    assert found == {"both", "batch"}


@pytest.mark.filterwarnings("ignore::pgmnemo.errors.UnknownScriptWarning")
def test_another_embedder_gives_vectors_to_what_had_none(shell: Shell, place: Place) -> None:
    name = place.tenant()
    tenant = shell.open(place.dsn(), embedder="minilm-int8").tenant(name)
    project = tenant.project("p")
    project.add("The bridge is closed.", key="bridge")
    project.add(NOTES["chinese"][1], key="nuts")
    assert tenant.reembed(two_letters) == 2
    [best] = project.recall(NOTES["chinese"][1], mode="vector", k=1)
    assert best.key == "nuts"
    assert best.components["cosine"] == pytest.approx(1, abs=1e-3)


def two_letters(texts: Sequence[str]) -> Any:
    """A vector by the characters of each text."""
    rows = np.full((len(texts), 64), 0.01)
    for row, text in zip(rows, texts, strict=True):
        for letter in text:
            row[ord(letter) % 64] += 1
    return rows


FACTS = [
    ("My sister is allergic to peanuts.", "Which food makes a sibling ill?"),
    ("Tom quit his job to become a baker.", "What career change did a man make?"),
    ("The landlord raised our rent by two hundred euros.", "Why is housing more expensive for us now?"),
]
FILLER = "The path behind field {} was muddy on day {}."
OTHERS = [
    f"{who} {did} on {day}."
    for who in ("The office", "A parcel", "Our train", "The printer", "The lift", "A lamp")
    for did, day in (
        ("was late", "Monday"), ("stood still", "Tuesday"), ("came back", "Friday"), ("was grey", "Sunday"),
        ("needed paint", "Thursday"),
    )
]  # fmt: skip


@pytest.mark.parametrize("sentences", [5, 50, 500])
def test_a_fact_at_the_end_of_a_paragraph_is_found_by_its_meaning(scope: Any, sentences: int) -> None:
    scope.add_many(OTHERS)
    filler = [FILLER.format(number, number % 30) for number in range(sentences)]
    for fact, question in FACTS:
        scope.add(" ".join([*filler, fact]), key="long")
        best = scope.recall(question, k=31)[0]
        assert best.key == "long"
        assert fact in (best.passage or "")
        assert fact in scope.context(question, max_tokens=120).text
    assert len(OTHERS) == 30


def test_a_long_question_is_asked_to_its_end(scope: Any) -> None:
    scope.add("My sister is allergic to peanuts.", key="nuts")
    scope.add("The bridge is closed until May.", key="bridge")
    question = FILLER.format(1, 2) * 80 + " Which food is a sibling allergic to? Peanuts?" * 40
    assert scope.recall(question, mode="vector", k=1)[0].key == "nuts"
