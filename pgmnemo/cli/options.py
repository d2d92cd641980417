"""Options that several commands have, and texts of a command line as values of the library."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter, Token

from pgmnemo.errors import UsageError

LESSONS, MEMORY = Group("Which lessons", sort_key=1), Group("Which memory, and how to answer", sort_key=2)
STANDARD = "-"  # standard input or output
ME, DEFAULT = "me", "default"
LOCAL, NONE = "local", "none"
Pairs = dict[str, Any]


def _default(value: Any) -> str | None:
    """A default worth reading in the help; that a flag is off is not."""
    return None if value in (None, False) else str(value)


SHARED = Parameter(negative=(), show_env_var=False, show_default=_default)


def _time(_: Any, tokens: Sequence[Token]) -> datetime:
    return moment(tokens[0].value, tokens[0].keyword or "")


def moment(text: str, option: str) -> datetime:
    """A time of ISO 8601; whether it has a zone, the library asks."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} takes a time such as 2026-05-01T09:30+02:00, not {text!r}") from None


def _dashed(_: Any, tokens: Sequence[Token]) -> str:
    """A text that may be `-`, or begin as a line of a list does, but as no option does."""
    value = tokens[0].value
    if value.startswith("-") and value[1:2] not in ("", " "):
        raise UsageError(f"there is no option {value}; a text that begins so goes in by standard input")
    return value


def pairs(option: str, given: Iterable[str] | None) -> Pairs | None:
    """`topic=home`, `level=3` or an object of JSON, each time it is given, as one mapping."""
    if given is None:
        return None
    made: Pairs = {}
    for text in given:
        made.update(_pairs(option, text))
    return made


def _pairs(option: str, text: str) -> Pairs:
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
    """JSON where it is JSON: a number, true, null, a list; else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


Dashed = Annotated[str | None, Parameter(allow_leading_hyphen=True, converter=_dashed)]
Time = Annotated[datetime | None, Parameter(converter=_time, n_tokens=1, metavar="TIME")]
Given = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="NAME=VALUE")]
Names = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="NAME")]
Spans = Annotated[list[str] | None, Parameter(consume_multiple=False, metavar="FROM/TO")]
Mode = Literal["hybrid", "keyword", "vector"]
Place = Annotated[
    str | None,
    Parameter(
        metavar="PLACE",
        group=MEMORY,
        help="folder of the memory, or DSN of a database that has one; else what PGMNEMO_MEMORY names, else "
        "the folder pgmnemo/memory among your data",
    ),
]
Tenant = Annotated[
    str,
    Parameter(
        metavar="NAME", group=MEMORY, env_var="PGMNEMO_TENANT",
        help="whose memory it is: a name or uuid; else what PGMNEMO_TENANT says",
    ),
]  # fmt: skip
Project = Annotated[
    str | None,
    Parameter(
        metavar="NAME", group=MEMORY, env_var="PGMNEMO_PROJECT",
        help="part of it that is written and read; else what PGMNEMO_PROJECT says",
    ),
]  # fmt: skip
Embedder = Annotated[
    str,
    Parameter(
        metavar="NAME",
        group=MEMORY,
        env_var="PGMNEMO_EMBEDDER",
        help="what makes vectors of texts: local, minilm, bge-m3, …, or none: words alone; else what "
        "PGMNEMO_EMBEDDER says",
    ),
]
Json = Annotated[bool, Parameter(group=MEMORY, help="print JSON")]
Quiet = Annotated[bool, Parameter(group=MEMORY, help="print nothing but the answer")]
DryRun = Annotated[bool, Parameter(help="change nothing, and say what would be done")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Where:
    """One project of a tenant."""

    memory: Place = None
    tenant: Tenant = ME
    project: Project = DEFAULT
    json: Json = False
    quiet: Quiet = False

    @property
    def scope(self) -> str | None:
        """The project; None: all of them."""
        return self.project


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Anywhere(Where):
    """One project of a tenant, or all."""

    all_projects: Annotated[bool, Parameter(group=MEMORY, help="all projects of the tenant")] = False

    @property
    def scope(self) -> str | None:
        return None if self.all_projects else self.project


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Whole(Where):
    """All of a tenant, or one project."""

    project: Annotated[
        str | None, Parameter(metavar="NAME", group=MEMORY, help="this project alone; else all of them")
    ] = None


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class Among:
    """Which lessons are looked at."""

    role: str | None = None
    """those that this role says, such as user"""
    since: Time = None
    """those that happened at this time or later"""
    until: Time = None
    """those that happened before it"""
    filter: Given = None
    """those that a filter finds, such as topic=home or an object of JSON; may be repeated"""
    valid_at: Time = None
    """what held at this time"""
    known_at: Time = None
    """by what was known at this time"""

    def given(self) -> dict[str, Any]:
        """As keywords of the library."""
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**told, "filter": pairs("--filter", self.filter)}


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class Listed(Among):
    """Which lessons a list or a count takes."""

    topic: str | None = None
    """those of this topic"""
    everything: bool = False
    """forgotten, superseded and expired ones, too"""


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class Asked(Among):
    """What goes with a question."""

    k: int = 10
    """answers at most"""
    windows: Spans = None
    """times that the question means, such as 2026-05-01T00:00Z/2026-06-01T00:00Z; may be repeated"""
    as_of: Time = None
    """the present of the question"""
    mode: Mode | None = None
    """find by words, by meaning, or (hybrid) by both"""

    def given(self) -> dict[str, Any]:
        windows = None if self.windows is None else [_span(text) for text in self.windows]
        return {**super().given(), "windows": windows}


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class Fitting(Asked):
    """What goes with a question whose answers may be too weak."""

    floor: float | None = None
    """leave out what fits less, 0 to 1"""


@Parameter(name="*", group=LESSONS)
@dataclass(frozen=True, kw_only=True)
class Packed(Fitting):
    """The same where more is looked at than is told."""

    k: int = 20


def _span(text: str) -> tuple[datetime | None, datetime | None]:
    first, slash, last = text.partition("/")
    if not slash:
        raise UsageError(
            f"--windows takes FROM/TO, such as 2026-05-01T00:00Z/2026-06-01T00:00Z, not {text!r}"
        )
    start, end = (moment(one, "--windows") if one else None for one in (first, last))
    return start, end
