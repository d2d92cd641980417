"""LoCoMo's evidence: every id in every evidence string, and the segment that it names.

The rule (PROTOCOL, evidence normalisation):
1. An id is `D<session>:<turn>`. Every id in a string is read, whatever stands between them
   (`D8:6; D9:17`, `D9:1 D4:4 D4:6`), with leading zeros dropped (`D30:05` is turn 5 of session 30)
   and a doubled colon forgiven (`D:11:26` is `D11:26`: that turn exists, and bears out the answer).
2. A string without an id (a bare `D`) names no session and is no citation, as long as the question
   cites at least one id beside it. If it cites none, each string stays as evidence that resolves to
   nothing, so that the coverage gate fails and no question is dropped in silence.
3. At session level an id resolves to its session; at turn level to its turn, and to nothing where the
   corpus has no such turn (`D10:19` of conv-42, `D4:36` of conv-47).
4. An id that a question cites twice counts once. A question with an empty list is not scored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from runner.records import Evidence

CITATION = re.compile(r"D:?(\d+):(\d+)")
SESSION = r"D\s*:?\s*(\d+)\s*:\s*"  # of an id of REALTALK, one of which is `D 2:18`
SPAN = re.compile(rf"{SESSION}(\d+)(?:\s*[-–]\s*(?:{SESSION})?(\d+))?")  # noqa: RUF001


def resolve(
    strings: Iterable[str], project: str, segments: Collection[str], turns: bool
) -> tuple[Evidence, ...]:
    """One Evidence for each distinct id in `strings`, in order; `segments` are the ids that exist."""
    given = list(strings)
    found = {(int(m[1]), int(m[2])): m[0] for text in given for m in CITATION.finditer(text)}
    if not found:
        return tuple(Evidence(text, None) for text in given)
    named = ((cited, segment_id(project, *pair, turns)) for pair, cited in found.items())
    return tuple(Evidence(cited, segment if segment in segments else None) for cited, segment in named)


def resolve_spans(
    strings: Iterable[str], project: str, known: Sequence[tuple[int, int]], turns: bool
) -> tuple[Evidence, ...]:
    """REALTALK's evidence: `known` are the (session, turn) pairs of a chat.

    Every id in every string is read, with or without blanks in it (`D 2:18`), and a range (`D12:3-D12:5`) is
    its two ends and each known turn between them; an id that is named twice counts once. A string without an
    id is no citation; nor is an id whose session the chat does not have, as long as the question cites
    another.
    """
    found = {pair: None for text in strings for m in SPAN.finditer(text) for pair in _span(m, known)}
    sessions, existing = {session for session, _ in known}, set(known)
    cited = [pair for pair in found if pair[0] in sessions] or list(found)
    there = {pair for pair in cited if (pair in existing if turns else pair[0] in sessions)}
    return tuple(
        Evidence(f"D{pair[0]}:{pair[1]}", segment_id(project, *pair, turns) if pair in there else None)
        for pair in cited
    )


def _span(match: re.Match[str], known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first = int(match[1]), int(match[2])
    yield first
    if match[4] is not None:
        last = int(match[3] or match[1]), int(match[4])
        yield from (pair for pair in known if min(first, last) < pair < max(first, last))
        yield last


def segment_id(project: str, session: int, turn: int, turns: bool) -> str:
    """`conv-26/D3`, or `conv-26/D3:5` at turn level."""
    return f"{project}/D{session}:{turn}" if turns else f"{project}/D{session}"
