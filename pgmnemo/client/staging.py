"""Conversion of items to rows of the database: keys, vectors, the staging table, the remembered embedder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from pgmnemo import calls
from pgmnemo.calls import Call, Rows
from pgmnemo.client import requests
from pgmnemo.client.arguments import check_fields
from pgmnemo.client.embedding import Remembered, given
from pgmnemo.client.naming import composed
from pgmnemo.client.records import Item
from pgmnemo.client.turns import ESTIMATED, Written, written
from pgmnemo.client.vectors import Reals, Vectors
from pgmnemo.errors import UsageError
from pgmnemo.passages.pieces import Meter
from pgmnemo.records import Passage

COLUMNS = dict.fromkeys(
    ("project_id", "external_id", "content", *requests.FIELDS, "embedding", "passages", "passage_embeddings"),
    "",
)  # fmt: skip
LONGEST_KEY = 1_000  # bytes


@dataclass(frozen=True, slots=True)
class OfLesson:
    """Vectors of a lesson and of each of its passages; `source` is the embedder, None without vectors."""

    whole: Any = None
    passages: Any = None
    source: Remembered | None = None


def new_key() -> str:
    """Return a key that no other lesson has."""
    return uuid4().hex


def checked_key(key: str) -> str:
    """Return a key in its stored form; raise UsageError for a key that the extension refuses."""
    if not isinstance(key, str) or not 1 <= len(key.encode("utf-8", "surrogatepass")) <= LONGEST_KEY:
        raise UsageError(f"a key is a text of 1 to {LONGEST_KEY:,} bytes, not {str(key)[:40]!r}")
    return composed(key)


def batches(items: Iterable[Item | str], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of at most `size`, with distinct keys in each list.

    The last of two Items with one key replaces the first.
    """
    requests.number(size, "batch", 1, 10_000)
    if isinstance(items, str | Item) or not isinstance(items, Iterable):
        raise UsageError(f"add_many takes a list of texts and Items, not one {type(items).__name__}")
    rest, start = enumerate(items), new_key()[:24]
    while some := list(islice(rest, size)):
        keyed = [_keyed(item, f"{start}{number:08x}") for number, item in some]
        once = {item.key: item for item in keyed}
        if len(once) < len(keyed):
            _check_forms(item.key for _, item in some if isinstance(item, Item) and item.key)
        yield list(once.values())


def _check_forms(keys: Iterable[str]) -> None:
    """Raise UsageError for two keys that differ, and are stored as the same."""
    given: dict[str, str] = {}
    for key in keys:
        if (other := given.setdefault(composed(key), key)) != key:
            raise UsageError(
                f"the keys {other!a} and {key!a} are the same in Unicode's composed form (NFC); "
                "give one of them another key"
            )


def _keyed(item: Item | str, made: str) -> Item:
    if isinstance(item, str):
        return Item(item, made)
    if not isinstance(item, Item):
        raise UsageError(f"add_many takes texts and Items, not {type(item).__name__}")
    return replace(item, key=made if item.key is None else checked_key(item.key))


@contextmanager
def naming(key: str | None) -> Iterator[None]:
    """Name the lesson's key, if it has one, in a UsageError of the block."""
    try:
        yield
    except UsageError as error:
        if key is None:
            raise
        raise UsageError(f"lesson {key!r}: {error}") from None


def check(items: Iterable[Item]) -> None:
    """Raise UsageError for a field of an item that its annotation does not take."""
    for item in items:
        with naming(item.key):
            check_fields(item)


def whole(item: Item, meter: Meter = ESTIMATED) -> Written:
    """Return an item's text with its passages: the item's own, else passages by the protocol's rule and the
    limits of `meter`.
    """
    with naming(item.key):
        made = written(item.text, item.at, meter)
    if item.passage_vectors is not None and (item.passages is None or item.vector is None):
        raise UsageError("passage_vectors go with passages and with the vector of the whole; give all three")
    if item.passages is None:
        return made
    if item.passage_vectors is not None and len(item.passage_vectors) != len(item.passages):
        raise UsageError(
            f"{len(item.passages)} passages and {len(item.passage_vectors)} vectors of passages were given; "
            "give one for each"
        )
    return replace(made, passages=tuple(Passage(text, text) for text in item.passages))


def texts(item: Item, made: Written) -> list[str]:
    """Return the texts to embed."""
    if item.vector is not None:
        return []
    return [made.text, *(passage.embedded for passage in made.passages)]


