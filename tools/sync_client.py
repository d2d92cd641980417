"""Generate pgmnemo/client/sync from pgmnemo/client/aio: unasyncd removes async, names lose their `Async`.

`python -m tools.sync_client` writes the files; with `--check` it names the files that are out of date, and
the exit code is 1 if there are any. unasyncd (0.10.1) pins an older rich than we use, so it has its own
environment.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.environments import ROOT, unasyncd

SOURCE, TARGET = ROOT / "pgmnemo/client/aio", ROOT / "pgmnemo/client/sync"
BY_HAND = ("__init__.py", "concurrency.py")
NOTE = "# Made of ../aio/{name} by tools/sync_client.py: edit that one.\n"
RUFF = [sys.executable, "-m", "ruff"]


def made(folder: Path) -> dict[str, str]:
    """Return the text of each generated file; `folder` is for temporary files."""
    names = [path.name for path in sorted(SOURCE.glob("*.py")) if path.name not in BY_HAND]
    pairs = [f"{SOURCE / name}:{folder / name}" for name in names]
    # It ends with 1 where it has written anything.
    flags = ("--no-cache", "--transform-docstrings", "--quiet")
    subprocess.run([unasyncd(), *flags, *pairs], check=False, cwd=folder)
    for name in names:
        text = (folder / name).read_text(encoding="utf-8")
        text = re.sub(r"\bAsync([A-Z]\w*)", r"\1", text).replace("client.aio", "client.sync")
        (folder / name).write_text(NOTE.format(name=name) + text, encoding="utf-8")
    shared = ["--config", str(ROOT / "pyproject.toml"), "--quiet", str(folder)]
    subprocess.run(
        [*RUFF, "check", "--fix", "--unsafe-fixes", "--select", "F401,I,UP,SIM,C4", *shared], check=False
    )
    subprocess.run([*RUFF, "format", *shared], check=True)
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def main() -> int:
    """Write the generated files, or with --check compare them."""
    with TemporaryDirectory() as folder:
        texts = made(Path(folder))
    there = {path.name for path in TARGET.glob("*.py")} - set(BY_HAND)
    other = [name for name, text in texts.items() if not _same(TARGET / name, text)] + sorted(
        there - set(texts)
    )
    if "--check" in sys.argv:
        for name in other:
            print(f"{TARGET / name} is not made of ../aio: run python -m tools.sync_client", file=sys.stderr)
        return int(bool(other))
    for name in other:
        (TARGET / name).write_text(texts[name], encoding="utf-8") if name in texts else (
            TARGET / name
        ).unlink()
        print(f"wrote {TARGET / name}" if name in texts else f"removed {TARGET / name}")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
