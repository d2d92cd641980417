"""Collected components on disk, by all that they depend on. Numbers alone: no text, no id."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, fields
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from runner.editions import Edition
from runner.records import EmbedderIdentity
from runner.tune.collecting import Collected
from runner.tune.company import Company
from runner.tune.tasks import Task
from runner.tune.trials import NUMBER, QUESTIONS, SEED
from runner.tune.weights import GRID

FORMAT = 2
WEIGHTS, COMPANY = "weights", "company "


def component_file(
    folder: Path, task: Task, identity: EmbedderIdentity, fingerprint: str, edition: Edition
) -> Path:
    """The file of these components: another text, vector, engine or grid has another name."""
    corpus = task.corpus
    model, settings = astuple(identity)[:-1], sorted(edition.settings.items())
    drawn = (NUMBER, SEED, QUESTIONS)
    depends = (FORMAT, fingerprint, model, settings, GRID, drawn, edition.retrieval.depth)
    digest = sha256(repr(depends).encode())
    for one in (*corpus.segments, *corpus.edges, *(question for _, question in task.questions)):
        digest.update(repr(one).encode("utf-8", "surrogatepass"))
    return folder / f"{task.name.replace(' ', '_')}_{digest.hexdigest()[:16]}.npz"


def load_components(path: Path) -> Collected | None:
    """What was kept; None where there is nothing that can be read."""
    try:
        with path.open("rb") as file, np.load(file) as held:
            arrays = {name: held[name] for name in held.files}
        weights: Mapping[str, float] = json.loads(str(arrays.pop(WEIGHTS)))
        company = Company(*(arrays.pop(f"{COMPANY}{one.name}") for one in fields(Company)))
        return Collected(arrays, dict(weights), company)
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None


def save_components(path: Path, collected: Collected) -> bool:
    """Write the file whole or not at all; False where it cannot be written, which costs time and no more."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            company = {
                f"{COMPANY}{one.name}": getattr(collected.company, one.name) for one in fields(Company)
            }
            weights = {WEIGHTS: np.array(json.dumps(collected.weights))}
            arrays: dict[str, Any] = {**weights, **company, **collected.values}
            np.savez(file, allow_pickle=False, **arrays)
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        return False
    return True
