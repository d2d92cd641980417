"""Commands that need an environment of their own, because they pin other packages than ours."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet")


def unasyncd() -> Path:
    """Return the command that takes the async out of a module; install it first where it is missing."""
    return _command("unasyncd", ".venv-sync", ROOT / "tools" / "sync_client.txt")


def uv() -> Path:
    """Return the command uv; install it first where it is missing."""
    return _command("uv", ".venv-lock", ROOT / "tools" / "lock.txt")


def _command(name: str, environment: str, packages: Path) -> Path:
    """Return a command of an environment, which is made anew when its list of packages has changed."""
    folder = ROOT / environment
    mark, hashed = folder / "made-of", sha256(packages.read_bytes()).hexdigest()
    if not mark.exists() or mark.read_text() != hashed:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        python = folder / "bin" / "python"
        subprocess.run([python, *PIP, "--no-deps", "--require-hashes", "-r", packages], check=True)
        mark.write_text(hashed)
    return folder / "bin" / name
