"""Keys and a committed run to sign; skipped where there is no ssh-keygen, which nearly every git brings."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner.verification.sign import NAMESPACE
from tests.helping import kept_run

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Key:
    """A private key and its public one."""

    path: Path

    @property
    def public(self) -> str:
        return Path(f"{self.path}.pub").read_text().strip()


@pytest.fixture
def new_key(tmp_path: Path) -> Callable[..., Key]:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen: install openssh-client")

    def make(name: str = "key", passphrase: str = "") -> Key:
        path = tmp_path / name
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-C", name, "-N", passphrase, "-f", path]
        subprocess.run(words, check=True)
        return Key(path)

    return make


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A committed run of the sample, with HISTORY.md beside it."""
    sample = kept_run("sample")
    shutil.copy(ROOT / "HISTORY.md", tmp_path / "HISTORY.md")
    return Path(shutil.copytree(sample, tmp_path / sample.name))


@pytest.fixture
def believed(tmp_path: Path) -> Callable[..., Path]:
    """A list of signers, each key under its name."""

    def write(*keys: Key, options: str = f'namespaces="{NAMESPACE}"') -> Path:
        path = tmp_path / "allowed_signers"
        path.write_text("".join(f"{key.path.name}@example.org {options} {key.public}\n" for key in keys))
        return path

    return write
