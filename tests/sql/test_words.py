"""Texts of every script, and tokens in the forms that people ask for, are found by their words."""

from __future__ import annotations

import unicodedata
from typing import Any

import psycopg
import pytest

LONG = 100_000  # bytes


def lexemes(owner: Any, text: str, config: str = "english") -> set[str]:
    query = "SELECT tsvector_to_array(pgmnemo._lexemes(%s::regconfig, %s))"
    return set(owner.execute(query, (config, text)).fetchone()[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("我去学校", {"我去", "去学", "学校", *"我去学校"}),
        ("我去学", {"我去", "去学", *"我去学"}),
        ("我", {"我"}),
        ("iPhone手机A座", {"iphon", "手机", "座", *"手机"}),
        ("東京タワーへ", {"東京", "京た", "たわ", "わー", "ーへ", *"東京"}),
        ("한국어를 배워", {"한국", "국어", "어를", "배워"}),
        ("ผมอยู่", {"ผม", "มอ", "อยู่"}),
        ("ភាសា", {"ភាសា"}),
        ("ລາວ", {"ລາ", "າວ"}),
        ("မြန်မာ", {"မြန်", "န်မာ"}),
    ],
)
def test_runs_of_scripts_without_blanks_become_pairs_of_characters(
    owner: Any, text: str, words: set[str]
) -> None:
    assert lexemes(owner, text) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café crème", unicodedata.normalize("NFD", "café crème")),
        ("café crème", "cafe creme"),
        ("Łódź Ørsted straße", "lodz orsted strasse"),
        ("ﬁnal ﬂight", "final flight"),
        ("１２３ＡＢＣ", "123ABC"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth\u200dword\ufeff", "zerowidthword"),
        ("ｶﾞﾗｽ", "ガラス"),
        ("カギ", "かぎ"),
        ("Þórður", "Thordur"),
        ("٤٥٦٧ ४५ ๙", "4567 45 9"),
        ("क़लम", "कलम"),
        ("كَلِمَة", "كلمة"),
    ],
)
def test_forms_of_one_text_have_the_same_lexemes(owner: Any, one: str, other: str) -> None:
    assert lexemes(owner, one) == lexemes(owner, other)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("PROJ-137 is late", ["137", "ticket 137", "proj 137", "PROJ137", "proj-137"]),
        ("it cost 1,250.00 EUR", ["1250", "1250.00", "1,250"]),
        ("it cost 1.250,50 EUR", ["1250", "1250.50"]),
        ("it cost 1'250 CHF", ["1250"]),
        ("it cost 1\u202f250 EUR", ["1250"]),
        ("ticket 2026-0137", ["0137", "2026-0137", "20260137"]),
        ("host db-01.example.com", ["db-01.example.com", "example", "db-01"]),
        ("mail jo.smith@example.com", ["jo.smith@example.com", "smith", "example.com"]),
        ("see https://x.io/a?ticket=QX-7781&y=2", ["QX-7781", "7781", "qx7781"]),
        ("call get_user_name()", ["get_user_name", "getUserName", "user name"]),
        ("call getUserName()", ["getUserName", "user name"]),
        ("edit /var/log/app_error.log", ["/var/log/app_error.log", "app_error", "log"]),
        ("an iPhone15 case", ["iphone 15", "iphone15"]),
        ("the host 10.0.0.17 is down", ["10.0.0.17"]),
        ("Saw The Who live", ["The Who", "the who"]),
        ("To be or not to be", ["to be or not to be"]),
        ("C++ and C# code", ["C++", "C#"]),
        ("a plan of AT&T", ["AT&T"]),
        ("O\u2019Brien called", ["O'Brien", "OBrien", "brien"]),
        ("192.168.1.254 is down", ["192.168"]),
        ("我的车是红色的", ["车", "红色"]),
        ("IT has moved to the third floor", ["IT", "it"]),
        ("We asked IT for a laptop", ["IT", "it"]),
        ("The IT team has moved", ["IT", "the IT team"]),
        ("Call the vet at +49 (0)30 1234-5678", ["03012345678", "+493012345678", "1234 5678"]),
        ("the locksmith: 06 12 34 56 79", ["0612345679", "06.12.34.56.79"]),
        ("DE89 3704 0044 0532 0130 00 is for rent", ["DE89370400440532013000"]),
        ("my account GB29NWBK60161331926819", ["GB29 NWBK 6016 1331 9268 19"]),
        ("the postcode is SW1A 1AA", ["sw1a1aa", "SW1A 1AA"]),
        ("passport C01X00T47", ["c01x 00t47"]),
        ("a parcel 1Z 999 AA1 01 2345 6784", ["1Z999AA10123456784"]),
        ("the router 00:1A:2B:3C:4D:5E", ["001a2b3c4d5e", "00-1a-2b-3c-4d-5e"]),
        ("commit 3f9a2c81d7e4b0 broke it", ["3f9a2c8", "3f9a2c81d7"]),
        ("exit code 0x80070005", ["80070005"]),
        ("the pizza place \U0001f525\U0001f355", ["\U0001f355"]),
        ("landed in \U0001f1f5\U0001f1f9", ["\U0001f1f5\U0001f1f9"]),
    ],
)
def test_a_token_is_found_in_the_forms_that_people_ask_for(tenant: Any, text: str, asked: list[str]) -> None:
    tenant.store("it", text)
    for number in range(5):
        tenant.store(f"other{number}", f"Nothing of note happened on day {number + 50}.")
    for question in asked:
        [first, *_] = tenant.recall(question, mode="keyword")
        assert (first["external_id"], first["bm25"] > 0) == ("it", True), question


