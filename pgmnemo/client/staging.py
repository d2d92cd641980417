"""Convert items to database rows: keys, vectors, the staging table and the stored embedder."""

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
from pgmnemo.client import scope_calls
from pgmnemo.client.arguments import check_fields
from pgmnemo.client.lesson_text import ESTIMATED_METER, LessonText, lesson_text
from pgmnemo.client.memory_embedder import EmbedderRecord, caller_vectors
from pgmnemo.client.naming import nfc
from pgmnemo.client.records import Item
from pgmnemo.client.vectors import RealArray, VectorArray
from pgmnemo.errors import UsageError
from pgmnemo.passages.pieces import Meter
from pgmnemo.records import Passage

COLUMNS = dict.fromkeys(
    ("project_id", "external_id", "content", *scope_calls.LESSON_FIELDS, "embedding", "passages",
     "passage_embeddings"), "",
)  # fmt: skip
LONGEST_KEY = 1_000  # bytes


@dataclass(frozen=True, slots=True)
class LessonVectors:
    """Vectors of a lesson and of each of its passages; `source` is the embedder, None without vectors."""

    whole: Any = None
    passages: Any = None
    source: EmbedderRecord | None = None


def new_key() -> str:
    """Return a new unique key."""
    return uuid4().hex


def checked_key(key: str) -> str:
    """Return a key in its stored form; raise UsageError for a key that the extension refuses."""
    if not isinstance(key, str) or not 1 <= len(key.encode("utf-8", "surrogatepass")) <= LONGEST_KEY:
        raise UsageError(f"a key is a text of 1 to {LONGEST_KEY:,} bytes, not {str(key)[:40]!r}")
    return nfc(key)


def item_batches(items: Iterable[Item | str], size: int) -> Iterator[list[Item]]:
    """Yield items in lists of at most `size`, with distinct keys in each list.

    The last of two Items with one key replaces the first.
    """
    scope_calls.checked_int(size, "batch", 1, 10_000)
    if isinstance(items, str | Item) or not isinstance(items, Iterable):
        raise UsageError(f"add_many takes a list of texts and Items, not one {type(items).__name__}")
    rest, start = enumerate(items), new_key()[:24]
    while some := list(islice(rest, size)):
        keyed = [_with_key(item, f"{start}{number:08x}") for number, item in some]
        once = {item.key: item for item in keyed}
        if len(once) < len(keyed):
            _check_forms(item.key for _, item in some if isinstance(item, Item) and item.key)
        yield list(once.values())


def _check_forms(keys: Iterable[str]) -> None:
    """Raise UsageError for two different keys that are equal in Unicode's composed form."""
    given: dict[str, str] = {}
    for key in keys:
        if (other := given.setdefault(nfc(key), key)) != key:
            raise UsageError(
                f"the keys {other!a} and {key!a} are the same in Unicode's composed form (NFC); "
                "give one of them another key"
            )


def _with_key(item: Item | str, made: str) -> Item:
    if isinstance(item, str):
        return Item(item, made)
    if not isinstance(item, Item):
        raise UsageError(f"add_many takes texts and Items, not {type(item).__name__}")
    return replace(item, key=made if item.key is None else checked_key(item.key))


@contextmanager
def key_in_errors(key: str | None) -> Iterator[None]:
    """Add the lesson's key, if it has one, to a UsageError raised in the block."""
    try:
        yield
    except UsageError as error:
        if key is None:
            raise
        raise UsageError(f"lesson {key!r}: {error}") from None


def check_items(items: Iterable[Item]) -> None:
    """Raise UsageError for a field of an item that its annotation does not take."""
    for item in items:
        with key_in_errors(item.key):
            check_fields(item)


def item_text(item: Item, meter: Meter = ESTIMATED_METER) -> LessonText:
    """Return an item's text with its passages: the item's own, else passages by the protocol's rule and the
    limits of `meter`.
    """
    with key_in_errors(item.key):
        made = lesson_text(item.text, item.at, meter)
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


def texts_to_embed(item: Item, made: LessonText) -> list[str]:
    """Return the texts to embed for an item: its text and its passages, or none if it has a vector."""
    if item.vector is not None:
        return []
    return [made.text, *(passage.embedded for passage in made.passages)]


