"""A folder of BEIR, of its form on the hub, or of LMEB, as a user's own corpus.

It holds corpus.jsonl, queries.jsonl and judgements: qrels/SPLIT.tsv or .jsonl, qrels.tsv, or a TREC
qrels.txt. Of several splits `CorpusFile.split` names one; by default `test` is read. For LMEB,
corpus.jsonl and candidates.jsonl may be in the parent folder, and a scene of candidates.jsonl is a
project; a document of several scenes is a lesson of each, `SCENE/ID`. A document is a session of one turn
without a speaker; a document without any text is left out. `metadata.project`, if every document has it,
says which questions are searched in the document; else all documents are one project. Judgements of 0 and
below are no evidence; a question without a judgement cites none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from math import isfinite
from pathlib import PurePath
from typing import Any

from pgmnemo.client.blank import is_blank
from runner.errors import CorpusError
from runner.protocol.datasets.corpus_file import CorpusFile, unique_object
from runner.records import Json

DOCUMENTS, QUERIES, JUDGED, TREC_JUDGED = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "qrels.txt"
CANDIDATES = "candidates.jsonl"
PACKINGS = ("", ".gz", ".xz")
JUDGEMENTS = tuple(
    f"{name}{end}" for name in ("qrels/*.tsv", "qrels/*.jsonl", "qrels.tsv", TREC_JUDGED) for end in PACKINGS
)
ENDING = re.compile(r"\.(tsv|jsonl|txt)(\.gz|\.xz)?$")
USUAL_SPLIT = "test"
HEAD = "query-id\tcorpus-id\tscore\n"
COLUMNS = (
    ("query-id", "qid", "topic", "query"),
    ("corpus-id", "docid", "docno", "document-id", "passage-id", "pid", "corpus", "document"),
    ("score", "relevance", "label", "rel", "judgement", "judgment", "qrel"),
)
"""What tools call the columns of judgements, in small letters and without `_`."""


def is_beir_folder(source: CorpusFile) -> bool:
    """Return whether the source is a folder with the documents and the questions of BEIR."""
    return source.path.is_dir() and all(_named(source, name) for name in (DOCUMENTS, QUERIES))


def documents(source: CorpusFile) -> Iterator[tuple[Json, str]]:
    """Yield each document as a session of the suite `file`, and its place; an empty document has no turns."""
    scenes = _scenes(source)
    shared = _shared(scenes)
    for record, where in _records(source, DOCUMENTS):
        title, text = (_text(record, key, where) for key in ("title", "text"))
        words = "\n".join(part for part in (title, text) if part.strip())
        turns = [] if is_blank(words) else [{"text": words}]
        key = record["_id"]
        for scene in scenes.get(key, [""]):
            own = {"id": _in_scene(key, scene, shared), "turns": turns}
            yield {**own, **_project(record, scene)}, where


def questions(source: CorpusFile) -> Iterator[tuple[Json, str]]:
    """Yield each question with its evidence, and its place in the file.

    Raises CorpusError for a repeated id, and for judgements of an unknown question.
    """
    gold, seen, found = _judgements(source), dict[str, str](), _scenes(source)
    scenes, shared = {one for group in found.values() for one in group}, _shared(found)
    for record, where in _records(source, QUERIES):
        key = record["_id"]
        if seen.setdefault(key, where) != where:
            raise CorpusError(f"{where} has the id {key!r}, as {seen[key]} has; keep one of the two")
        kind = (record.get("metadata") or {}).get("type")
        more = {"type": kind} if isinstance(kind, str) else {}
        scene = _scene(key, scenes, where) if scenes else ""
        cited = [_in_scene(one, scene, shared) for one in gold.get(key, [])]
        asked = {"id": key, "text": _text(record, "text", where), "evidence": cited}
        if key in gold or not is_blank(asked["text"]):
            yield {**asked, **_project(record, scene), **more}, where
    if strange := next((key for key in gold if key not in seen), None):
        raise CorpusError(
            f"the qrels of {source.path.name} judge {strange!r}, which is no question of {QUERIES}; remove "
            "its judgements, or add it"
        )


def _records(source: CorpusFile, name: str) -> Iterator[tuple[Json, str]]:
    """Yield the objects of a file with their places, each with its `_id` as text.

    In LMEB, whose judgements are in `qrels.tsv`, it is `id`, and an `_id` beside it means nothing.
    """
    first, second = ("id", "_id") if (source.path / "qrels.tsv").is_file() else ("_id", "id")
    for record, where in _objects(source, _named(source, name)):
        given = record.get(first, record.get(second))
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise CorpusError(f"{where} has no '_id' that is a text or a whole number")
        if not isinstance(record.get("metadata") or {}, dict):
            raise CorpusError(f"'metadata' of {where} must be an object")
        yield {**record, "_id": str(given)}, where


def _objects(source: CorpusFile, name: str) -> Iterator[tuple[Json, str]]:
    for number, line in enumerate(_decoded(source.within(name).content(), name).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number:,} of {name}"
        try:
            record = json.loads(line, object_pairs_hook=unique_object)
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


def _project(record: Json, scene: str) -> Json:
    project = scene or (record.get("metadata") or {}).get("project")
    return {"project": project} if isinstance(project, str) else {}


def _in_scene(document: str, scene: str, shared: Collection[str]) -> str:
    """Return the id of a document's lesson in a scene."""
    return f"{scene}/{document}" if document in shared else document


