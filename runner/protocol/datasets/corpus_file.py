"""The reader of a corpus file: unpack xz or gzip, hash the unpacked bytes, and check the items of its JSON.

The items of a list are read one by one, so that a file of 277 MB is never in memory as a whole. A corpus
may be a folder of files: its SHA-256 is that of the list of their hashes.
"""

from __future__ import annotations

import codecs
import gzip
import json
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from runner.errors import CorpusError
from runner.protocol.editions import list_digest
from runner.records import Json

T = TypeVar("T")
KINDS = {str: "a string", int: "a whole number", list: "a list", dict: "an object", float: "a number"}
CHUNK = 8 << 20  # bytes per read: many items, so that few are parsed twice at a chunk's end
XZ, GZIP = b"\xfd7zXZ\x00", b"\x1f\x8b"
SMALL, RATIO = 16 << 20, 40  # limit of unpacked bytes: the larger of SMALL and RATIO times the packed size
BLANK = re.compile(r"[ \t\r\n]*")  # matches everywhere
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # the first half of a surrogate pair
DAMAGED = (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error)


def unique_object(pairs: list[tuple[str, Any]]) -> Json:
    """Return the object of these pairs, for `json.loads`; raise ValueError for a repeated key."""
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return record


class CorpusFile:
    """One pass over the file at `path`: call `items()` or `document()` once, then `sha256()`.

    If `path` is a folder, `within` opens a file of it, and `sha256()` is of the list of the opened files;
    `split` names the set of questions to read.
    """

    def __init__(self, path: Path, split: str = "") -> None:
        self.path, self.split = path, split
        self.bytes = 0  # unpacked bytes read so far
        self._digest = sha256()
        self._stream = self._chunks()
        self._within: dict[str, CorpusFile] = {}

    def names(self, *patterns: str) -> list[str]:
        """Return the names of the folder's files that match a pattern, such as `1/chat.json`, sorted."""
        found = (path for pattern in patterns for path in self.path.glob(pattern) if path.is_file())
        return sorted({path.relative_to(self.path).as_posix() for path in found})

    def some(self, title: str, *patterns: str) -> list[str]:
        """Return the names of files that match.

        Raises CorpusError if there is none. `title` names the corpus.
        """
        if names := self.names(*patterns):
            return names
        raise CorpusError(f"the folder {self.path} holds no file of {title} ({patterns[0]}); fetch it again")

    def entries(self, ending: str) -> list[str]:
        """Return the sorted names of all entries that could be meant as a file of the corpus.

        These are names that contain `ending` in any case, packed or not, and folders and dead links.
        Hidden entries and the partial downloads of `fetch` (`.part`) are left out.
        """
        here = self.path.iterdir()
        found = (path for path in here if not path.name.startswith(".") and path.suffix != ".part")
        return sorted(one.name for one in found if ending in one.name.lower() or not one.is_file())

    def within(self, name: str) -> CorpusFile:
        """Open the file `name` of the folder and return it."""
        opened = self._within[name] = CorpusFile(self.path / name)
        return opened

    @property
    def files(self) -> dict[str, str]:
        """The SHA-256 of each opened file of the folder, by its name; empty for a corpus of one file."""
        return {name: source.sha256() for name, source in self._within.items()}

    def document(self) -> Any:
        """Return the JSON value of the file; raise CorpusError with the place of a syntax error."""
        data = self.content()
        try:
            text = data.decode("utf-8-sig")
            return self.whole(json.loads(text), text)
        except UnicodeDecodeError as error:
            raise self.no_text(error.start) from None
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{self.path} is cut off or is no JSON ({_unread(error)}); fetch it again or name another"
            ) from None

    def whole(self, value: T, text: str) -> T:
        """Return `value`, which was parsed from `text`; raise CorpusError for an unpaired surrogate.

        Raises CorpusError if it contains an unpaired surrogate.
        """
        if HALF.search(text):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                half = f"\\u{ord(error.object[error.start]):04x} by itself"
                raise CorpusError(f"{self.path} holds half a character ({half}); write it anew") from None
        return value

    def items(self) -> Iterator[Json]:
        """Yield the objects of the file's top-level JSON list.

        Raises CorpusError with the byte of a syntax error.
        """
        window = _Window(self)
        window.expect("[", "a JSON list of items")
        if window.peek() == "]":
            raise CorpusError(f"{self.path} is an empty JSON list; fetch the corpus again")
        while True:
            yield window.item()
            if window.expect(",]", "a comma or the end of the list") == "]":
                break
        if window.peek():
            raise window.broken("more text after the end of the list")

    def sha256(self) -> str:
        """Return the hex digest of all unpacked bytes, after reading the rest.

        For a folder, of its list of files.
        """
        if self._within:
            return list_digest(self.files)
        while self.read():
            pass
        return self._digest.hexdigest()

    def content(self) -> bytes:
        """Return all unpacked bytes."""
        return b"".join(iter(self.read, b""))

    def read(self) -> bytes:
        """Return the next unpacked bytes; empty at the end."""
        return next(self._stream, b"")

    def no_text(self, byte: int) -> CorpusError:
        """Return the error for a byte that is not valid UTF-8."""
        return CorpusError(f"{self.path} is not UTF-8 text (at byte {byte:,})")

    def _chunks(self) -> Iterator[bytes]:
        try:
            most = max(SMALL, RATIO * self.path.stat().st_size)
            with _opened(self.path) as file:
                while chunk := file.read(CHUNK):
                    self.bytes += len(chunk)
                    if self.bytes > most:
                        raise CorpusError(
                            f"{self.path} unpacks to more than {RATIO} times its size, as no corpus does: "
                            "name the corpus itself"
                        )
                    self._digest.update(chunk)
                    yield chunk
        except DAMAGED as error:
            raise CorpusError(f"{self.path} cannot be unpacked: it is cut off or damaged ({error})") from None
        except OSError as error:
            raise CorpusError(f"{self.path} cannot be read: {error.strerror or error}") from None
        if not self.bytes:
            raise CorpusError(f"{self.path} is empty; fetch the corpus again")


