"""What is sent again, how long, and which sentence stands at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from psycopg import errors

from pgmnemo import Item
from pgmnemo.client.retries import FIRST, LONGEST, RetryTimer, client_error
from pgmnemo.errors import (
    ConflictError,
    DatabaseError,
    GrantError,
    HiddenError,
    LostError,
    MissingError,
    PgmnemoError,
    RefusedError,
    StateError,
    UsageError,
)
from tests.pgmnemo.client.cutting import SOCKET, CuttingProxy
from tests.pgmnemo.client.driving import Place, Shell

UNDONE = (
    errors.SerializationFailure, errors.DeadlockDetected, errors.AdminShutdown, errors.CannotConnectNow,
    errors.IdleSessionTimeout,
)  # fmt: skip
LOST = (psycopg.OperationalError, errors.ConnectionFailure, errors.CrashShutdown)
FINAL = (errors.UniqueViolation, errors.InsufficientPrivilege, errors.DiskFull, errors.QueryCanceled)


class Clock:
    """It goes on by what is waited."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def pauses(patience: float, chance: float, error: Exception, repeatable: bool = True) -> list[float]:
    """Those before the error is raised."""
    clock, found = Clock(), list[float]()
    attempts = RetryTimer(patience, "the database", clock, lambda: chance)
    with suppress(PgmnemoError):
        while len(found) < 1000:
            found.append(attempts.pause(error, repeatable))  # type: ignore[arg-type]
            clock.now += found[-1]
        raise AssertionError("it never gives up")
    return found


def test_pauses_are_random_below_a_limit_that_doubles_to_a_longest() -> None:
    limits = pauses(30, 1.0, errors.SerializationFailure())
    assert limits[:4] == [FIRST, FIRST * 2, FIRST * 4, FIRST * 8]
    assert max(limits) == LONGEST
    assert pauses(30, 0.5, errors.SerializationFailure())[:3] == [FIRST / 2, FIRST, FIRST * 2]


@pytest.mark.parametrize("patience", [0.01, 1, 30])
def test_no_pause_ends_after_patience(patience: float) -> None:
    for chance in (0.3, 1.0):
        assert sum(pauses(patience, chance, errors.SerializationFailure())) <= patience


def test_without_patience_nothing_is_sent_again() -> None:
    assert pauses(0, 0.5, errors.SerializationFailure()) == []
    assert pauses(-1, 0.0, errors.SerializationFailure()) == []


@pytest.mark.parametrize(
    ("kind", "repeatable", "otherwise"),
    [*((kind, True, True) for kind in UNDONE), *((kind, True, False) for kind in LOST),
     *((kind, False, False) for kind in FINAL)],
)  # fmt: skip
def test_what_was_undone_is_sent_again_and_what_was_lost_if_it_is_repeatable(
    kind: type[Exception], repeatable: bool, otherwise: bool
) -> None:
    assert bool(pauses(1, 0.5, kind(), repeatable=True)) == repeatable
    assert bool(pauses(1, 0.5, kind(), repeatable=False)) == otherwise


@pytest.mark.parametrize("kind", [*UNDONE, *LOST])
def test_in_a_transaction_of_the_callers_nothing_is_sent_again(kind: Any) -> None:
    with pytest.raises(PgmnemoError):
        RetryTimer(30, "the database", Clock(), lambda: 0.5).pause(kind(), True, anew=False)


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (errors.SerializationFailure("x"), ConflictError, 3),
        (errors.DeadlockDetected("x"), ConflictError, 3),
        (errors.AdminShutdown("x"), LostError, 3),
        (psycopg.OperationalError("server closed the connection\nunexpectedly"), LostError, 3),
        (errors.InsufficientPrivilege("x"), GrantError, 3),
        (errors.NoDataFound("x"), MissingError, 2),
        (errors.ObjectNotInPrerequisiteState("x"), HiddenError, 2),
        (errors.InvalidParameterValue("x"), RefusedError, 2),
        (errors.UniqueViolation("x"), RefusedError, 2),
        (errors.ProgramLimitExceeded("x"), RefusedError, 2),
        (errors.UndefinedFunction("x"), RefusedError, 2),
        (psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"), RefusedError, 2),
        (errors.DiskFull("x"), DatabaseError, 3),
        (errors.QueryCanceled("x"), DatabaseError, 3),
        (errors.InternalError_("x"), DatabaseError, 3),
    ],
)  # fmt: skip
def test_each_error_is_one_of_the_tree_in_one_sentence(
    error: psycopg.Error, kind: type[PgmnemoError], code: int
) -> None:
    made = client_error(error, True, "the database at here")
    assert type(made) is kind
    assert made.code == code
    if isinstance(made, StateError) and error.sqlstate:
        assert made.sqlstate == error.sqlstate


