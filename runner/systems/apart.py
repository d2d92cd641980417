"""Environments of their own, for peers whose requirements do not fit constraints.txt.

One lies under the user's cache folder and is made by `python -m runner peers install NAME`, never by a run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from runner.embedders import default_cache_dir
from runner.errors import SystemFault, UsageError

FOLDER = "peers"
REQUIREMENTS = Path(__file__).parent / "workers"
COMMAND = "python -m runner peers install"


@dataclass(frozen=True, slots=True)
class Apart:
    """The environment of the peer `name`: `package` at `version`, and all else that `requirements` lists.

    `size` says what it takes on the disk.
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
        """What is missing and how to mend it, in one sentence; empty if nothing is."""
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
        """The version that is installed there; None where there is none, or no Python to run it."""
        if not self.python(environ).exists():
            return None
        places = [str(path) for path in self.folder(environ).glob("lib/python*/site-packages")]
        versions = [one.version for one in metadata.distributions(name=self.package, path=places)]
        return versions[0] if versions else None

    def install(self, environ: Mapping[str, str] = os.environ) -> Path:
        """Make the environment anew, with pip as the user has set it up; its folder. SystemFault if not."""
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


MEM0 = Apart("mem0", "mem0ai", "2.2.1", REQUIREMENTS / "mem0.txt", "about 300 MB")
APART = {one.name: one for one in (MEM0,)}


def apart(name: str) -> Apart:
    """The environment of a peer; UsageError for a name that has none."""
    if name not in APART:
        raise UsageError(
            f"no peer named {name!r} has an environment of its own; choose one of: {', '.join(APART)}"
        )
    return APART[name]
