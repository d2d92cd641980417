"""What turns texts into vectors: given, called, awaited; one to a tenant, whoever opens it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo import AsyncMemory, Item, Turn
from pgmnemo.errors import EmbedderError, UsageError
from tests.pgmnemo.client.driving import Place, Shell

WORDS = ("kettle", "violin", "lantern")


def counted(texts: Sequence[str]) -> list[list[float]]:
    """One number for each of WORDS, and one more so that none is zero."""
    return [[*(float(text.lower().count(word)) for word in WORDS), 0.1] for text in texts]


async def awaited(texts: Sequence[str]) -> list[list[float]]:
    await asyncio.sleep(0)
    return counted(texts)


class Model:
    """A callable object."""

    def __call__(self, texts: Sequence[str]) -> Any:
        return np.array(counted(texts))


class AsyncModel:
    """One that is to be awaited."""

    async def __call__(self, texts: Sequence[str]) -> Any:
        return counted(texts)


class Heir(AsyncModel):
    """That inherits how it is called."""


CALLED: dict[str, Any] = {
    "function": counted, "object": Model(), "bound": Model().__call__, "partial": partial(counted),
    "tuples": lambda texts: tuple(tuple(row) for row in counted(texts)),
    "halves": lambda texts: np.array(counted(texts), dtype=np.float16),
}  # fmt: skip
AWAITED: dict[str, Any] = {
    "coroutine": awaited, "object": AsyncModel(), "heir": Heir(), "partial": partial(awaited),
    "answers a coroutine": lambda texts: awaited(texts),
}  # fmt: skip


def found(scope: Any) -> list[str]:
    scope.add("The kettle leaks.", key="a", role="user")
    scope.add_many(
        [Item("A violin.", "b"), Item([Turn("My lantern.", "user"), Turn("Aha.", "assistant")], "c")]
    )
    return [scope.recall(f"the {word}", mode="vector", k=1)[0].key for word in WORDS]


@pytest.mark.parametrize("kind", CALLED)
def test_whatever_can_be_called_embeds(kind: str, shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn(), embedder=CALLED[kind]).tenant(place.tenant()).project("p")
    assert found(scope) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", AWAITED)
def test_what_is_to_be_awaited_embeds_where_it_can_be(kind: str, place: Place, shell: Shell) -> None:
    scope = shell.open(place.dsn(), embedder=AWAITED[kind]).tenant(place.tenant()).project("p")
    if shell.kind == "async":
        assert found(scope) == ["a", "b", "c"]
        return
    with pytest.raises(UsageError, match="which Memory cannot await; open AsyncMemory"):
        scope.add("The kettle leaks.")
    assert scope.count().lessons == 0


def test_an_embedder_is_asked_for_each_text_once_and_in_batches(shell: Shell, place: Place) -> None:
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Any:
        asked.append(list(texts))
        return counted(texts)

    scope = shell.open(place.dsn(), embedder=embed).tenant(place.tenant()).project("p")
    scope.add_many(["same", "same", *(f"note {number}" for number in range(100))])
    assert [len(batch) for batch in asked] == [64, 37]
    asked.clear()
    scope.update(next(iter(scope.list())).key, topic="t")
    scope.recall("note", mode="keyword")
    assert asked == []
    scope.recall("note")
    assert asked == [["note"]]


def test_vectors_that_the_caller_has_are_taken_as_they_are(shell: Shell, place: Place) -> None:
    scope = shell.open(place.dsn()).tenant(place.tenant()).project("p")
    parts = {"passages": ["The kettle.", "A violin."], "passage_vectors": [[1.0, 0, 0], [0, 1.0, 0]]}
    scope.add("The kettle. A violin.", key="a", vector=[1.0, 1.0, 0], **parts)
    scope.add_many([Item("A lantern.", "b", vector=np.array([0, 0, 1.0]))])
    assert scope.recall(vector=[0, 0.1, 1.0], mode="vector", k=1)[0].key == "b"
    best = scope.recall("whatever", vector=[0, 1.0, 0], mode="vector", k=1)[0]
    assert (best.key, best.passage) == ("a", "A violin.")
    assert best.components["passage_cosine"] == pytest.approx(1, abs=1e-3)
    assert (scope.stats().embedder, scope.stats().dimensions) == ("the caller's own vectors", 3)


GIVEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "zeros": (lambda s: s.add("x", vector=[0.0, 0]), "without a length"),
    "NaN": (lambda s: s.add("x", vector=[1.0, float("nan")]), "without a length"),
    "infinity": (lambda s: s.recall(vector=[float("inf")], mode="vector"), "without a length"),
    "nothing": (lambda s: s.add("x", vector=[]), "vectors of 0 numbers"),
    "too much": (lambda s: s.add_many([Item("x", vector=[1.0] * 4001)]), "vectors of 4,001 numbers"),
    "words": (lambda s: s.add("x", vector="one two"), "no list of vectors"),
    "rows": (lambda s: s.add("x", vector=[[1.0, 2.0]]), "a matrix of"),
    "parts without parts": (lambda s: s.add("x", vector=[1.0], passage_vectors=[[1.0]]), "give all three"),
    "parts alone": (lambda s: s.add("x", passages=["x"], passage_vectors=[[1.0]]), "give all three"),
    "a part too few": (
        lambda s: s.add("x", passages=["x", "y"], vector=[1.0], passage_vectors=[[1.0]]),
        "2 passages and 1 vectors of passages",
    ),
    "a part of other width": (
        lambda s: s.add("x", passages=["x"], vector=[1.0], passage_vectors=[[1.0, 2.0]]),
        "no list of vectors",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GIVEN)
def test_given_vectors_that_are_none_are_wrong_use(what: str, scope: Any) -> None:
    call, sentence = GIVEN[what]
    with pytest.raises(UsageError, match=sentence):
        call(scope)
    assert scope.count().lessons == 0
    assert scope.stats().embedder is None


ANSWERS: dict[str, tuple[Any, str]] = {
    "zeros": ([[0.0, 0.0]], "a vector without a length"),
    "NaN": ([[1.0, float("nan")]], "a vector without a length"),
    "infinity": ([[1.0, float("inf")]], "a vector without a length"),
    "too wide": ([[1.0] * 4001], "vectors of 4,001 numbers, and 1 to 4,000 are stored"),
    "no numbers": ([[]], "vectors of 0 numbers"),
    "too many": ([[1.0], [2.0]], "a matrix of (2, 1) for 1 texts"),
    "none": ([], "a matrix of (0,) for 1 texts"),
    "flat": ([1.0, 2.0], "a matrix of (2,) for 1 texts"),
    "nothing": (None, "a matrix of () for 1 texts"),
    "words": ([["a", "b"]], "no list of vectors"),
    "ragged": ([[1.0], [1.0, 2.0]], "no list of vectors"),
}  # fmt: skip


@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_that_holds_no_vectors_is_the_embedders_fault(
    what: str, shell: Shell, place: Place
) -> None:
    answer, sentence = ANSWERS[what]
    scope = shell.open(place.dsn(), embedder=lambda _: answer).tenant(place.tenant()).project("p")
    for call in (lambda: scope.add("x"), lambda: scope.add_many(["x"]), lambda: scope.recall("x")):
        with pytest.raises(EmbedderError) as raised:
            call()
        assert sentence in str(raised.value)
    assert scope.count().lessons == 0
    assert scope.add("y", key="k", vector=[1.0]).outcome == "inserted"  # those of the caller are not its


def test_one_that_changes_its_width_is_refused(shell: Shell, place: Place) -> None:
    widths = iter([2, 3])

    def embed(texts: Sequence[str]) -> Any:
        return np.ones((len(texts), next(widths)))

    scope = shell.open(place.dsn(), embedder=embed).tenant(place.tenant()).project("p")
    scope.add("x", key="k")
    with pytest.raises(EmbedderError, match="vectors of 3 numbers, and of 2 before"):
        scope.add("y")
    assert [one.text for one in scope.list()] == ["x"]


def test_what_an_embedder_raises_is_the_callers_own_and_nothing_is_stored(shell: Shell, place: Place) -> None:
    def broken(_: Any) -> Any:
        raise ZeroDivisionError("mine")

    scope = shell.open(place.dsn(), embedder=broken).tenant(place.tenant()).project("p")
    with pytest.raises(ZeroDivisionError, match="mine"):
        scope.add("x")
    assert scope.count().lessons == 0


@pytest.mark.parametrize("verb", ["add", "add_many", "recall", "fact", "given"])
def test_another_embedder_is_refused_with_what_to_do(verb: str, shell: Shell, place: Place) -> None:
    name, other = place.tenant(), shell.open(place.dsn(), embedder=Model())
    shell.open(place.dsn(), embedder=counted).tenant(name).project("p").add("The kettle.", key="a")
    scope = other.tenant(name).project("q")
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: scope.add("x"), "add_many": lambda: scope.add_many(["x"]),
        "recall": lambda: scope.recall("x"), "fact": lambda: scope.fact("a", "b", "c"),
        "given": lambda: scope.add("x", vector=[1.0]),
    }  # fmt: skip
    with pytest.raises(UsageError) as raised:
        calls[verb]()
    told = str(raised.value)
    assert told.startswith(f"the vectors of the tenant {name} are of counted (")
    remedy = (
        "open it with that one, change it by reembed, or keep this one's vectors in a tenant of their own"
    )
    assert told.endswith(remedy)
    assert [hit.key for hit in other.tenant(name).recall("kettle", mode="keyword")] == ["a"]


def test_without_an_embedder_words_are_enough_and_vectors_stay(shell: Shell, place: Place) -> None:
    name = place.tenant()
    scope = shell.open(place.dsn(), embedder=counted).tenant(name).project("p")
    scope.add("The kettle.", key="a")
    plain = shell.open(place.dsn()).tenant(name).project("p")
    assert plain.add("The kettle.", key="a", topic="t").outcome == "updated"
    assert plain.recall("kettle")[0].components["cosine"] is None
    assert scope.recall("kettle")[0].components["cosine"] == pytest.approx(1, abs=1e-3)
    assert plain.add("The violin.", key="a").outcome == "unembedded"


def test_what_a_tenant_remembers_is_asked_of_the_database_while_it_is_nothing(
    shell: Shell, place: Place
) -> None:
    name = place.tenant()
    first = shell.open(place.dsn(), embedder=counted).tenant(name).project("p")
    second = shell.open(place.dsn(), embedder=Model()).tenant(name).project("p")
    assert first.recall("x") == second.recall("x") == []
    first.add("x")
    with pytest.raises(UsageError, match="their vectors cannot be compared"):
        second.recall("x")


OTHER_PROCESS = """
import sys
from pgmnemo import Memory
from pgmnemo.errors import UsageError
sys.path.insert(0, sys.argv[3])
from mine import right, wrong
for embedder in (right, wrong):
    with Memory.open(sys.argv[1], embedder=embedder) as memory:
        scope = memory.tenant(sys.argv[2]).project("p")
        try:
            print(scope.add("y", key=embedder.__name__).outcome)
        except UsageError as error:
            print(error)
