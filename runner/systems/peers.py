"""Peers in their own process, and the environment of a peer with requirements that conflict with ours.

The environment is under the user's cache folder and is made by `python -m runner peers install NAME`, never
by a run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pgmnemo.embedders import default_cache_dir
from pgmnemo.errors import UsageError
from runner.errors import SystemFault
from runner.systems.system import PEERS, SystemContext, SystemSpec
from runner.systems.worker_process import WORKERS, WorkerSystem

FOLDER = "peers"
COMMAND = "python -m runner peers install"


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of the peer `name`: `package` at `version`, and the packages of `requirements`.

    `size` is its size on disk, as text.
    """

    name: str
    package: str
    version: str
    requirements: Path
    size: str

    def folder(self, environ: Mapping[str, str] = os.environ) -> Path:
        return default_cache_dir(environ).parent / FOLDER / self.name

    def python(self, environ: Mapping[str, str] = os.environ) -> Path:
        return self.folder(environ) / "bin" / "python"

    def missing(self, environ: Mapping[str, str] = os.environ) -> str:
        """Return the missing parts and the remedy, in one sentence; empty if the environment is complete."""
        found = self._found(environ)
        if found is None:
            return (
                f"not installed: {self.package} {self.version}, which needs an environment of its own; "
                f"{COMMAND} {self.name}"
            )
        if found != self.version:
            what = f"{self.package} {found} instead of {self.version}"
            return f"of another version: {what}; {COMMAND} {self.name}"
        return ""

    def _found(self, environ: Mapping[str, str]) -> str | None:
        """Return the installed version; None if Python or the package is missing."""
        if not self.python(environ).exists():
            return None
        places = [str(path) for path in self.folder(environ).glob("lib/python*/site-packages")]
        versions = [one.version for one in metadata.distributions(name=self.package, path=places)]
        return versions[0] if versions else None

    def install(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Create the environment, replacing an existing one, with the user's pip configuration.

        Returns its folder. Raises SystemFault if it fails.
        """
        folder = self.folder(environ)
        try:
            venv.EnvBuilder(clear=True, with_pip=True).create(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "strerror", None) or "Python's venv and ensurepip are needed"
            raise SystemFault(f"no environment can be made in {folder}: {reason}") from None
        command = [str(self.python(environ)), "-m", "pip", "install", "--disable-pip-version-check"]
        if subprocess.run([*command, "-r", str(self.requirements)], check=False).returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise SystemFault(
                f"pip could not install {self.package} {self.version}, and said why; mend that and try again"
            )
        if lacking := self.missing(environ):
            raise SystemFault(f"{self.name} is still {lacking}")
        return folder


ENVIRONMENTS = {"mem0": Environment("mem0", "mem0ai", "2.2.1", WORKERS / "mem0.txt", "about 300 MB")}


def environment(name: str) -> Environment:
    """Return the environment of a peer; raise UsageError for a name without an environment."""
    if name not in ENVIRONMENTS:
        raise UsageError(
            f"no peer named {name!r} has an environment of its own; choose one of: {', '.join(ENVIRONMENTS)}"
        )
    return ENVIRONMENTS[name]


def _mem0(context: SystemContext) -> WorkerSystem:
    python = ENVIRONMENTS["mem0"].python(context.environ)
    return WorkerSystem("mem0", context, python, WORKERS / "mem0_worker.py")


def _mempalace(context: SystemContext) -> WorkerSystem:
    return WorkerSystem("mempalace", context, Path(sys.executable), WORKERS / "mempalace_worker.py")


MEM0 = SystemSpec(
    "mem0",
    "mem0ai stored without inference, Qdrant on disk, a project is a user, no least similarity; given "
    "texts and vectors, no times, no LLM, no reranker, and no keyword leg (that wants a download)",
    _mem0,
    missing=ENVIRONMENTS["mem0"].missing,
    needs_vectors=True,
    hybrid=False,
    approximate=False,
    passages=True,
)
MEMPALACE = SystemSpec(
    "MemPalace",
    "search_memories with its defaults: Chroma's nearest, ranked anew with BM25; a project is a wing, a "
    "lesson one drawer; given texts and vectors, no times, no LLM, none of its chunks, rooms and closets",
    _mempalace,
    packages=("mempalace",),
    remedy=PEERS,
    needs_vectors=True,
    passages=True,
)
