"""A conversation: equal texts are one hit, and a question that was asked before is not its own answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgmnemo.client import scope_calls
from pgmnemo.errors import UsageError

DAY = datetime(2026, 3, 1, tzinfo=UTC)
QUESTION = "What colour is my boat?"
ASKED = (
    QUESTION, "what colour is my boat", "What's the colour of my boat?", "Tell me: what colour is my boat?",
)  # fmt: skip


def keys(hits: Any) -> list[str]:
    return [hit.key for hit in hits]


def test_texts_that_differ_in_case_blanks_and_punctuation_are_one_hit_the_newest(scope: Any) -> None:
    for day, text in enumerate(["I like tea.", "i  like TEA", "I like tea!"]):
        scope.add(text, key=f"tea-{day}", at=DAY - timedelta(days=day))
    [hit] = scope.recall("tea")
    assert (hit.key, hit.text, hit.equal_lessons) == ("tea-0", "I like tea.", 2)
    found = scope.context("tea").text
    assert found.count("\n> ") == 1
    assert "+2 equal" in found
    every = scope.recall("tea", duplicates=True)
    assert sorted(keys(every)) == ["tea-0", "tea-1", "tea-2"]
    assert {hit.equal_lessons for hit in every} == {0}
    assert scope.context("tea", duplicates=True).text.count("\n> ") == 3


@pytest.mark.parametrize(
    "texts",
    [
        ("ADR-016 uses tea", "ADR-017 uses tea"), ("I like tea", "I do not like tea"),
        ("tea at 1.5 degrees", "tea at 15 degrees"), ("tea at -5 degrees", "tea at 5 degrees"),
        ("tea in C++", "tea in C"), ("I can now drink tea", "I can not drink tea"),
        ("tea != milk", "tea = milk"),
    ],
)  # fmt: skip
def test_texts_that_say_different_things_are_hits_of_their_own(scope: Any, texts: tuple[str, str]) -> None:
    for text in texts:
        scope.add(text)
    assert sorted(hit.text for hit in scope.recall("tea")) == sorted(texts)


def test_two_speakers_and_two_topics_are_hits_of_their_own(scope: Any) -> None:
    for role, topic in (("user", None), ("Ada", None), ("user", "kitchen")):
        scope.add("I like tea", role=role, topic=topic)
    scope.add("I like tea")
    assert [hit.equal_lessons for hit in scope.recall("tea")].count(0) == 2
    assert len(scope.recall("tea")) == 3


@pytest.mark.parametrize("question", ASKED)
def test_an_answer_is_first_whoever_asked_its_question_before(scope: Any, question: str) -> None:
    scope.add("My boat is blue.", key="answer")
    scope.add("My boat has a colour: blue", key="stated")
    for number in range(60):
        scope.add(QUESTION, key=f"asked-{number}")
    for number, text in enumerate(ASKED):
        scope.add(text, key=f"again-{number}")
        scope.add(text, key=f"turn-{number}", role="user", topic="chat 7")
    scope.add("The kettle is in the kitchen.", key="kettle")
    hits = scope.recall(question, k=100)
    assert sorted(keys(hits[:2])) == ["answer", "stated"]
    assert keys(hits)[2] == "kettle"
    assert all(hit.repeats_question and hit.fit == 0 for hit in hits[3:])
    assert "only repeats the question" in hits[-1].why()
    assert "?" not in scope.context(question).text
    assert not [hit for hit in scope.recall(question, min_fit=0.0001) if hit.repeats_question]
    told = {row.item: row.note for row in scope.explain("asked-7", question) if row.section == "answer"}
    assert "only repeats the question" in told["rank"]
    assert "equal lessons" in told["rank"]


@pytest.mark.parametrize(
    ("question", "asked", "answer"),
    [
        ("我的船是什么颜色？", "我的船是什么颜色？", "我的船是蓝色的。"),  # noqa: RUF001
        ("Welche Farbe hat mein Boot?", "Und welche Farbe hat mein Boot?", "Mein Boot ist blau."),
        ("ما لون قاربي؟", "ما لون قاربي؟", "قاربي أزرق."),
        ("Τι χρώμα έχει η βάρκα μου;", "Τι χρώμα έχει η βάρκα μου;", "Η βάρκα μου είναι μπλε."),  # noqa: RUF001
    ],
)
def test_a_question_of_any_script_is_no_answer(scope: Any, question: str, asked: str, answer: str) -> None:
    scope.add(asked)
    scope.add(answer)
    assert [hit.text for hit in scope.recall(question)] == [answer, asked]
    assert asked not in scope.context(question).text


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Do not deploy on Fridays.", "Can we deploy this Friday, or do we not?"),
        ("Is allergic to hazelnuts", "Is Tom allergic to hazelnuts?"),
        ("Will Turner called about the roof.", "Did Will Turner call about the roof?"),
        ("Show me a plan first.", "Should I first show me a plan?"),
        ("I forgot my umbrella in Leeds", "Where did I forget my umbrella, in Leeds?"),
        ("Wie immer kommt Ben zu spät.", "Kommt Ben wie immer zu spät?"),
        ("彼はいつも七時に起きる。", "彼はいつも七時に起きる？"),  # noqa: RUF001
        ("祖母は何も食べなかった", "祖母は何も食べなかった？"),  # noqa: RUF001
    ],
)
def test_a_note_that_begins_as_a_question_does_is_an_answer(scope: Any, note: str, question: str) -> None:
    scope.add(note)
    scope.add("The kettle is in the kitchen.")
    first = scope.recall(question)[0]
    assert (first.text, first.repeats_question) == (note, False)


@pytest.mark.parametrize(
    "asked",
    [
        "Where is my umbrella", "Tell me where my umbrella is.", "I forgot where my umbrella is.",
        "Is my umbrella there", "Can you tell where my umbrella is", "Sag mir, wo my umbrella is.",
    ],
)  # fmt: skip
def test_a_question_without_its_mark_is_no_answer(scope: Any, asked: str) -> None:
    scope.add(asked)
    scope.add("The kettle is in the kitchen.")
    question = "Sag mir: can you tell me where is my umbrella there, or wo, for I forgot?"
    assert scope.recall(question)[-1].repeats_question


def test_one_question_with_other_lead_ins_is_one_hit(scope: Any) -> None:
    asked = ("Which tea is mine?", "Hey! Which tea is mine?", "Sorry, once more: which tea is mine?")
    others = ("Is the tea hers, or is it his?", "Is the tea Ben's, or is it his?", "We drank tea at noon.")
    for text in (*asked, *others):
        scope.add(text)
    hits = scope.recall("tea cups", k=10)
    assert len(hits) == 4
    assert {hit.equal_lessons for hit in hits if hit.text in asked} == {2}


def test_a_question_of_another_language_than_it_was_taken_for_is_no_answer(scope: Any) -> None:
    """ "wann" and "hat" are words that one language drops, and the other takes for words."""
    question, answer = "Wann hat Anke Geburtstag?", "Anke wird am 23. Juni vierzig."
    scope.add(question, key="english", language="english")
    scope.add(question, key="german", language="german")
    scope.add(answer, key="answer", language="german")
    hits = scope.recall(question)
    assert keys(hits)[0] == "answer"
    assert all(hit.repeats_question for hit in hits[1:])


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("whats the wifi password again", "The wifi password is blueberry42."),
        ("can you tell me the wifi password please", "The wifi password is blueberry42."),
        ("Remind me of the wifi password", "The wifi password is blueberry42."),
        ("Sag mir bitte das WLAN-Passwort", "Das WLAN-Passwort ist Blaubeere42."),
        ("wie war nochmal das WLAN-Passwort", "Das WLAN-Passwort ist Blaubeere42."),
        ("C'est quoi le mot de passe du wifi", "Le mot de passe du wifi est myrtille42."),
        ("告诉我无线网密码", "无线网密码是蓝莓42。"),
        ("无线网密码是什么来着", "无线网密码是蓝莓42。"),
    ],
)  # fmt: skip
def test_a_request_without_a_question_mark_is_no_answer_either(scope: Any, asked: str, answer: str) -> None:
    scope.add(answer)
    scope.add(asked, role="user")
    assert [hit.text for hit in scope.recall(asked)] == [answer, asked]
    assert asked not in scope.context(asked).text


def test_a_statement_is_found_by_its_own_words(scope: Any) -> None:
    scope.add("Do I like tea?")
    scope.add("I like tea.")
    scope.add("The kettle is in the kitchen.")
    assert scope.recall("I like tea")[0].text == "I like tea."
    assert scope.recall("I like tea?")[0].text == "I like tea."


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("I drink coffee every morning.", "I have stopped drinking coffee.", "Do I drink coffee?"),
        ("I live in Berlin.", "I live in Hamburg now.", "Where do I live?"),
        ("The party is on Friday.", "The party is on Saturday instead of Friday.", "When is the party?"),
        ("The rent is 900 euros.", "The rent is 950 euros.", "How much is the rent?"),
        ("我喜欢喝咖啡。", "我不再喝咖啡了。", "我喝咖啡吗？"),  # noqa: RUF001
    ],
)
@pytest.mark.parametrize("dated", [True, False])
def test_of_two_statements_that_fit_equally_the_newer_is_first(
    scope: Any, older: str, newer: str, question: str, dated: bool
) -> None:
    scope.add(older, key="b-older", at=DAY if dated else None, importance=4)  # so that its score is higher
    scope.add(newer, key="c-newer", at=DAY + timedelta(days=90) if dated else None)
    scope.add("The kettle is in the kitchen.", key="a-kettle")
    hits = scope.recall(question)
    assert keys(hits) == ["c-newer", "b-older", "a-kettle"]
    assert hits[0].score < hits[1].score
    assert keys(scope.recall(question, k=1)) == ["c-newer"]
    found = scope.context(question).text
    assert found.index(newer) < found.index(older)
    assert "2026-03-01" in found or not dated
    told = {row.item: row.value for row in scope.explain("b-older", question) if row.section == "answer"}
    assert told["rank"] == "2"


def test_a_better_answer_stays_before_a_newer_one_and_so_does_one_about_something_else(scope: Any) -> None:
    scope.add("The rent of the flat in Lisbon is 900 euros.", key="better", at=DAY)
    scope.add("The rent of a boat is high.", key="newer", at=DAY + timedelta(days=90))
    assert keys(scope.recall("What is the rent of the flat in Lisbon?")) == ["better", "newer"]
    scope.add("tea is green", key="first", at=DAY, importance=5)
    scope.add("buy milk, bread, tea and a kettle", key="second", at=DAY + timedelta(days=90))
    assert keys(scope.recall("tea", k=2)) == ["first", "second"]


def test_add_names_what_says_the_same_or_is_about_it_so_that_one_can_be_superseded(scope: Any) -> None:
    for key, text in (
        ("coffee", "I drink coffee every morning."),
        ("kettle", "The kettle is in the kitchen."),
    ):
        assert scope.add(text, key=key, similar=True).similar == ()
    added = scope.add("I have stopped drinking coffee.", key="stopped", at=DAY, similar=True)
    [old] = added.similar
    assert (old.key, old.text) == ("coffee", "I drink coffee every morning.")
    assert scope_calls.MIN_SIMILAR_FIT <= old.fit <= 1
    scope.supersede(old.key, added.key, at=DAY)
    assert [hit.key for hit in scope.recall("coffee", k=1)] == ["stopped"]
    assert "coffee" not in keys(scope.recall("coffee"))
    assert [one.key for one in scope.add("no more coffee to drink", similar=1).similar] == ["stopped"]
    assert scope.add("I have stopped drinking coffee.", key="stopped", similar=True).similar != added.similar
    assert scope.add("I drink coffee", key="third").similar == ()
    for wrong in (-1, 101, 1.5, "many"):
        with pytest.raises(UsageError, match="similar is"):
            scope.add("I drink tea", similar=wrong)
