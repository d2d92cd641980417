"""A file of rankings by another author: raw retrievals (JSONL), a TREC run, or a table of scores.

The table is the JSON object that pytrec_eval, ranx and BEIR use: for each question the scores of its
documents, by their ids. This module checks the form of the file; validate_rankings.py checks it against
the corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from runner.errors import RankingsError
from runner.protocol.datasets.corpus_file import CorpusFile, unique_object
from runner.runs.raw import KEYS
from runner.runs.storage import demand_regular

RAW, TREC, TABLE = "raw", "trec", "table"
BY_SCORE, TIED = "by score", "tied"  # how the ranks of a question were ordered
NAMELESS = "theirs"  # the arm of raw lines without an arm
CLAIMS = ("type", "project", "size", "gold")  # optional keys of a raw line that must agree with the corpus
LENGTHS = ("gold_tokens", "tokens")  # and those that must agree with the lengths of its texts
COLUMNS = "qid Q0 docid rank score tag"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ids that an arm ranked for a question, best first; `scope` is empty if the file names none.

    `where` is its place in the file, `claims` and `lengths` are what it says of the corpus. `order` is
    BY_SCORE if ranks or scores repeat and the score decided, TIED if the ranks order equal scores, else
    empty.
    """

    question: str
    arm: str
    ids: tuple[str, ...]
    where: str
    scope: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[str, Any] = field(default_factory=dict)
    order: str = ""


@dataclass(frozen=True, slots=True)
class Rankings:
    """The rankings of a file. `form` is `raw`, `trec` or `table`; `order` says how ties are ordered."""

    file: str
    sha256: str
    form: str
    rankings: tuple[Ranking, ...]
    order: str = ""


def read_rankings(path: Path) -> Rankings:
    """Return every ranking of the file, plain or packed; raise RankingsError with the line that is wrong."""
    path = path.expanduser()
    try:
        if path.is_dir():
            raise RankingsError(f"--rankings: {path} is a folder; name the file of rankings in it")
        demand_regular(path, RankingsError)
        empty = not path.stat().st_size
    except OSError as error:
        raise RankingsError(f"--rankings: {path} cannot be read ({error.strerror}); name a file") from None
    source = CorpusFile(path)
    text = "" if empty else _text(source.content(), path.name)
    if not text.strip():
        raise RankingsError(f"{path.name} is empty: there is no ranking in it to score")
    form = TREC if text.lstrip()[0] not in "{[" else TABLE if (scores := _scores(text, path.name)) else RAW
    if form == TABLE:
        found = tuple(_table(scores, path.name))
    else:
        found = tuple((_raw if form == RAW else _trec)(text, path.name))
    return Rankings(path.name, source.sha256(), form, found, _order(found))


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RankingsError(f"{file}, line {line:,}, is not UTF-8; save the file as UTF-8") from None


def _scores(text: str, file: str) -> dict[str, dict[str, Any]]:
    """Return the scores by question and document if the text is one JSON object and no raw line; else {}.

    Raises RankingsError with the first question whose value is no object, and for a repeated key.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    wrong = next((question for question, one in value.items() if not isinstance(one, dict)), None)
    if wrong is not None and not {"question", "ranking"}.isdisjoint(value):
        return {}
    if wrong is not None:
        raise RankingsError(
            f"{file}, question {wrong!r}: a table of scores takes an object {{document: score}}, not "
            f"{'a list' if isinstance(value[wrong], list) else 'a single value'}; a raw line takes "
            "`question` and `ranking`"
        )
    try:
        return dict(json.loads(text, object_pairs_hook=unique_object))
    except ValueError as error:
        raise RankingsError(f"{file}: {error}; give each question and document once") from None


def _table(scores: Mapping[str, Mapping[str, Any]], file: str) -> Iterator[Ranking]:
    for question, by_id in scores.items():
        where = f"{file}, question {question!r}"
        ranks = [_rank([one, score], where) for one, score in by_id.items()]
        ranks.sort(key=lambda rank: (rank[1], rank[0]), reverse=True)
        order = BY_SCORE if len({score for _, score in ranks}) < len(ranks) else ""
        yield Ranking(question, NAMELESS, tuple(one for one, _ in ranks), where, order=order)


def _raw(text: str, file: str) -> Iterator[Ranking]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _raw_line(line, f"{file}, line {number:,}")


def _raw_line(line: str, where: str) -> Ranking:
    try:
        record = json.loads(line, parse_constant=_no_number, object_pairs_hook=unique_object)
    except (ValueError, RecursionError) as error:
        raise RankingsError(f"{where} is not JSON ({error}); write one object a line") from None
    if not isinstance(record, dict) or not {"question", "ranking"} <= set(record) <= {*KEYS, *LENGTHS}:
        raise RankingsError(
            f"{where} is no raw retrieval: it takes a question and its ranking, and beside them only "
            f"{', '.join(key for key in (*KEYS, *LENGTHS) if key not in ('question', 'ranking'))}"
        )
    given = {key: record.get(key) for key in ("question", "arm", "scope")}
    texts = {key: "" if value is None else _id(value) for key, value in given.items()}
    texts["question"] = _id(given["question"])
    wrong = next((key for key, value in texts.items() if value is None), None)
    if wrong or not isinstance(record["ranking"], list):
        raise RankingsError(f"{where}: {wrong or 'ranking'!r} must be {'a text' if wrong else 'a list'}")
    ranks = [_rank(rank, where) for rank in record["ranking"]]
    scores = [score for _, score in ranks if score is not None]
    _check_fall(scores, f"{where}: the scores of question {texts['question']}")
    return Ranking(
        question=texts["question"] or "",
        arm=texts["arm"] or NAMELESS,
        ids=tuple(one for one, _ in ranks),
        where=where,
        scope=texts["scope"] or "",
        claims={key: record[key] for key in CLAIMS if key in record},
        lengths={key: record[key] for key in LENGTHS if key in record},
    )


def _id(value: Any) -> str | None:
    """Return an id, given as a string or a whole number, as text; None for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _rank(rank: Any, where: str) -> tuple[str, float | None]:
    if (one := _id(rank)) is not None:
        return one, None
    match rank:
        case [str() | int() as given, int() | float() as score, *_] if len(rank) <= 3:
            if (one := _id(given)) is not None and not isinstance(score, bool):
                return one, _finite(score, where)
    shown = repr(rank)
    raise RankingsError(
        f"{where}: a rank is an id, [id, score] or [id, score, [components]], not "
        f"{shown if len(shown) <= 60 else shown[:57] + '...'}"
    )