"""
MINE = "def right(texts): return [[1.0, 2.0] for _ in texts]\ndef wrong(texts): return right(texts)\n"


def test_an_embedder_is_remembered_across_processes(
    shell: Shell, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = __import__("mine")
    name = place.tenant()
    shell.open(place.dsn(), embedder=mine.right).tenant(name).project("p").add("x", key="x")
    command = [sys.executable, "-c", OTHER_PROCESS, place.dsn(), name, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[0] == "inserted"
    assert "are of right (mine.right, 2 numbers), and this memory embeds with wrong (mine.wrong" in told[1]
    del sys.modules["mine"]


def test_two_that_are_the_first_at_once_agree(place: Place) -> None:
    async def both() -> list[Any]:
        name = place.tenant()

        async def one(embedder: Any) -> Any:
            async with await AsyncMemory.open(place.dsn(), embedder=embedder) as memory:
                return await memory.tenant(name).project("p").add("x", role="user")

        embedders: list[Any] = [counted, Model(), AsyncModel(), awaited] * 2
        return await asyncio.gather(*map(one, embedders), return_exceptions=True)

    answers = asyncio.run(both())
    stored = [answer for answer in answers if not isinstance(answer, Exception)]
    assert len(stored) == 2
    assert all(isinstance(answer, UsageError) for answer in answers if answer not in stored)


@pytest.mark.parametrize("kind", ["blocking", "awaited"])
async def test_the_loop_goes_on_while_an_embedder_works(kind: str, place: Place) -> None:
    """The embedder ends once a task of the loop has told it that it went on."""
    ticked = threading.Event()

    def blocking(texts: Sequence[str]) -> Any:
        assert ticked.wait(30)
        return counted(texts)

    async def slow(texts: Sequence[str]) -> Any:
        while not ticked.is_set():
            await asyncio.sleep(0)
        return counted(texts)

    async def tick() -> int:
        for _ in range(100):
            await asyncio.sleep(0)
        ticked.set()
        return 100

    embedder = blocking if kind == "blocking" else slow
    async with await AsyncMemory.open(place.dsn(), embedder=embedder) as memory:
        scope = memory.tenant(place.tenant()).project("p")
        _, ticks = await asyncio.gather(scope.add("x"), tick())
        assert ticks == 100
