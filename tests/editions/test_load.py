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

from runner.editions import DOCUMENT, Edition, PassagePins, current, edition, known
from runner.editions.load import FOLDER, PINS, read
from runner.errors import RunnerError, UsageError

FROZEN = FOLDER / "1.2.0" / PINS  # no pin that it lacks can be required
TABLES = tomllib.loads(FROZEN.read_text(encoding="utf-8"))
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
        lines += [f"[[{_dotted(*path, key)}]]\n{toml(member)}" for member in members]
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


@pytest.fixture
def refused(tmp_path: Path) -> Callable[[str], str]:
    """The sentence with which a text is refused."""

    def sentence(text: str) -> str:
        file = tmp_path / PINS
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError) as error:
            read(file, DOCUMENT)
        said = str(error.value)
        assert said.startswith(f"{file}: ")
        assert said.endswith("; restore it from the repository")
        return said.removeprefix(f"{file}: ").removesuffix("; restore it from the repository")

    return sentence


def test_the_text_that_tests_change_is_the_editions(tmp_path: Path) -> None:
    assert tomllib.loads(toml(TABLES)) == TABLES
    assert len(REQUIRED) > 50
    for pin in (("seed",), ("gates",), ("retrieval", "depth"), ("suites", "locomo", "scopes"), ("settings",)):
        assert pin in REQUIRED


@pytest.mark.parametrize("pin", REQUIRED, ids=".".join)
def test_a_missing_pin_is_refused_by_name(refused: Callable[[str], str], pin: Pin) -> None:
    *table, key = pin
    place = f" in {'.'.join(table)}" if table else ""
    assert refused(without(*pin)) == f"object missing required field `{key}`{place}"


@pytest.mark.parametrize(
    ("pin", "place"),
    [
        (("moon",), ""),
        (("retrieval", "moon"), " in retrieval"),
        (("suites", "locomo", "moon"), " in suites.locomo"),
        (("embedders", "minilm", "moon"), " in embedders.minilm"),
        (("engines", "passages", "moon"), " in engines.passages"),
    ],
)
def test_an_unknown_pin_is_refused_by_name(refused: Callable[[str], str], pin: Pin, place: str) -> None:
    assert refused(with_pin(1, *pin)) == f"object contains unknown field `moon`{place}"


@pytest.mark.parametrize(
    ("pin", "value", "sentence"),
    [
        ("seed", "42", "expected `int`, got `str` in seed"),
        ("seed", True, "expected `int`, got `bool` in seed"),
        ("retrieval", 50, "expected `object`, got `int` in retrieval"),
        ("retrieval.depth", 50.5, "expected `int`, got `float` in retrieval.depth"),
        ("metrics.cutoffs", 5, "expected `array`, got `int` in metrics.cutoffs"),
        ("metrics.cutoffs", [1, "5"], "expected `int`, got `str` in metrics.cutoffs[1]"),
        ("gates", ["seed", 7], "expected `str`, got `int` in gates[1]"),
        ("embedders.minilm.dimensions", "384", "expected `int`, got `str` in embedders.minilm.dimensions"),
        ("engines.passages.passages", 1, "expected `bool`, got `int` in engines.passages.passages"),
        ("settings.gate_strict", ["warn"], "expected `float | str`, got `array` in settings.gate_strict"),
        ("suites.sample", 7, "expected `object`, got `int` in suites.sample"),
        ("suites.locomo.bytes", "many", "expected `int | null`, got `str` in suites.locomo.bytes"),
        ("suites.locomo.shape.turns", "many", "expected `int`, got `str` in suites.locomo.shape.turns"),
        ("suites.locomo.views", [{"name": 1}], "expected `str`, got `int` in suites.locomo.views[0].name"),
        ("variance.locomo.MRR@50", "wide", "expected `float`, got `str` in variance.locomo.MRR@50"),
        (
            "other_files.longmemeval_dev.what",
            1,
            "expected `str`, got `int` in other_files.longmemeval_dev.what",
        ),
    ],
)
def test_a_mistyped_pin_is_refused_by_name(
    refused: Callable[[str], str], pin: str, value: Any, sentence: str
) -> None:
    assert refused(with_pin(value, *pin.split("."))) == sentence


def test_a_table_under_another_name_is_refused(refused: Callable[[str], str]) -> None:
    text = FROZEN.read_text(encoding="utf-8").replace("[suites.locomo.shape]", "[suites.other.shape]")
    assert refused(text) == "object missing required field `file` in suites.other"


