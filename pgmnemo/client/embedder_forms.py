"""Read the argument `embedder=`, in any of its forms, as two functions and a name for their vectors.

- `"minilm-int8"` or `"endpoint model=M endpoint_url=URL"`: a registered embedder, with options;
- a function that returns one vector for each text, for both questions and documents;
- a pair of such functions: (questions, documents);
- an object with `embed_documents(texts)`, and `embed_queries(texts)` or `embed_query(text)`, such as the
  embeddings of LangChain.

An object may also have these attributes: `name` and `model`, which a tenant remembers, `query_prefix` and
`document_prefix`, which are put before texts here, `max_tokens`, the tokens that it reads of a text, and
`batch_size`. Every function may be a coroutine function.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pgmnemo.errors import UsageError

if TYPE_CHECKING:
    from pgmnemo.embedders import Embedder, EmbedderOptions

LONGEST_PREFIX = 100  # characters of prefixes in a model's label; longer prefixes are hashed
FORMS = (
    "a name, an Embedder, a function from texts to vectors, a pair of such functions (questions, documents), "
    "an object with embed_documents and embed_query, or None"
)


@dataclass(frozen=True, slots=True)
class EmbedFunctions:
    """A caller's embedding functions for questions and documents, with their name, model and limits."""

    name: str
    model: str
    documents: Callable[..., Any]
    queries: Callable[..., Any]
    batch_size: int | None = None
    max_tokens: int | None = None


def is_coroutine_function(called: object) -> bool:
    """Return whether the caller must await the result of `called`."""
    inner = getattr(type(called), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(inner)


def registered_embedder(text: str) -> tuple[Embedder, str]:
    """Return the embedder of `NAME option=value …`, and the label of its model that a tenant stores.

    Options are the fields of EmbedderOptions, quoted as in a shell if they contain blanks.
    """
    from pgmnemo.embedders import EMBEDDERS

    name, options = parse_embedder(text)
    embedder = EMBEDDERS[name](options)
    identity = embedder.identity
    model = identity.model
    if (
        options.model is not None and name != "endpoint"
    ):  # a local folder, whose weights may differ from the pinned weights
        usual = EMBEDDERS[name](replace(options, model=None)).identity.revision
        model += "" if identity.revision == usual else f", {identity.revision}"
    return embedder, model_label(model, identity.query_prefix, identity.document_prefix)


def parse_embedder(text: str) -> tuple[str, EmbedderOptions]:
    """Split `NAME option=value …` into the name and the options.

    Raise UsageError for an unknown option or a value that is not a number.
    """
    from pgmnemo.embedders import EmbedderOptions

    try:
        name, *given = shlex.split(text) or [text]
    except ValueError as error:
        raise UsageError(
            f"the embedder {text!r} is no name with options ({str(error).lower()}); write NAME option=value"
        ) from None
    known = {one.name: "int" in str(one.type) for one in fields(EmbedderOptions) if "usual" not in one.name}
    options = dict(_option(pair, known) for pair in given)
    return name, EmbedderOptions(**options)


def _option(pair: str, known: dict[str, bool]) -> tuple[str, Any]:
    name, equals, value = pair.partition("=")
    if not equals or name not in known:
        raise UsageError(
            f"an embedder has no option {pair!r}; write NAME option=value with the options {', '.join(known)}"
        )
    if not known[name]:
        return name, value
    if not (value.isascii() and value.isdigit()):
        raise UsageError(f"the embedder's option {name} is a whole number, not {value!r}")
    return name, int(value)


def embed_functions(given: Any) -> EmbedFunctions:
    """Return the embedding functions of a function, a pair (questions, documents) or an object.

    Raise UsageError for anything else.
    """
    if hasattr(given, "embed_documents"):
        return _of_object(given)
    if isinstance(given, tuple) and len(given) == 2 and all(map(callable, given)):
        queries, documents = given
        names, places = zip(*map(_qualified_name, given), strict=True)
        return EmbedFunctions(" + ".join(names), " + ".join(places), documents, queries)
    if callable(given):
        return EmbedFunctions(*_qualified_name(given), given, given)
    raise UsageError(f"embedder is {FORMS}, not {type(given).__name__}")


def _qualified_name(called: Any) -> tuple[str, str]:
    """Return the qualified name of a function or class, without and with its module."""
    named = called if hasattr(called, "__qualname__") else type(called)
    module = getattr(called, "__module__", None) or type(called).__module__
    return named.__qualname__, f"{module}.{named.__qualname__}"


def _of_object(given: Any) -> EmbedFunctions:
    kind, place = _qualified_name(type(given))
    before = [_text(given, name) for name in ("query_prefix", "document_prefix")]
    model = _text(given, "model") or _text(given, "model_name")
    queries, documents = _queries(given), given.embed_documents
    return EmbedFunctions(
        _text(given, "name") or kind,
        model_label(f"{place}, {model}" if model else place, *before),
        with_prefix(documents, before[1]),
        with_prefix(queries, before[0]),
        _number(given, "batch_size"),
        _number(given, "max_tokens"),
    )


def _queries(given: Any) -> Callable[..., Any]:
    """Return the function that embeds several questions at once."""
    if callable(several := getattr(given, "embed_queries", None)):
        return several  # type: ignore[no-any-return]
    single = getattr(given, "embed_query", None)
    if not callable(single):
        raise UsageError(
            f"the embedder {type(given).__qualname__} has embed_documents and neither embed_queries nor "
            f"embed_query; embedder is {FORMS}"
        )
    if not is_coroutine_function(single):
        return lambda texts: [single(text) for text in texts]

    async def each(texts: Sequence[str]) -> list[Any]:
        return [await single(text) for text in texts]

    return each


def with_prefix(called: Callable[..., Any], prefix: str) -> Callable[..., Any]:
    """Return `called` with `prefix` put before every text."""
    if not prefix:
        return called
    if not is_coroutine_function(called):
        return lambda texts: called([prefix + text for text in texts])

    async def awaited(texts: Sequence[str]) -> Any:
        return await called([prefix + text for text in texts])

    return awaited


def model_label(model: str, query_prefix: str, document_prefix: str) -> str:
    """Return a model's name with its prefixes, because vectors made with other prefixes cannot be
    compared.
    """
    model = re.sub(" [·|] ", ", ", model)  # the separators in a stored embedder's name
    if not (query_prefix or document_prefix):
        return model
    told = f"prefixes {query_prefix!a} and {document_prefix!a}"
    if len(told) > LONGEST_PREFIX:
        told = f"prefixes sha256:{sha256(told.encode()).hexdigest()[:16]}"
    return f"{model}, {told}"


def _text(given: Any, name: str) -> str:
    """Return an attribute if it is a text, else an empty text."""
    value = getattr(given, name, None)
    return value if isinstance(value, str) else ""


def _number(given: Any, name: str) -> int | None:
    """Return an attribute if it is a positive whole number, else None."""
    value = getattr(given, name, None)
    whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if whole else None
