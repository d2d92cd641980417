"""Convert database rows to lines of an export, and lines to items; this module sends no queries."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOBase
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Any, TypeVar
from uuid import UUID

from msgspec import structs

from pgmnemo import calls
from pgmnemo.calls import Call, Rows
from pgmnemo.client.jsonl_format import (
    ExportHeader,
    ExportLine,
    LessonLine,
    LinkLine,
    SupersessionLine,
    VectorFormat,
    lines_of,
    pack,
    read_lines,
    unpack,
    write_line,
)
from pgmnemo.client.lesson_text import lesson_text
from pgmnemo.client.memory_embedder import EmbedderRecord, MemoryEmbedder
from pgmnemo.client.naming import project_id
from pgmnemo.client.records import Item, Lesson
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.client.staging import key_in_errors
from pgmnemo.client.vectors import unrounded
from pgmnemo.errors import ForeignProjectWarning, UsageError, os_errors

T = TypeVar("T")
STORED_FORMAT: VectorFormat = "float16"  # the precision of stored vectors
PASSAGES = (
    "SELECT lesson_id, number, content, v.embedding::real[] FROM pgmnemo.list_passages(%(tenant)s) p "
    "FULL JOIN (SELECT v.* FROM pgmnemo.embedder(%(tenant)s) e "
    "JOIN pgmnemo.list_vectors(%(tenant)s) v ON v.generation = e.generation) v USING (lesson_id, number) "
    "ORDER BY lesson_id, number"
)
LINK_COLUMNS = ("source_id", "target_id", "kind", "weight", "valid_from", "valid_to")
NAMED = 5  # the version of a uuid that comes from a name
PassageRow = tuple[int, int, str | None, list[float] | None]  # lesson's id, number, text, vector
LessonNames = Mapping[int, tuple[UUID, str]]  # project and key of a lesson by its id


@contextmanager
def new_file(place: str | os.PathLike[str] | IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a new file that appears at its path only once complete; raise UsageError for an existing path."""
    if not isinstance(place, str | os.PathLike):
        with os_errors("the export cannot be written: {why}"):
            yield from _given_file(_binary(place, "wb"))
        return
    path = Path(place)
    if path.exists() or path.is_symlink():
        raise UsageError(f"{path} is there already, and nothing is overwritten; name another file")
    told = f"{path} cannot be written: {{why}}; name a folder that can be written, with space in it"
    with (
        os_errors(told),
        NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file,
    ):
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.link(file.name, path)  # unlike a rename, it never replaces a file created meanwhile
        finally:
            Path(file.name).unlink()