def lesson_vectors(
    item: Item,
    made: LessonText,
    rows: Mapping[str, Any],
    own: EmbedderRecord | None,
    maker: EmbedderRecord | None = None,
) -> LessonVectors:
    """Return the vectors of a lesson: the item's own vectors, else vectors in `rows`, else no vectors.

    `maker` is the embedder of the item's own vectors (None: the caller); `own` is the embedder of `rows`.
    """
    if item.vector is not None:
        parts = item.passage_vectors if made.passages else None
        given_rows, source = caller_vectors([item.vector, *(parts or ())], 1 + len(parts or ()))
        return LessonVectors(given_rows[0], given_rows[1:] if parts else None, maker or source)
    if own is None or not rows:
        return LessonVectors()
    passages = [rows[passage.embedded] for passage in made.passages]
    whole = rows[made.text]
    some = any(row is not None for row in passages)
    return LessonVectors(whole, passages if some else None, own if some or whole is not None else None)


def vector_arguments(made: LessonText, given: LessonVectors, element: int, width: int) -> dict[str, Any]:
    """Return passages and vectors as arguments of `store` and `append`; `element` is the oid of pgvector's
    type.
    """
    return {
        "embedding": None if given.whole is None else RealArray(given.whole, width),
        "passages": [passage.text for passage in made.passages] or None,
        "passage_embeddings": None if given.passages is None else VectorArray(given.passages, element, width),
    }


def staging_row(
    project: UUID, item: Item, made: LessonText, given: LessonVectors, element: int, width: int
) -> tuple[Any, ...]:
    """Return a row of the staging table, in the order of COLUMNS."""
    from psycopg.types.json import Jsonb
    from psycopg.types.numeric import Int2, Int4

    with key_in_errors(item.key):
        said = scope_calls.lesson_fields(item, made.at)
    wrapped: dict[str, Callable[[Any], Any]] = {
        "importance": Int2, "position": Int4, "metadata": partial(Jsonb, dumps=str),  # it is JSON already
    }  # fmt: skip
    fields = [
        wrapped[name](said[name]) if name in wrapped and said[name] is not None else said[name]
        for name in scope_calls.LESSON_FIELDS
    ]
    return (
        project, item.key, made.text, *fields,
        None if given.whole is None else VectorArray(given.whole, element, width, single=True),
        [passage.text for passage in made.passages] or None,
        None if given.passages is None else VectorArray(given.passages, element, width),
    )  # fmt: skip


class EmbedderRow(NamedTuple):
    """A row of the verb `embedder`: the embedder's `name` and the `dimensions` of each vector."""

    name: str | None
    dimensions: int
    generation: int
    next_name: str | None = None
    next_dimensions: int | None = None

    @property
    def identity(self) -> EmbedderRecord | None:
        """Return the stored embedder of the vectors; None if no writer named it."""
        if self.name is None:
            return None
        embedder, model, numbers = [*re.split(" [·|] ", self.name), "", ""][:3]
        told = numbers.removesuffix(" numbers")
        return EmbedderRecord(embedder, model, int(told) if told.isdecimal() else self.dimensions)


def embedder_label(own: EmbedderRecord, kept: int | None = None) -> str:
    """Return the name under which the extension stores an embedder.

    It ends with the embedder's own number of dimensions if the stored vectors have more (`kept`), padded with
    zeros.
    """
    numbers = "" if kept in (None, own.dimensions) else f"{own.dimensions} numbers"
    return " · ".join((own.embedder, own.model, numbers)).rstrip(" ·")


WITHOUT_VECTORS = """
SELECT l.project_id, l.external_id, l.content,
       ARRAY(SELECT p.content FROM pgmnemo.list_passages(%(tenant)s) p
              WHERE p.lesson_id = l.id AND p.number > 0 ORDER BY p.number)
  FROM pgmnemo.list_lessons(%(tenant)s) l
 WHERE l.active
   AND NOT EXISTS (SELECT FROM pgmnemo.list_vectors(%(tenant)s) v WHERE v.lesson_id = l.id)
   AND EXISTS (SELECT FROM pgmnemo.list_vectors(%(tenant)s))
 ORDER BY l.project_id, l.id
"""


def lessons_without_vectors(tenant: UUID) -> Call[Rows]:
    """Return the call for the lessons without vectors, of a tenant with vectors: project, key, text and
    passages.
    """
    return Call(WITHOUT_VECTORS, {"tenant": tenant}, lambda rows: rows)  # type: ignore[arg-type]


def get_embedder(tenant: UUID) -> Call[EmbedderRow | None]:
    """Return the call for the tenant's embedder and dimensions; its answer is None for a tenant without
    vectors.
    """
    return calls.embedder(tenant).map(lambda rows: EmbedderRow(*rows[0]) if rows else None)
