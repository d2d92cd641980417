"""Every block of docs/ runs and prints what is shown below it, or says why not; the reference is whole."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.postgres import PostgresStore
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from psycopg.conninfo import make_conninfo

from pgmnemo.client.naming import tenant_id
from tests.docs.pages import DOCS, ELSEWHERE, INSTALL, ROOT, TESTS, blocks, installs, run_blocks, runs
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.importers import test_hindsight as hindsight
from tests.pgmnemo.importers import test_mempalace as mempalace
from tests.pooling import Pool
from tests.reader import Session, path
from tests.security.attacked import OURS, Server
from tools.site import reference, score
from tools.site.reference import NONE

INTEGRATIONS = re.compile(r"integrations/|examples\.md")  # each by the tests of its integration
GROUPS = (
    ("bm25", "passage_terms"), ("passage_cosine", "pair_cosine", "cosine"), ("temporal",), ("context",),
    ("neighbours",), ("recency",),
)  # fmt: skip
"""Of a score, as the columns of the worked example's last table have them."""
SESSION = {"pool_mode": "session", "default_pool_size": "8"}  # as many as the page has connections
CONTRIBUTIONS = "import json; print(json.dumps({hit.key: dict(hit.contributions) for hit in hits}))"
COMMANDS = {
    "howto/moving.md",
    "howto/clean.md",
}  # pages whose commands take the memory that PGMNEMO_MEMORY names
DOCUMENTS = """
CREATE TABLE documents (id bigserial PRIMARY KEY, content text, embedding vector(3), metadata jsonb,
                        created_at timestamptz DEFAULT now());
INSERT INTO documents (content, embedding, metadata)
VALUES ('Ada sails on Fridays.', '[1,0,0]', '{"kind": "habit"}'), (E'Bob likes\ntea.', '[0,1,0]', '{}');
GRANT SELECT ON memory_units, documents, store TO keeper;
"""
NUMBER = re.compile(r"\d+\.\d+")


generated = cache(reference.pages)


READERS = {
    "integrations/crewai.md": {"crewai"},
    "integrations/google-adk.md": {"google"},
    "integrations/hermes.md": {"agent", "plugins"},
    "howto/moving.md": {"langgraph", "mem0"},
    "howto/verify.md": {"runner"},
}
"""What who reads a page has already: it is about that."""
DISTRIBUTIONS = {".": "pgmnemo-memory", "runner": "pgmnemo-bench"}
IMPORT = re.compile(r"^ *(?:import|from) (\w+)", re.M)


def distribution(word: str) -> str:
    """Return what pip calls a package that a page names, by its folder in a checkout or by its name."""
    folder, bracket, extras = word.partition("[")
    return DISTRIBUTIONS.get(folder, folder) + bracket + extras


def brought(page: str) -> set[str]:
    """Return the packages that the install line of a page brings, with all that they need."""
    named = [Requirement(distribution(word)) for word in installs(f"docs/{page}")]
    left = [(need.name, frozenset(need.extras)) for need in named]
    seen = set[tuple[str, frozenset[str]]]()
    while left:
        if (one := left.pop()) not in seen:
            seen.add(one)
            left += needs(*one)
    return {canonicalize_name(name) for name, _ in seen}


