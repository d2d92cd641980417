"""Names of systems: their parts, and lists of them."""

from __future__ import annotations

import pytest

from pgmnemo.errors import UsageError
from runner.naming import SystemName, parse_settings, split_names

NAMES = [
    ("pgmnemo", SystemName("pgmnemo")),
    ("pgmnemo@0.3.1", SystemName("pgmnemo", "0.3.1")),
    ("sqlite-hybrid+passages", SystemName("sqlite-hybrid", wrappers=("passages",))),
    (
        "convex:weight=0.5,candidates=union",
        SystemName("convex", "", (("weight", "0.5"), ("candidates", "union"))),
    ),
    (
        "pgmnemo@0.3.1:bm25_b=0.5,text_config=public.english+keyword+names",
        SystemName(
            "pgmnemo", "0.3.1", (("bm25_b", "0.5"), ("text_config", "public.english")), ("keyword", "names")
        ),
    ),
    ("rrf:over=pgmnemo@0.3.1,k=5", SystemName("rrf", "", (("over", "pgmnemo@0.3.1"), ("k", "5")))),
]
WRONG = [
    ("=5", "'=5' is no name of a system; write it as NAME@VERSION:setting=value,setting=value+wrapper"),
    ("pgmnemo@", "the system pgmnemo lacks the version behind its @: 'pgmnemo@'"),
    ("rrf:", "'' in 'rrf:' is no setting; write it as setting=value"),
    ("rrf:k", "'k' in 'rrf:k' is no setting; write it as setting=value"),
    ("rrf:k=1,k=2", "'rrf:k=1,k=2' gives k twice; give it once"),
    ("rrf+", "'rrf+' lacks the wrapper behind its +; write it as NAME@VERSION:setting=value,"
             "setting=value+wrapper"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), NAMES)
def test_a_name_has_these_parts_and_is_written_as_it_was_read(text: str, name: SystemName) -> None:
    assert SystemName.of(text) == name
    assert str(name) == text


@pytest.mark.parametrize(("text", "sentence"), WRONG)
def test_a_name_of_another_form_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        SystemName.of(text)
    assert str(raised.value) == sentence


def test_settings_that_are_added_go_before_those_of_the_name() -> None:
    assert (
        str(SystemName.of("rrf:k=5+keyword").with_settings({"k": "60", "floor": "80"}))
        == "rrf:k=60,floor=80+keyword"
    )


def test_settings_of_an_option_name_the_whole_option_where_they_are_wrong() -> None:
    assert parse_settings(["a=1", " b = x=y "], "--set") == {"a": "1", "b": "x=y"}
    with pytest.raises(UsageError, match=r"^'a' in '--set a' is no setting; write it as setting=value$"):
        parse_settings(["a"], "--set a")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("chroma, bm25s,", ("chroma", "bm25s")),
        ("rrf,convex:weight=0.5,candidates=union", ("rrf", "convex:weight=0.5,candidates=union")),
        (
            "rrf:k=5,floor=80,convex:weight=0.5+names,bm25s",
            ("rrf:k=5,floor=80", "convex:weight=0.5+names", "bm25s"),
        ),
        ("chroma,k=5", ("chroma", "k=5")),  # no name before it takes settings: it is told as a wrong name
    ],
)
def test_a_list_of_names_keeps_settings_with_their_name(text: str, names: tuple[str, ...]) -> None:
    assert split_names(text) == names