def _given_file(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a file that the caller has opened; a file without seek, such as a pipe, is written at the end."""
    if file.seekable():
        yield file
        return
    with TemporaryFile() as whole:
        yield whole
        whole.seek(0)
        shutil.copyfileobj(whole, file)


def _binary(file: IO[bytes], mode: str) -> IO[bytes]:
    if isinstance(file, TextIOBase):
        raise UsageError(f"an export is a file of bytes; open it with the mode {mode!r}")
    return file


@contextmanager
def open_lines(place: str | os.PathLike[str] | IO[bytes]) -> Iterator[Iterator[ExportHeader | ExportLine]]:
    """Yield an iterator over the header and the records of an export."""
    if not isinstance(place, str | os.PathLike):
        yield read_lines(lines_of(_binary(place, "rb"), "the export"), "the export")
        return
    told = f"{place} cannot be read: {{why}}; name a file that an export has written"
    with os_errors(told, UsageError), Path(place).open("rb") as file:
        yield read_lines(lines_of(file, str(place)), str(place))


def write_lines(file: IO[bytes], records: Iterable[ExportHeader | ExportLine]) -> None:
    """Write each record to a file as a line of JSON."""
    for record in records:
        file.write(write_line(record).encode() + b"\n")


def export_header(
    version: str, tenant: UUID, project: UUID | None, held: EmbedderRecord | None, lessons: int
) -> ExportHeader:
    """Return the header of an export; without vectors if `held` is None, the tenant's stored embedder."""
    if held is None:
        return ExportHeader(extension=version, tenant=tenant, project=project, lessons=lessons)
    return ExportHeader(
        extension=version, tenant=tenant, project=project, lessons=lessons, embedder=held.embedder,
        model=held.model, dimensions=held.dimensions, vectors=STORED_FORMAT,
    )  # fmt: skip


def lesson_line(lesson: Lesson, parts: Sequence[PassageRow], width: int | None) -> LessonLine:
    """Return a lesson with its passages as a line of an export.

    Vectors have `width` numbers; None leaves them out.
    """
    whole = next((vector for _, number, _, vector in parts if number == 0), None)
    passages = [(text or "", vector) for _, number, text, vector in parts if number > 0]
    told = [_pack_vector(vector, width) for _, vector in passages]
    vectors = tuple(one for one in told if one is not None)
    return LessonLine(
        project=lesson.project, key=lesson.key, text=lesson.text, role=lesson.role, topic=lesson.topic,
        importance=lesson.importance, metadata=lesson.metadata, at=lesson.at, stored_at=lesson.stored_at,
        expires_at=lesson.expires_at, commit_sha=lesson.commit_sha, artifact_hash=lesson.artifact_hash,
        verified_at=lesson.verified_at, position=lesson.position, active=lesson.active,
        language=lesson.language,
        passages=tuple(text for text, _ in passages), vector=_pack_vector(whole, width),
        passage_vectors=vectors if vectors and len(vectors) == len(passages) else None,
    )  # fmt: skip


def _pack_vector(vector: Sequence[float] | None, width: int | None) -> bytes | None:
    if vector is None or width is None:
        return None
    return pack([*vector[:width], *[0.0] * (width - len(vector))], STORED_FORMAT)


def supersession_steps(tenant: UUID, lesson: Lesson) -> Call[Rows]:
    """Return the call for two steps of a lesson's timeline: the lesson's own step and the next step."""
    columns = ("step", "key", "in_project", "valid_to", "reason", "recorded_at")
    call = calls.timeline(tenant, lesson.project, lesson.key, columns=columns)
    return call.map(lambda rows: [row for row in rows if row[0] in (0, 1)])


def supersession_lines(lesson: Lesson, rows: Rows, project: UUID | None) -> Iterator[SupersessionLine]:
    """Yield the supersession line of a superseded lesson.

    The line has no successor if the successor is not in the exported project.
    """
    own = next((row for row in rows if row[0] == 0), None)
    after = next((row for row in rows if row[0] == 1 and row[2] == (project or row[2])), None)
    if own is not None and own[3] is not None:
        yield SupersessionLine(
            project=lesson.project, old=lesson.key, new=after[1] if after else None,
            new_project=after[2] if after and after[2] != lesson.project else None, at=own[3], reason=own[4],
            recorded_at=own[5],
        )  # fmt: skip


def link_lines(rows: Rows, ends: LessonNames) -> Iterator[LinkLine]:
    """Yield a line for each link between two lessons of the export."""
    for source, target, kind, weight, valid_from, valid_to in rows:
        if source in ends and target in ends:
            (project, key), (other, to) = ends[source], ends[target]
            yield LinkLine(
                project=project, source=key, target=to, target_project=other if other != project else None,
                type=kind, weight=weight, valid_from=valid_from, valid_to=valid_to,
            )  # fmt: skip


class ForeignProjects:
    """The projects of an export of the tenant `source` that is imported into another one, `target`.

    `names` are names of its projects, which become the projects of these names in `target`.
    """

    def __init__(self, source: UUID, target: UUID, names: Iterable[str]) -> None:
        self._projects = {project_id(source, name): project_id(target, name) for name in names}
        self._lessons = 0

    def moved(self, line: ExportLine) -> ExportLine:
        """Return a line with the projects of this tenant, and count the lessons whose project has no name."""
        if isinstance(line, LessonLine) and line.project not in self._projects:
            self._lessons += line.project.version == NAMED
        found = {
            name: self._projects[held]
            for name in ("project", "target_project", "new_project")
            if (held := getattr(line, name, None)) in self._projects
        }
        return structs.replace(line, **found) if found else line

    def warn(self) -> None:
        """Warn of lessons in projects that no name reaches."""
        if self._lessons:
            warnings.warn(
                f"lessons in projects that another tenant named, so that no name reaches them here: "
                f"{self._lessons:,}; import the export into an empty tenant with the names of its projects "
                "(keep_projects, --keep-projects)",
                ForeignProjectWarning,
                stacklevel=2,
            )


def vector_source(header: ExportHeader, own: MemoryEmbedder | None) -> EmbedderRecord | None:
    """Return the embedder of an export's vectors if they can be stored unchanged; else None.

    A memory without an embedder, or with the export's embedder, takes the vectors; any other embeds the texts
    again.
    """
    if header.vectors is None or header.embedder is None or header.dimensions is None:
        return None
    same = own is None or (own.name, own.model) == (header.embedder, header.model or "")
    return EmbedderRecord(header.embedder, header.model or "", header.dimensions) if same else None


def line_batches(given: Iterator[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `size`."""
    while some := list(islice(given, size)):
        yield some


def by_project(
    lessons: Iterable[LessonLine], project: UUID | None, origins: dict[str, UUID]
) -> dict[UUID, list[LessonLine]]:
    """Return lessons grouped by the project that they are imported into.

    This is `project`, or if it is None the project of each lesson. `origins` maps the keys so far to their
    projects in the export; raise UsageError for a key that two of its projects share.
    """
    found: dict[UUID, list[LessonLine]] = {}
    for line in lessons:
        if project is not None and origins.setdefault(line.key, line.project) != line.project:
            raise UsageError(
                f"the export has a lesson {line.key!r} in each of two projects; import it into the tenant, "
                "where they stay apart"
            )
        found.setdefault(project or line.project, []).append(line)
    return found


def is_known(line: LessonLine, known: Mapping[str, str]) -> bool:
    """Return whether a lesson with the same key and text is stored; `known` maps keys to hashes of texts."""
    return known.get(line.key) == text_digest(line.text)


def differs(line: LessonLine, held: Lesson | None) -> bool:
    """Return whether the stored lesson `held` is missing, not forgotten, or has another text than the
    line.
    """
    return held is None or held.active or held.text != line.text


def item_of_line(line: LessonLine, form: VectorFormat | None) -> Item:
    """Return a line as an item to store, with its vectors in the given form (None: without vectors).

    Without vectors, passages cut by the rule are cut again, to get the text to embed for each.
    """
    parts = line.passage_vectors
    with key_in_errors(line.key):
        usual = tuple(part.text for part in lesson_text(line.text, None).passages)
    cut = form is None and line.passages == usual
    return Item(
        text=line.text, key=line.key, role=line.role, topic=line.topic, importance=line.importance,
        metadata=line.metadata, at=line.at, expires_at=line.expires_at, commit_sha=line.commit_sha,
        artifact_hash=line.artifact_hash, verified_at=line.verified_at, position=line.position,
        passages=None if cut else line.passages, language=line.language,
        vector=_unpack_vector(line.vector, form) if line.vector and form else None,
        passage_vectors=[_unpack_vector(one, form) for one in parts] if parts and form else None,
    )  # fmt: skip


def _unpack_vector(data: bytes, form: VectorFormat) -> Any:
    numbers = unpack(data, form)
    return unrounded(numbers) if form == STORED_FORMAT else numbers
