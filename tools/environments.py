"""Commands that need a virtual environment of their own, because they pin other packages than we do."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet")


def unasyncd() -> Path:
    """Return the path of the command unasyncd, which removes async; install it first if it is missing."""
    return _command("unasyncd", ".venv-sync", ROOT / "tools" / "sync_client.txt")


def uv() -> Path:
    """Return the path of the command uv; install it first if it is missing."""
    return _command("uv", ".venv-lock", ROOT / "tools" / "lock.txt")


def _command(name: str, environment: str, packages: Path) -> Path:
    """Return the path of a command; create its environment again if the list of packages has changed."""
    folder = ROOT / environment
    mark, hashed = folder / "made-of", sha256(packages.read_bytes()).hexdigest()
    if not mark.exists() or mark.read_text() != hashed:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        python = folder / "bin" / "python"
        subprocess.run([python, *PIP, "--no-deps", "--require-hashes", "-r", packages], check=True)
        mark.write_text(hashed)
    return folder / "bin" / name
