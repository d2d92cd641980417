"""Every field of run.json, and what holds it: a check of `verify`, or nobody, so that it is *stated*.

A new field of the schema gets one line here. What a check asks only with the corpus at hand says so. The
edition in force names the stated ones too (`stated` of its edition.toml), for a report lists its edition's.
"""

from __future__ import annotations

from collections.abc import Mapping

STATED = "stated"
CORPUS = "with --corpus: "

FIELDS: Mapping[str, str] = {
    "schema": "schema", "name": "record", "verdict": "record", "deviations": "record", "protocol": "record",
    "choice": "record", "choice.beside": "raw", "choice.k": "metrics", "choice.limit": "raw",
    "choice.types": "raw", "choice.split": CORPUS + "questions",
    "seed": "record", "python_hash_seed": "record",
    "corpus": "record", "corpus.file": STATED,
    "embedder": "record", "passages": CORPUS + "corpus",
    "arms": "record", "arms.version": STATED, "arms.tuned_on": STATED, "arms.own_embedder": STATED,
    "arms.facts": STATED, "arms.load_seconds": STATED, "arms.disk_bytes": STATED, "arms.memory_bytes": STATED,
    "arms.remarks": STATED, "arms.failed": STATED,
    "scopes": "record", "views": "record", "headline": "record", "components": "record",
    "guc_state": "record", "guc_defaults": "record",
    "database": "record", "database.origin": STATED, "database.database": STATED,
    "database.postgresql": STATED, "database.pgvector": STATED, "database.role": STATED,
    "python": STATED, "packages": STATED, "code.commit": "code", "code.dirty": "record", "machine": STATED,
    "gates": "record", "disclosures": "record", "reranker": STATED, "reranker.name": "record",
    "reranks": "record", "rewriter": STATED, "rewriter.name": "record", "rewrites": "record",
    "resources": "record", "resources.vectors_cached": STATED, "resources.vectors_embedded": STATED,
    "resources.peak_memory_mb": STATED,
    "latency": "record", "started": "record", "finished": "record",
}  # fmt: skip


def holder(field: str) -> str | None:
    """What holds a field, written with dots: the line of itself or of what it stands in; None: no line."""
    parts = field.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((FIELDS[name] for name in names if name in FIELDS), None)


def stated() -> tuple[str, ...]:
    """The fields that nothing can check, in the order of run.json."""
    return tuple(name for name, held in FIELDS.items() if held == STATED)
