"""raw_retrievals.jsonl: one line for each question, arm and scope; metrics are computed from it alone.

A line holds, in this order, question, type, arm, scope, project, size, gold, ranking. A rank is `[id, score,
[component, …]]` for the first ten of a detailed arm, `[id, score]` after them (without components: `[id,
score]` for the first ten, the bare id after them), and the bare id in every other arm; run.json names the
components, in the same order. No timing stands here: two exact runs give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from runner.errors import OutputError
from runner.records import Hit, Retrieval
from runner.runs.canonical import COMPONENT_DECIMALS, SCORE_DIGITS, compact, decimals, significant
from runner.runs.storage import LineWriter, drop_torn_line

RAW = "raw_retrievals.jsonl"
DETAILED_RANKS = 10
KEYS = ("question", "type", "arm", "scope", "project", "size", "gold", "ranking")

Key = tuple[str, str, str]  # question, arm, scope


def key(retrieval: Retrieval) -> Key:
    """What a line is known by: question, arm and scope."""
    return retrieval.question, retrieval.arm, retrieval.scope


class RawWriter(LineWriter):
    """Appends retrievals to a raw file, which may hold some already: `done` names them.

    A torn last line, which a killed run leaves, is cut before.
    """

    def __init__(self, path: Path) -> None:
        drop_torn_line(path)
        self.done = {key(retrieval) for retrieval in read_raw(path)} if path.exists() else set()
        super().__init__(path)

    def write(self, retrieval: Retrieval, *, detailed: bool = False) -> None:
        """One line, with scores and components if `detailed`.

        Raises OutputError on a full disk, a score that is no number, or an id ranked twice.
        """
        self.append(encode(retrieval, detailed=detailed))

    def forget(self, arm: str) -> None:
        """Take the lines of an arm that failed away again."""
        self.keep(lambda entry: entry["arm"] != arm)
        self.done = {one for one in self.done if one[1] != arm}

    def __enter__(self) -> RawWriter:
        return self


def encode(retrieval: Retrieval, *, detailed: bool) -> str:
    """The line of one retrieval, without its newline."""
    where = f"question {retrieval.question}, arm {retrieval.arm}, scope {retrieval.scope}"
    _check(retrieval, where)
    hits = enumerate(retrieval.ranking)
    ranking = [_rank(hit, place, where) if detailed else hit.id for place, hit in hits]
    values = (retrieval.question, retrieval.type, retrieval.arm, retrieval.scope, retrieval.project,
              retrieval.size, list(retrieval.gold), ranking)  # fmt: skip
    return compact(dict(zip(KEYS, values, strict=True)))


def _check(retrieval: Retrieval, where: str) -> None:
    ids = [hit.id for hit in retrieval.ranking]
    if len(set(ids)) < len(ids):
        raise OutputError(f"{where}: a segment is ranked twice")
    if len(ids) > retrieval.size:
        raise OutputError(f"{where}: {len(ids)} segments are ranked in a scope of {retrieval.size}")


def _rank(hit: Hit, place: int, where: str) -> Any:
    if hit.score is None or (place >= DETAILED_RANKS and not hit.components):
        return hit.id
    score = significant(hit.score, SCORE_DIGITS, f"{where}: the score of {hit.id}")
    if place >= DETAILED_RANKS or not hit.components:
        return [hit.id, score]
    what = f"{where}: a component of {hit.id}"
    rounded = (None if c is None else decimals(c, COMPONENT_DECIMALS, what) for c in hit.components)
    return [hit.id, score, list(rounded)]


def read_raw(path: Path) -> Iterator[Retrieval]:
    """The retrievals of a raw file, in its order.

    Raises OutputError that names the line when one is malformed or stands twice.
    """
    seen: set[Key] = set()
    widths: dict[str, int] = {}  # components of a rank, by arm
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise OutputError(f"{path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        retrieval = _decode(line, f"{path.name}, line {number}")
        if key(retrieval) in seen:
            raise OutputError(f"{path.name}, line {number}: {', '.join(key(retrieval))} stands there twice")
        seen.add(key(retrieval))
        for found in (len(hit.components) for hit in retrieval.ranking if hit.components):
            if widths.setdefault(retrieval.arm, found) != found:
                raise OutputError(
                    f"{path.name}, line {number}: a rank has not as many components as those before"
                )
        yield retrieval


def _decode(line: bytes, where: str) -> Retrieval:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise OutputError(f"{where} is not JSON ({error})") from error
    if not isinstance(document, dict) or tuple(document) != KEYS:
        raise OutputError(f"{where} must hold exactly {', '.join(KEYS)}, in this order")
    *texts, size, gold, ranking = document.values()
    if not (all(isinstance(text, str) for text in texts) and type(size) is int and _strings(gold)):
        raise OutputError(f"{where}: texts, a whole number and a list of ids are expected before the ranking")
    if not isinstance(ranking, list):
        raise OutputError(f"{where}: the ranking is not a list")
    hits = tuple(_hit(entry, where) for entry in ranking)
    question, kind, arm, scope, project = texts
    retrieval = Retrieval(question, kind, arm, scope, project, size, tuple(gold), hits)
    _check(retrieval, where)
    return retrieval


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _hit(entry: Any, where: str) -> Hit:
    if isinstance(entry, str):
        return Hit(entry)
    match entry:
        case [str(identifier), float(score)] if isfinite(score):
            return Hit(identifier, score)
        case [str(identifier), float(score), list(components)] if isfinite(score) and _components(components):
            return Hit(identifier, score, tuple(components))
    raise OutputError(f"{where}: a rank is an id, [id, score] or [id, score, [components]], not {entry!r}")


def _components(values: list[Any]) -> bool:
    return bool(values) and all(v is None or (isinstance(v, float) and isfinite(v)) for v in values)
