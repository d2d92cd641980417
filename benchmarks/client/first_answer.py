"""Install each library, run its first program without network or key, print what a newcomer sees.

    python benchmarks/client/first_answer.py [--page FILE] [NAME ...]

Each library is installed into an environment of its own; then its own documents' shortest program stores two
notes and asks where the user lives, in a network namespace with no network and with no key in the environment
(Linux; `unshare`, as root or with user namespaces). `--page` writes the table between the marks of a Markdown
file that name this program.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
MARKS = re.compile(r"(<!-- first answer -->\n).*(<!-- /first answer -->)", re.DOTALL)
HEAD = ("|library|install, s|first program, s|what it prints|", "|---|--:|--:|---|")
WANTED, OTHER, QUESTION = "I moved to Lisbon in May.", "My cat is called Miso.", "Where do I live?"


@dataclass(frozen=True, slots=True)
class Library:
    """A library: what pip installs, and the first program of its documents (Python, or shell commands)."""

    name: str
    install: tuple[str, ...]
    program: str
    shell: bool = False


LIBRARIES = (
    Library(
        "pgmnemo", (f"{ROOT}[local]",),
        f'from pgmnemo import Memory\n'
        f'with Memory.open("./memory") as memory:\n'
        f'    me = memory.tenant("ada").project("kitchen")\n'
        f'    me.add("{OTHER}", role="user")\n'
        f'    me.add("{WANTED}", role="user")\n'
        f'    print(me.recall("{QUESTION}", k=1)[0].text)\n',
    ),
    Library(
        "mem0", ("mem0ai",),
        f'from mem0 import Memory\n'
        f'memory = Memory()\n'
        f'memory.add("{OTHER}", user_id="ada")\n'
        f'memory.add("{WANTED}", user_id="ada")\n'
        f'print(memory.search("{QUESTION}", filters={{"user_id": "ada"}}, top_k=1))\n',
    ),
    Library(
        "MemPalace", ("mempalace",),
        f"mkdir -p notes && echo '{OTHER}' > notes/1.md && echo '{WANTED}' > notes/2.md\n"
        f"mempalace init notes --yes --auto-mine\n"
        f'mempalace search "{QUESTION}" --results 1\n',
        shell=True,
    ),
    Library(
        "Chroma", ("chromadb",),
        f'import chromadb\n'
        f'collection = chromadb.Client().create_collection("ada")\n'
        f'collection.add(ids=["1", "2"], documents=["{OTHER}", "{WANTED}"])\n'
        f'print(collection.query(query_texts=["{QUESTION}"], n_results=1)["documents"])\n',
    ),
    Library(
        "LangGraph", ("langgraph",),
        f'from langgraph.store.memory import InMemoryStore\n'
        f'store = InMemoryStore()\n'
        f'store.put(("ada",), "1", {{"text": "{OTHER}"}})\n'
        f'store.put(("ada",), "2", {{"text": "{WANTED}"}})\n'
        f'print(store.search(("ada",), query="{QUESTION}", limit=1))\n',
    ),
)  # fmt: skip


def timed(*command: str, cwd: Path, environ: dict[str, str]) -> tuple[float, str]:
    """Run a command; return its seconds and all that it printed."""
    begun = time.perf_counter()
    done = subprocess.run(
        command, cwd=cwd, env=environ, text=True, stdin=subprocess.DEVNULL, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return time.perf_counter() - begun, done.stdout


def outcome(printed: str) -> str:
    """Return the right answer, or the wrong one, or the last line of the error."""
    if WANTED in printed:
        return f"right: “{WANTED}”"
    if OTHER in printed:
        return f"wrong: “{OTHER}”"
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    return f"stops: `{lines[-1][:110].replace('`', '') if lines else 'nothing printed'}`"


def row(library: Library, home: Path) -> str:
    """Install a library into an empty environment and run its program there without network."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    environ = kept | {"HOME": str(home), "PATH": f"{home}/env/bin:/usr/local/bin:/usr/bin:/bin"}
    subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
    pip = (str(home / "env/bin/pip"), "install", "--quiet", "--disable-pip-version-check")
    installing, said = timed(*pip, *library.install, cwd=home, environ=environ)
    program = ("sh", "-ec", library.program) if library.shell else ("python", "-c", library.program)
    cut_off = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-rn")
    answering, printed = timed(*cut_off, *program, cwd=home, environ=environ)
    path = [str(next((home / "env").glob("lib/python*/site-packages")))]
    wanted = "pgmnemo-memory" if library.name == "pgmnemo" else library.install[0]
    versions = [one.version for one in metadata.distributions(name=wanted, path=path)]
    if not versions:
        raise SystemExit(f"{library.name} was not installed: {said.strip()[-300:]}")
    return f"|{library.name} {versions[0]}|{installing:.0f}|{answering:.1f}|{outcome(printed)}|"


def main() -> int:
    """Print a row for each library, and write them into a page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="the libraries, all unless some are named")
    parser.add_argument("--page", type=Path, help="a Markdown file with the marks of this table")
    options = parser.parse_args()
    rows = list(HEAD)
    for library in LIBRARIES:
        if not options.names or library.name in options.names:
            with TemporaryDirectory() as name:
                Path(name).chmod(0o755)  # as root the embedded server runs as another user
                rows.append(row(library, Path(name)))
            print(rows[-1], flush=True)
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        table = "\n".join(rows) + "\n"
        options.page.write_text(MARKS.sub(lambda found: found[1] + table + found[2], page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
