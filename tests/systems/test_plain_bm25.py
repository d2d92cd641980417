"""The control that no version changes: BM25 by the formula of PROTOCOL.md §4.6, written twice."""

from __future__ import annotations

import math

import pytest

from runner.systems.plain_bm25 import PlainBM25, words
from runner.systems.system import Query
from tests.systems.conftest import Listed

TEXTS = {
    "a": ["Ada keeps bees, and bees keep Ada.", "Bob moved to Zürich in 2021.", "", "Nobody keeps anything."],
    "b": ["Café CAFÉ café", "张伟住在北京。", "หมอนัดวันพุธ", "हिन्दी में लिखा"],
}


def expected(question: str, texts: list[str]) -> list[float]:
    """Return each text's score, word by word."""
    cut = [words(text) for text in texts]
    mean = sum(map(len, cut)) / len(cut)
    scores = []
    for own in cut:
        score = 0.0
        for word in dict.fromkeys(words(question)):
            n = sum(word in other for other in cut)
            f = own.count(word)
            rarity = math.log(1 + (len(cut) - n + 0.5) / (n + 0.5))
            score += rarity * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * len(own) / mean))
        scores.append(score)
    return scores


@pytest.mark.parametrize(
    "question", ["Who keeps bees?", "bees bees", "cafe\u0301 北京", "พุธ", "हिन्दी", "xyzzy", ""]
)
@pytest.mark.parametrize("project", ["a", "b", None])
def test_scores_are_those_of_the_formula_in_the_scope(question: str, project: str | None) -> None:
    control = PlainBM25()
    control.load(Listed([(name, text) for name, texts in TEXTS.items() for text in texts]))
    found = control.ask(Query(0, question, None, project), 50)
    texts = TEXTS[project] if project else [text for some in TEXTS.values() for text in some]
    first = 104 if project == "b" else 100
    scores = expected(question, texts)
    order = sorted(range(len(texts)), key=lambda place: (-round(scores[place], 9), place))
    assert [match.number for match in found] == [first + place for place in order]
    assert [match.score for match in found] == pytest.approx([scores[place] for place in order], abs=1e-8)


def test_words_are_the_same_in_every_spelling_of_a_letter() -> None:
    assert words("Straße, \uff23\uff21\uff26\uff25\u0301 x_y") == ["strasse", "café", "x", "y"]
    assert words("我爱 北京天安门 A") == ["我爱", "北京", "京天", "天安", "安门", "a"]
    assert words("सेवा") == ["सेवा"]
