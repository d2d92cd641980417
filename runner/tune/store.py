"""Collected components on disk, by all that they depend on. Numbers alone: no text, no id."""

from __future__ import annotations

from dataclasses import astuple, fields
from hashlib import sha256
from pathlib import Path

from runner.editions import Edition
from runner.records import EmbedderIdentity
from runner.tune.collecting import Collected
from runner.tune.company import Company
from runner.tune.kept import load, save
from runner.tune.tasks import Task
from runner.tune.trials import NUMBER, QUESTIONS, SEED
from runner.tune.weights import GRID

FORMAT = 3
COMPANY = "company "


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
    arrays, weights = load(path) or ({}, {})
    if not {f"{COMPANY}{one.name}" for one in fields(Company)} <= set(arrays):
        return None
    company = Company(*(arrays.pop(f"{COMPANY}{one.name}") for one in fields(Company)))
    return Collected(arrays, weights, company)


def save_components(path: Path, collected: Collected) -> bool:
    """Write the file whole or not at all; False where it cannot be written, which costs time and no more."""
    company = {f"{COMPANY}{one.name}": getattr(collected.company, one.name) for one in fields(Company)}
    return save(path, {**company, **collected.values}, dict(collected.weights))