def _unread(error: ValueError | RecursionError) -> str:
    """Return the reason why a JSON document could not be parsed."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}: line {error.lineno:,}"
    return "too deeply nested" if isinstance(error, RecursionError) else "a number of too many digits"


def _opened(path: Path) -> IO[bytes]:
    """Open the file; its first bytes, not its name, decide how it is unpacked."""
    with path.open("rb") as file:
        magic = file.read(len(XZ))
    if magic == XZ:
        return cast(IO[bytes], lzma.open(path))
    return cast(IO[bytes], gzip.open(path)) if magic.startswith(GZIP) else path.open("rb")


class _Window:
    """The decoded text around the reading position of a CorpusFile."""

    def __init__(self, source: CorpusFile) -> None:
        self._source = source
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._count = 0

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            self._at = BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def expect(self, characters: str, what: str) -> str:
        """Step over one of `characters` and return it; raise CorpusError for another character."""
        found = self.peek()
        if not found or found not in characters:
            raise self.broken(f"expected {what}")
        self._at += 1
        return found

    def item(self) -> Json:
        """Return the next object of the list."""
        if self.peek() != "{":
            raise self.broken("expected an item that is a JSON object")
        while True:
            try:
                begun, (value, self._at) = self._at, self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                ahead = error.pos - self._at
                if not self._more(len(self._text) - self._at):
                    raise self.broken(error.msg, self._at + ahead) from None
            except (ValueError, RecursionError) as error:
                raise self.broken(_unread(error)) from None
            else:
                self._count += 1
                return self._source.whole(cast(Json, value), self._text[begun : self._at])

    def broken(self, problem: str, at: int | None = None) -> CorpusError:
        """Return the error for `problem` at the character `at` of the text; None: the current position."""
        ahead = len(self._text[self._at if at is None else at :].encode(errors="surrogatepass"))
        byte = self._source.bytes - ahead
        where = f"byte {byte:,}, after {self._count:,} whole items"
        return CorpusError(
            f"{self._source.path} is cut off or is no JSON corpus ({problem}: {where}); "
            "fetch it again or name another file"
        )

    def _more(self, least: int = 0) -> bool:
        """Read on, at least `least` bytes; return whether there was more.

        Reading as much again as is buffered keeps the time linear in the size of an item.
        """
        pieces = [self._text[self._at :]]
        self._at = 0
        grown = 0
        while chunk := self._source.read():
            pieces.append(self._decoded(chunk))
            grown += len(chunk)
            if grown >= least:
                break
        self._text = "".join(pieces)
        return grown > 0

    def _decoded(self, chunk: bytes) -> str:
        try:
            return self._utf8.decode(chunk)
        except UnicodeDecodeError as error:
            byte = self._source.bytes - len(error.object) + error.start
            raise self._source.no_text(byte) from None


def take(record: Json, key: str, kind: type[T], where: str) -> T:
    """Return `record[key]`, which must be a `kind`; `where` names the item in errors."""
    if key not in record:
        raise CorpusError(f"{where} has no {key!r}; its keys are: {', '.join(list(record)[:8]) or 'none'}")
    return check_type(record[key], kind, f"{key!r} of {where}")


def check_type(value: Any, kind: type[T], where: str) -> T:
    """Return `value`; raise CorpusError unless it is a `kind` (a bool is no number)."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise CorpusError(f"{where} must be {KINDS[kind]}, but is {_shown(value)}")
    return value


def check_list(record: Json, key: str, kind: type[T], where: str) -> list[T]:
    """Return `record[key]`; raise CorpusError unless it is a list of `kind`."""
    values = take(record, key, list, where)
    return [check_type(value, kind, f"{key!r}[{at}] of {where}") for at, value in enumerate(values)]


def one_of(value: T, known: Sequence[T], where: str) -> T:
    """Return `value`; raise CorpusError unless it is in `known`."""
    if value not in known:
        raise CorpusError(f"{where} is {_shown(value)}, which is none of: {', '.join(map(str, known))}")
    return value


def check_distinct(values: Iterable[str | tuple[str, str]], what: str) -> None:
    """Raise CorpusError when a value, or a pair of a project and an id, occurs twice."""
    for value, times in Counter(values).items():
        if times > 1:
            name = value if isinstance(value, str) else value[1]
            raise CorpusError(f"{what} {name!r} occurs twice")


def number_repeats(values: Iterable[str]) -> Iterator[str]:
    """Yield `values`; a repeated value becomes `<value>#2` and so on."""
    times: Counter[str] = Counter()
    for value in values:
        times[value] += 1
        yield value if times[value] == 1 else f"{value}#{times[value]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
