"""raw_retrievals.jsonl: one line for each question, arm and scope, the only source of metrics.

A line has, in this order, question, type, arm, scope, project, size, gold, ranking. A line of
a system in its own scope also has the lengths of the gold and of the ranked segments, in tokens by
`pgmnemo.passages.estimate`, as gold_tokens and tokens. A rank of a system is
`[id, score, [component, …]]` in the first ten and `[id, score]` after them (without components: `[id, score]`
in the first ten, the bare id after them). For a retriever or a control the first ten ranks have a score, with
components for a retriever that is a mode of the system, and the later ranks are bare ids. run.json names the
components of an arm, in the same order. The file has no timings: two equal runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec

from pgmnemo.errors import OutputError, os_errors
from runner.records import RankedSegment, Retrieval
from runner.runs.canonical import COMPONENT_DECIMALS, SCORE_DIGITS, compact, decimals, significant
from runner.runs.record_files import LineWriter, drop_torn_line

RAW = "raw_retrievals.jsonl"
DETAILED_RANKS = 10
KEYS = ("question", "type", "arm", "scope", "project", "size", "gold", "ranking")

Key = tuple[str, str, str]  # question, arm, scope


class KeptFields(StrEnum):
    """The parts of an arm's ranks that the raw file keeps besides the ids."""

    IDS = "nothing"
    SCORES = "the scores of the first ten"
    PARTS = "scores and components of the first ten"
    ALL = "the same, and the scores of the ranks after them where there are components"


def key(retrieval: Retrieval) -> Key:
    """Return the key of a row: question, arm and scope."""
    return retrieval.question, retrieval.arm, retrieval.scope


class RawWriter(LineWriter):
    """A writer that appends retrievals to a raw file; `done` holds the keys of rows already in it.

    An incomplete last line, which a killed run leaves, is cut first.
    """

    def __init__(self, path: Path) -> None:
        drop_torn_line(path)
        self.done = {key(retrieval) for retrieval in read_raw(path)} if path.exists() else set()
        super().__init__(path)

    def write(self, retrieval: Retrieval, *, kept: KeptFields = KeptFields.IDS) -> None:
        """Append one line, with the `kept` parts of its ranks.

        Raises OutputError on a full disk, for a score that is no number, or an id ranked twice.
        """
        self.append(encode(retrieval, kept=kept))

    def forget(self, arm: str) -> None:
        """Remove the lines of an arm that failed."""
        super().forget(arm)
        self.done = {one for one in self.done if one[1] != arm}


def encode(retrieval: Retrieval, *, kept: KeptFields) -> str:
    """Return the line of one retrieval, without its newline."""
    where = f"question {retrieval.question}, arm {retrieval.arm}, scope {retrieval.scope}"
    _check(retrieval, where)
    hits = enumerate(retrieval.ranking)
    ranking = [_rank(hit, place, where, kept) for place, hit in hits]
    values = (retrieval.question, retrieval.type, retrieval.arm, retrieval.scope, retrieval.project,
              retrieval.size, list(retrieval.gold), ranking)  # fmt: skip
    lengths = {"gold_tokens": retrieval.gold_tokens, "tokens": retrieval.tokens}
    return compact(dict(zip(KEYS, values, strict=True)) | (lengths if retrieval.gold_tokens else {}))


def _check(retrieval: Retrieval, where: str) -> None:
    ids = [hit.id for hit in retrieval.ranking]
    if len(set(ids)) < len(ids):
        raise OutputError(f"{where}: a segment is ranked twice")
    if len(ids) > retrieval.size:
        raise OutputError(f"{where}: {len(ids)} segments are ranked in a scope of {retrieval.size}")


def _rank(hit: RankedSegment, place: int, where: str, kept: KeptFields) -> Any:
    first = place < DETAILED_RANKS
    if (
        hit.score is None
        or kept is KeptFields.IDS
        or not (first or (kept is KeptFields.ALL and hit.components))
    ):
        return hit.id
    score = significant(hit.score, SCORE_DIGITS, f"{where}: the score of {hit.id}")
    if not first or kept is KeptFields.SCORES or not hit.components:
        return [hit.id, score]
    what = f"{where}: a component of {hit.id}"
    rounded = (None if c is None else decimals(c, COMPONENT_DECIMALS, what) for c in hit.components)
    return [hit.id, score, list(rounded)]


def read_raw(path: Path) -> Iterator[Retrieval]:
    """Yield the retrievals of a raw file, in its order.

    Raises OutputError with the number of a malformed or repeated line.
    """
    seen: set[Key] = set()
    widths: dict[str, int] = {}  # components of a rank, by arm
    with os_errors(f"{path} cannot be read: {{why}}"):
        lines = path.read_bytes().splitlines()
    for number, line in enumerate(lines, start=1):
        retrieval = decode(line, f"{path.name}, line {number}")
        if key(retrieval) in seen:
            raise OutputError(f"{path.name}, line {number}: {', '.join(key(retrieval))} stands there twice")
        seen.add(key(retrieval))
        for found in (len(hit.components) for hit in retrieval.ranking if hit.components):
            if widths.setdefault(retrieval.arm, found) != found:
                raise OutputError(
                    f"{path.name}, line {number}: a rank has not as many components as those before"
                )
        yield retrieval


class _Rank(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    id: str
    score: float
    components: Annotated[tuple[float | None, ...], msgspec.Meta(min_length=1)] | None = None

    @property
    def hit(self) -> RankedSegment:
        return RankedSegment(self.id, self.score, self.components or ())


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    type: str
    arm: str
    scope: str
    project: str
    size: int
    gold: tuple[str, ...]
    ranking: list[str | _Rank]
    gold_tokens: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()


_DECODER = msgspec.json.Decoder(_Line)


def decode(text: bytes, where: str) -> Retrieval:
    """Return the retrieval of one line; raise OutputError, beginning with `where`, for a malformed line."""
    try:
        line = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise OutputError(f"{where} is no retrieval ({error})") from None
    hits = (RankedSegment(one) if isinstance(one, str) else one.hit for one in line.ranking)
    retrieval = Retrieval(**{**msgspec.structs.asdict(line), "ranking": tuple(hits)})
    _check(retrieval, where)
    return retrieval
