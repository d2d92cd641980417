"""Text of somebody else is made harmless for the place that it goes to, and other text stays as it is."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

import runner
from pgmnemo import escaping
from pgmnemo.terminal import console, say

RUNNER = Path(runner.__file__).parent
READERS = (
    "commands/cite", "commands/compare", "commands/history", "commands/leaderboard",
    "commands/report_page.py", "verification",
)  # fmt: skip
USUAL = "recall_any@10 = 95.6 % [94.0, 96.8], p < 0.001, “déjà vu” → 7 ≥ 5\n\tn = 1,982"


@pytest.mark.parametrize("escape", [escaping.escape_control_chars, escaping.escape_markdown])
def test_usual_text_stays_as_it_is(escape: object) -> None:
    assert escape(USUAL) == USUAL  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b[2J", r"\u001b[2J"), ("a\x00b", r"a\u0000b"), ("\x9b31m", r"\u009b31m"), ("\x7f", r"\u007f"),
     ("\u202eabc", r"\u202eabc"), ("\ud800", r"\ud800"), ("\u2028", r"\u2028"), ("a\u200bb", r"a\u200bb"),
     ("\U000e0041", r"\udb40\udc41"), ("\ufeff", r"\ufeff"), ("a\u200db", r"a\u200db"),
     ("\u200f", r"\u200f"), ("a\ufe0f\ufe0f", "a\ufe0f" + r"\ufe0f")],
)  # fmt: skip
def test_what_steers_a_terminal_is_written_out(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert escaping.escape_control_chars(text) == escaping.escape_markdown(text) == shown
    say(text)
    console(80).print(text, markup=False)
    assert capsys.readouterr().out.splitlines() == [shown, shown]


@pytest.mark.parametrize("text", ["👩\u200d🍳\ufe0f", "\u06cc\u200c\u062e", "\u0915\u094d\u200d\u0937"])
def test_joiners_within_a_word_or_an_emoji_stay(text: str) -> None:
    assert escaping.escape_control_chars(text) == text


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
     "[x]( JavaScript:alert(1))", "[x](<javascript:alert(1)>)", "[x](java&#115;cript:alert(1))",
     "![x](data:text/html;base64,AA)", "[x]: javascript:alert(1)\n\n[x]", "<javascript:alert(1)>",
     "a <!-- b", "</details><h1>", "[x]\\](vbscript:a)", "[a\n](javascript:b)"],
)  # fmt: skip
def test_no_tag_and_no_link_that_runs_passes_into_markdown(text: str) -> None:
    page = MarkdownIt("commonmark", {"html": True}).render(escaping.escape_markdown(text)).lower()
    assert not any(tag in page for tag in ("<script", "<img", "<h1", "<!--", "</details"))
    assert 'href="java' not in page and 'href="vb' not in page and 'src="data' not in page  # noqa: PT018


@pytest.mark.parametrize(
    "text", ["[a](https://example.org/x)", "[a](../b/c.md#d)", "[a](#b)", "`a[1]: b`", "[1]: https://e.org"]
)
def test_links_to_pages_and_paths_stay(text: str) -> None:
    assert escaping.escape_markdown(text) == text
    assert escaping.escape_markdown(escaping.escape_markdown(text)) == text


def test_markup_is_well_formed_whatever_stands_in_it() -> None:
    text = "<b a=\"'&\x0b\ud800"
    assert (
        ElementTree.fromstring(f"<a b='{escaping.escape_markup(text)}'/>")
        .get("b", "")
        .startswith("<b a=\"'&")
    )


def test_tex_gives_no_character_a_meaning() -> None:
    assert escaping.escape_bibtex(r"50 % of a_b {x} \input~^#&$") == (
        r"50 \% of a\_b \{x\} \textbackslash{}input\textasciitilde{}\textasciicircum{}\#\&\$"
    )


@pytest.mark.parametrize("room", READERS)
def test_no_reader_of_runs_prints_past_the_home_of_escaping(room: str) -> None:
    files = [RUNNER / room, *(RUNNER / room).rglob("*.py")]
    files = [file for file in files if file.is_file()]
    assert files
    bare = [file.name for file in files for line in file.read_text().splitlines() if " print(" in f" {line}"
            and "out.print(" not in line]  # fmt: skip
    assert bare == []
