"""Which interval a question names, and how well a moment fits it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

NOW = "2024-05-15 10:00"  # a Wednesday

# question, and for each interval its beginning and its end, in UTC
NAMED = [
    ("What did we decide on 8 May 2023?", "2023-05-08/2023-05-09"),
    ("Where was she on the 3rd of March?", "2024-03-03/2024-03-04"),
    ("Who called on June 2nd?", "2023-06-02/2023-06-03"),
    ("Who called on Sept. 9, 2022?", "2022-09-09/2022-09-10"),
    ("notes of 2023-05-08", "2023-05-08/2023-05-09"),
    ("What broke in February 2024?", "2024-02-01/2024-03-01"),
    ("What broke in May?", "2024-05-01/2024-06-01"),
    ("between 2 April and 5 April 2024", "2024-04-02/2024-04-03 2024-04-05/2024-04-06"),
    ("Who came at Christmas?", "2023-12-25/2023-12-26"),
    ("Who came on Christmas Eve 2021?", "2021-12-24/2021-12-25"),
    ("a card for Valentine's Day", "2024-02-14/2024-02-15"),
    ("the Halloween costume", "2023-10-31/2023-11-01"), ("turnover in Q2 2023", "2023-04-01/2023-07-01"),
    ("our hike in the summer of 2022", "2022-06-01/2022-09-01"),
    ("our hike last autumn", "2023-09-01/2023-12-01"), ("our hike last winter", "2023-12-01/2024-03-01"),
    ("What did I buy three days ago?", "2024-05-12/2024-05-13"),
    ("What did I buy a couple of weeks ago?", "2024-04-27T17:40:48/2024-05-05T02:19:12"),
    ("What did I buy twenty days ago?", "2024-04-23/2024-04-28"),
    ("What did I buy a fortnight ago?", "2024-04-27T17:40:48/2024-05-05T02:19:12"),
    ("What did I buy half a year ago?", "2023-10-22T00:24/2023-12-08T19:36"),
    ("turnover in Q1", "2024-01-01/2024-04-01"), ("the trip in mid-April", "2024-04-01/2024-05-01"),
    ("What did I buy yesterday?", "2024-05-14/2024-05-15"),
    ("What did I buy the day before yesterday?", "2024-05-13/2024-05-14"),
    ("What did I buy this morning?", "2024-05-15/2024-05-16"),
    ("Who rang last night?", "2024-05-14T12:00/2024-05-15T12:00"),
    ("Where were we last weekend?", "2024-05-11/2024-05-13"),
    ("What happened last week?", "2024-05-06/2024-05-13"),
    ("What broke in the previous month?", "2024-04-01/2024-05-01"),
    ("What did the past month bring?", "2024-04-01/2024-05-01"),
    ("turnover of last quarter", "2024-01-01/2024-04-01"),
    ("turnover of the previous year", "2023-01-01/2024-01-01"),
    ("turnover of this quarter", "2024-04-01/2024-05-16"),
    ("turnover over the last week", "2024-05-05T10:00/2024-05-16T10:00"),
    ("turnover of the past 10 days", "2024-05-05T10:00/2024-05-16T10:00"),
    ("turnover of the last two years", "2022-05-13T10:00/2024-05-16T10:00"),
    ("the call of 15.09.2022", "2022-09-15/2022-09-16"), ("the call of 3.5.2023", "2023-05-03/2023-05-04"),
    ("the call of 2022/09/15", "2022-09-15/2022-09-16"),
    ("the call of 15/09/2022", "2022-09-15/2022-09-16"),
    ("the call of 09/15/2022", "2022-09-15/2022-09-16"), ("the call of 5/8/2023", "2023-01-01/2024-01-01"),
    ("the first week of September", "2023-09-01/2023-09-08"),
    ("the last week of February 2024", "2024-02-23/2024-03-01"),
    ("What happened in the past two weeks?", "2024-04-28T10:00/2024-05-16T10:00"),
    ("Who came last Tuesday?", "2024-05-14/2024-05-15"),
    ("Who came last Wednesday?", "2024-05-08/2024-05-09"),
    ("Who came Tuesday last week?", "2024-05-07/2024-05-08"),
    ("Who came last week on Friday?", "2024-05-10/2024-05-11"),
    ("Who came this past Tuesday?", "2024-05-14/2024-05-15"),
    ("Who was here on Tuesday?", "2024-05-14/2024-05-15"),
    ("What did she buy on Friday, two weeks ago?", "2024-04-27T17:40:48/2024-05-05T02:19:12"),
    ("What has she read recently?", "2024-04-24T10:00/2024-05-16T10:00"),
    ("What did we eat the other day?", "2024-05-08T10:00/2024-05-14T22:00"),
    ("How many trips last year?", "2023-01-01/2024-01-01"),
    ("How many trips this year?", "2024-01-01/2024-05-16"),
    ("How many trips this week?", "2024-05-13/2024-05-16"),
    ("What changed in 2021?", "2021-01-01/2022-01-01"),
    ("What broke on 31 February 2022?", "2022-02-01/2022-03-01"),
    ("Where did I live before 2022?", "1000-01-01/2022-01-01"),
    ("before 0900-05-05", "0900-05-05/0900-05-06"),
    ("before the end of June 2022", "1000-01-01/2022-06-01"),
    ("before last Tuesday", "1000-01-01/2024-05-14"),
    ("Where did I live after 2022?", "2023-01-01/2024-05-16T10:00"),
    ("calls after 3 April", "2024-04-04/2024-05-16T10:00"),
    ("the week before 3 April", "2024-04-03/2024-04-04"),
    ("the Monday after 3 April", "2024-04-03/2024-04-04"),
    ("calls since May 2030", "2030-05-01/2030-06-01"),
    ("since she called on 3 April", "2024-04-03/2024-04-04"),
    ("since June 2022, but not in July 2022", "2022-06-01/2024-05-16T10:00 2022-07-01/2022-08-01"),
]  # fmt: skip
OTHERS = [
    ("Was habe ich gestern gekauft?", "2024-05-14/2024-05-15"),
    ("Wer war heute hier?", "2024-05-15/2024-05-16"),
    ("Was habe ich vor drei Tagen gekauft?", "2024-05-12/2024-05-13"),
    ("Was geschah letzten Monat?", "2024-04-01/2024-05-01"),
    ("Wer kam letzten Dienstag?", "2024-05-14/2024-05-15"),
    ("Was war am 15. September 2022?", "2022-09-15/2022-09-16"),
    ("Im April waren wir wo?", "2024-04-01/2024-05-01"), ("Ende März war was?", "2024-03-01/2024-04-01"),
    ("Wo war ich letztes Wochenende?", "2024-05-11/2024-05-13"),
    ("Qui est venu le 15 septembre ?", "2023-09-15/2023-09-16"),
    ("Qui est venu le week-end dernier ?", "2024-05-11/2024-05-13"),
    ("début avril", "2024-04-01/2024-05-01"),
    ("¿Quién vino el fin de semana pasado?", "2024-05-11/2024-05-13"),
    ("九月我去了哪里?", "2023-09-01/2023-10-01"), ("4月8日谁来了?", "2024-04-08/2024-04-09"),
    ("上个周末谁来了?", "2024-05-11/2024-05-13"), ("大前天", "2024-05-12/2024-05-13"),
    ("一昨日は何をした?", "2024-05-13/2024-05-14"), ("おととい", "2024-05-13/2024-05-14"),
    ("先週は何をした?", "2024-05-06/2024-05-13"), ("先月", "2024-04-01/2024-05-01"),
    ("Was war im März?", "2024-03-01/2024-04-01"),
    ("in den letzten 10 Tagen", "2024-05-05T10:00/2024-05-16T10:00"),
    ("Qu'est-ce que j'ai acheté hier ?", "2024-05-14/2024-05-15"),
    ("Qu'avons-nous dit avant-hier ?", "2024-05-13/2024-05-14"),
    ("Qui est venu aujourd'hui ?", "2024-05-15/2024-05-16"),
    ("Qui est venu la semaine dernière ?", "2024-05-06/2024-05-13"),
    ("Qui est venu l'année dernière ?", "2023-01-01/2024-01-01"),
    ("Qui est venu il y a trois jours ?", "2024-05-12/2024-05-13"),
    ("Qui est venu mardi dernier ?", "2024-05-14/2024-05-15"),
    ("Qui est venu le 3 mai 2023 ?", "2023-05-03/2023-05-04"),
    ("¿Qué compré ayer?", "2024-05-14/2024-05-15"), ("¿Quién vino hoy?", "2024-05-15/2024-05-16"),
    ("¿Quién vino el mes pasado?", "2024-04-01/2024-05-01"),
    ("¿Quién vino el año pasado?", "2023-01-01/2024-01-01"),
    ("¿Quién vino hace tres días?", "2024-05-12/2024-05-13"),
    ("¿Quién vino el martes pasado?", "2024-05-14/2024-05-15"),
    ("¿Quién vino el 3 de mayo de 2023?", "2023-05-03/2023-05-04"),
    ("2023年5月8日发生了什么?", "2023-05-08/2023-05-09"), ("2023年5月发生了什么?", "2023-05-01/2023-06-01"),
    ("去年我去了哪里?", "2023-01-01/2024-01-01"), ("上个月我去了哪里?", "2024-04-01/2024-05-01"),
    ("我上周做了什么?", "2024-05-06/2024-05-13"), ("上周二谁来了?", "2024-05-07/2024-05-08"),
    ("我昨天买了什么?", "2024-05-14/2024-05-15"),
    ("我前天买了什么?", "2024-05-13/2024-05-14"),
    ("两天前天气怎么样?", "2024-05-13/2024-05-14"), ("十一月谁来了?", "2023-11-01/2023-12-01"),
    ("三天前天气怎么样?", "2024-05-12/2024-05-13"), ("九月十五日谁来了?", "2023-09-15/2023-09-16"),
    ("2023年二月二十八号谁来了?", "2023-02-28/2023-03-01"), ("十天前天气怎么样?", "2024-05-04/2024-05-07"),
    ("Was war im August?", "2023-08-01/2023-09-01"),
    ("2022年から2023年まで", "2022-01-01/2023-01-01 2023-01-01/2024-01-01"),
]  # fmt: skip
SINCE = {  # what began then, and goes on until a day from now
    "What broke since April?": "2024-04-01", "What broke since June 2022?": "2022-06-01",
    "since 29 June": "2023-06-29", "Who came since June 2nd, 2022?": "2022-06-02",
    "since 2022": "2022-01-01", "What changed since the 3rd of March?": "2024-03-03",
    "since 2022-06-02": "2022-06-02", "What changed since yesterday?": "2024-05-14",
    "ever since last Tuesday": "2024-05-14", "What broke since Monday?": "2024-05-13",
    "since last month": "2024-04-01", "since the beginning of April": "2024-04-01",
    "since early April": "2024-04-01", "our hikes since the summer of 2022": "2022-06-01",
    "since Q1 2023": "2023-01-01", "visits since Christmas": "2023-12-25",
    "since three days ago": "2024-05-12", "Was ist seit Juni 2022 passiert?": "2022-06-01",
    "seit 2022": "2022-01-01", "Wer kam seit dem 3. März?": "2024-03-03", "seit gestern": "2024-05-14",
    "seit Anfang April": "2024-04-01", "seit letzter Woche": "2024-05-06",
    "seit zwei Wochen": "2024-04-28T10:00", "seit Montag": "2024-05-13",
    "Qui est venu depuis juin 2022 ?": "2022-06-01", "depuis le 3 mars": "2024-03-03",
    "depuis la semaine dernière": "2024-05-06", "depuis trois jours": "2024-05-12T10:00",
    "¿Quién vino desde junio de 2022?": "2022-06-01", "desde ayer": "2024-05-14",
    "desde el 3 de marzo": "2024-03-03", "desde el mes pasado": "2024-04-01",
    "desde hace dos días": "2024-05-13T10:00", "2022年6月以来谁来了?": "2022-06-01",
    "自去年以来": "2023-01-01", "从昨天开始": "2024-05-14", "昨日から何をした?": "2024-05-14",
    "3月5日以降": "2024-03-05", "先月以来": "2024-04-01",
}  # fmt: skip
UNNAMED = [
    "Was habe ich hier gesehen?", "Was liegt vor dem Haus?", "¿Qué hace Ana?", "我喜欢什么?",
    "两三天前谁来了?",
    "the mayo in the fridge",
    "", "Where does she live?", "May I ask her?", "They march on", "the last of the past glories",
    "a long time ago", "on 5/8/2023x", "the day 99999", "year 0001", "29 February", "in room 1950",
    "last day of the month", "next week", "What do I have on Monday?", "She is here on Mondays",
    "tonight", "1823-13-45", "the 0 may", "since when?", "since she moved", "Seit wann?", "desde Madrid",
]  # fmt: skip


@pytest.fixture
def server(owner: Any) -> Iterator[Any]:
    """A connection whose time zone is not the one that is reckoned in."""
    with owner.transaction(force_rollback=True):
        owner.execute("SET LOCAL timezone = 'America/New_York'")
        yield owner


def times(server: Any, question: str, as_of: str = NOW) -> list[tuple[datetime, datetime]]:
    since, until = server.execute(
        "SELECT t.since, t.until FROM pgmnemo._times(%s, %s::timestamptz) t", (question, f"{as_of} UTC")
    ).fetchone()
    return list(zip(since, until, strict=True))


def fit(server: Any, happened: datetime | str | None, *intervals: tuple[datetime, datetime]) -> float:
    since, until = ([pair[side] for pair in intervals] for side in (0, 1))
    query = "SELECT pgmnemo._temporal(%s::timestamptz, %s::timestamptz[], %s::timestamptz[])"
    value: float = server.execute(query, (happened, since, until)).fetchone()[0]
    return value


def test_a_question_names_these_times(server: Any) -> None:
    since = [(question, f"{start}/2024-05-16T10:00") for question, start in SINCE.items()]
    for question, intervals in [*NAMED, *OTHERS, *since]:
        wanted = [
            tuple(datetime.fromisoformat(end).replace(tzinfo=UTC) for end in interval.split("/"))
            for interval in intervals.split()
        ]
        assert sorted(times(server, question)) == wanted, question
        if question.isascii():  # under the locale C no other letter has a small form
            assert sorted(times(server, question.upper())) == wanted, question
    for question in UNNAMED:
        assert times(server, question, "2023-05-15") == [], question


@pytest.mark.parametrize(
    "as_of", ["0001-01-01", "9999-12-31 23:59", "294276-12-31", "4713-01-01 BC", "1000-01-01"]
)
def test_no_moment_is_too_far_for_any_expression(server: Any, as_of: str) -> None:
    far = ["999 years ago", "the last 999 months", "9999-12-31, 31 Dec 9999"]
    for question in [*(named for named, _ in [*NAMED, *OTHERS]), *far]:
        query = (
            "SELECT cardinality(t.since) - cardinality(t.until) "
            "FROM pgmnemo._times(%s, %s::timestamp AT TIME ZONE 'UTC') t"
        )
        assert server.execute(query, (question, as_of)).fetchone() == (0,)


def test_no_text_raises(server: Any) -> None:
    chance = random.Random(2024)
    pieces = " ".join(question for question, _ in NAMED).split()
    pieces += [
        "0", "00", "0000", "0001", "31", "99", "99999", "2023", "-", "--", "2024-02-30", "of", "'", "\\", "(",
        "é", "\n", "january", "feb", "ago", "years", "days", "last", "this", "q0", "q4", "999", "1000",
        "quarter", "%",
    ]  # fmt: skip
    questions = [
        chance.choice(["", " ", " ", " "]).join(chance.choices(pieces, k=chance.randint(1, 12)))
        for _ in range(1500)
    ]
    query = """SELECT count(*), min(lower(p.period)) FROM unnest(%s::text[]) q,
               LATERAL pgmnemo._times(q, %s) t, LATERAL unnest(t.since, t.until) AS i (since, until),
               LATERAL (SELECT tstzrange(i.since, i.until)) AS p (period)
               WHERE pgmnemo._temporal(i.since, t.since, t.until) = 1"""
    found, _ = server.execute(query, (questions, datetime(2024, 5, 15, tzinfo=UTC))).fetchone()
    assert found > 500


@pytest.mark.parametrize(
    ("days", "value"),
    [(-2, 0.5), (-4, 0.25), (0, 1), (0.5, 1), (1, 0.5**0.1), (8, 0.5), (15, 0.25), (-1e5, 0), (3e5, 0)],
)
def test_a_moment_fits_an_interval_of_a_day(server: Any, days: float, value: float) -> None:
    start = datetime(2024, 5, 1, tzinfo=UTC)
    found = fit(server, start + timedelta(days=days), (start, start + timedelta(days=1)))
    assert found == pytest.approx(value, abs=1e-9)


def test_the_nearest_interval_counts(server: Any) -> None:
    start = datetime(2024, 5, 1, tzinfo=UTC)
    day = timedelta(days=1)
    assert fit(server, start + 9 * day, (start, start + day), (start + 11 * day, start + 12 * day)) == 0.5


@pytest.mark.parametrize("happened", [None, "infinity", "-infinity", "4713-01-01 BC", "294276-12-31"])
def test_a_moment_far_away_or_unknown_fits_nothing(server: Any, happened: str | None) -> None:
    start = datetime(2024, 5, 1, tzinfo=UTC)
    assert fit(server, happened, (start, start + timedelta(days=1))) == pytest.approx(0, abs=1e-300)
    assert fit(server, happened) == 0


def test_without_times_nothing_fits(server: Any) -> None:
    assert server.execute("SELECT pgmnemo._temporal(now(), NULL, NULL)").fetchone()[0] == 0
    assert server.execute("SELECT t.since FROM pgmnemo._times(NULL, now()) t").fetchone()[0] == []


@pytest.mark.parametrize(("question", "share"), [
    ("What has she read recently?", 0.3), ("What did we eat the other day?", 0.3),
    ("Who was here on Tuesday?", 1), ("What broke in May?", 1),
])  # fmt: skip
def test_what_is_told_loosely_counts_for_less(server: Any, question: str, share: float) -> None:
    found = server.execute("SELECT share FROM pgmnemo._times(%s, %s::timestamptz)", (question, f"{NOW} UTC"))
    assert found.fetchone() == (share,)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("What did we talk about last Tuesday?", "tuesday"),
        ("our talk in the first week of September", "september"),
    ],
)
def test_the_day_that_is_asked_for_comes_first(tenant: Any, question: str, key: str) -> None:
    """Asked on a Saturday; the days beside it fit as well by words."""
    days = {"monday": "2024-05-13", "tuesday": "2024-05-14", "wednesday": "2024-05-15"}
    days |= {"august": "2023-08-30", "september": "2023-09-04", "october": "2023-10-02"}
    for name, day in days.items():
        tenant.store(name, f"We had a talk about the boat, {len(name)}.", occurred_at=f"{day} 10:00+00")
    assert tenant.ids(question, as_of="2024-05-18 12:00+00")[0] == key
