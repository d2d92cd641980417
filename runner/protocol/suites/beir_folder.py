"""A folder of BEIR as a file of one's own: corpus.jsonl, queries.jsonl, and qrels/*.tsv or a TREC qrels.txt.

A document is a session of one turn without a speaker. `metadata.project`, where every document has one, says
which questions are searched in it; else all are one memory. Judgements of 0 and below are no evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from runner.errors import CorpusError
from runner.protocol.suites.reading import Source
from runner.records import Json

DOCUMENTS, QUERIES, JUDGED, TREC_JUDGED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels.txt"
HEAD = "query-id\tcorpus-id\tscore\n"
PACKINGS = ("", ".gz", ".xz")


def is_beir(source: Source) -> bool:
    """Whether the source is a folder with the documents and the questions of BEIR."""
    return source.path.is_dir() and all(_named(source, name) for name in (DOCUMENTS, QUERIES))


def documents(source: Source) -> Iterator[tuple[Json, str]]:
    """Each document as a session of the suite `file`, and where it stands."""
    for record, where in _records(source, DOCUMENTS):
        title, text = (_text(record, key, where) for key in ("title", "text"))
        words = "\n".join(part for part in (title, text) if part)
        yield {"id": record["_id"], "turns": [{"text": words}], **_project(record)}, where


def questions(source: Source) -> Iterator[tuple[Json, str]]:
    """Each question that is judged, with its evidence, and where it stands."""
    gold = _judgements(source)
    for record, where in _records(source, QUERIES):
        cited = gold.pop(record["_id"], None)
        kind = record.get("metadata", {}).get("type")
        more = {"type": kind} if isinstance(kind, str) else {}
        if cited is not None:
            text = _text(record, "text", where)
            yield {"id": record["_id"], "text": text, "evidence": cited, **_project(record), **more}, where
    if gold:
        raise CorpusError(
            f"the qrels of {source.path.name} judge {next(iter(gold))!r}, which is no question of {QUERIES}"
        )


def _records(source: Source, name: str) -> Iterator[tuple[Json, str]]:
    text = source.within(_named(source, name)).content()
    for number, line in enumerate(_decoded(text, name).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number:,} of {name}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{where} is not JSON ({error}); write one object a line") from None
        if not isinstance(record, dict) or not isinstance(record.get("_id"), str):
            raise CorpusError(f"{where} is no JSON object with an '_id' that is a text")
        if not isinstance(record.get("metadata", {}), dict):
            raise CorpusError(f"'metadata' of {where} must be an object")
        yield record, where


def _text(record: Json, key: str, where: str) -> str:
    value: Any = record.get(key, "")
    if not isinstance(value, str):
        raise CorpusError(f"{key!r} of {where} must be a text")
    return value


def _project(record: Json) -> Json:
    project = record.get("metadata", {}).get("project")
    return {"project": project} if isinstance(project, str) else {}


def _judgements(source: Source) -> dict[str, list[str]]:
    """The relevant documents of each judged question, each once; CorpusError names the line that is wrong."""
    names = [*source.names("qrels/*.tsv"), *source.names(TREC_JUDGED)]
    if len(names) != 1:
        found = ", ".join(names) or "none"
        raise CorpusError(
            f"{source.path} has to hold one file of judgements, qrels/NAME.tsv or {TREC_JUDGED}, and holds "
            f"{found}"
        )
    [name] = names
    tsv, gold, seen = name.endswith(".tsv"), dict[str, list[str]](), set[tuple[str, str]]()
    for number, line in enumerate(_decoded(source.within(name).content(), name).split("\n"), start=1):
        columns = line.rstrip("\r").split("\t") if tsv else line.split()
        if not line.strip() or (tsv and number == 1 and columns[-1] == "score"):
            continue
        where = f"line {number:,} of {name}"
        question, document, score = _judgement(columns, where, tsv=tsv)
        if (question, document) in seen:
            raise CorpusError(f"{where} judges {document!r} for {question!r} a second time; keep one")
        seen.add((question, document))
        gold.setdefault(question, []).extend([document] if score > 0 else [])
    return gold


def _judgement(columns: list[str], where: str, *, tsv: bool) -> tuple[str, str, int]:
    wanted = "query-id, corpus-id, score" if tsv else "qid 0 docid relevance"
    if len(columns) != (3 if tsv else 4):
        raise CorpusError(f"{where} has {len(columns)} columns and not {3 if tsv else 4} ({wanted})")
    try:
        return columns[0], columns[-2], int(columns[-1])
    except ValueError:
        raise CorpusError(f"{where}: the judgement {columns[-1]!r} is no whole number") from None


def _named(source: Source, name: str) -> str:
    return next((name + end for end in PACKINGS if (source.path / (name + end)).is_file()), "")


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{name} is not UTF-8 (byte {error.start:,}); save the file as UTF-8") from None
