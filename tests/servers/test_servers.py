"""A memory answers the same on every server that PostgreSQL's users have, however it came there."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pgmnemo.postgres.server_process import SUPERUSER
from tests.servers.asserting import answers_as, is_sound, mend, unfound, wrong
from tests.servers.bench import Absent, Bench
from tests.servers.ways import CELLS, Cell

Say = Callable[[str, object], None]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_memory_answers_as_if_it_had_been_there_from_the_start(
    bench: Bench, cell: Cell, record_property: Say
) -> None:
    record_property("cell", str(cell))
    try:
        database, reference = cell.make(bench)
    except Absent as lacking:
        pytest.skip(str(lacking))
    made_anew = mend(database)
    is_sound(database)
    missing = unfound(database)
    assert not missing or "encoding" in wrong(database)
    answers_as(database, reference)
    said = [f"made anew, as doctor says: {', '.join(made_anew)}"] if made_anew else []
    said += [f"by vector alone, as doctor says: {', '.join(missing)}"] if missing else []
    record_property("said", "; ".join(said))


REFUSED = {
    "ALTER EXTENSION vector SET SCHEMA": ("ALTER EXTENSION vector SET SCHEMA other", "0A000"),
    "ALTER EXTENSION pgmnemo SET SCHEMA": ("ALTER EXTENSION pgmnemo SET SCHEMA other", "0A000"),
    "CREATE EXTENSION pgmnemo SCHEMA other": ("CREATE EXTENSION pgmnemo SCHEMA other", "0A000"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("major", [16, 18])
def test_what_would_part_the_extension_is_refused(
    bench: Bench, major: int, what: str, record_property: Say
) -> None:
    record_property("cell", f"refused: {major}, {what}")
    statement, state = REFUSED[what]
    try:
        database = bench.server(major).installed("refused")
    except Absent as lacking:
        pytest.skip(str(lacking))
    database.run("CREATE SCHEMA other", user=SUPERUSER)
    if statement.startswith("CREATE"):
        database.run("DROP EXTENSION pgmnemo")
    with pytest.raises(psycopg.Error) as refused:
        database.run(statement, user=SUPERUSER)
    assert refused.value.sqlstate == state
    record_property("outcome", "refused")
    record_property("said", str(refused.value).splitlines()[0])