def test_each_of_many_tickets_is_found_in_each_form(tenant: Any) -> None:
    tenant.store_many(
        {f"n{n}": f"PROJ-{n}: the build of branch {n % 7} was repaired" for n in range(100, 400)}
    )
    for form in ("PROJ-{}", "ticket {}", "proj {}", "PROJ{}", "What became of proj-{}?"):
        found = [tenant.ids(form.format(n), mode="keyword", k=1) for n in range(100, 400, 30)]
        assert found == [[f"n{n}"] for n in range(100, 400, 30)], form


# Stems that PostgreSQL 16 and 18 give otherwise, each beside what both must give here.
STEMS = {
    "english": ("added adding erred ebbing egged", {"add", "er" + "r", "ebb", "egg"}),
    "german": ("Abbrecherinnen Abbrecherin", {"abbrech"}),
    "swedish": ("röst", {"ros"}),
    "italian": ("divano", {"divan"}),
    "romanian": ("aberație aberaţie", {"aber"}),
}


@pytest.mark.parametrize("config", STEMS)
def test_stems_do_not_depend_on_the_version_of_postgresql(owner: Any, config: str) -> None:
    text, stems = STEMS[config]
    assert lexemes(owner, text, config) == stems


@pytest.mark.parametrize(
    "unit",
    [
        "a_",
        "a-1-",
        "<!--",
        "<a ",
        "http://",
        "1,000.",
        "aB",
        "x1-",
        "&#1",
        "我",
        "1 ",
        "1-A-",
        "deadbeef ",
        "0x80070005 ",
        "ガ",
        "٣",
        "😀",
        "\u0301",
        "/a",
    ],
)
def test_a_long_text_of_any_kind_is_cut_in_bounded_time(owner: Any, unit: str) -> None:
    """40 kB of some of these took PostgreSQL's parser half a minute."""
    with owner.transaction():
        owner.execute("SET LOCAL statement_timeout = '10s'")
        lexemes(owner, unit * (LONG // len(unit.encode())))


def test_a_blank_question_asks_nothing(tenant: Any) -> None:
    tenant.store("a", "the river")
    for blank in (" ", "\t\n", "\u3000", "\u200b", "\u00a0"):
        assert [row["fit"] for row in tenant.recall(blank, mode="keyword")] == [0.0], repr(blank)


@pytest.mark.parametrize("blank", ["", " \t", "\u3000", "\u200b", "\u00a0\u2003", "\ufeff\u00ad"])
def test_a_blank_text_is_no_lesson(tenant: Any, blank: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="no text in its content"):
        tenant.store("a", blank)