def _scenes(source: CorpusFile) -> dict[str, list[str]]:
    """Return the scenes of each document in candidates.jsonl; empty if there is no such file."""
    found: dict[str, list[str]] = {}
    name = _named(source, CANDIDATES)
    for record, where in _objects(source, name) if name else ():
        scene, listed = record.get("scene_id"), record.get("candidate_doc_ids")
        if isinstance(scene, bool) or not isinstance(scene, str | int) or not isinstance(listed, list):
            raise CorpusError(f"{where} has no 'scene_id' with a list of 'candidate_doc_ids'")
        for document in dict.fromkeys(map(str, listed)):
            found.setdefault(document, []).append(str(scene))
    return found


def _shared(scenes: dict[str, list[str]]) -> set[str]:
    """Return the documents of more than one scene."""
    return {document for document, found in scenes.items() if len(found) > 1}


def _scene(key: str, scenes: set[str], where: str) -> str:
    """Return the scene of a question of LMEB: the longest scene that its id equals or begins with."""
    fitting = [scene for scene in scenes if key == scene or key.startswith(f"{scene}_")]
    if not fitting:
        raise CorpusError(
            f"{where}: the id {key!r} begins with no scene of {CANDIDATES}; remove that file or add it"
        )
    return max(fitting, key=len)


def _judgements(source: CorpusFile) -> dict[str, list[str]]:
    """Return the relevant documents of each judged question, each once; CorpusError names the wrong line."""
    name = _split(source)
    gold, seen = dict[str, list[str]](), set[tuple[str, str]]()
    for question, document, score, where in _judged(source, name):
        if (question, document) in seen:
            raise CorpusError(f"{where} judges {document!r} for {question!r} a second time; keep one")
        seen.add((question, document))
        gold.setdefault(question, []).extend([document] if score > 0 else [])
    if not any(gold.values()):
        raise CorpusError(
            f"{name} judges no document above 0, so that no question can be scored; name another split"
        )
    return gold


def _split(source: CorpusFile) -> str:
    """Return the file of judgements to read: the named split, the only file, or `test`."""
    names = {ENDING.sub("", PurePath(name).name): name for name in source.names(*JUDGEMENTS)}
    wanted = source.split or (USUAL_SPLIT if len(names) > 1 else next(iter(names), ""))
    if wanted in names:
        return names[wanted]
    held = f"has judgements of {', '.join(names)}" if names else "has none"
    if source.split or names:
        raise CorpusError(f"{source.path} {held}, and not of {wanted}; choose one of its splits with --split")
    raise CorpusError(f"{source.path} has to hold judgements, qrels/SPLIT.tsv or {TREC_JUDGED}, and {held}")


def _judged(source: CorpusFile, name: str) -> Iterator[tuple[str, str, float, str]]:
    """Yield question, document, judgement and place of each line."""
    if ".jsonl" in name:
        for record, where in _objects(source, name):
            yield *_judgement([str(one) for one in record.values()], _places(list(record)), where), where
        return
    head: tuple[int, ...] | None = None
    rows = _rows(_decoded(source.within(name).content(), name), name)
    for at, (columns, where) in enumerate(rows):
        if at == 0 and (head := _places(columns)):
            continue
        yield *_judgement(columns, head or (0, -2, -1), where, wide=bool(head)), where


def _rows(text: str, name: str) -> Iterator[tuple[list[str], str]]:
    """Yield the columns of each line that is not blank, and its place."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            columns = line.split("\t") if "\t" in line else line.split()
            yield [column.strip() for column in columns], f"line {number:,} of {name}"


def _places(names: list[str]) -> tuple[int, ...] | None:
    """Return the positions of question, document and judgement in a header line; None if it is no header."""
    called = [name.lower().replace("_", "-") for name in names]
    found = [next((called.index(one) for one in known if one in called), None) for known in COLUMNS]
    return None if None in found else tuple(at for at in found if at is not None)


def _judgement(
    columns: list[str], places: tuple[int, ...] | None, where: str, wide: bool = True
) -> tuple[str, str, float]:
    """Return question, document and judgement of a line; a `wide` line may have more columns."""
    least = 3 if places is None else max(places) + 1
    fits = places is not None and (len(columns) >= least if wide else len(columns) in (3, 4))
    if places is None or not fits or not all(columns[at] for at in places):
        raise CorpusError(
            f"{where} has {len(columns)} columns and not 3 (query-id, corpus-id, score) or 4 (qid 0 docid "
            "relevance), none of them empty"
        )
    question, document, judged = (columns[at] for at in places)
    try:
        score = float(judged)
    except ValueError:
        score = float("nan")
    if not isfinite(score):
        raise CorpusError(
            f"{where}: the judgement {judged!r} is no number; write one, or a head line of query-id, "
            "corpus-id and score"
        )
    return question, document, score


def _named(source: CorpusFile, name: str) -> str:
    """Return the path of the file `name`, plain or packed, in the folder or, for LMEB, its parent.

    The result is empty if there is no such file.
    """
    above = ("",) if name == QUERIES or (source.path / "qrels").is_dir() else ("", "../")
    ways = (f"{folder}{name}{end}" for folder in above for end in PACKINGS)
    return next((way for way in ways if (source.path / way).is_file()), "")


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{name} is not UTF-8 (byte {error.start:,}); save the file as UTF-8") from None
