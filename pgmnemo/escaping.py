"""Escaping of foreign text, for each kind of output.

Names, deviations, ids and sentences of a results folder are under its author's control. Each function is for
one kind of output; HTML templates escape by themselves (`runner.report.render`).
"""

from __future__ import annotations

import re
from html import escape
from unicodedata import category

_INVISIBLE = (
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""Invisible characters: of zero width, direction marks and overrides, line ends that are not shown as such,
and the tag characters, which are an invisible copy of ASCII."""
_JOINERS = "\u200c\u200d"  # between letters of Persian and Hindi, and parts of an emoji
_SELECTORS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SELECTOR = re.compile(f"[{_SELECTORS}]")
_VISIBLE = re.compile(rf"[^\x00-\xff{_INVISIBLE}]")
_UNPRINTABLE = re.compile(rf"[^\n\t\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]|[{_INVISIBLE}{_SELECTORS}]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"(?<!\\)\](?=\(|:)")
_SAFE = re.compile(
    r"\(\s*<?(?:https?://|mailto:|#|[\w./-]+(?:[#)\s]|>))|"
    r":(?:\s*<?(?:https?|mailto):|(?!\s*<?[\w&][\w+.&#;-]*:))",
    re.IGNORECASE,
)
_BIBTEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"→": r"$\rightarrow$", "\n": " ", "§": r"\S", "\\": r"\textbackslash{}"}
    | {"^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
)


def escape_control_chars(text: str) -> str:
    """Escape a text for a terminal, a log or a prompt: control and invisible characters as in JSON.

    The result has no terminal sequence (`\\u001b`), no change of direction, no half of a surrogate pair and
    no invisible text. Line ends, tabs, and the joiners between letters stay.
    """
    return text if text.isascii() and text.isprintable() else _UNPRINTABLE.sub(_escape_match, text)


def escape_sentence(text: str) -> str:
    """Escape a text for a sentence that names a file: as `escape_control_chars`, and line ends too."""
    return escape_control_chars(text).replace("\n", "\\n")


def escape_line(text: str) -> str:
    """Escape a text for a field of HISTORY.md or a table cell: on one line, without HTML tags."""
    return _TAG.sub("&lt;", escape_control_chars(" ".join(text.split())))


def escape_markdown(text: str) -> str:
    """Escape a text for Markdown: no HTML tag, and links only to a web page, a mail address or a path."""
    return _LINK.sub(_escape_link, _TAG.sub("&lt;", escape_control_chars(text)))


def escape_markup(text: str) -> str:
    """Escape a text for the text or an attribute of SVG, XML or HTML."""
    return escape(escape_control_chars(text))


def escape_bibtex(text: str) -> str:
    """Escape a text for a field of a BibTeX entry: TeX's special characters are printed as themselves."""
    return escape_control_chars(text).translate(_BIBTEX)


def find_control_char(text: str) -> str | None:
    """Return the first control character that no artefact may have, escaped; None if there is none."""
    found = next((one for one in text if category(one) in ("Cc", "Cs") and one not in "\t\n\r"), None)
    return None if found is None else escape_control_chars(found)


def _escape_match(match: re.Match[str]) -> str:
    if _is_part_of_glyph(
        match[0],
        match.string[max(0, match.start() - 1) : match.start()],
        match.string[match.end() : match.end() + 1],
    ):
        return match[0]
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD7C0 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _is_part_of_glyph(found: str, before: str, after: str) -> bool:
    """Return whether an invisible character changes how its neighbours are drawn."""
    if found in _JOINERS:
        return bool(_VISIBLE.match(before) and _VISIBLE.match(after))
    return bool(_SELECTOR.match(found)) and bool(before) and not _SELECTOR.match(before)


def _escape_link(match: re.Match[str]) -> str:
    return "]" if _SAFE.match(match.string, match.end()) else r"\]"
