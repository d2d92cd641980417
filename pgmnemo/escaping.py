"""The one home of escaping: text of somebody else, made harmless for the place that it goes to.

Names, deviations, ids and sentences of a results folder are whatever its author wrote. Each function is for
one kind of place; HTML templates escape by themselves (`runner.report.render`).
"""

from __future__ import annotations

import re
from html import escape
from unicodedata import category

HIDDEN = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Ends of lines that do not look so, and marks that turn the direction of what follows."""

_SUSPECT = re.compile(rf"[^\n\t\x20-\x7e\u00a0-\ud7ff\ue000-\U0010ffff]|[{''.join(sorted(HIDDEN))}]")
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


def plain(text: str) -> str:
    """For a terminal or a log: a control character is written out as `\\u001b`; line ends and tabs stay.

    So no sequence of a terminal, no turn of direction and no half of a surrogate pair is sent to a reader.
    """
    return _SUSPECT.sub(_written_out, text)


def line(text: str) -> str:
    """The same on one line, for a field of HISTORY.md or a cell; what would be an HTML tag is none."""
    return _TAG.sub("&lt;", plain(" ".join(text.split())))


def markdown(text: str) -> str:
    """For Markdown: no HTML tag, and no link to anything but a web page, a mail address or a path."""
    return _LINK.sub(_unlinked, _TAG.sub("&lt;", plain(text)))


def markup(text: str) -> str:
    """For the text or an attribute of SVG, XML or HTML."""
    return escape(plain(text))


def bibtex(text: str) -> str:
    """For a field of a BibTeX entry: what TeX gives a meaning to is written as itself."""
    return plain(text).translate(_BIBTEX)


def hidden(text: str) -> str | None:
    """The first control character that no artefact holds, as `plain` writes it; None where there is none."""
    found = next((one for one in text if category(one) in ("Cc", "Cs") and one not in "\t\n\r"), None)
    return None if found is None else plain(found)


def _written_out(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _unlinked(match: re.Match[str]) -> str:
    return "]" if _SAFE.match(match.string, match.end()) else r"\]"
