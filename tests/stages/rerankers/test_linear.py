"""Our own reranker: what it reads of a pool, the weights that it ships, and what is wrong with others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from pgmnemo.errors import ModelError
from runner.stages.rerankers import RERANKERS, Candidate, LessonIndex, Pool, RerankOptions
from runner.stages.rerankers.linear import SCHEMA, SHIPPED, read_model
from runner.stages.rerankers.linear.features import FEATURES, FeatureReader, word_weights, words
from runner.systems.system import Lesson, Lessons, Query


class Conversation(Lessons):
    """Turns of one project, numbered and in order."""

    def __init__(self, turns: Sequence[tuple[str | None, str]]) -> None:
        self._lessons = [
            Lesson(at, "p", str(at), text, role=role, position=at) for at, (role, text) in enumerate(turns)
        ]

    width = None
    projects = ("p",)

    def __len__(self) -> int:
        return len(self._lessons)

    def number(self, project: str, external_id: str) -> int:
        return int(external_id)

    def lesson(self, position: int) -> Lesson:
        return self._lessons[position]


TURNS = (
    ("Ann", "Where did you buy the kayak?"), ("Bob", "At the harbour, from an old sailor."),
    ("Ann", "Lovely weather today."), ("Bob", "I painted the kayak green."),
)  # fmt: skip


def pool(question: str, order: Sequence[int], scores: Sequence[float | None], turns=TURNS) -> Pool:
    shelf = LessonIndex(Conversation(turns))
    candidates = tuple(
        Candidate(shelf.lesson(number), rank, score)
        for rank, (number, score) in enumerate(zip(order, scores, strict=True), start=1)
    )
    return Pool(Query(0, question, None, "p"), candidates, shelf)


def rows(made: Pool) -> list[dict[str, float]]:
    return [dict(zip(FEATURES, row, strict=True)) for row in FeatureReader().features(made).tolist()]


def test_scores_are_shares_of_the_best_and_ranks_shares_of_fifty() -> None:
    first, second, third = rows(pool("kayak", (3, 0, 2), (4.0, 1.0, 0.0)))
    assert [first["score"], second["score"], third["score"]] == [1.0, 0.25, 0.0]
    assert [first["rank"], second["rank"], third["rank"]] == [0.0, 0.02, 0.04]


@pytest.mark.parametrize("scores", [(None, None), (0.0, -1.0)])
def test_without_scores_above_nothing_the_share_is_nothing(scores: tuple[float | None, ...]) -> None:
    assert [row["score"] for row in rows(pool("kayak", (3, 0), scores))] == [0.0, 0.0]


def test_a_speaker_whom_the_question_names_is_marked() -> None:
    asked = rows(pool("What did Bob buy?", (3, 0), (2.0, 1.0)))
    assert [row["speaker"] for row in asked] == [1.0, 0.0]


def test_a_question_between_people_is_marked_and_one_to_an_assistant_is_not() -> None:
    assert [row["asks"] for row in rows(pool("kayak", (0, 3), (2.0, 1.0)))] == [1.0, 0.0]
    chat = (("user", "Which kayak would suit my trip to Norway?"), ("assistant", "A light one."))
    assert [row["asks"] for row in rows(pool("Norway", (0, 1), (2.0, 1.0), chat))] == [0.0, 0.0]


def test_cover_counts_rare_words_more_and_those_that_nobody_has_not_at_all() -> None:
    found = rows(pool("the green kayak of Zanzibar", (3, 0, 1), (3.0, 2.0, 1.0)))
    assert found[0]["cover"] == pytest.approx(1.0)
    assert 0 < found[1]["cover"] < 1
    weights = word_weights([words("green kayak"), words("kayak"), words("kayak")])
    assert weights["green"] > weights["kayak"] > 0
    assert sum(weights.values()) == pytest.approx(1.0)


def test_the_window_holds_what_stands_beside_a_lesson_in_its_session() -> None:
    apart, beside = rows(pool("kayak harbour", (2, 1), (2.0, 1.0)))
    assert apart["cover"] == 0.0
    assert apart["window"] == apart["cover-1"] == pytest.approx(1.0)  # the harbour is one turn before
    assert beside["score+1"] == 1.0  # and turn 2 is a candidate, the best


def test_a_lesson_without_a_place_has_no_neighbours() -> None:
    shelf = LessonIndex(Conversation(TURNS))
    lesson = Lesson(9, "p", "9", "the kayak again")
    one = Pool(Query(0, "kayak", None, "p"), (Candidate(lesson, 1, 1.0),), shelf)
    [row] = rows(one)
    assert row["cover"] == row["window"] == 1.0
    assert not any(value for name, value in row.items() if name[-2:] in ("-2", "-1", "+1", "+2"))


def test_a_pool_of_nothing_has_no_rows() -> None:
    assert FeatureReader().features(pool("kayak", (), ())).shape == (0, len(FEATURES))


def test_what_it_ships_is_of_its_schema_and_names_what_it_was_trained_on() -> None:
    document = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert document["schema"] == SCHEMA
    assert tuple(document["weights"]) == FEATURES
    assert {row["task"] for row in document["trained_on"]} == {
        "locomo session", "locomo turn", "longmemeval session",
    }  # fmt: skip


def test_an_answer_beside_its_question_rises() -> None:
    linear = RERANKERS["linear"](RerankOptions())
    made = pool("Where did Bob buy the kayak?", (0, 2, 1, 3), (2.0, 1.9, 1.9, 1.8))
    done = linear.rerank(made)
    assert sorted(done.order) == [0, 1, 2, 3]
    assert list(done.scores) == sorted(done.scores, reverse=True)
    assert done.order.index(2) < done.order.index(1)  # the harbour before the weather
    assert linear.identity.revision == f"sha256:{read_model().sha256}"


@pytest.mark.parametrize(
    "content",
    ["", '{"schema": "pgmnemo/linear-reranker/1", "weights": {"score": 1}}', "\xff", None],
)
def test_a_file_that_holds_no_weights_is_one_sentence(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    sentence = "cannot be read" if content is None else "holds no weights of the linear reranker"
    with pytest.raises(ModelError, match=sentence):
        RERANKERS["linear"](RerankOptions(rerank_model=str(path)))
