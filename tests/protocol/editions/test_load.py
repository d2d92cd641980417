"""An edition loads whole or not at all and says which pin is at fault; known ones are found by number."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from pgmnemo.errors import PgmnemoError, UsageError
from runner.paths import ROOT
from runner.protocol.editions import DOCUMENT, Edition, current, edition, known, list_digest, registered_files
from runner.protocol.editions.load import FOLDER, PINS, TEXT, tables_of

FROZEN = FOLDER / known()[-1] / PINS
TABLES = tables_of(FROZEN)
Pin = tuple[str, ...]


def pins_of(tables: dict[str, Any], kind: Any = Edition, path: Pin = ()) -> Iterator[Pin]:
    """Every pin and table that an edition cannot do without."""
    hints = get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        if field.name not in tables:
            continue
        place, hint, value = (*path, field.name), hints[field.name], tables[field.name]
        if field.required:
            yield place
        inner = get_args(hint)[1] if get_args(hint) and isinstance(value, dict) else hint
        if isinstance(value, dict) and inner is not hint and isinstance(inner, type(Edition)):
            for name, member in value.items():
                yield from pins_of(member, inner, (*place, name))
        elif isinstance(inner, type(Edition)):
            yield from pins_of(value, inner, place)


REQUIRED = list(pins_of(TABLES))


def toml(table: dict[str, Any], path: Pin = ()) -> str:
    """The text of a TOML file."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    rows = {key: value for key, value in table.items() if isinstance(value, list) and _of_tables(value)}
    lines = [
        f"{json.dumps(key)} = {json.dumps(value)}\n"
        for key, value in table.items()
        if key not in inner and key not in rows
    ]
    for key, value in inner.items():
        lines.append(f"[{_dotted(*path, key)}]\n{toml(value, (*path, key))}")
    for key, members in rows.items():
        lines += [f"[[{_dotted(*path, key)}]]\n{toml(member, (*path, key))}" for member in members]
    return "".join(lines)


def _of_tables(value: list[Any]) -> bool:
    return bool(value) and isinstance(value[0], dict)


def _dotted(*path: str) -> str:
    return ".".join(map(json.dumps, path))


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    """The frozen edition's TOML with a change."""
    tables = deepcopy(TABLES)
    change(tables)
    return toml(tables)


def at(tables: dict[str, Any], path: Pin) -> Any:
    for key in path:
        tables = tables[key]
    return tables


def without(*pin: str) -> str:
    return changed(lambda tables: at(tables, pin[:-1]).pop(pin[-1]))


def with_pin(value: Any, *pin: str) -> str:
    return changed(lambda tables: at(tables, pin[:-1]).update({pin[-1]: value}))


def folder(editions: Path, version: str, text: str) -> Path:
    """An edition of that text in a folder of editions."""
    place = editions / version
    place.mkdir(exist_ok=True)
    (place / PINS).write_text(text, encoding="utf-8")
    (place / TEXT).write_text(f"{'ab' * 32}  PROTOCOL.md\n", encoding="utf-8")
    return place


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str], str]:
    """The sentence with which a text is refused."""

    def sentence(text: str) -> str:
        file = folder(tmp_path, "9.0.0", text) / PINS
        edition.cache_clear()
        with pytest.raises(UsageError) as error:
            edition("9.0.0", tmp_path)
        said = str(error.value)
        assert said.startswith(f"{file}: ")
        assert said.endswith("; restore it from the repository")
        return said.removeprefix(f"{file}: ").removesuffix("; restore it from the repository")

    return sentence


def test_the_text_that_tests_change_is_the_editions() -> None:
    assert tomllib.loads(toml(TABLES)) == TABLES
    assert len(REQUIRED) > 50
    for pin in (("seed",), ("gates",), ("retrieval", "depth"), ("suites", "locomo", "scopes"), ("settings",)):
        assert pin in REQUIRED


@pytest.mark.parametrize("pin", REQUIRED, ids=".".join)
def test_a_missing_pin_is_refused_by_name(refused: Callable[[str], str], pin: Pin) -> None:
    *table, key = pin
    place = f" in {'.'.join(table)}" if table else ""
    assert refused(without(*pin)) == f"object missing required field `{key}`{place}"


@pytest.mark.parametrize(("pin", "place"), [(("moon",), ""), (("retrieval", "moon"), " in retrieval")])
def test_an_unknown_pin_is_refused_by_name(refused: Callable[[str], str], pin: Pin, place: str) -> None:
    assert refused(with_pin(1, *pin)) == f"object contains unknown field `moon`{place}"


@pytest.mark.parametrize(
    ("pin", "value", "sentence"),
    [
        ("seed", "42", "expected `int`, got `str` in seed"),
        ("retrieval", 50, "expected `object`, got `int` in retrieval"),
        ("retrieval.depth", 50.5, "expected `int`, got `float` in retrieval.depth"),
        ("metrics.cutoffs", [1, "5"], "expected `int`, got `str` in metrics.cutoffs[1]"),
        ("settings.gate_strict", ["warn"], "expected `float | str`, got `array` in settings.gate_strict"),
        ("suites.locomo.shape.turns", "many", "expected `int`, got `str` in suites.locomo.shape.turns"),
        ("suites.locomo.views", [{"name": 1}], "expected `str`, got `int` in suites.locomo.views[0].name"),
    ],
)
def test_a_mistyped_pin_is_refused_by_name(
    refused: Callable[[str], str], pin: str, value: Any, sentence: str
) -> None:
    assert refused(with_pin(value, *pin.split("."))) == sentence


