"""Functions that create valid input files: corpora, finished runs, archives, tokens; see good/."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

from pgmnemo.embedders.minilm_int8 import PACKAGE
from pgmnemo.http.tokens import TokenFile
from pgmnemo.models.runtime import package_folder
from pgmnemo.postgres.releases import default_version
from runner.cli import main
from runner.runs.canonical import pretty
from runner.runs.history import HEADER, entry_text
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.results import Results

Lay = Callable[[Path], object]
"""Lays something out in a folder."""

GOOD = Path(__file__).with_name("good")
NAME = f"v{default_version()}_{datetime.now(UTC):%Y%m%d}_hash_limit3"
PLACE = f"benchmarks/sample/results/{NAME}"  # path of a finished run, as in a repository
RUN = "--system sqlite-fts5 --embedder none --allow-unregistered-corpus --limit 3 --quiet --output {out}/new"
CACHED = "sample --embedder hash --system sqlite-hybrid --cache {in}/cache --quiet"


def text(name: str, content: str | bytes) -> Lay:
    """Return a function that writes a file with this content into a folder."""

    def lay(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return lay


def document(name: str, value: Any) -> Lay:
    """Return a function that writes `value` as a JSON file into a folder."""
    return text(name, json.dumps(value))


def graph(folder: Path) -> None:
    """Link the ONNX file of an embedding model into the folder, if its package is installed."""
    if (package := package_folder(PACKAGE)) is not None:
        (folder / "model" / "model.onnx").symlink_to(package / "model.onnx")


def every(*lays: Lay) -> Lay:
    """Return a function that calls all given functions on a folder, in order."""
    return lambda folder: [lay(folder) for lay in lays]


def good(name: str) -> Lay:
    """Return a function that copies a file or a folder of good/ into a folder."""
    source = GOOD / name
    return lambda folder: (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)


def packed_as(name: str, to: str) -> Lay:
    """Return a function that writes a file of good/ into a folder, compressed as .gz or .xz."""
    content = (GOOD / name).read_bytes()
    return text(to, gzip.compress(content) if to.endswith("gz") else lzma.compress(content))


def zipped(name: str, to: str) -> Lay:
    """Return a function that writes a zip archive whose conversations.json is a file of good/."""

    def lay(folder: Path) -> None:
        shutil.copy(GOOD / name, folder / "conversations.json")
        shutil.make_archive(str(folder / to.removesuffix(".zip")), "zip", folder, "conversations.json")
        (folder / "conversations.json").unlink()

    return lay


def database(name: str, script: str) -> Lay:
    """Return a function that creates an SQLite file by running `script`."""

    def lay(folder: Path) -> None:
        connection = sqlite3.connect(folder / name)
        connection.executescript(script)
        connection.close()

    return lay


def kept(folder: Path) -> None:
    """Copy a finished run into the folder, and write its entry to a HISTORY.md above it.

    The run is made once and then copied.
    """
    made = folder.parents[1] / "kept"
    if not made.exists():
        words = f"sample --embedder hash --limit 3 --quiet --output {folder}/new"
        assert main(words.split()) == 0
        [place] = (folder / "new").glob("*/run.json")
        shutil.copytree(place.parent, made / PLACE)
        _noted(made)
        shutil.copytree(made / PLACE, made / "base")  # another run for comparisons
        record = json.loads((made / "base" / "run.json").read_bytes())
        document("base/run.json", record | {"started": "2026-01-01T00:00:00Z"})(made)
        sealed(made)
        shutil.rmtree(folder / "new")
    shutil.copytree(made, folder, dirs_exist_ok=True)


def _noted(folder: Path) -> None:
    """Write the run's entry to HISTORY.md."""
    place = folder / PLACE
    run, digest = Results(place).run, sha256((place / MANIFEST).read_bytes()).hexdigest()
    entry = entry_text(run.started.date(), "sample", PLACE, run.verdict, digest, run.deviations)
    (folder / "HISTORY.md").write_text(f"{HEADER}\n{entry}", encoding="utf-8")


def packed(folder: Path) -> None:
    """Copy the same finished run into the folder, with its raw rankings compressed."""
    kept(folder)
    raw = folder / PLACE / RAW
    raw.with_name(f"{RAW}.xz").write_bytes(lzma.compress(raw.read_bytes()))
    raw.unlink()


def sealed(folder: Path) -> None:
    """Update the manifest to the current files, and HISTORY.md to the manifest."""
    for place in folder.rglob(MANIFEST):
        before, listed = sha256(place.read_bytes()).hexdigest(), json.loads(place.read_bytes())
        for entry in listed["files"]:
            path = place.with_name(entry["name"])
            if path.is_file() and not path.is_symlink():
                entry.update(bytes=path.stat().st_size, sha256=sha256(path.read_bytes()).hexdigest())
        place.write_text(pretty(listed), encoding="utf-8")
        if (history := folder / "HISTORY.md").exists():
            after = sha256(place.read_bytes()).hexdigest()
            history.write_text(history.read_text("utf-8").replace(before, after), encoding="utf-8")


def asked(folder: Path) -> None:
    """Write a small LoCoMo corpus and a finished run on it into the folder."""
    good("locomo.json")(folder)
    words = f"locomo --data {folder}/locomo.json {RUN.format(out=folder)}"
    assert main(words.split()) == 0
    [made] = (folder / "new").glob("*/run.json")
    made.parent.rename(folder / "done")


def of_corpus(folder: Path) -> None:
    """Write the hash of the current corpus into the run's record."""
    path, corpus = folder / "done" / "run.json", folder / "locomo.json"
    if corpus.is_file():
        record = json.loads(path.read_bytes())
        record["corpus"]["sha256"] = sha256(corpus.read_bytes()).hexdigest()
        path.write_text(json.dumps(record), encoding="utf-8")
        sealed(folder)


def cut_short(folder: Path) -> None:
    """Create a run with a reranker and a rewriter that was interrupted after its last question."""
    with mock.patch("runner.bench.pipeline.write_artefacts", side_effect=KeyboardInterrupt):
        assert main(f"sample --rerank linear --rewrite words {RUN.format(out=folder)}".split()) == 130
    [partial] = (folder / "new").glob(".*.partial")
    partial.rename(folder / ".run.partial")


def cached(folder: Path) -> None:
    """Create an embedding cache with the vectors of the sample."""
    words = (
        f"sample --embedder hash --system sqlite-hybrid --cache {folder}/cache --quiet --output {folder}/new"
    )
    assert main(words.split()) == 0
    shutil.rmtree(folder / "new")


def tokens(folder: Path) -> None:
    """Write a token file with two tokens."""
    TokenFile(folder / "tokens.json").create("ada", "home", "laptop")
    TokenFile(folder / "tokens.json").create("bob")
