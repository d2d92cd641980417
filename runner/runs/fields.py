"""Every field of run.json, and what holds it: a check of `verify`, or nobody, so that it is *stated*.

A new field of the schema gets one line here. What a check asks only with the corpus at hand says so. The
edition in force names the stated ones too (`stated` of its edition.toml), for a report lists its edition's.
"""

from __future__ import annotations

from collections.abc import Mapping

STATED = "stated"
CORPUS = "with --corpus: "

FIELDS: Mapping[str, str] = {
    "schema": "schema", "name": "header", "verdict": "verdict", "deviations": "verdict",
    "protocol": "protocol", "seed": "gates", "python_hash_seed": "gates",
    "choice.suite": "views", "choice.level": "settings", "choice.text": "settings",
    "choice.passages": "settings",
    "choice.max_chars": "settings", "choice.max_tokens": "header", "choice.embedder": "identity",
    "choice.system": "arms", "choice.systems": "arms", "choice.beside": "raw", "choice.version": "gates",
    "choice.mode": "arms", "choice.settings": "settings", "choice.k": "metrics", "choice.limit": "raw",
    "choice.types": "raw", "choice.split": CORPUS + "questions", "choice.scopes": "views",
    "choice.rerank": "reranks", "choice.rewrite": "rewrites",
    "choice.allow_unregistered_corpus": "gates",
    "corpus.title": "views", "corpus.file": STATED, "corpus.sha256": "gates",
    "corpus.segments": "header",
    "corpus.questions": "header", "corpus.clustered": "views", "corpus.shape": "gates",
    "corpus.citable": "views",
    "corpus.files": "gates",
    "embedder.name": "identity", "embedder.model": "identity", "embedder.revision": "identity",
    "embedder.dimensions": "identity", "embedder.max_tokens": "settings",
    "embedder.batch_size": "settings",
    "embedder.query_prefix": "settings", "embedder.document_prefix": "settings",
    "embedder.note": "settings",
    "passages": CORPUS + "corpus",
    "arms.name": "arms", "arms.words": "arms", "arms.role": "arms", "arms.title": "arms",
    "arms.version": STATED,
    "arms.tuned_on": STATED, "arms.own_embedder": STATED, "arms.components": "agree",
    "arms.facts": STATED,
    "arms.load_seconds": STATED, "arms.disk_bytes": STATED,
    "arms.memory_bytes": STATED, "arms.remarks": STATED,
    "arms.failed": STATED,
    "scopes": "views", "views": "views", "headline": "views", "components": "components",
    "guc_state": "settings",
    "guc_defaults": "settings",
    "database.origin": STATED, "database.database": STATED, "database.postgresql": STATED,
    "database.pgvector": STATED, "database.pgmnemo": "gates", "database.fingerprint": "gates",
    "database.role": STATED,
    "python": STATED, "packages": STATED, "code.commit": "code", "code.dirty": "gates",
    "machine": STATED,
    "gates": "gates", "disclosures": "views",
    "reranker": STATED, "reranks": "reranks",
    "rewriter": STATED, "rewriter.name": "rewrites", "rewrites": "rewrites",
    "resources.vectors_cached": STATED,
    "resources.vectors_embedded": STATED, "resources.peak_memory_mb": STATED,
    "resources": "header", "latency": "timings", "started": "header", "finished": "header",
}  # fmt: skip


def holder(field: str) -> str | None:
    """What holds a field, written with dots: the line of itself or of what it stands in; None: no line."""
    parts = field.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((FIELDS[name] for name in names if name in FIELDS), None)


def stated() -> tuple[str, ...]:
    """The fields that nothing can check, in the order of run.json."""
    return tuple(name for name, held in FIELDS.items() if held == STATED)
