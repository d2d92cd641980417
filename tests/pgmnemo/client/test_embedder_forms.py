"""The forms of `embedder=`: options of a name, pairs and objects, and what a tenant remembers of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pgmnemo import AsyncMemory, Memory
from pgmnemo.client.embedder_forms import model_label, parse_embedder
from pgmnemo.client.memory_embedder import memory_embedder
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.errors import UsageError
from tests.pgmnemo.client.driving import Place, Shell


def questions(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def documents(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def awaited(texts: Sequence[str]) -> list[list[float]]:
    return questions(texts)


class Plain:
    """LangChain's methods, and nothing else."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.seen.append(text)
        return [1.0, float(len(text))]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.seen.extend(texts)
        return documents(texts)


class Described(Plain):
    """An object that says what it is."""

    name, model = "described", "tiny-1"
    query_prefix, document_prefix = "query: ", "passage: "
    max_tokens, batch_size = 128, 2


class Awaited(Described):
    async def embed_query(self, text: str) -> list[float]:  # type: ignore[override]
        return super().embed_query(text)

    async def embed_documents(self, texts: list[str]) -> list[list[float]]:  # type: ignore[override]
        return super().embed_documents(texts)


class Several(Plain):
    def embed_queries(self, texts: Sequence[str]) -> list[list[float]]:
        return [[7.0, 1.0] for _ in texts]


def made(given: Any) -> Any:
    embedding = memory_embedder(given)
    assert embedding is not None
    return embedding


def test_a_pair_embeds_questions_by_the_first_and_texts_by_the_second(shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn(), embedder=(questions, documents)).tenant(place.tenant()).project("p")
    scope.add("The kettle leaks.", key="a")
    cosine = scope.recall("The kettle leaks.", mode="vector")[0].components["cosine"]
    assert cosine == pytest.approx(2 * 17 / (17**2 + 1), abs=1e-3)
    assert scope.stats().embedder == "questions + documents"


def test_the_functions_of_a_pair_are_remembered_in_their_order(shell: Shell, place: Place) -> None:
    name = place.tenant()
    shell.open(place.dsn(), embedder=(questions, documents)).tenant(name).project("p").add("x")
    turned = shell.open(place.dsn(), embedder=(documents, questions)).tenant(name).project("p")
    with pytest.raises(UsageError, match="their vectors cannot be compared"):
        turned.recall("x")


async def test_one_function_of_a_pair_may_be_awaited(place: Place) -> None:

    async with await AsyncMemory.open(place.dsn(), embedder=(awaited, documents)) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        await scope.add("x")
        assert len(await scope.recall("x", mode="vector")) == 1

    with Memory.open(place.dsn(), embedder=(awaited, documents)) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        scope.add("x")
        with pytest.raises(UsageError, match="which Memory cannot await"):
            scope.recall("x", mode="vector")


@pytest.mark.parametrize("kind", [Plain, Described, Several])
def test_an_object_with_documented_methods_embeds(kind: type[Plain], shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn(), embedder=kind()).tenant(place.tenant()).project("p")
    scope.add("The kettle leaks.", key="a")
    assert scope.recall("Which?", mode="vector")[0].key == "a"


def test_langchains_embeddings_are_such_an_object(shell: Shell, place: Place) -> None:
    embeddings = pytest.importorskip("langchain_core.embeddings")
    given = embeddings.DeterministicFakeEmbedding(size=8)
    scope = shell.open(place.dsn(), embedder=given).tenant(place.tenant()).project("p")
    scope.add("The kettle leaks.", key="a")
    hit = scope.recall("The kettle leaks.", mode="vector")[0]
    assert hit.components["cosine"] == pytest.approx(1, abs=1e-3)
    assert (scope.stats().embedder, scope.stats().dimensions) == ("DeterministicFakeEmbedding", 8)


def test_an_object_says_its_name_its_prefixes_and_its_limit() -> None:
    given = Described()
    embedding = made(given)
    assert (embedding.name, embedding.batch, embedding.max_tokens) == ("described", 2, 128)
    assert embedding.model.endswith("Described, tiny-1, prefixes 'query: ' and 'passage: '")
    embedding.queries(["one"])
    embedding.documents(["two"])
    assert given.seen == ["query: one", "passage: two"]
    plain = made(Plain())
    assert (plain.name, plain.model) == ("Plain", f"{__name__}.Plain")
    assert (plain.batch, plain.max_tokens) == (64, None)


