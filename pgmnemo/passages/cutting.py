"""How a lesson's text is cut into passages when nobody says what its turns are.

By the rule of every suite (PROTOCOL.md §2.6), over turns that are read off the text:

1. A first line that is nothing but brackets, as `[8 May 2023]`, is a date and stands in no passage.
2. Where a line begins with `user:` or `assistant:`, the text is a talk with an assistant: such a line begins
   a turn, which goes on to the next one. The assistant's turns stand in no passage; of the user's, the words
   without `user:` are embedded, the first 700 characters of a passage. Turns without a word are left out.
3. In any other text each line with a word is a turn, as `Ana: I sold the kite.`, and all of a passage is
   embedded.
"""

from __future__ import annotations

import re

from pgmnemo.passages.windows import Line, Rule, Windows, cut
from pgmnemo.records import Passage

WINDOWS = Windows()
DATE = re.compile(r"\[[^\[\]]*\]")
ROLE = re.compile(r"(user|assistant): ?")


def passages_of(content: str, rule: Rule = WINDOWS) -> tuple[Passage, ...]:
    """The passages of a lesson's text, in order; none of a text without a word."""
    lines = content.split("\n")
    if len(lines) > 1 and DATE.fullmatch(lines[0].strip()):
        del lines[0]
    if any(ROLE.match(line) for line in lines):
        return cut(_messages(lines), rule, rule.characters)
    return cut([Line(line, line) for line in lines if line.strip()], rule)


def _messages(lines: list[str]) -> list[Line]:
    """Turns of a talk with an assistant; what stands before the first one is a turn by itself."""
    messages: list[list[str]] = []
    for line in lines:
        if not messages or ROLE.match(line):
            messages.append([])
        messages[-1].append(line)
    return [turn for message in messages if (turn := _turn("\n".join(message))).words.strip()]


def _turn(text: str) -> Line:
    role = ROLE.match(text)
    if role is None:
        return Line(text, text)
    return Line(text, text[role.end() :], person=role[1] != "assistant")
