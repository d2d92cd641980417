"""Every command that reads a file: its input files, the file to damage, and its arguments."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.reliability import laying
from lab.reliability.laying import (
    PLACE,
    RUN,
    Lay,
    document,
    every,
    good,
    kept,
    sealed,
    text,
)  # fmt: skip
from runner.paths import ROOT
from runner.runs.manifest import MANIFEST
from runner.stages.rerankers.linear import SHIPPED

ARTEFACTS = ("run.json", "metrics.json", "raw_retrievals.jsonl", MANIFEST)
NOBODY = "postgresql://127.0.0.1:1/nothing"
ANSWER = (
    "answer {in}/done --data {in}/locomo.json --reader-url http://127.0.0.1:1/v1 --reader-model m "
    "--max-failures 0 --limit 1 --quiet --output {out}/new"
)
TOKENIZER = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}}
CLASSIFIER = {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "it fits"},
              "max_position_embeddings": 512}  # fmt: skip
IMPORT = "import {file} --memory {memory} --tenant {name} --embedder none --quiet"


@dataclass(frozen=True)
class FileCommand:
    """A command that reads a file: `words` are its arguments, `file` is the input file to damage.

    `lay` makes the input; `after` updates hashes, so that none of them reveals the damage. `stdin`: the file
    of standard input. `told`: a fault is a result, on standard output. `own`: the command may change its
    input.
    """

    command: str
    file: str
    lay: Lay
    words: str
    after: Lay = str
    program: str = "runner"
    stdin: str = ""
    told: bool = False
    own: bool = False


def corpora() -> Iterator[FileCommand]:
    """Yield the suites as commands of a run, each with a damaged file of its corpus."""
    sample = text("sample.json", (ROOT / "benchmarks" / "sample" / "sample.json").read_bytes())
    yield FileCommand("sample", "sample.json", sample, f"sample --data {{file}} {RUN}")
    for suite, data in (
        ("locomo", "locomo.json"), ("longmemeval", "longmemeval.json"), ("longmemeval-m", "longmemeval.json"),
        ("realtalk", "realtalk/Chat_1_Ana_Bo.json"), ("beam", "beam/1/chat.json"),
        ("beam", "beam/1/probing_questions/probing_questions.json"),
        ("convomem", "convomem/user_evidence/1_evidence/p1.json"),
        ("convomem", "convomem/user_evidence/1_evidence/p2.json"),
        ("membench", "membench/FirstAgent/simple.json"),
        ("file", "own.json"), ("file", "own.jsonl"), ("file", "memini.json"), ("file", "beir/corpus.jsonl"),
        ("file", "beir/queries.jsonl"), ("file", "beir/qrels/test.tsv"),
    ):  # fmt: skip
        name = data.partition("/")[0]
        yield FileCommand(suite, data, good(name), f"{suite} --data {{in}}/{name} {RUN}")
    for to in ("locomo.json.gz", "locomo.json.xz"):
        yield FileCommand("locomo", to, laying.packed_as("locomo.json", to), f"locomo --data {{file}} {RUN}")
    for words in (
        "train --output {out}/weights.json",
        "tune --output {out}/new",
        "tune sweep --grid weight=0.3,0.6 --output {out}/new",
    ):
        command = words.partition(" --")[0]
        more = f"--suite locomo --data {{file}} --embedder hash --quiet --dsn {NOBODY}"
        yield FileCommand(command, "locomo.json", good("locomo.json"), f"{words} {more}", program="lab")


def finished() -> Iterator[FileCommand]:
    """Yield the commands over a finished run, each with a damaged file of the run."""
    run = f"{{in}}/{PLACE}"
    for name in ARTEFACTS:
        of = partial(FileCommand, file=f"{PLACE}/{name}", lay=kept, after=str if name == MANIFEST else sealed)
        yield of("verify", words=f"verify {run} --rerun 0", told=True)
        yield of("rescore", words=f"rescore {run} --output {{out}}/new")
        yield of("export", words=f"export {run} --output {{out}}/new")
        yield of("report", words=f"report {run} --output {{out}}/page.html")
        yield of("compare", words=f"compare {{in}}/base {run}", told=True)
        yield of("gate", words=f"gate --baseline {{in}}/base {run}", told=True)
        yield of("leaderboard", words=f"leaderboard {run}")
        yield of("history add", words=f"history add {run}")
        yield of("cite", words=f"cite {run}")
        signing = every(kept, text("key", "no key"))
        yield FileCommand("sign", f"{PLACE}/{name}", signing, f"sign {run} --key {{in}}/key")


def beside() -> Iterator[FileCommand]:
    """Yield commands over a finished run with another damaged file: HISTORY.md, signers, a packed file."""
    run = f"{{in}}/{PLACE}"
    xz = f"{PLACE}/raw_retrievals.jsonl.xz"
    yield FileCommand("verify", xz, laying.packed, f"verify {run} --rerun 0", sealed, told=True)
    yield FileCommand("rescore", xz, laying.packed, f"rescore {run} --output {{out}}/new", sealed)
    yield FileCommand("verify", "HISTORY.md", kept, f"verify {run} --rerun 0 --history {{file}}", told=True)
    yield FileCommand("history deviation", "HISTORY.md", kept, f"history deviation {run} late")
    signers = every(kept, text("signers", "ann@x ssh-ed25519 AAAA\n"))
    words = f"verify {run} --rerun 0 --allowed-signers {{file}}"
    yield FileCommand("verify", "signers", signers, words, told=True)
    yield FileCommand("sign", "key", every(kept, text("key", "no key")), f"sign {run} --key {{file}}")
    yield FileCommand(
        "report", f"{PLACE}/timings.jsonl", kept, f"report {run} --output {{out}}/page.html", sealed
    )
    mark = f"<!-- cite: recall_any@10 {laying.NAME} -->97.6 %<!-- /cite -->"
    page = every(kept, text("page.md", f"# Recall\n\nIt is {mark} of\n\n- the `first`,\n- the rest.\n"))
    for way in ("--check", "--write"):
        yield FileCommand(f"cite {way}", "page.md", page, f"cite {way} {{file}} --root {{in}}", told=True)


def others() -> Iterator[FileCommand]:
    """Yield the commands of the runner and the laboratory that read other files."""
    rankings = [
        {"question": f"conv-1/q{at}", "ranking": [["conv-1/D1", 2.0], "conv-1/D2"]} for at in range(4)
    ]
    raw = "".join(f"{json.dumps(one)}\n" for one in rankings)
    trec = "".join(
        f"conv-1/q{at} Q0 conv-1/D{rank} {rank} {3 - rank} me\n" for at in range(4) for rank in (1, 2)
    )
    score = "score --suite locomo --data {in}/locomo.json"
    for name, content in (
        ("raw.jsonl", raw),
        ("run.trec", trec),
        ("raw.jsonl.gz", gzip.compress(raw.encode())),
    ):
        lay = every(good("locomo.json"), text(name, content))
        yield FileCommand("score", name, lay, f"{score} --rankings {{file}}")
    yield FileCommand("score --ids", "locomo.json", good("locomo.json"), f"{score} --ids {{out}}/new")
    yield FileCommand("answer", "locomo.json", laying.asked, ANSWER, laying.of_corpus)
    for option, content in (
        ("judge-prompts", '{"temporal": "{question} {key}"}'),
        ("key-errors", "# x\nconv-1/q0\n"),
    ):
        lay = every(laying.asked, text(option, content))
        yield FileCommand(f"answer --{option}", option, lay, f"{ANSWER} --{option} {{file}}")
    for name in ("plan.json", "raw_retrievals.jsonl", "reranks.jsonl", "rewrites.jsonl"):
        words = f"sample --rerank linear --rewrite words {RUN} --resume {{in}}/.run.partial"
        yield FileCommand("sample --resume", f".run.partial/{name}", laying.cut_short, words, own=True)
    weights = text("weights.json", SHIPPED.read_bytes())
    words = f"sample --rerank linear --rerank-model {{file}} {RUN}"
    yield FileCommand("sample --rerank-model", "weights.json", weights, words)
    words = f"{laying.CACHED} --output {{out}}/new"
    yield FileCommand("sample --cache", "cache/*.sqlite", laying.cached, words, own=True)
    config = text("model/config.json", '{"hidden_size": 384, "max_position_embeddings": 512}')
    model = every(config, text("model/model.safetensors", b"\x02\0\0\0\0\0\0\0{}"))
    words = "sample --embedder bge-m3 --model {in}/model --system sqlite-hybrid --quiet --output {out}/new"
    yield FileCommand("sample --model", "model/config.json", model, words)
    words = (
        "sample --embedder minilm-onnx --model {in}/model --system sqlite-hybrid --quiet --output {out}/new"
    )
    tokenizer = document("model/tokenizer.json", TOKENIZER)
    yield FileCommand("sample --model", "model/tokenizer.json", every(tokenizer, laying.graph), words)
    classifier = document("model/config.json", CLASSIFIER)
    words = f"sample --rerank onnx --rerank-model {{in}}/model {RUN}"
    yield FileCommand("sample --rerank-model", "model/config.json", every(classifier, laying.graph), words)
    figures = ROOT / "benchmarks" / "performance" / "v1.0.0_20261130_10000_384d" / "performance.json"
    made = text("run/performance.json", figures.read_bytes())
    yield FileCommand(
        "perf plot", "run/performance.json", made, "perf plot {in}/run --output {out}/new", program="lab"
    )
    for name in ("locomo10.json", "locomo10.json.part"):
        yield FileCommand(
            "fetch", name, text(name, "[]" * 99), "fetch locomo --output {in} --quiet", own=True
        )


MEM0 = """
CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
    created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
