"""Edits of files of JSON: what is not edited keeps every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pgmnemo.integrations import jsonc

TEXTS = {
    "empty": "",
    "object": "{}\n",
    "inline": '{"a": 1}\n',
    "lines": '{\n  "a": 1,\n  "b": {"c": [1, 2]}\n}\n',
    "tabs": '{\n\t"a": {\n\t\t"x": [\n\t\t\t1\n\t\t]\n\t}\n}\n',
    "comments": '// mine\n{\n  "a": 1, // one\n  /* two */ "b": [\n    1, // first\n  ],\n  // last\n}\n',
    "windows": '{\r\n    "a": "\u00e9",\r\n    "b": []\r\n}\r\n',
    "no end": '{"a":{"b":{}}}',
    "strings": '{\n  "a": "// no comment, \\"/* */\\" ,}]",\n  "url": "http://x"\n}',
}
SCALARS = ("null", '"x"', "5", "true")
ADDED: tuple[tuple[list[str], Any, bool], ...] = (
    (["new"], {"deep": ["é", 1]}, False), (["p", "q", "r"], True, False), (["list"], "x", True),
    (["p", "list"], {"k": 1}, True),
)  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_added_is_there_and_removed_again_without_a_trace(name: str) -> None:
    text = TEXTS[name]
    before = jsonc.parse(text).value
    for path, value, item in ADDED:
        new = jsonc.add(text, path, value, item=item)
        found = jsonc.parse(new).value
        for step in path:
            found = found[step]
        assert found == ([value] if item else value)
        rest = jsonc.parse(new).value
        del rest[path[0]]
        assert rest == before
        assert [*jsonc.parse(new).value][:-1] == [*before]  # nothing is reordered
        again = jsonc.remove(new, [*path, 0] if item else path)
        assert jsonc.parse(again).value == before
        if name in ("lines", "tabs", "windows", "strings"):
            assert again == text
        if name == "comments":
            assert [again.count(word) for word in ("mine", "one", "two", "first", "last")] == [1] * 5
        assert "\r\n" not in text or new.count("\n") == new.count("\r\n")


@pytest.mark.parametrize("at", range(3))
def test_each_item_is_removed_alone(at: int) -> None:
    text = '{\n  "a": [\n    "x", // first\n    {"y": 1},\n    "z" // last\n  ]\n}\n'
    items = ["x", {"y": 1}, "z"]
    new = jsonc.remove(text, ["a", at])
    assert jsonc.parse(new).value == {"a": items[:at] + items[at + 1 :]}
    assert jsonc.parse(jsonc.replace(text, ["a", at], [1])).value == {
        "a": [*items[:at], [1], *items[at + 1 :]]
    }


@pytest.mark.parametrize(
    ("path", "item", "value"),
    [
        *((["a"], True, value) for value in ("{}", *SCALARS)),
        *((["a", "b"], False, value) for value in ("[]", "[1]", *SCALARS)),
        *((["a", "b", "c"], True, value) for value in ("[]", "[1]", *SCALARS)),
    ],
)
def test_nothing_is_added_into_a_value_of_another_kind(path: list[str], item: bool, value: str) -> None:
    with pytest.raises(ValueError, match=r"^a is no (object|list)$"):
        jsonc.add(f'{{"a": {value}}}', path, 7, item=item)


@pytest.mark.parametrize(
    "text", ['{"a": {/* c */ "b": [1]}}', '{"a": {"b": [1] // c\n}}', '{"a": {"b": [/* c */ 1]}}']
)
def test_a_holder_with_a_comment_stays(text: str) -> None:
    rest = jsonc.remove(text, ["a", "b", 0])
    assert "c" in rest
    assert jsonc.parse(rest).value == ({"a": {"b": []}} if "[/" in text else {"a": {}})
    assert jsonc.parse(jsonc.remove(text, ["a", "b", 0], prune=False)).value == {"a": {"b": []}}


def test_comments_around_what_is_removed_stay() -> None:
    text = '{\n  // zero\n  "a": 1 /* one */, // two\n  // three\n  "b": 2, // four\n  // five\n}\n'
    for names in (["a", "b"], ["b", "a"]):
        rest = text
        for name in names:
            rest = jsonc.remove(rest, [name])
        assert jsonc.parse(rest).value == {}
        assert [one for one in ("zero", "one", "two", "three", "four", "five") if one not in rest] == []


@pytest.mark.parametrize("text", ["[ // c\n1]", "[1, // c\n 2]", "[1, // c\n 2,]", "[1 /* c */, 2 // d\n]"])
def test_a_comment_ends_where_it_ended(text: str) -> None:
    items = jsonc.parse(text).value
    while items:
        text = jsonc.remove(text, [len(items) - 1])
        items.pop()
        assert jsonc.parse(text).value == items
        assert "c" in text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a"}',
        '{"a": 1 "b": 2}',
        "[1 2]",
        "{} {}",
        '{"a": 1, "a": 2}',
        "{'a': 1}",
        "/* {}",
        "{a: 1}",
        "{1: 2}",
    ],
)
def test_a_fault_has_its_place(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        jsonc.parse(text)
