"""A folder of BEIR, of the hub's form of it, or of LMEB, as a file of one's own.

It holds corpus.jsonl, queries.jsonl and judgements: qrels/SPLIT.tsv or .jsonl, qrels.tsv, or a TREC
qrels.txt. Of several splits `Source.split` names one, else `test` is read. Of LMEB, corpus.jsonl and
candidates.jsonl may lie in the folder above, and a scene of candidates.jsonl is a project.

A document is a session of one turn without a speaker; one without any text is left out. `metadata.project`,
where every document has one, says which questions are searched in it; else all are one memory. Judgements
of 0 and below are no evidence; a question without a judgement cites none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import PurePath
from typing import Any

from runner.errors import CorpusError
from runner.protocol.suites.reading import Source
from runner.records import Json

DOCUMENTS, QUERIES, JUDGED, TREC_JUDGED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels.txt"
CANDIDATES = "candidates.jsonl"
JUDGEMENTS = ("qrels/*.tsv", "qrels/*.jsonl", "qrels.tsv", TREC_JUDGED)
USUAL_SPLIT = "test"
HEAD = "query-id\tcorpus-id\tscore\n"
SCORES = ("score", "relevance", "label")  # the last column of a head line
PACKINGS = ("", ".gz", ".xz")


def is_beir(source: Source) -> bool:
    """Whether the source is a folder with the documents and the questions of BEIR."""
    return source.path.is_dir() and all(_named(source, name) for name in (DOCUMENTS, QUERIES))


def documents(source: Source) -> Iterator[tuple[Json, str]]:
    """Each document as a session of the suite `file`, without turns where it is empty, and its place."""
    scenes = _scenes(source)
    for record, where in _records(source, DOCUMENTS):
        title, text = (_text(record, key, where) for key in ("title", "text"))
        words = "\n".join(part for part in (title, text) if part.strip())
        turns = [{"text": words}] if words.replace("\0", "").strip() else []
        yield {"id": record["_id"], "turns": turns, **_project(record, scenes)}, where


def questions(source: Source) -> Iterator[tuple[Json, str]]:
    """Each question with its evidence, and where it stands; CorpusError for an id that stands twice."""
    gold, seen, scenes = _judgements(source), dict[str, str](), set(_scenes(source).values())
    for record, where in _records(source, QUERIES):
        key = record["_id"]
        if seen.setdefault(key, where) != where:
            raise CorpusError(f"{where} has the id {key!r}, as {seen[key]} has; keep one of the two")
        kind = (record.get("metadata") or {}).get("type")
        more = {"type": kind} if isinstance(kind, str) else {}
        asked = {"id": key, "text": _text(record, "text", where), "evidence": gold.get(key, [])}
        if key in gold or asked["text"].strip():
            yield (
                {**asked, **_project(record, {key: _scene(key, scenes, where)} if scenes else {}), **more},
                where,
            )
    if strange := next((key for key in gold if key not in seen), None):
        raise CorpusError(
            f"the qrels of {source.path.name} judge {strange!r}, which is no question of {QUERIES}"
        )


def _records(source: Source, name: str) -> Iterator[tuple[Json, str]]:
    """The objects of a file, each with its `_id` (of LMEB `id`) as a text."""
    for record, where in _objects(source, _named(source, name)):
        given = record.get("_id", record.get("id"))
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise CorpusError(f"{where} has no '_id' that is a text or a whole number")
        if not isinstance(record.get("metadata") or {}, dict):
            raise CorpusError(f"'metadata' of {where} must be an object")
        yield {**record, "_id": str(given)}, where


def _objects(source: Source, name: str) -> Iterator[tuple[Json, str]]:
    for number, line in enumerate(_decoded(source.within(name).content(), name).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number:,} of {name}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{where} is not JSON ({error}); write one object a line") from None
        if not isinstance(record, dict):
            raise CorpusError(f"{where} is no JSON object; write one object a line")
        yield record, where


def _text(record: Json, key: str, where: str) -> str:
    value: Any = record.get(key)
    if not isinstance(value, str | None):
        raise CorpusError(f"{key!r} of {where} must be a text")
    return value or ""


def _project(record: Json, scenes: dict[str, str]) -> Json:
    project = scenes.get(record["_id"]) or (record.get("metadata") or {}).get("project")
    return {"project": project} if isinstance(project, str) else {}


def _scenes(source: Source) -> dict[str, str]:
    """The scene of each document by candidates.jsonl; empty where there is no such file."""
    found: dict[str, str] = {}
    name = _named(source, CANDIDATES)
    for record, where in _objects(source, name) if name else ():
        scene, listed = record.get("scene_id"), record.get("candidate_doc_ids")
        if isinstance(scene, bool) or not isinstance(scene, str | int) or not isinstance(listed, list):
            raise CorpusError(f"{where} has no 'scene_id' with a list of 'candidate_doc_ids'")
        for document in map(str, listed):
            if found.setdefault(document, str(scene)) != str(scene):
                raise CorpusError(
                    f"{where} has the document {document!r} of the scene {found[document]!r}, too, and a "
                    f"document is of one project here; remove {name} to ask every question of all documents"
                )
    return found


def _scene(key: str, scenes: set[str], where: str) -> str:
    """The scene of a question of LMEB: the one that its id is, or begins with."""
    fitting = [scene for scene in scenes if key == scene or key.startswith(f"{scene}_")]
    if not fitting:
        raise CorpusError(
            f"{where}: the id {key!r} begins with no scene of {CANDIDATES}; remove that file or add it"
        )
    return max(fitting, key=len)


def _judgements(source: Source) -> dict[str, list[str]]:
    """The relevant documents of each judged question, each once; CorpusError names the line that is wrong."""
    name = _split(source)
    gold, seen = dict[str, list[str]](), set[tuple[str, str]]()
    for question, document, score, where in _judged(source, name):
        if (question, document) in seen:
            raise CorpusError(f"{where} judges {document!r} for {question!r} a second time; keep one")
        seen.add((question, document))
        gold.setdefault(question, []).extend([document] if score > 0 else [])
    return gold


def _split(source: Source) -> str:
    """The file of judgements that is read: that of the split, the only one, or that of `test`."""
    names = {PurePath(name).stem: name for name in source.names(*JUDGEMENTS)}
    wanted = source.split or (USUAL_SPLIT if len(names) > 1 else next(iter(names), ""))
    if wanted in names:
        return names[wanted]
    held = f"has judgements of {', '.join(names)}" if names else "has none"
    if source.split or names:
        raise CorpusError(f"{source.path} {held}, and not of {wanted}; choose one of its splits with --split")
    raise CorpusError(f"{source.path} has to hold judgements, qrels/SPLIT.tsv or {TREC_JUDGED}, and {held}")


def _judged(source: Source, name: str) -> Iterator[tuple[str, str, float, str]]:
    """Question, document and judgement of each line, and where it stands."""
    if name.endswith(".jsonl"):
        for record, where in _objects(source, name):
            columns = [str(record.get(key, "")) for key in ("query-id", "corpus-id", "score")]
            yield *_judgement(columns, where), where
        return
    for number, line in enumerate(_decoded(source.within(name).content(), name).split("\n"), start=1):
        columns = line.rstrip("\r").split("\t") if "\t" in line else line.split()
        if line.strip() and not (number == 1 and columns[-1].lower() in SCORES):
            where = f"line {number:,} of {name}"
            yield *_judgement(columns, where), where


def _judgement(columns: list[str], where: str) -> tuple[str, str, float]:
    if len(columns) not in (3, 4) or not all(columns):
        raise CorpusError(
            f"{where} has {len(columns)} columns and not 3 (query-id, corpus-id, score) or 4 (qid 0 docid "
            "relevance), none of them empty"
        )
    try:
        score = float(columns[-1])
    except ValueError:
        score = float("nan")
    if not isfinite(score):
        raise CorpusError(f"{where}: the judgement {columns[-1]!r} is no number")
    return columns[0], columns[-2], score


def _named(source: Source, name: str) -> str:
    """The file of that name in the folder or, as LMEB has it, in the one above, packed or not; else empty."""
    above = ("",) if name == QUERIES or (source.path / "qrels").is_dir() else ("", "../")
    ways = (f"{folder}{name}{end}" for folder in above for end in PACKINGS)
    return next((way for way in ways if (source.path / way).is_file()), "")


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{name} is not UTF-8 (byte {error.start:,}); save the file as UTF-8") from None