# Real ones


def waiting(place: Place) -> int:
    """The process of the server that waits for a lock, once there is one."""
    query = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'pgmnemo'"
    with place.connect() as root:
        while not (rows := root.execute(query).fetchall()):
            pass
    return int(rows[0][0])


def beside(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """A call in a thread, and where its answer or its error will be."""
    answers: list[Any] = []

    def run() -> None:
        try:
            answers.append(call())
        except PgmnemoError as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, answers


def isolated(place: Place, level: str) -> str:
    return place.dsn(options=f"-c default_transaction_isolation={level.replace(' ', chr(92) + ' ')}")


@pytest.mark.parametrize("patience", [30, 0])
def test_a_conflict_of_two_writers_is_sent_again_as_long_as_there_is_patience(
    patience: float, shell: Shell, place: Place, held: Any
) -> None:
    memory = shell.open(isolated(place, "repeatable read"), retry_timeout=patience)
    scope = memory.tenant(place.tenant()).project("p")
    scope.add("x", key="k")
    writer = held(scope)
    thread, answers = beside(lambda: scope.update("k", topic="t"))
    waiting(place)
    writer.commit()
    thread.join()
    [answer] = answers
    if patience:
        assert answer == "updated"
    else:
        assert (type(answer), answer.sqlstate) == (ConflictError, "40001")
    assert (scope.get("k").importance, scope.get("k").topic) == (5, "t" if patience else None)


WRITES: dict[str, Callable[[Any], Any]] = {
    "keyed": lambda scope: scope.add("y", key="k"),
    "spoken": lambda scope: scope.add("y", role="user"),
    "many": lambda scope: scope.add_many([Item("y", "k"), Item("z", "l")]),
    "forgetting": lambda scope: scope.forget(filter={"topic": "t"}),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_call_whose_server_process_is_ended_is_sent_again(
    write: str, shell: Shell, place: Place, held: Any
) -> None:
    scope = shell.open(place.dsn()).tenant(place.tenant()).project("p")
    scope.add("x", key="k", topic="t")
    writer = held(scope)
    thread, answers = beside(lambda: WRITES[write](scope))
    with place.connect() as root:
        root.execute("SELECT pg_terminate_backend(%s, 10000)", (waiting(place),))
    waiting(place)  # it is there again
    writer.commit()
    thread.join()
    assert not isinstance(answers[0], Exception)
    texts = {"keyed": ["y"], "spoken": ["x", "y"], "many": ["y", "z"], "forgetting": []}
    assert [one.text for one in scope.list()] == texts[write]


def test_a_call_that_the_server_cancels_is_told_and_not_sent_again(
    shell: Shell, place: Place, held: Any
) -> None:
    scope = shell.open(place.dsn(options="-c statement_timeout=1s")).tenant(place.tenant()).project("p")
    scope.add("x", key="k")
    held(scope)
    with pytest.raises(DatabaseError, match="took longer than the server allows"):
        scope.add("y", key="k")
    assert scope.get("k").text == "x"


def through(shell: Shell, place: Place, proxy: CuttingProxy, **given: Any) -> Any:
    return shell.open(place.dsn(host=str(proxy.folder)), **given).tenant(place.tenant()).project("p")


def test_a_keyed_add_whose_answer_is_lost_is_sent_again(
    shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    scope = through(shell, place, shut)
    shut.cut("pgmnemo.store")
    assert scope.add("x", key="k").outcome == "unchanged"  # it was stored the first time
    shut.cut("pgmnemo.store", times=3)
    assert scope.add("nobody says it").outcome == "unchanged"
    assert len(shut.passed) == 4
    assert [one.text for one in scope.list()] == ["x", "nobody says it"]


def test_a_spoken_add_whose_answer_is_lost_is_an_error_that_says_so(
    shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    scope = through(shell, place, shut)
    shut.cut("pgmnemo.append")
    with pytest.raises(LostError, match="nothing is sent twice without a key; whether it was stored is not"):
        scope.add("x", role="user")
    assert len(shut.passed) == 1
    assert scope.add("y", role="user").position == 2  # it was


@pytest.mark.parametrize("verb", ["recall", "get", "count", "list", "facts"])
def test_a_read_whose_answer_is_lost_is_sent_again(
    verb: str, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    scope = through(shell, place, shut)
    scope.add("x", key="k")
    shut.cut(f"pgmnemo.{verb}", times=2)
    given = {"recall": ["x"], "get": ["k"]}.get(verb, [])
    answer = getattr(scope, verb)(*given)
    assert answer is not None
    assert verb != "list" or [one.key for one in answer] == ["k"]
    assert len(shut.passed) == 3


def test_an_export_whose_connection_is_lost_begins_anew(
    shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    import io

    scope = through(shell, place, shut)
    scope.add_many([f"note {number}" for number in range(20)])
    whole, file = io.BytesIO(), io.BytesIO(b"before ")
    scope.export(whole)
    shut.cut("pgmnemo.list_edges")
    file.seek(0, io.SEEK_END)
    assert scope.export(file) == 20
    assert file.getvalue() == b"before " + whole.getvalue()


def test_a_connection_that_cannot_be_made_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    scope = through(shell, place, shut)
    scope.add("x", role="user")
    shut.shut()
    waited: list[float] = []
    module = f"pgmnemo.client.{'aio' if shell.kind == 'async' else 'sync'}.executor"

    def opened(seconds: float) -> Any:
        waited.append(seconds)
        if len(waited) == 3:
            shut.open()

    async def awaited(seconds: float) -> None:
        opened(seconds)

    monkeypatch.setattr(f"{module}.sleep", awaited if shell.kind == "async" else opened)
    assert scope.count().lessons == 1
    assert len(waited) >= 3


def test_a_database_that_stays_away_is_told_with_its_place(
    shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    scope = through(shell, place, shut, retry_timeout=0.05)
    scope.count()
    shut.shut()
    with pytest.raises(DatabaseError, match=r"cannot be reached .* start it, or wait") as raised:
        scope.recall("x")
    assert str(shut.folder) in str(raised.value)
    assert not isinstance(raised.value, UsageError)
    shut.open()
    assert scope.count().lessons == 0


VERBS: dict[str, tuple[str, Callable[[Any], Any], Any]] = {  # the statement, the call, its second answer
    "add": ("pgmnemo.store", lambda scope: scope.add("z", key="c").outcome, "unchanged"),
    "add_many": ("COMMIT", lambda scope: scope.add_many([Item("z", "c")]).outcomes, {"unchanged": 1}),
    "update": ("pgmnemo.update", lambda scope: scope.update("a", topic="t"), "unchanged"),
    "link": ("pgmnemo.link", lambda scope: scope.link("a", "b"), "unchanged"),
    "supersede": ("pgmnemo.supersede", lambda scope: scope.supersede("a", "b"), "unchanged"),
    "undo_supersede": ("pgmnemo.undo", lambda scope: scope.undo_supersede("old"), False),
    "forget": ("pgmnemo.forget", lambda scope: scope.forget("a"), 0),
    "forget hard": ("pgmnemo.forget", lambda scope: scope.forget("a", permanent=True), 0),
    "fact": ("pgmnemo.assert_fact", lambda scope: scope.fact("a", "is", "b", exclusive=True).outcome,
             "unchanged"),
    "end_fact": ("pgmnemo.end_fact", lambda scope: scope.end_fact("x", "is"), 0),
}  # fmt: skip


def filled_through(shell: Shell, place: Place, proxy: CuttingProxy, **given: Any) -> Any:
    scope = shell.open(place.dsn(host=str(proxy.folder)), **given).tenant(place.tenant()).project("p")
    scope.add_many([Item("one", "a"), Item("two", "b"), Item("three", "old")])
    scope.supersede("old", "b")
    scope.fact("x", "is", "y")
    return scope


def kept(scope: Any) -> list[Any]:
    every = list(scope.list(include_inactive=True))
    return [(one.key[:4], one.text, one.topic, one.active, one.superseded_at is None) for one in every]


@pytest.mark.parametrize("verb", VERBS)
def test_a_call_that_is_given_again_happens_once(
    verb: str, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    statement, call, answer = VERBS[verb]
    twice, once = filled_through(shell, place, shut), filled_through(shell, place, shut)
    call(once)
    shut.cut(statement)
    assert call(twice) == answer
    assert len(shut.passed) == 2
    assert kept(twice) == kept(once)


@pytest.mark.parametrize("verb", ["add", "add_many"])
def test_a_server_that_stays_away_after_a_lost_answer_leaves_it_unknown(
    verb: str, shell: Shell, place: Place, shut: CuttingProxy
) -> None:
    statement, call, _ = VERBS[verb]
    scope = filled_through(shell, place, shut, retry_timeout=0.3)
    proxy = shut.folder / SOCKET
    proxy.rename(shut.folder / "away")
    shut.cut(statement)
    with pytest.raises(LostError, match=r"the connection to .* was lost .*; try again"):
        call(scope)
    (shut.folder / "away").rename(proxy)
    assert scope.get("c").text == "z"


def test_after_a_lost_answer_no_error_says_that_nothing_was_stored() -> None:
    attempts = RetryTimer(1.0, chance=lambda: 0.0)
    attempts.pause(psycopg.OperationalError("server closed the connection"), True)
    with pytest.raises(LostError, match=r"is full.*; an earlier try may have been done: try again"):
        attempts.pause(errors.DiskFull("x"), True)
