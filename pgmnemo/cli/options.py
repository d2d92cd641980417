"""Options that several commands have, and texts of a command line as values of the library."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from cyclopts import Group, Parameter, Token, convert

from pgmnemo.cli.output import print_note
from pgmnemo.errors import UsageError

LESSON, LESSONS = Group("The lesson", sort_key=1), Group("Which lessons", sort_key=1)
MEMORY = Group("Memory and output", sort_key=2)
STANDARD = "-"  # standard input or output
LONGEST = 200_000_000  # most bytes read of a text; the limit of a stored text is lower
ME, DEFAULT = "me", "default"
PROJECT = "PGMNEMO_PROJECT"
LOCAL, NONE = "local", "none"
PLACE = "what PGMNEMO_MEMORY names, else the folder pgmnemo/memory among your data"
SPAN = "2026-05-01T00:00Z/2026-06-01T00:00Z"


def _default(value: Any) -> str | None:
    """Return whether a default is shown in the help; False for a flag that is off."""
    return None if value in (None, False) else str(value)


def _convert(kind: Any, tokens: Sequence[Token]) -> Any:
    """Return the words of an option as a value of its type; a fraction for a whole number is an error."""
    if int in (kind, *get_args(kind)) and "." in tokens[0].value:
        raise ValueError(f"{tokens[0].value} is not a whole number")
    return convert(kind, tokens)


SHARED = Parameter(negative=(), show_env_var=False, show_default=_default, converter=_convert)


def _time(_: Any, tokens: Sequence[Token]) -> datetime:
    return parse_time(tokens[0].value, tokens[0].keyword or "this")


def parse_time(text: str, option: str) -> datetime:
    """Return a time of ISO 8601 with its zone; a date without a time is its midnight in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is not None and len(text) <= len("2026-05-01"):
        return found.replace(tzinfo=UTC)
    if found is None or found.tzinfo is None:
        raise UsageError(
            f"{option} takes a date or a time with its zone, such as 2026-05-01T09:30+02:00, not {text}"
        )
    return found


def _text_with_dash(_: Any, tokens: Sequence[Token]) -> str:
    """Return a text that may be `-` or a list item such as `- milk`; raise UsageError for an option."""
    value = tokens[0].value
    if value.startswith("-") and value[1:2] not in ("", " "):
        raise UsageError(f"there is no option {value}; a text that begins so goes in by standard input")
    return value


def text_given(text: str, quiet: bool) -> str:
    """Return a text unchanged, or for `-` that of standard input."""
    if text != STANDARD:
        return text
    if sys.stdin.isatty():
        print_note(quiet, "type the text, and end it with Ctrl-D on a line of its own")
    try:
        return sys.stdin.buffer.read(LONGEST).decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8; convert it") from None


def parse_pairs(option: str, given: Iterable[str] | None) -> dict[str, Any] | None:
    """Return all values of an option, `topic=home` or an object of JSON each, as one mapping."""
    if given is None:
        return None
    return {name: value for text in given for name, value in _pairs(option, text).items()}