def vectors(
    item: Item,
    made: Written,
    rows: Mapping[str, Any],
    own: Remembered | None,
    maker: Remembered | None = None,
) -> OfLesson:
    """Return the vectors of a lesson: the item's, which `maker` made (None: the caller), or of the memory's
    `own` embedder among `rows`, or none.
    """
    if item.vector is not None:
        parts = item.passage_vectors if made.passages else None
        given_rows, source = given([item.vector, *(parts or ())], 1 + len(parts or ()))
        return OfLesson(given_rows[0], given_rows[1:] if parts else None, maker or source)
    if own is None or not rows:
        return OfLesson()
    passages = [rows[passage.embedded] for passage in made.passages]
    whole = rows[made.text]
    some = any(row is not None for row in passages)
    return OfLesson(whole, passages if some else None, own if some or whole is not None else None)


def sent(made: Written, given: OfLesson, element: int, width: int) -> dict[str, Any]:
    """Return passages and vectors as arguments of `store` and `append`; `element` is the oid of pgvector's
    type.
    """
    return {
        "embedding": None if given.whole is None else Reals(given.whole, width),
        "passages": [passage.text for passage in made.passages] or None,
        "passage_embeddings": None if given.passages is None else Vectors(given.passages, element, width),
    }


def row(
    project: UUID, item: Item, made: Written, given: OfLesson, element: int, width: int
) -> tuple[Any, ...]:
    """Return a row of the staging table, in the order of COLUMNS."""
    from psycopg.types.json import Jsonb
    from psycopg.types.numeric import Int2, Int4

    with naming(item.key):
        said = requests.fields(item, made.at)
    wrapped: dict[str, Callable[[Any], Any]] = {
        "importance": Int2, "position": Int4, "metadata": partial(Jsonb, dumps=str),  # it is JSON already
    }  # fmt: skip
    fields = [
        wrapped[name](said[name]) if name in wrapped and said[name] is not None else said[name]
        for name in requests.FIELDS
    ]
    return (
        project, item.key, made.text, *fields,
        None if given.whole is None else Vectors(given.whole, element, width, single=True),
        [passage.text for passage in made.passages] or None,
        None if given.passages is None else Vectors(given.passages, element, width),
    )  # fmt: skip


class Space(NamedTuple):
    """A row of the verb `embedder`: `kept` numbers per vector, by the embedder in `name`."""

    name: str | None
    kept: int
    generation: int
    next_name: str | None = None
    next_kept: int | None = None

    @property
    def held(self) -> Remembered | None:
        """Return the remembered embedder of the vectors; None if no writer named it."""
        if self.name is None:
            return None
        embedder, model, numbers = [*re.split(" [·|] ", self.name), "", ""][:3]
        told = numbers.removesuffix(" numbers")
        return Remembered(embedder, model, int(told) if told.isdecimal() else self.kept)


def name_of(own: Remembered, kept: int | None = None) -> str:
    """Return the name that the extension stores of an embedder.

    It ends with the embedder's number of dimensions where the vectors have more, filled up with zeros.
    """
    numbers = "" if kept in (None, own.dimensions) else f"{own.dimensions} numbers"
    return " · ".join((own.embedder, own.model, numbers)).rstrip(" ·")


BARE = """
SELECT l.project_id, l.external_id, l.content,
       ARRAY(SELECT p.content FROM pgmnemo.list_passages(%(tenant)s) p
              WHERE p.lesson_id = l.id AND p.number > 0 ORDER BY p.number)
  FROM pgmnemo.list_lessons(%(tenant)s) l
 WHERE l.active
   AND NOT EXISTS (SELECT FROM pgmnemo.list_vectors(%(tenant)s) v WHERE v.lesson_id = l.id)
   AND EXISTS (SELECT FROM pgmnemo.list_vectors(%(tenant)s))
 ORDER BY l.project_id, l.id
"""


def bare(tenant: UUID) -> Call[Rows]:
    """Return the lessons of a tenant with vectors that have none: project, key, text and passages."""
    return Call(BARE, {"tenant": tenant}, lambda rows: rows)  # type: ignore[arg-type]


def space(tenant: UUID) -> Call[Space | None]:
    """Return the call for the tenant's embedder and dimension; its answer is None without vectors."""
    return calls.embedder(tenant).read(lambda rows: Space(*rows[0]) if rows else None)