@pytest.mark.parametrize("text", [b"version = ", b"\xff"])
def test_broken_toml_is_one_clear_sentence(tmp_path: Path, text: bytes) -> None:
    (folder(tmp_path, "9.0.0", "") / PINS).write_bytes(text)
    with pytest.raises(UsageError, match="is not valid TOML"):
        edition("9.0.0", tmp_path)


def test_a_missing_file_is_one_clear_sentence(tmp_path: Path) -> None:
    (folder(tmp_path, "9.0.0", toml(TABLES)) / TEXT).unlink()
    with pytest.raises(PgmnemoError, match=r"PROTOCOL\.sha256 cannot be read .* checkout") as error:
        edition("9.0.0", tmp_path)
    assert error.value.code == 3


def test_the_text_and_the_pins_are_those_of_the_edition_in_force() -> None:
    told = "run `python tools/edition.py` with its version, unless a run is committed under it"
    assert current().sha256 == sha256(DOCUMENT.read_bytes()).hexdigest(), told
    assert current().pins_sha256 == sha256(FROZEN.read_bytes()).hexdigest()


def test_an_edition_is_to_the_byte_what_it_was_when_its_runs_were_committed() -> None:
    for path in sorted((ROOT / "benchmarks").glob("*/results/*/run.json")):
        named = json.loads(path.read_bytes())["protocol"]
        if named["version"] in known():
            pins = edition(named["version"])
            assert (pins.sha256, pins.pins_sha256) == (named["sha256"], named["pins_sha256"]), path


def test_editions_are_ordered_by_number_and_the_newest_is_in_force(tmp_path: Path) -> None:
    for version in ("9.9.0", "9.10.0"):
        folder(tmp_path, version, with_pin(version, "version"))
    (tmp_path / "drafts").mkdir()
    assert known(tmp_path) == ("9.9.0", "9.10.0")
    assert edition("9.9.0", tmp_path).sha256 == "ab" * 32
    assert current().version == known()[-1]


def test_a_later_edition_holds_what_it_adds(tmp_path: Path) -> None:
    base = folder(tmp_path, "9.0.0", with_pin("9.0.0", "version")) / PINS
    digest = sha256(base.read_bytes()).hexdigest()
    text = (
        f'version = "9.1.0"\nfollows = {{ version = "9.0.0", pins_sha256 = "{digest}" }}\n'
        'gates = ["fresh"]\nmetrics.families = ["hit"]\nretrieval.timed = 7\n'
    )
    folder(tmp_path, "9.1.0", text)
    former, later = edition("9.0.0", tmp_path), edition("9.1.0", tmp_path)
    assert later.gates == (*former.gates, "fresh")
    assert later.metrics.families == (*former.metrics.families, "hit")
    assert (later.retrieval.timed, later.retrieval.depth) == (7, former.retrieval.depth)
    assert later.pins_sha256 == sha256(text.encode()).hexdigest()
    base.write_text(base.read_text() + "\n", encoding="utf-8")
    edition.cache_clear()
    with pytest.raises(UsageError, match=r"9\.0\.0/edition\.toml is not the file that .* follows"):
        edition("9.1.0", tmp_path)


def test_an_unknown_edition_lists_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"protocol 3 is not known here; known are: {known()[0]}"):
        edition("3")
    with pytest.raises(UsageError, match=r"protocol 3 is not known here; known are: \(none\)$"):
        edition("3", tmp_path / "nowhere")


def test_a_suite_of_which_no_corpus_is_registered_lists_the_others() -> None:
    assert current().suite("locomo") is current().suites["locomo"]
    with pytest.raises(UsageError, match="no corpus of the suite pages; it registers: locomo, long"):
        current().suite("pages")


def test_a_wrong_file_can_be_called_by_its_name() -> None:
    names = current().known_files
    assert "oracle" in names["821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c"]
    assert "development split" in names["1b6e84ec6f26bed1a4b8e41b828ed99476627b46dfd0cd4b801f40324ec95c53"]
    for pins in current().suites.values():
        if pins.sha256 is not None:  # else no file of it was ever at hand
            assert names[pins.sha256] == pins.what


@pytest.mark.parametrize(("suite", "files"), [("realtalk", 10), ("beam", 40), ("beam-500k", 70)])
def test_the_hashes_of_a_folders_files_are_the_list_that_the_edition_pins(suite: str, files: int) -> None:
    found, pins = registered_files(current(), suite), current().suites[suite]
    assert (list_digest(found), len(found)) == (pins.sha256, files)
    text = (FOLDER / str(pins.files)).read_text(encoding="utf-8")
    assert text == "".join(f"{found[name]}  {name}\n" for name in sorted(found))
    assert not registered_files(current(), "locomo")
    assert not registered_files(current(), "pages")


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ({"sha256": "0" * 64}, r"realtalk\.sha256 is not the list that its edition pins; restore it"),
        ({"files": "gone.sha256"}, r"gone\.sha256 cannot be read"),
    ],
)
def test_a_list_that_was_changed_or_is_missing_is_one_sentence(pin: dict[str, str], sentence: str) -> None:
    changed = msgspec.structs.replace(current().suites["realtalk"], **pin)
    with pytest.raises(PgmnemoError, match=sentence):
        registered_files(msgspec.structs.replace(current(), suites={"realtalk": changed}), "realtalk")