INSERT INTO history (id, memory_id, new_memory, event, created_at) VALUES
    ('1', 'a', 'Sails on Mondays', 'ADD', '2024-09-03T10:00:00'),
    ('2', 'b', 'Likes tea', 'ADD', '2024-09-03');
"""
PALACE = """
CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE segments (id TEXT PRIMARY KEY, scope TEXT NOT NULL, collection TEXT NOT NULL);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL);
CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER,
    float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));
INSERT INTO collections VALUES ('c', 'mempalace_drawers');
INSERT INTO segments VALUES ('m', 'METADATA', 'c');
INSERT INTO embeddings VALUES (1, 'm', 'drawer_a');
INSERT INTO embedding_metadata (id, key, string_value) VALUES (1, 'chroma:document', 'Anna sails.'),
    (1, 'wing', 'boats'), (1, 'filed_at', '2024-09-03T10:00:00');
"""
FORMATS = {
    "export.jsonl": "jsonl", "lines.jsonl": "jsonl", "claude-code.jsonl": "claude-code",
    "codex.jsonl": "codex", "chatgpt.json": "chatgpt", "claude.json": "claude", "mem0.json": "mem0",
    "langgraph.json": "langgraph", "notes.md": "markdown",
}  # fmt: skip
FOLDER = (
    "mnemo.json", "opening.lock", "pg18/PG_VERSION", "pg18/mnemo.conf", "pg18/postgresql.conf",
    "pg18/global/pg_control", "pg18/global/pg_filenode.map",
)  # fmt: skip


def said(folder: Path) -> None:
    """Write the event that a coding agent sends to a hook: the path of its transcript."""
    document("event.json", {"transcript_path": f"{folder}/claude-code.jsonl", "cwd": "/boats"})(folder)


def memories() -> Iterator[FileCommand]:
    """Yield the commands of `mnemo`."""
    of = partial(FileCommand, program="mnemo")
    for name, form in FORMATS.items():
        yield of(f"import --from {form}", name, good(name), f"{IMPORT} --from {form}")
        yield of("import", name, good(name), IMPORT)
    for form, to, lay in (
        ("chatgpt", "talks.zip", laying.zipped("chatgpt.json", "talks.zip")),
        ("claude", "talks.zip", laying.zipped("claude.json", "talks.zip")),
        ("mem0", "mem0.db", laying.database("mem0.db", MEM0)),
        ("mempalace", "palace.sqlite3", laying.database("palace.sqlite3", PALACE)),
    ):  # fmt: skip
        yield of(f"import --from {form}", to, lay, f"{IMPORT} --from {form}")
    yield of(
        "import -", "export.jsonl", good("export.jsonl"), IMPORT.replace("{file}", "-"), stdin="export.jsonl"
    )
    add = "add --memory {memory} --tenant {name} --embedder none --quiet"
    yield of("add --turns", "lines.jsonl", good("lines.jsonl"), f"{add} --turns {{file}}")
    yield of("add", "notes.md", good("notes.md"), add, stdin="notes.md")
    hook = "hook save --memory {memory} --tenant {name} --embedder none"
    yield of(
        "hook save",
        "event.json",
        document("event.json", {"transcript_path": "/none"}),
        hook,
        stdin="event.json",
    )
    talk = "claude-code.jsonl"
    yield of("hook save", talk, good(talk), hook, said, stdin="event.json")
    yield of("token list", "tokens.json", laying.tokens, "token list --tokens {file}")
    yield of("token make", "tokens.json", laying.tokens, "token make ada --tokens {file}")
    yield of(
        "serve --tokens", "tokens.json", laying.tokens, "serve {in}/none --tokens {file} --embedder none"
    )
    for name in FOLDER:
        yield of("stats", f"memory/{name}", str, "stats --memory {in}/memory --quiet", own=True)


def readers() -> list[FileCommand]:
    """Return all commands that read a file."""
    return [*corpora(), *finished(), *beside(), *others(), *memories()]