def test_what_was_added_to_the_rule_of_passages_since_changes_no_older_edition() -> None:
    fields = msgspec.structs.fields(PassagePins)
    assert [field.name for field in fields if field.required] == ["turns", "step", "characters"]


def test_broken_toml_is_one_clear_sentence(tmp_path: Path) -> None:
    file = tmp_path / PINS
    for text in (b"version = ", b"\xff"):
        file.write_bytes(text)
        with pytest.raises(UsageError, match="is not valid TOML"):
            read(file, DOCUMENT)


def test_a_missing_document_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunnerError, match=r"PROTOCOL\.md cannot be read .* checkout") as error:
        read(FROZEN, tmp_path / "PROTOCOL.md")
    assert error.value.code == 3


def test_the_hashes_are_those_of_the_document_and_of_the_pins() -> None:
    assert current().sha256 == sha256(DOCUMENT.read_bytes()).hexdigest()
    assert current().pins_sha256 == sha256((FOLDER / known()[-1] / PINS).read_bytes()).hexdigest()
    for version in known()[:-1]:
        kept = FOLDER / version / "PROTOCOL.md"
        assert edition(version).sha256 == sha256(kept.read_bytes()).hexdigest()
        assert edition(version).pins_sha256 == sha256((FOLDER / version / PINS).read_bytes()).hexdigest()


def test_an_edition_is_loaded_once_and_cannot_be_changed() -> None:
    assert current() is current() is edition(known()[-1])
    with pytest.raises(AttributeError, match="immutable"):
        current().seed = 7  # type: ignore[misc]


def test_the_editions_are_known_oldest_first_and_the_newest_is_in_force() -> None:
    assert known()[:4] == ("1.1.0", "1.2.0", "1.3.0", "1.4.0")
    assert current().version == known()[-1]
    assert [edition(version).version for version in known()] == list(known())


@pytest.fixture
def editions(tmp_path: Path) -> Path:
    """A folder of editions of which 1.10.0 is the newest; a folder without pins is none."""
    for number in ("1.9.0", "1.10.0"):
        (tmp_path / number).mkdir()
        (tmp_path / number / PINS).write_text(with_pin(number, "version"), encoding="utf-8")
    (tmp_path / "1.9.0" / "PROTOCOL.md").write_text("# The protocol of old\n", encoding="utf-8")
    (tmp_path / "drafts").mkdir()
    return tmp_path


def test_editions_are_ordered_by_number_and_not_by_letter(editions: Path) -> None:
    assert known(editions) == ("1.9.0", "1.10.0")


def test_a_former_edition_keeps_its_pins_and_its_text(editions: Path) -> None:
    former = edition("1.9.0", editions)
    assert former.version == "1.9.0"
    assert former.sha256 == sha256(b"# The protocol of old\n").hexdigest()
    assert former.pins_sha256 == sha256((editions / "1.9.0" / PINS).read_bytes()).hexdigest()


def test_the_text_of_the_newest_edition_alone_stands_at_the_top(editions: Path) -> None:
    assert edition("1.10.0", editions).sha256 == sha256(DOCUMENT.read_bytes()).hexdigest()
    (editions / "1.9.0" / "PROTOCOL.md").unlink()
    with pytest.raises(RunnerError, match=r"1\.9\.0/PROTOCOL\.md cannot be read"):
        edition("1.9.0", editions)


def test_an_unknown_edition_lists_those_that_are_known(editions: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"protocol 3 is not known here; known are: 1\.9\.0, 1\.10\.0$"):
        edition("3", editions)
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


@pytest.mark.parametrize("version", known())
def test_a_public_corpus_has_every_pin(version: str) -> None:
    suites = edition(version).suites
    for pins in (suites["locomo"], suites["longmemeval"]):
        assert pins.sha256
        assert pins.bytes
        assert pins.data_variable
        assert pins.url
        assert pins.shape
        assert pins.views
    assert (suites["locomo"].clustered, suites["longmemeval"].clustered) == (True, False)
    assert not suites["sample"].citable
    assert suites["sample"].sha256


@pytest.mark.parametrize("version", known())
def test_the_counts_of_each_corpus_add_up(version: str) -> None:
    suites = edition(version).suites
    categories = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
    types = (
        "single-session-user", "multi-session", "single-session-preference",
        "temporal-reasoning", "knowledge-update", "single-session-assistant",
    )  # fmt: skip
    assert sum(suites["locomo"].shape[name] for name in categories) == suites["locomo"].shape["questions"]
    assert (
        sum(suites["longmemeval"].shape[name] for name in types) == suites["longmemeval"].shape["questions"]
    )