def _pairs(option: str, text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if not text.lstrip().startswith("{"):
        if not equals or not name.strip():
            raise UsageError(f"{option} takes NAME=VALUE or an object of JSON, not {text!r}")
        return {name.strip(): _value(value)}
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise UsageError(f"{option} takes NAME=VALUE or an object of JSON, and {text!r}: {error}") from None


def _value(text: str) -> Any:
    """Return a JSON value, such as a number, true, null or a list; any other text unchanged."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _of_memory(help: str, metavar: str | None = None, variable: str | None = None) -> Parameter:
    told = f"{help}; else what {variable} says" if variable else help
    return Parameter(group=MEMORY, help=told, metavar=metavar, env_var=variable)


Dashed = Annotated[str | None, Parameter(allow_leading_hyphen=True, converter=_text_with_dash)]
Time = Annotated[datetime | None, Parameter(converter=_time, n_tokens=1, metavar="TIME")]
Given = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="NAME=VALUE")]
Names = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="NAME")]
Others = Annotated[
    list[str] | None,
    Parameter(
        name="--with", consume_multiple=False, metavar="NAME", group=MEMORY,
        help="another tenant whose memory is recalled, too; may be repeated",
    ),
]  # fmt: skip
Spans = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="FROM/TO")]
DryRun = Annotated[bool, Parameter(help="change nothing, and say what would be done")]
KeepSecrets = Annotated[
    bool,
    Parameter(
        help="store keys, tokens and passwords as they are, unredacted; else what PGMNEMO_KEEP_SECRETS says",
        env_var="PGMNEMO_KEEP_SECRETS",
    ),
]
Place = Annotated[
    str | None, _of_memory(f"folder of the memory, or DSN of a database that has one; else {PLACE}", "PLACE")
]
Tenant = Annotated[str, _of_memory("whose memory it is: a name or uuid", "NAME", "PGMNEMO_TENANT")]
Project = Annotated[str | None, _of_memory("which part of it: a name or uuid", "NAME", PROJECT)]
OneProject = Annotated[str | None, _of_memory("this project alone; else all of them", "NAME")]
AllProjects = Annotated[bool, _of_memory("all projects of the tenant")]
Embedder = Annotated[
    str,
    _of_memory(
        "what makes vectors of texts: local, multilingual-e5-small-4bit, …, with options as in "
        "\"endpoint model=M endpoint_url=URL\", or none: words alone", "NAME",
        "PGMNEMO_EMBEDDER",
    ),
]  # fmt: skip
Json = Annotated[bool, _of_memory("print JSON")]
Quiet = Annotated[bool, _of_memory("print nothing but the answer")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class MemoryFlags:
    """The memory, one project of a tenant, and the form of the output."""

    memory: Place = None
    tenant: Tenant = ME
    project: Project = DEFAULT
    json: Json = False
    quiet: Quiet = False

    @property
    def scope(self) -> str | None:
        """The project; None: all of them."""
        return self.project


@dataclass(frozen=True, kw_only=True)
class AllProjectsFlags(MemoryFlags):
    """The memory, and one or all projects of a tenant."""

    all_projects: AllProjects = False

    @property
    def scope(self) -> str | None:
        return None if self.all_projects else self.project


@dataclass(frozen=True, kw_only=True)
class TenantFlags(MemoryFlags):
    """The memory, and all of a tenant or one of its projects."""

    project: OneProject = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class VerbFlags:
    """Options that are keywords of a verb."""

    def keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of the client's verb."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        for name in {"filter", "metadata", "patch"} & set(told):
            told[name] = parse_pairs(f"--{name}", told[name])
        return told


@Parameter(name="*", group=LESSON)
@dataclass(frozen=True, kw_only=True)
class LessonFlags(VerbFlags):
    """The fields of a lesson besides its text.

    Args:
        role: who says it, such as user
        topic: what it is about
        importance: 1 to 5, where 3 is usual
        metadata: further fields of your own: place=home, or an object of JSON
        at: when it happened
        expires_at: time until which it is kept
        verified_at: when it was checked last
        position: its number in a conversation
        clear: name of a field whose value is removed; may be repeated
    """

    role: str | None = None
    topic: str | None = None
    importance: int | None = None
    metadata: Given = None
    at: Time = None
    expires_at: Time = None
    verified_at: Time = None
    position: int | None = None
    clear: Names = None


@dataclass(frozen=True, kw_only=True)
class AddFlags(LessonFlags):
    """The fields of a new lesson.

    Args:
        key: its name in the project
        commit_sha: the commit that it comes from
        artifact_hash: the hash of the file that it comes from
        language: the language of its text, such as de, or auto
    """

    key: str | None = None
    commit_sha: str | None = None
    artifact_hash: str | None = None
    language: str | None = None


@dataclass(frozen=True, kw_only=True)
class UpdateFlags(LessonFlags):
    """The fields of a stored lesson that change.

    Args:
        patch: entry of its metadata to change, such as n=4; the others stay
    """

    patch: Given = None


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class FilterFlags(VerbFlags):
    """Conditions on the lessons that a command reads.

    Args:
        role: only lessons of this role, such as user
        since: only lessons that happened at this time or later
        until: only lessons that happened before this time
        filter: only lessons that match, such as topic=home or an object of JSON; may be repeated
        valid_at: only lessons that held at this time
        known_at: only what was known at this time
    """

    role: str | None = None
    since: Time = None
    until: Time = None
    filter: Given = None
    valid_at: Time = None
    known_at: Time = None


@dataclass(frozen=True, kw_only=True)
class ListFlags(FilterFlags):
    """Conditions on the lessons that `list` and `count` return.

    Args:
        topic: only lessons of this topic
        include_inactive: also forgotten, superseded and expired lessons
    """

    topic: str | None = None
    include_inactive: bool = False


@dataclass(frozen=True, kw_only=True)
class QuestionFlags(FilterFlags):
    """The options of a question.

    Args:
        k: maximum number of lessons
        time_ranges: times that the question means, such as
            2026-05-01T00:00Z/2026-06-01T00:00Z; may be repeated
        as_of: the present time of the question; else now
        mode: find by words, by meaning, or (hybrid) by both
    """

    k: int = 10
    time_ranges: Spans = None
    as_of: Time = None
    mode: Literal["hybrid", "keyword", "vector"] | None = None

    def keywords(self) -> dict[str, Any]:
        ranges = None if self.time_ranges is None else [_time_range(text) for text in self.time_ranges]
        return {**super().keywords(), "time_ranges": ranges}


@dataclass(frozen=True, kw_only=True)
class RecallFlags(QuestionFlags):
    """The options of a question whose weak answers may be left out.

    Args:
        min_fit: leave out lessons with a smaller fit, 0 to 1
        duplicates: show all lessons with an equal text, not only the newest
    """

    min_fit: float | None = None
    duplicates: bool = False


@dataclass(frozen=True, kw_only=True)
class ContextFlags(RecallFlags):
    """The options of a question for a prompt, which looks at more lessons.

    Args:
        least_words: show the newest alone of lessons that share this much of their words, 0.5 to 1
    """

    k: int = 20
    least_words: float = 0.8


def _time_range(text: str) -> tuple[datetime | None, ...]:
    first, slash, last = text.partition("/")
    if not slash:
        raise UsageError(f"--time-ranges takes FROM/TO, such as {SPAN}, not {text!r}")
    return tuple(parse_time(one, "--time-ranges") if one else None for one in (first, last))
