"""Another embedder for a tenant: cut off at every step it goes on, and ends as if it had always been."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmnemo import Item, Turn
from pgmnemo.client import staging
from pgmnemo.client.memory_embedder import EmbedderRecord
from pgmnemo.client.naming import tenant_id
from pgmnemo.errors import HiddenError, RefusedError, UsageError
from pgmnemo.progress import Progress
from tests.pgmnemo.client.cutting import CuttingProxy
from tests.pgmnemo.client.driving import Place, Shell

WORDS = ["kettle", "violin", "lantern", "harbour", "garden", "letter", "winter", "copper", "river", "window"]
AT = datetime(2026, 5, 1, tzinfo=UTC)


def vectors(texts: Sequence[str], dims: int, model: str) -> Any:
    seeds = [sha256(f"{model} {dims} {text}".encode()).digest()[:8] for text in texts]
    return np.array([np.random.default_rng([*seed]).standard_normal(dims) for seed in seeds])


def old(texts: Sequence[str]) -> Any:
    return vectors(texts, 8, "old")


def new(texts: Sequence[str]) -> Any:
    return vectors(texts, 12, "new")


def alike(texts: Sequence[str]) -> Any:
    return vectors(texts, 8, "new")


def wide(texts: Sequence[str]) -> Any:
    return vectors(texts, 1536, "new")


def fill(tenant: Any, count: int = 30) -> None:
    scope = tenant.project("p")
    scope.add_many(
        [
            Item(
                f"The {WORDS[n % 10]} of the {WORDS[n // 7 % 10]}, note {n}.", f"n{n:02}", at=AT, role="user"
            )
            for n in range(count)
        ]
    )
    for n in range(5):
        said = [
            Turn(f"My {WORDS[n]} is {WORDS[n + 1]}. " * 9, "user"),
            Turn(f"Aha, {WORDS[n + 2]}. " * 9, "assistant"),
        ]
        scope.add(said * 3, key=f"talk{n}", at=AT)
    scope.add("Two lines.\nOf my own.", key="own", passages=["Two lines.", "Of my own."], at=AT)
    scope.fact("ada", "lives in", "Lisbon", at=AT)
    scope.supersede("n03", "n04", at=AT)
    scope.forget("n06")
    scope.update("n07", expires_at=AT)


def answers(scope: Any) -> list[Any]:
    found: list[tuple[Any, ...]] = [
        (hit.key, hit.score, hit.fit, hit.passage, hit.components)
        for word in WORDS[:6]
        for mode in ("hybrid", "vector")
        for hit in scope.recall(f"the {word}", k=20, mode=mode, as_of=datetime(2026, 6, 1, tzinfo=UTC))
    ]
    found += [(pair.first, pair.second, pair.cosine) for pair in scope.project("p").similar(least_cosine=0.5)]
    assert len(found) > 100
    return [(row[0] if len(str(row[0])) < 9 else "fact", *row[1:]) for row in found]


def sound(place: Place, name: str, generations: int = 1) -> None:
    with place.connect("alice") as role:
        assert role.execute("SELECT * FROM pgmnemo.check(%s)", (tenant_id(name),)).fetchall() == []
        query = "SELECT count(DISTINCT generation) FROM pgmnemo.list_vectors(%s)"
        assert role.execute(query, (tenant_id(name),)).fetchone() == (generations,)


class Cut(Exception):
    """What a test raises in an embedder."""


def stop(number: int) -> None:
    if number == 2:
        raise Cut


class Counted:
    """An embedder that counts, and does something before it answers the n-th time."""

    def __init__(
        self, embed: Callable[[Sequence[str]], Any], does: Callable[[int], Any] = lambda _: None
    ) -> None:
        self.embed, self.does, self.asked = embed, does, []  # type: ignore[var-annotated]
        self.__qualname__, self.__module__ = "mine", "here"

    def __call__(self, texts: Sequence[str]) -> Any:
        self.does(len(self.asked))
        self.asked.append(list(texts))
        return self.embed(texts)


# The embedder of such a test cannot run another loop, or its connection is a synchronous one.
ALONE = pytest.mark.parametrize("shell", ["sync"], indirect=True)
# The other shell is made of this one; it is tried where no other mark stands.
AWAITED = pytest.mark.parametrize("shell", ["async"], indirect=True)


@pytest.fixture
def name(place: Place) -> str:
    return place.tenant()


@pytest.fixture
def filled(shell: Shell, place: Place, name: str) -> Any:
    tenant = shell.open(place.dsn(), embedder=old).tenant(name)
    fill(tenant)
    return tenant


def expected(shell: Shell, place: Place, embedder: Any, change: Callable[[Any], Any] = lambda _: None) -> Any:
    """What a tenant answers that knew no other embedder."""
    tenant = shell.open(place.dsn(), embedder=embedder).tenant(place.tenant())
    fill(tenant)
    change(tenant.project("p"))
    return answers(tenant)


@pytest.mark.parametrize("embedder", [new, alike, wide])
def test_afterwards_all_is_as_if_it_had_been_the_first(
    embedder: Any, shell: Shell, place: Place, name: str, filled: Any
) -> None:
    number = filled.reembed(embedder, batch=7)
    assert answers(filled) == expected(shell, place, embedder)
    assert (filled.stats().embedder, filled.stats().dimensions) == (
        embedder.__name__,
        len(embedder(["x"])[0]),
    )
    sound(place, name)
    assert filled.reembed(embedder) == 0 < number
    assert filled.project("p").add("Later.", key="z").outcome == "inserted"
    before = shell.open(place.dsn(), embedder=old).tenant(name)
    with pytest.raises(UsageError, match="their vectors cannot be compared"):
        before.recall("the kettle")
    opened = shell.open(place.dsn(), embedder=embedder).tenant(name)
    assert opened.recall("Later.", mode="vector", k=1)[0].key == "z"


@AWAITED
def test_who_had_the_memory_open_with_the_old_one_is_told(
    shell: Shell, place: Place, name: str, filled: Any
) -> None:
    other = shell.open(place.dsn(), embedder=old).tenant(name)
    assert other.recall("kettle")
    other.project("p").add("x", key="x", at=AT)
    filled.reembed(alike)
    calls: list[Callable[[], Any]] = [
        lambda: other.recall("kettle"), lambda: other.project("p").add("y", key="x"),
        lambda: other.project("p").add_many(["y"]), lambda: other.project("p").add("y", role="user"),
        lambda: other.project("p").fact("a", "b", "c"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(RefusedError, match=r"are by 'alike .* and this one is by 'old"):
            call()
    assert answers(filled) == expected(shell, place, alike, lambda scope: scope.add("x", key="x", at=AT))


@AWAITED
def test_there_and_back_again(shell: Shell, filled: Any) -> None:
    before = answers(filled)
    for embedder in (new, wide, old):
        filled.reembed(embedder)
    assert answers(filled) == before


def test_it_is_cut_off_before_every_batch_and_goes_on(
    shell: Shell, place: Place, name: str, filled: Any
) -> None:
    before = answers(filled)
    seen: list[str] = []
    while True:
        embedder = Counted(new, stop)
        try:
            filled.reembed(embedder, batch=5)
            embedder.does = lambda _: None
            break
        except Cut:
            seen += [text for batch in embedder.asked[1:] for text in batch]
            assert answers(filled) == before
            sound(place, name, 2)
    assert len(seen) > 20
    assert len(seen) == len(set(seen))  # nothing is embedded twice
    assert answers(filled) == expected(shell, place, new)
    sound(place, name)


STEPS = ["begin_reembedding", "reembedding_due", "pgmnemo.reembed(", "pgmnemo.index", "finish_reembedding"]


@AWAITED
@pytest.mark.parametrize("step", STEPS)
def test_a_connection_that_goes_at_any_step_is_made_anew(
    step: str, shell: Shell, place: Place, name: str, filled: Any, shut: CuttingProxy
) -> None:
    tenant = shell.open(place.dsn(host=str(shut.folder)), embedder=old).tenant(name)
    shut.cut(step, times=2)
    tenant.reembed(new, batch=10)
    assert len(shut.passed) >= 3
    assert answers(tenant) == expected(shell, place, new)
    sound(place, name)


@AWAITED
def test_a_server_that_is_not_reached_for_long_loses_nothing(
    shell: Shell, place: Place, name: str, filled: Any, shut: CuttingProxy
) -> None:
    tenant = shell.open(place.dsn(host=str(shut.folder)), embedder=old, retry_timeout=0.2).tenant(name)
    before = answers(filled)
    embedder = Counted(new, lambda number: shut.shut() if number == 4 else None)
    with pytest.raises(Exception, match=r"lost|reached|[cC]onnect"):
        tenant.reembed(embedder, batch=5)
    assert answers(filled) == before
    shut.open()
    tenant.reembed(Counted(new), batch=5)
    assert answers(tenant) == expected(shell, place, new)


KILLED = """
import os, signal, sys
from pgmnemo import Memory
from tests.pgmnemo.client.test_reembedding import Counted, new, old
def stop(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
with Memory.open(sys.argv[1], embedder=None) as memory:
    memory.tenant(sys.argv[2]).reembed(Counted(new, stop), batch=5)
"""


@ALONE
def test_a_program_that_is_killed_goes_on_when_it_is_started_again(
    shell: Shell, place: Place, name: str, filled: Any
) -> None:
    command = [sys.executable, "-c", KILLED, place.dsn(), name]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    codes: list[int] = []
    while not codes or codes[-1]:
        codes.append(subprocess.run(command, env=environ, check=False).returncode)
    assert codes[:3] == [-signal.SIGKILL] * 3
    tenant = shell.open(place.dsn(), embedder=Counted(new)).tenant(name)
    assert answers(tenant) == expected(shell, place, new)
    sound(place, name)


def meddle(scope: Any, number: int) -> None:
    scope.add(f"Note {number} by another.", key=f"w{number:02}", at=AT)
    scope.add(f"Other words {number}.", key=f"n{10 + number % 9}", at=AT, role="user")
    scope.add([Turn(f"I said {number}.", "user"), Turn("Aha.", "assistant")], key="talk1", at=AT)
    scope.forget(f"w{number - 1:02}", permanent=True)


@ALONE
def test_others_write_change_and_forget_meanwhile(shell: Shell, place: Place, name: str, filled: Any) -> None:
    other = shell.open(place.dsn(), embedder=old).tenant(name).project("p")
    done: list[int] = []

    def write(number: int) -> None:
        if number and len(done) < 12:
            meddle(other, len(done))
            done.append(number)

    filled.reembed(Counted(new, write), batch=7)
    assert len(done) >= 5
    sound(place, name)
    kept = answers(filled)

    def again(scope: Any) -> None:
        for number in range(len(done)):
            meddle(scope, number)

    assert kept == expected(shell, place, Counted(new), again)


@AWAITED
def test_another_change_is_refused_until_this_one_ends(
    shell: Shell, place: Place, name: str, filled: Any
) -> None:
    with pytest.raises(Cut):
        filled.reembed(Counted(new, stop), batch=5)
    for embedder in (new, Counted(alike)):
        with pytest.raises(HiddenError, match="is being changed already, for 12 dimensions by 'mine"):
            filled.reembed(embedder)
    with place.connect("alice") as role:
        role.execute("SELECT pgmnemo.cancel_reembedding(%s)", (tenant_id(name),))
    filled.reembed(alike)
    assert answers(filled) == expected(shell, place, alike)


@AWAITED
def test_one_that_somebody_gives_up_ends_in_a_sentence(
    shell: Shell, place: Place, name: str, filled: Any
) -> None:
    before = answers(filled)

    def give_up(number: int) -> None:
        if number == 3:
            with place.connect("alice") as role:
                role.execute("SELECT pgmnemo.cancel_reembedding(%s)", (tenant_id(name),))

    with pytest.raises(HiddenError, match="is not being changed; call"):
        filled.reembed(Counted(new, give_up), batch=5)
    assert answers(filled) == before
    sound(place, name)


@ALONE
def test_two_that_do_the_same_at_once_agree(shell: Shell, place: Place, name: str, filled: Any) -> None:
    other = shell.open(place.dsn(), embedder=old).tenant(name)

    def both(number: int) -> None:
        if number == 3:
            other.reembed(Counted(new), batch=9)

    filled.reembed(Counted(new, both), batch=5)
    assert answers(filled) == answers(other) == expected(shell, place, new)


@AWAITED
def test_what_was_stored_without_an_embedder_or_with_own_vectors(
    shell: Shell, place: Place, name: str
) -> None:
    plain = shell.open(place.dsn()).tenant(name)
    assert plain.reembed(new) == 0
    assert plain.project("p").add("The kettle.", key="a").outcome == "inserted"
    own = shell.open(place.dsn()).tenant(place.tenant())
    own.project("p").add("The kettle.", key="a", vector=[1.0, 2.0])
    own.project("p").add("The violin.", key="b")
    assert own.reembed(new) == 2  # what had no vector gets one
    assert own.recall("The kettle.", mode="vector")[0].components["cosine"] == pytest.approx(1, abs=1e-3)


@ALONE
def test_in_a_transaction_of_the_callers_it_is_undone_with_it(shell: Shell, place: Place, name: str) -> None:
    with place.connect("alice") as connection:
        tenant = shell.open(connection, embedder=old).tenant(name)
        fill(tenant)
        before = answers(tenant)
        with connection.transaction(force_rollback=True):
            assert tenant.reembed(new) > 0
            assert answers(tenant) == expected(shell, place, new)
        again = shell.open(connection, embedder=old).tenant(name)
        assert answers(again) == before
        connection.rollback()


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "none": (lambda tenant: tenant.reembed(None), "reembed needs an embedder, and none was given"),
    "a project": (lambda tenant: tenant.project("p").reembed(new), "call reembed on the tenant"),
    "no batch": (lambda tenant: tenant.reembed(new, batch=0), "batch is 0, but must be from 1 to 1,000"),
    "no embedder": (lambda tenant: tenant.reembed(7), "embedder is a name, an Embedder"),
    "no name": (lambda tenant: tenant.reembed("nobody"), "nobody"),
    "too wide": (lambda tenant: tenant.reembed(lambda texts: [[1.0] * 4001 for _ in texts]), "4,001 numbers"),
}  # fmt: skip


@AWAITED
@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_meant_is_wrong_use(what: str, shell: Shell, place: Place, name: str) -> None:
    call, sentence = WRONG[what]
    tenant = shell.open(place.dsn(), embedder=old).tenant(name)
    tenant.project("p").add("The kettle.", key="a")
    with pytest.raises(Exception, match=sentence):
        call(tenant)
    assert tenant.recall("The kettle.")[0].key == "a"


def test_progress_is_told(filled: Any) -> None:
    told: list[str] = []

    class Told(Progress):
        def say(self, text: str) -> None:
            told.append(text)

    number = filled.reembed(new, progress=Told())
    assert told == [f"texts: {number:,} done"]


@pytest.mark.parametrize(
    "first", [old, wide, lambda texts: vectors(texts, 300, "x")], ids=["8", "1536", "300"]
)
def test_vectors_are_sent_and_kept_in_their_own_dimension(
    first: Any, shell: Shell, place: Place, name: str
) -> None:
    scope = shell.open(place.dsn(), embedder=first).tenant(name).project("p")
    scope.add("One line.\nAnother line.", key="a")
    scope.add_many([Item("x", "b")])
    with place.connect("alice") as role:
        query = "SELECT DISTINCT vector_dims(embedding::vector) FROM pgmnemo.list_vectors(%s)"
        assert role.execute(query, (tenant_id(name),)).fetchall() == [(len(first(["x"])[0]),)]


@pytest.mark.parametrize("own", [
    EmbedderRecord("minilm-int8", "all-MiniLM-L6-v2", 384), EmbedderRecord("the caller's own vectors", "", 3),
    EmbedderRecord("f.<locals>.<lambda>", "m.f", 8),
])  # fmt: skip
@pytest.mark.parametrize("kept", [None, 1024])
def test_a_name_says_which_embedder_it_is(own: EmbedderRecord, kept: int | None) -> None:
    name = staging.embedder_label(own, kept)
    assert staging.EmbedderRow(name, kept or own.dimensions, 1).identity == own
