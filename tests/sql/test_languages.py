"""A lesson has a language; a question is cut by every language that its tenant's lessons have."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

# By language a text, and a question that shares a word with it in another form.
TEXTS = {
    "german": ("Die Hunde schlafen in dem Garten und auf der Wiese.", "Hund"),
    "french": ("Les chevaux mangent dans la prairie avec les vaches.", "vache"),
    "spanish": ("Los gatos duermen en la cocina de la casa con los niños.", "gato"),
    "russian": ("Собаки спят в саду, и кошки тоже.", "собака"),
    "arabic": ("الكتب على الطاولة في البيت", "كتب"),
    "turkish": ("Kediler ve köpekler için mama", "köpek"),
    "greek": ("Οι γάτες κοιμούνται στον κήπο", "γάτες"),
    "simple": ("我喜欢在公园里喝茶", "喝茶"),
    "english": ("The children were running through the gardens.", "child"),
}


@pytest.mark.parametrize("config", TEXTS)
def test_the_language_of_a_text_is_recognized(tenant: Any, config: str) -> None:
    text, asked = TEXTS[config]
    tenant.store("it", text)
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons") == config
    assert tenant.recall(asked, mode="keyword")[0]["bm25"] > 0


@pytest.mark.parametrize("text", ["Miso", "OK!", "de facto", "We've met", "San Francisco", "12:30"])
def test_what_tells_no_language_is_english(tenant: Any, text: str) -> None:
    tenant.store("it", text)
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons") == "english"


def test_a_tenant_of_many_languages_finds_each(tenant: Any) -> None:
    for config, (text, _) in TEXTS.items():
        tenant.store(config, text)
    tenant.set(text_config="swedish")  # of what is written, not of questions
    for config, (_, asked) in TEXTS.items():
        assert tenant.ids(asked, mode="keyword", k=1) == [config]


def test_a_word_that_one_language_drops_finds_no_lesson_of_another(tenant: Any) -> None:
    """A lesson in English that was taken for Spanish would be found by every `the`."""
    tenant.store("wrong", "What is the name of the cat and of the dog", language="spanish")
    for number in range(20):
        tenant.store(f"n{number}", f"The boat number {number} was in the harbour.")
    assert tenant.recall("the and of", mode="keyword", k=1)[0]["bm25"] >= 0
    found = tenant.recall("What is the boat in the harbour?", mode="keyword", k=25)
    assert found[-1]["external_id"] == "wrong"
    assert found[-1]["bm25"] == 0


def test_a_word_of_several_forms_counts_once_for_fit(tenant: Any) -> None:
    tenant.store("en", "The gardens of Lisbon")
    alone = tenant.recall("gardens Lisbon", mode="keyword")[0]["fit"]
    tenant.store("de", "Die Hunde schlafen in dem Haus und auf der Wiese.")
    both = tenant.recall("gardens Lisbon", mode="keyword", k=1)[0]
    assert both["external_id"] == "en"
    assert both["fit"] == pytest.approx(alone, abs=0.1)


@pytest.mark.parametrize(
    ("language", "config"),
    [("de", "german"), ("pt-BR", "portuguese"), ("zh", "simple"), ("german", "german"), ("pl", "simple")],
)
def test_a_writer_names_the_language(tenant: Any, language: str, config: str) -> None:
    assert tenant.store("it", "Hunde", language=language) == "inserted"
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons") == config


def test_a_language_that_is_none_is_refused(tenant: Any) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="klingon!"):
        tenant.store("it", "Hunde", language="klingon!")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="klingon!"):
        tenant.rows("SELECT * FROM pgmnemo.recut(NULL, 'klingon!')")


def test_another_language_cuts_lesson_and_passages_anew(tenant: Any) -> None:
    text = "Die Häuser der Städte"
    tenant.store("it", text, passages=[text], language="simple")
    assert tenant.store("it", text, passages=[text]) == "unchanged"
    assert tenant.store("it", text, language="de") == "updated"
    assert tenant.store("it", text, language="auto") == "unchanged"
    [(lesson, passage)] = tenant.look(
        "SELECT l.lexemes::text, p.lexemes::text FROM pgmnemo.lesson l JOIN pgmnemo.passage p "
        "ON p.lesson_id = l.id WHERE l.tenant_id = %s", tenant.id,
    )  # fmt: skip
    assert lesson == passage
    assert "haus" in lesson
    assert tenant.rows("SELECT * FROM pgmnemo.check()") == []


def stored(tenant: Any, key: str, content: str) -> Any:
    tenant.store(key, content)
    return tenant.value("SELECT text_config FROM pgmnemo.lessons WHERE external_id = %s", key)


def test_a_tenant_has_a_language_for_texts_that_do_not_tell(tenant: Any) -> None:
    """Of a text without a language the session's setting decides, then the tenant's language."""
    set_language = "SELECT pgmnemo.set_language(NULL, %s)"
    short, english, french = "Kettle", TEXTS["english"][0], TEXTS["french"][0]
    language = "SELECT pgmnemo.language(NULL)"
    assert tenant.value(language) == "auto"
    assert tenant.value(set_language, "auto:de") == tenant.value(language) == "auto:german"
    assert [stored(tenant, f"a{n}", text) for n, text in enumerate((short, english, french))] == [
        "german", "english", "french"]  # fmt: skip
    assert tenant.value(set_language, "de") == "german"
    assert stored(tenant, "fixed", french) == "german"
    tenant.store("named", french, language="auto")
    assert tenant.value("SELECT text_config FROM pgmnemo.lessons WHERE external_id = 'named'") == "french"
    tenant.set(text_config="simple")
    assert stored(tenant, "of the session", french) == "simple"
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="klingon!"):
        tenant.value(set_language, "auto:klingon!")
    assert tenant.value(set_language, "auto") == tenant.value(language) == "auto"


def test_what_would_be_cut_anew_is_counted(tenant: Any) -> None:
    for config, (text, _) in TEXTS.items():
        tenant.store(config, text)
    tenant.value("SELECT pgmnemo.set_language(NULL, 'german')")
    dry, wet = (f"SELECT changed FROM pgmnemo.recut(NULL, dry_run => {dry})" for dry in (True, False))
    with tenant.client.transaction():
        tenant.client.execute("SET TRANSACTION READ ONLY")
        assert tenant.value(dry) == len(TEXTS) - 1
    assert [tenant.value(query) for query in (wet, wet, dry)] == [len(TEXTS) - 1, 0, 0]


def test_what_is_there_is_cut_anew_in_parts(tenant: Any) -> None:
    tenant.set(text_config="english")
    for config, (text, _) in TEXTS.items():
        tenant.store(config, text, passages=[text])
    tenant.set(text_config="auto")
    after, changed, calls = 0, 0, 0
    while after is not None:
        [(some, after)] = tenant.rows("SELECT * FROM pgmnemo.recut(NULL, after => %s, most => 3)", after)
        changed, calls = changed + some, calls + 1
    assert (changed, calls) == (len(TEXTS) - 1, 4)
    assert dict(tenant.rows("SELECT external_id, text_config FROM pgmnemo.lessons")) == {
        config: config for config in TEXTS
    }
    assert tenant.rows("SELECT * FROM pgmnemo.check()") == []