def needs(name: str, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield what a package needs with some of its extras, as far as it is installed."""
    with suppress(metadata.PackageNotFoundError):
        for need in map(Requirement, metadata.requires(name) or ()):
            if need.marker is None or any(need.marker.evaluate({"extra": one}) for one in (*extras, "")):
                yield need.name, frozenset(need.extras)


PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
OWN = [page for page in PAGES if page not in ELSEWHERE and not INTEGRATIONS.match(page)]
RUN = [page for page in OWN if any(map(runs, blocks(page)))]


@pytest.fixture(scope="module")
def server(place: Place) -> Server:
    return place.server


@dataclass
class Reader:
    """Somebody who types what a page says, in a folder."""

    folder: Path
    given: dict[str, str] = field(default_factory=dict)
    admin: Any = None
    session: Session | None = None

    def follow(self, page: str, heading: str = "") -> str:
        """What all blocks print (those below a heading), each held against what the page shows."""
        printed, every = "", ""
        for block in blocks(page, heading):
            if block["language"] == "text":
                missing = [line for line in block["text"].splitlines() if not shown(line, printed)]
                assert not missing, f"{page} shows {missing}, and this was printed:\n{printed}"
            elif runs(block):
                printed = getattr(self, block["language"])(block["text"])
                every += printed
        return every

    def python(self, text: str) -> str:
        self.session = self.session or Session(self.folder, **self.given)
        return self.session.run(text)

    def bash(self, text: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, capture_output=True, text=True,
            timeout=300, env={**os.environ, **self.given, "PATH": path()},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def sql(self, text: str) -> str:
        self.admin.execute(text)
        return ""


def shown(line: str, printed: str) -> bool:
    """Whether a line was printed; … stands for anything, and decimals may differ by a fiftieth."""
    form = re.compile(r".*".join(map(re.escape, NUMBER.sub("0.0", " ".join(line.split())).split("…"))))
    numbers = [float(one) for one in NUMBER.findall(line)]
    for other in (" ".join(one.split()) for one in ["", *printed.splitlines()]):
        if form.fullmatch(NUMBER.sub("0.0", other)):
            found = [float(one) for one in NUMBER.findall(other)]
            if "…" in line or found == pytest.approx(numbers, rel=0.02, abs=0.02):
                return True
    return False


@pytest.fixture
def reader() -> Iterator[Reader]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root the server of a folder runs as nobody
        typing = Reader(Path(folder))
        yield typing
        if typing.session:
            typing.session.close()


def place(server: Server, page: str, reader: Reader, stack: ExitStack, request: Any, **pooled: str) -> None:
    """The database that a page speaks of."""
    name = Path(page).stem
    (server.create if name == "managed" else lambda it: server.install(it, OURS))(name)
    address = {**server.conninfo, "dbname": name}
    reader.admin = stack.enter_context(server.connect(name))
    if name != "managed":
        for login, tenant in (("keeper", "ada"), ("keeper", "me"), ("alice", "ada")):
            reader.admin.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant_id(tenant), login))
    keeper = make_conninfo(**{**address, "user": "keeper"})
    reader.given = {"ADMIN": keeper, "DSN": keeper, "PGMNEMO_MEMORY": keeper}
    if name == "web-app":
        reader.given["DSN"] = make_conninfo(**{**address, "user": "app"})
    if name == "pgbouncer":
        [ini] = (one["text"] for one in blocks(page) if one["language"] == "ini")
        settings = dict(line.split(" = ") for line in ini.splitlines() if "=" in line) | pooled
        bouncer = request.getfixturevalue("bouncer")
        pool = Pool.start(bouncer, stack, address, {"own": {}}, ["alice", "keeper"], settings)
        reader.given["DSN"] = make_conninfo(**pool.conninfo("alice"))
    if name == "moving":
        sources(reader, keeper, make_conninfo(**address))


def sources(reader: Reader, keeper: str, admin: str) -> None:
    """Make what a reader moves from: a palace, and the tables of three others in one database."""
    (reader.folder / "palace").mkdir()
    with sqlite3.connect(reader.folder / "palace" / "chroma.sqlite3") as palace:
        palace.executescript(mempalace.TABLES)
    with PostgresStore.from_conn_string(admin) as store:
        store.setup()
        store.put(("memories", "ada"), "k2", {"text": "Sails on Sundays"})
    reader.admin.execute(hindsight.TABLES + DOCUMENTS)
    reader.given |= dict.fromkeys(("HINDSIGHT", "STORE", "SOURCE"), keeper)


@pytest.mark.parametrize(
    ("page", "pooled"),
    [
        *(pytest.param(page, {}, id=page) for page in RUN if page != "explanation/score.md"),
        pytest.param("howto/pgbouncer.md", SESSION, id="howto/pgbouncer.md in session mode"),
    ],
)
def test_every_block_runs_and_prints_what_is_shown(
    page: str, pooled: dict[str, str], reader: Reader, server: Server, request: pytest.FixtureRequest
) -> None:
    with ExitStack() as stack:
        if "DSN" in (DOCS / page).read_text(encoding="utf-8") or page in COMMANDS:
            place(server, page, reader, stack, request, **pooled)
        reader.follow(page)


def test_a_table_of_pgvector_moves_with_its_vectors(reader: Reader, server: Server) -> None:
    server.install("pgvector", OURS)
    with server.connect("pgvector") as reader.admin:
        reader.admin.execute(DOCUMENTS.partition("GRANT")[0])
        [block] = [one["text"] for one in blocks("howto/moving.md") if one["language"] == "sql"]
        reader.admin.execute(block)
        tenant = re.findall("tenant_id = '(.+?)'", block)
        found = reader.admin.execute("SELECT count(*) FROM pgmnemo.list_vectors(%s)", tenant).fetchone()
    assert found == (2,)


def test_the_figures_of_the_worked_example_are_those_of_the_memory(reader: Reader) -> None:
    page = (DOCS / "explanation" / "score.md").read_text(encoding="utf-8")
    printed = reader.follow("explanation/score.md")
    found = {
        one[0]: tuple(map(float, one[1:]))
        for one in re.findall(r"^(\w+) ([\d.e-]+) ([\d.]+) ([\d.e-]+)$", printed, re.M)
    }
    told = re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.M)
    assert list(found) == [name for name, *_ in told]
    for name, *figures in told:
        assert found[name] == pytest.approx(tuple(map(float, figures)), rel=0.02, abs=0.001), name
    parts = [round(float(adds), 3) for *_, adds in told]
    relevance, total = (float(one) for one in re.findall(r"\*\*([\d.]+)\*\* \|$", page, re.M))
    assert sum(parts[:6]) == pytest.approx(relevance, abs=0.002)
    assert sum(parts) == pytest.approx(total, abs=0.003)
    names, lessons = score.bars(page)
    assert len(names) == 6
    hits = json.loads(reader.python(CONTRIBUTIONS))
    for key, shares in lessons.items():
        added = hits[key]
        grouped = [sum(added.get(name, 0.0) for name in names) for names in GROUPS]
        assert shares == pytest.approx(grouped, rel=0.02, abs=0.06), key
    assert score.PICTURE.read_text(encoding="utf-8") == score.drawn(page)


def test_a_block_that_does_not_run_says_why() -> None:
    silent = [
        (page, one["text"])
        for page in PAGES
        for one in blocks(page)
        if runs(one) and not INTEGRATIONS.match(page)
        if one["language"] not in ELSEWHERE.get(page, "python bash sql")
    ]
    assert silent == []


def test_the_navigation_names_every_page_once() -> None:
    named = re.findall(r"(?:- |: )(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert len(named) == len(set(named))
    assert {*PAGES, *generated()} - {*named} == set()


def test_the_reference_has_every_verb_and_setting(server: Server) -> None:
    server.install("reference", OURS)
    pages = generated()
    with server.connect("reference") as root:
        verbs = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_'"
        told = re.findall(r"^## (\w+)$", pages["reference/verbs.md"], re.M)
        assert {name for (name,) in root.execute(verbs)} == {*told} - {"Views"}
        rows = root.execute("SELECT name, initial FROM pgmnemo.list_settings()").fetchall()
    listed = re.findall(r"^\| `(\w+)` \| `?([^ |`]+)`? \|", pages["reference/settings.md"], re.M)
    assert sorted(listed) == sorted(
        (name.removeprefix("pgmnemo."), initial or NONE) for name, initial in rows
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_imports_is_what_it_installs(page: str) -> None:
    """The environment of the tests has more than a reader's."""
    names = {
        name for one in blocks(page) if one["language"] == "python" for name in IMPORT.findall(one["text"])
    }
    owners, have = metadata.packages_distributions(), brought(page)
    lacking = {
        name
        for name in names - set(sys.stdlib_module_names) - {"pgmnemo"} - READERS.get(page, set())
        if not have & {canonicalize_name(owner) for owner in owners.get(name, [name])}
    }
    assert lacking == set()


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("integrations/")])
def test_a_page_of_an_integration_says_how_to_install_it(page: str) -> None:
    assert INSTALL.search((DOCS / page).read_text(encoding="utf-8"))


def test_the_blocks_of_every_page_run_somewhere() -> None:
    every, here = (f"docs/{page}" for page in PAGES), {f"docs/{page}" for page in RUN}
    assert {page for page in every if run_blocks(page)} - here - {*TESTS} == set()
