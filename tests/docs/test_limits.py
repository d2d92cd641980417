"""docs/trust/limits.md has the bounds of the code, each read from where it is enforced."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from pgmnemo.client import jsonl_format, lesson_text, naming, staging
from pgmnemo.http import auth, client_connections, server, verbs
from pgmnemo.mcp import messages, schemas
from pgmnemo.passages import pieces
from pgmnemo.postgres.embedded import memory_folder

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "trust" / "limits.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|*]+?) \| ([^|]+?) \| ([^|]*?) ?\|$", re.M)
NUMBER = re.compile(r"\d+e\d+|\d[\d,]*")
UNITS = {"MiB": 1 << 20, "KiB": 1 << 10}
LIMITS = auth.Limits()


def sql(file: str, *patterns: str) -> list[float]:
    """Return the number that each pattern finds in a source file of the extension; % is a constant's."""
    patterns = tuple(one.replace("%", r"constant integer := (\d+)") for one in patterns)
    text = (ROOT / "sql" / "src" / file).read_text(encoding="utf-8")
    found = [re.search(pattern, text) for pattern in patterns]
    assert all(found), (file, patterns)
    return [float(one[1].replace(",", "")) for one in found if one]


def tool(kind: type, field: str, bound: str = "maximum") -> float:
    """Return a bound of a field of a tool's arguments, as MCP's clients read it."""
    asked = schemas.json_schema(kind)["properties"][field]
    [found] = [one[bound] for one in asked.get("anyOf", [asked]) if bound in one]
    return float(found)


def stated(cell: str) -> list[float]:
    """Return the numbers of a cell, in bytes where it names MiB or KiB."""
    found = []
    for one in re.finditer(rf"({NUMBER.pattern})(?: (MiB|KiB))?", cell):
        found.append(float(one[1].replace(",", "")) * UNITS.get(one[2] or "", 1))
    return found


size, lesson, terms = (
    partial(sql, f"{name}.sql")
    for name in ("writing/size_problem", "writing/lesson_problem", "keywords/parse_question")
)
BOUNDS: dict[str, list[float]] = {
    "text of a lesson": [lesson_text.MAX_TEXT],
    "lexemes of a lesson": [1],  # PostgreSQL's own
    "passages of a lesson": [pieces.MOST, pieces.BYTES],
    "metadata": [
        *size(r"metadata\) > (\d+)", r"HAVING count\(\*\) > (\d+)"),
        *lesson(r"beyond (1e308)", r"than (\d+) decimals"),
    ],
    "key": [staging.LONGEST_KEY],
    "topic, role, commit_sha, artifact_hash": size(r"artifact_hash\)\) > (\d+)"),
    "subject, relation, object of a fact": sql("writing/fact_metadata.sql", r"said\) > (\d+)"),
    "name of a tenant or project": [naming.LONGEST],
    "position": lesson(r"farthest %"),
    "dimensions of a vector": sql("vectors/checked_embedding.sql", r"most %"),
    "question": [
        *sql("score/check_recall.sql", r"most_bytes %"),
        *terms(r"most_terms %"),
    ],
    "times named in a question": sql(
        "times/times.sql", r"most_intervals +%", r"most_characters %"
    ),
    "time ranges given": terms(r"most_windows %"),
    "filter": [
        *sql("filters/filter.sql", r"most_bytes %", r"most_values %"),
        *sql("filters/metadata_path.sql", r"deepest %"),
    ],
    "k of a recall": sql("score/check_recall.sql", r"k NOT BETWEEN 1 AND (\d+)"),
    "rows of a page": sql("verbs/facts.sql", r"most NOT BETWEEN 1 AND (\d+)"),
    "lessons of a set": sql("writing/check_input.sql", r"most %"),
    "links": [
        *sql("score/graph_proximity.sql", r"most_edges %"),
        *sql("score/graph_leg.sql", r"widest +%"),
    ],
    "steps along links": sql("settings/setting_catalogue.sql", r"'graph_depth', '\d+', '[a-z ]+', 0, (\d+)"),
    "languages of a tenant": sql("words/tenant_configs.sql", r"most %"),
    "path of a folder": [memory_folder.LONGEST],
    "line of an import": [jsonl_format.LONGEST],
    "body (`--body`)": [LIMITS.body],
    "time until an answer begins, and between its parts (`--seconds`)": [LIMITS.seconds],
    "requests of a token (`--rate`)": [LIMITS.rate, auth.BURST],
    "cost of a request": [1, 1, verbs.TEXTS, verbs.HITS],
    "requests under way (`--concurrent`)": [LIMITS.concurrent],
    "requests of a token answered at once": [LIMITS.at_work],
    "exports of a token at once": [1],
    "k and tokens of `context`": [
        next(one for one in verbs.VERBS if one.name == "context").limits[name] for name in ("k", "max_tokens")
    ],
    "lessons of an answer": [LIMITS.answer],
    "open connections": [client_connections.MAX_CONNECTIONS],
    "head of a request": [server.MAX_HEAD, server.HEAD_TIMEOUT],
    "message": [messages.LONGEST],
    "k of `recall`, of `context`": [tool(schemas.RecallRequest, "k"), tool(schemas.ContextRequest, "k")],
    "query of a tool": [tool(schemas.RecallRequest, "query", "maxLength")],
    "tokens of `context`": [tool(schemas.ContextRequest, "max_tokens")],
    "memories of a list, facts": [tool(schemas.ListRequest, "limit"), tool(schemas.FactsRequest, "limit")],
    "argument, text shown of a memory": [schemas.MAX_WHOLE, schemas.MAX_SHOWN],
}  # fmt: skip


def test_each_row_has_the_numbers_of_the_code() -> None:
    rows = {name: stated(bound) for name, bound, _ in ROW.findall(TEXT) if not set(bound) <= {"-", ":"}}
    del rows["What"]
    assert set(rows) == set(BOUNDS)
    assert rows == BOUNDS


def test_a_bound_that_moves_is_seen() -> None:
    assert stated("4,096; half of them of one address") == [4096]
    assert stated("1 MiB") == [1 << 20]
    assert stated("numbers up to 1e308, 400 decimals") == [1e308, 400]
