"""Reading the protocol: a missing pin is an error that names it."""

from __future__ import annotations

import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import runner
from runner.errors import RunnerError, UsageError
from runner.protocol.pins import EmbedderPins, EnginePins, PassagePins, Protocol, SuitePins
from runner.protocol.required import required

PINS = Path(__file__).with_name("protocol.toml")
DOCUMENT = Path(runner.__file__).parents[1] / "PROTOCOL.md"


@cache
def load_protocol(pins: Path = PINS, document: Path = DOCUMENT) -> Protocol:
    """The protocol in force; UsageError names a pin that `pins` lacks, RunnerError a missing file."""
    return _protocol(_complete(pins), sha256(_bytes(document)).hexdigest())


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunnerError(
            f"the protocol file {path} cannot be read ({error.strerror}); "
            "run from a complete checkout of the repository"
        ) from None


def _complete(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML ({error}); restore it from the repository") from None
    for pin in required(str(tables.get("version"))):
        _demand(tables, pin, path)
    return tables


def _demand(tables: dict[str, Any], pin: tuple[str, ...], path: Path) -> None:
    value: Any = tables
    for key in pin:
        if not isinstance(value, dict) or key not in value:
            raise UsageError(f"{path} lacks the pin {'.'.join(pin)}; restore it from PROTOCOL.md")
        value = value[key]


def _protocol(tables: dict[str, Any], digest: str) -> Protocol:
    suites = {name: SuitePins(**{"shape": {}, **table}) for name, table in tables["suites"].items()}
    registered = {pins.sha256: pins.what for pins in suites.values() if pins.sha256}
    others = {file["sha256"]: file["what"] for file in tables["other_files"].values()}
    metrics = {**tables["metrics"]}
    return Protocol(
        version=tables["version"],
        sha256=digest,
        seed=tables["seed"],
        **tables["retrieval"],
        cutoffs=tuple(metrics.pop("cutoffs")),
        headline=tuple(metrics.pop("headline")),
        **metrics,
        **tables["embedding"],
        embedders={name: EmbedderPins(**table) for name, table in tables["embedders"].items()},
        artefacts=tuple(tables["artefacts"]["required"]),
        settings=tables["settings"],
        suites=suites,
        known_files={**registered, **others},
        variance=tables["variance"],
        **_since_1_2(tables),
    )


def _since_1_2(tables: dict[str, Any]) -> dict[str, Any]:
    """Passages and engines, where the protocol has them."""
    if "engines" not in tables:
        return {}
    engines = {
        name: EnginePins(**{**table, "components": tuple(table["components"])})
        for name, table in tables["engines"].items()
    }
    return {"passages": PassagePins(**tables["passages"]), "engines": engines}
