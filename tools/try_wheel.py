"""Builds the memory's wheel, installs it with its extra `local` into an empty environment and runs the README
there.

`python tools/try_wheel.py` prints what took how long and ends with 1 where the ten lines do not recall what
they stored, before and after a restart, and from two processes at once. Packages come from pip's index.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAID = " I moved to Lisbon in May. "


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints; ends with 1 where it fails."""
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def timed(what: str, *command: str | Path, cwd: Path = ROOT) -> str:
    """The same, with a line that says how long it took."""
    began = time.perf_counter()
    printed = run(*command, cwd=cwd)
    print(f"{time.perf_counter() - began:6.1f} s  {what}", flush=True)
    return printed


def size(folder: Path) -> float:
    """Megabytes of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> int:
    """Install, run, and compare what was recalled."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.findall(r"```python\n(.+?)```", page, re.DOTALL)[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root the server runs as nobody
        (folder / "home").mkdir(mode=0o755)
        timed("build", sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
        [wheel] = folder.glob("*.whl")
        timed("empty environment", sys.executable, "-m", "venv", folder / "env")
        python = folder / "env/bin/python"
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
        timed("pip install", *pip, "-c", ROOT / "constraints.txt", f"{wheel}[local]")
        print(
            f"{size(folder / 'env'):6.0f} MB installed, of it {wheel.stat().st_size / 1e6:.2f} MB the wheel"
        )
        told = [timed("the ten lines, first", python, "-c", program, cwd=folder / "home")]
        told.append(timed("again, after a restart", python, "-c", program, cwd=folder / "home"))
        both = [
            subprocess.Popen([python, "-c", program], cwd=folder / "home", stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        told += [one.communicate()[0] for one in both]
        loaded = run(
            python, "-c", f"{program}\nimport sys; print('torch' in sys.modules)", cwd=folder / "home"
        )
    counts = [one.count(SAID) for one in told]
    print("recalled", counts, "and torch was" + (" " if "True" in loaded else " not ") + "imported")
    return int(counts[:2] != [1, 2] or min(counts[2:]) != 3 or "True" in loaded)


if __name__ == "__main__":
    sys.exit(main())