def _trec(text: str, file: str) -> Iterator[Ranking]:
    """Yield a ranking for each tag and question, in the order of their first lines."""
    found: dict[tuple[str, str], list[tuple[int, float, str, str]]] = {}
    seen = dict[tuple[str, str, str], int]()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where, columns = f"{file}, line {number:,}", line.split()
        if len(columns) != 6:
            raise RankingsError(
                f"{where} has {len(columns)} columns; a TREC run has six ({COLUMNS}), and raw retrievals are "
                "JSON"
            )
        question, _, document, rank, score, tag = columns
        if not (rank.isascii() and rank.isdigit() and len(rank) < 10):
            raise RankingsError(f"{where}: the rank {rank!r} is no whole number from 0 on")
        if (first := seen.setdefault((tag, question, document), number)) != number:
            told = f"{document} is ranked twice for question {question}, first in line {first:,}"
            raise RankingsError(f"{where}: {told}")
        found.setdefault((tag, question), []).append((int(rank), _number(score, where), document, where))
    for (tag, question), ranks in found.items():
        where, scores = ranks[0][3], [score for _, score, *_ in ranks]
        order = TIED if len(set(scores)) < len(scores) else ""
        if len({rank for rank, *_ in ranks}) == len(ranks):
            ranks.sort(key=lambda rank: rank[0])
            _check_fall([score for _, score, *_ in ranks], f"{where}: the scores of question {question}")
        else:  # ranks repeat: BEIR writes rank 0 on every line
            order = BY_SCORE
            ranks.sort(key=lambda rank: (rank[1], rank[2]), reverse=True)
        yield Ranking(question, tag, tuple(document for _, _, document, _ in ranks), where, order=order)


def _order(rankings: Sequence[Ranking]) -> str:
    """Return how ties in scores or ranks were ordered; empty if there was no tie."""
    by_score = sum(one.order == BY_SCORE for one in rankings)
    tied = sum(one.order == TIED for one in rankings)
    sentences = [
        f"{by_score:,} rankings have a rank or a score twice and are ordered by score, equal scores by id in "
        "descending order, as trec_eval does" if by_score else "",
        f"{tied:,} rankings have equal scores, which their ranks order; trec_eval orders them by id"
        if tied else "",
    ]  # fmt: skip
    return "; ".join(filter(None, sentences))


def _number(text: str, where: str) -> float:
    try:
        return _finite(float(text), where)
    except ValueError:
        raise RankingsError(f"{where}: the score {text!r} is no number") from None


def _finite(score: float, where: str) -> float:
    if not abs(score) < inf:
        raise RankingsError(f"{where}: the score {score} is not finite; write a number")
    return score


def _check_fall(scores: list[float], what: str) -> None:
    if any(one < other for one, other in pairwise(scores)):
        raise RankingsError(
            f"{what} rise where the ranks fall; give ranks and scores of one order, the best first"
        )


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"the score {constant} is not finite")
