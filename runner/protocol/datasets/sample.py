"""The committed sample: three invented projects, written for this repository (benchmarks/sample/README.md).

Unlike the public corpora it has edges and importance, so that each score component has an effect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from runner.errors import CorpusError
from runner.paths import ROOT
from runner.protocol.datasets.corpus import CONVERSATION, POOL, build_corpus
from runner.protocol.datasets.corpus_file import CorpusFile, check_distinct, check_list, one_of, take
from runner.protocol.datasets.dates import plain
from runner.protocol.datasets.locomo import TURN_ID
from runner.protocol.datasets.suite import Suite, Write
from runner.protocol.templates import Session, Turn
from runner.records import Corpus, Edge, Evidence, Json, Question, Segment

PACKED = Path(__file__).parent  # the folder of the sample in a wheel
TYPES = (
    "single-hop", "multi-hop", "temporal", "knowledge-update", "preference",
    "adversarial", "graph", "importance", "recency",
)  # fmt: skip
PROJECT = ("project", "about", "sessions", "edges", "questions")
SESSION = ("id", "date", "importance", "turns")
EDGE = ("source", "target", "kind", "weight")
QUESTION = ("key", "type", "question", "answer", "evidence", "as_of", "why")


def read(source: CorpusFile, level: str, write: Write) -> Corpus:
    """Return the corpus; raise CorpusError with the name of a missing or unknown key, id or value."""
    segments: list[Segment] = []
    edges: list[Edge] = []
    questions: list[Question] = []
    for at, item in enumerate(source.items()):
        project = take(item, "project", str, f"item {at} of {source.path}")
        _keys(item, PROJECT, project)
        mine = [_segment(entry, project, write) for entry in check_list(item, "sessions", dict, project)]
        ids = {segment.id for segment in mine}
        segments += mine
        edges += (_edge(entry, project, ids) for entry in check_list(item, "edges", dict, project))
        questions += (
            _question(entry, project, ids) for entry in check_list(item, "questions", dict, project)
        )
    corpus = build_corpus(
        source, "sample", level, tuple(segments), questions, TYPES, {"edges": len(edges)},
        scopes=(*CONVERSATION, POOL), edges=tuple(edges), labels=(TURN_ID,),
    )  # fmt: skip
    check_distinct((f"{edge.source} → {edge.target}" for edge in edges), f"in {source.path} the edge")
    return corpus


def _keys(record: Json, known: Collection[str], where: str) -> None:
    """Raise CorpusError unless the record has exactly the `known` keys."""
    wrong = sorted(set(record) ^ set(known))
    if wrong:
        raise CorpusError(f"{where} lacks or does not know the keys: {', '.join(wrong)}")


def _own(identifier: str, project: str) -> str:
    if not identifier.startswith(f"{project}/"):
        raise CorpusError(f"the id {identifier!r} must begin with its project, {project}/")
    return identifier


def _segment(entry: Json, project: str, write: Write) -> Segment:
    identifier = _own(take(entry, "id", str, f"a session of {project}"), project)
    _keys(entry, SESSION, identifier)
    date = take(entry, "date", str, identifier)
    turns = tuple(_turn(turn, identifier) for turn in check_list(entry, "turns", str, identifier))
    written = write(Session(date, turns))
    importance = take(entry, "importance", int, identifier)
    return Segment(
        project=project,
        id=identifier,
        text=written.text,
        occurred_at=plain(date, identifier),
        importance=one_of(importance, (1, 2, 3, 4, 5), f"'importance' of {identifier}"),
        passages=written.passages,
    )


def _turn(turn: str, where: str) -> Turn:
    speaker, _, text = turn.partition(": ")
    if not speaker.isalpha() or not text:
        raise CorpusError(f"a turn of {where} is not 'Speaker: text': {turn[:40]!r}")
    return Turn(speaker, text)


def _edge(entry: Json, project: str, ids: Collection[str]) -> Edge:
    source, target = (_known(take(entry, end, str, f"an edge of {project}"), ids) for end in EDGE[:2])
    where = f"the edge {source} → {target}"
    _keys(entry, EDGE, where)
    weight = take(entry, "weight", float, where)
    if not 0 < weight <= 1:
        raise CorpusError(f"'weight' of {where} is {weight}, which is not in (0, 1]")
    return Edge(project, source, target, take(entry, "kind", str, where), weight)


def _question(entry: Json, project: str, ids: Collection[str]) -> Question:
    key = _own(take(entry, "key", str, f"a question of {project}"), project)
    _keys(entry, QUESTION, key)
    return Question(
        key=key,
        project=project,
        text=take(entry, "question", str, key),
        type=one_of(take(entry, "type", str, key), TYPES, f"'type' of {key}"),
        evidence=tuple(_evidence(check_list(entry, "evidence", str, key), key, ids)),
        as_of=plain(take(entry, "as_of", str, key), key),
    )


def _evidence(cited: list[str], key: str, ids: Collection[str]) -> Iterator[Evidence]:
    if not cited:
        raise CorpusError(f"{key} cites no evidence")
    return (Evidence(one, _known(one, ids)) for one in cited)


def _known(identifier: str, ids: Collection[str]) -> str:
    if identifier not in ids:
        raise CorpusError(f"the sample names {identifier!r}, no session of its project; restore the file")
    return identifier


SAMPLE = Suite(
    name="sample",
    title="the sample",
    levels=("session",),
    types=TYPES,
    read=read,
    committed=PACKED if (PACKED / "sample.json").exists() else ROOT / "benchmarks" / "sample",
)