def test_an_object_whose_methods_are_awaited_gets_its_prefixes_too() -> None:
    import asyncio

    given = Awaited()
    embedding = made(given)
    assert embedding.documents_are_async
    assert embedding.queries_are_async
    asyncio.run(embedding.queries(["one"]))
    asyncio.run(embedding.documents(["two"]))
    assert given.seen == ["query: one", "passage: two"]


class Half:
    embed_documents = staticmethod(documents)


@pytest.mark.parametrize(
    "given",
    [
        Half(),
        (questions,),
        (questions, documents, questions),
        (1, 2),
        [questions] * 2,
        7,
        ["minilm"],
        b"local",
    ],
)
def test_what_is_no_embedder_or_half_of_a_form_is_wrong_use(given: Any) -> None:
    with pytest.raises(UsageError, match=r"embedder is a name, .* a pair of such functions"):
        memory_embedder(given)


def test_none_is_no_embedder_by_name_as_by_value() -> None:
    assert memory_embedder("none") is memory_embedder(None) is None


def test_a_name_takes_options() -> None:
    name, options = parse_embedder(
        "endpoint model=nomic-embed-text endpoint_url=http://127.0.0.1:1/v1 query_prefix='q: '"
    )
    assert name == "endpoint"
    assert options == EmbedderOptions(
        model="nomic-embed-text", endpoint_url="http://127.0.0.1:1/v1", query_prefix="q: "
    )
    embedding = made("hash dimensions=12")
    assert (embedding.name, embedding.dimensions, embedding.max_tokens) == ("hash", 12, None)
    assert np.shape(embedding.documents(["x"])) == (1, 12)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hash width=12", "has no option 'width=12'"),
        ("hash dimensions", "has no option 'dimensions'"),
        ("hash usual_tokens=12", "has no option 'usual_tokens=12'"),
        ("hash dimensions=twelve", "dimensions is a whole number, not 'twelve'"),
        ("hash dimensions=0", "takes a positive number"),
        ("hash query_prefix='q", "no closing quotation"),
        ("hush dimensions=12", "no embedder named 'hush'; choose one of: local, none, bge-m3, "),
        ("", "no embedder named ''; choose one of: local, none, "),
        ("local model=/nowhere/at/all", "/nowhere/at/all is not a folder"),
    ],
)
def test_options_that_cannot_be_meant_are_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        memory_embedder(text)
    assert sentence in str(raised.value)


def test_vectors_of_other_prefixes_are_not_compared(shell: Shell, place: Place) -> None:
    name = place.tenant()
    shell.open(place.dsn(), embedder="hash").tenant(name).project("p").add("The kettle.")
    own = "hash query_prefix='query: '"
    with pytest.raises(UsageError, match="prefixes 'query: ' and ''"):
        shell.open(place.dsn(), embedder=own).tenant(name).project("p").recall("kettle")
    again = shell.open(place.dsn(), embedder="hash document_prefix=''").tenant(name).project("p")
    assert again.recall("kettle")


def test_what_is_remembered_without_prefixes_is_what_it_was_before() -> None:
    assert made("hash").model == "signed feature hashing"
    assert made(EMBEDDERS["hash"](EmbedderOptions(query_prefix="q: "))).model != "signed feature hashing"


def test_a_long_prefix_leaves_room_in_the_note() -> None:
    first, second = (model_label("m", "词" * 500 + end, "") for end in "ab")
    assert first != second
    assert len(first.encode()) < 200
    assert " · " not in model_label("a · b", " · ", "")


def test_a_tenant_is_changed_to_a_name_with_options(shell: Shell, place: Place) -> None:
    tenant = shell.open(place.dsn(), embedder="hash").tenant(place.tenant())
    tenant.project("p").add("The kettle.", key="a")
    tenant.reembed("hash dimensions=32")
    assert (tenant.stats().embedder, tenant.stats().dimensions) == ("hash", 32)
    assert tenant.recall("kettle", mode="vector")[0].key == "a"
