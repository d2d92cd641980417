"""Build wheels and sdists of the three distributions, install them in empty environments and use them.

`python tools/try_wheel.py` prints the duration of each step. The exit code is 1 in three cases: the README's
program, run from the wheel with the extra `local`, does not recall what it stored, before and after a restart
and from two processes at once; the benchmark of the sdists does not measure the sample; or an sdist installs
other files than its wheel. Packages come from pip's index.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAID = "I moved to Lisbon in May.\n"
COUNT = """
from pgmnemo import Memory
with Memory.open("./memory") as memory:
    print(sum(1 for _ in memory.tenant("ada").project("kitchen").list()))
"""
NAMES = ("pgmnemo_memory", "pgmnemo_bench", "pgmnemo_shards")
ALONE = {**os.environ, "PYTHONHASHSEED": "42", "PGMNEMO_PORT": "1"}  # where no service of anybody's is


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return its output; exit with 1 if it fails."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, env=ALONE
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def timed(what: str, *command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command, print how long it took, and return its output."""
    began = time.perf_counter()
    printed = run(*command, cwd=cwd)
    print(f"{time.perf_counter() - began:6.1f} s  {what}", flush=True)
    return printed


def size(folder: Path) -> float:
    """Return the megabytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def install(environment: Path, *packages: str | Path) -> Path:
    """Install packages into an environment, which is created if missing; return its Python."""
    python = environment / "bin" / "python"
    if not python.exists():
        timed("empty environment", sys.executable, "-m", "venv", environment)
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")
    said = " ".join(Path(one).name for one in packages)
    timed(f"pip install {said}", *pip, "-c", ROOT / "constraints.txt", *packages)
    return python


def remembers(python: Path, home: Path) -> bool:
    """Return whether the README's program, installed without torch, recalls the lesson that it stored."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.findall(r"```python\n(.+?)```", page, re.DOTALL)[0]
    told = [timed("the program, first", python, "-c", program, cwd=home)]
    told.append(timed("again, after a restart", python, "-c", program, cwd=home))
    command = [python, "-c", program]
    both = [subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told += [one.communicate()[0] for one in both]
    loaded = run(python, "-c", f"{program}\nimport sys; print('torch' in sys.modules)", cwd=home)
    counts = [one.count(SAID) for one in told]
    print("recalled", counts, "and torch was" + (" " if "True" in loaded else " not ") + "imported")
    stored = run(python, "-c", COUNT, cwd=home).strip()
    print(f"{stored} lessons are stored, and equal ones are one hit")
    return counts == [1] * 4 and stored == "10" and "True" not in loaded


def measures(python: Path, home: Path) -> bool:
    """Return whether the benchmark installed in this environment measures the sample."""
    command = (python.parent / "pgmnemo-bench", "sample", "--embedder", "none", "--output", home / "results")
    timed("the sample", *command, cwd=home)
    return any(home.glob("results/*/report.html"))


def recorded(text: str) -> set[str]:
    """Return the lines of a wheel's RECORD that have a hash: name, sha256, bytes."""
    return {line for line in text.splitlines() if ",sha256=" in line}


def same(wheels: list[Path], python: Path) -> bool:
    """Return whether an environment contains each file of the wheels, byte for byte."""
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    for wheel in wheels:
        own = "-".join(wheel.name.split("-")[:2]) + ".dist-info/RECORD"
        wanted = recorded(zipfile.ZipFile(wheel).read(own).decode())
        missing = wanted - recorded((packages / own).read_text(encoding="utf-8"))
        print(f"{len(wanted) - len(missing)} of {len(wanted)} files of {wheel.name} came from the sdist, too")
        if missing:
            return False
    return True


def main() -> int:
    """Build, install, run, and compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root the server runs as nobody
        homes = [folder / "wheels-home", folder / "sdists-home"]
        for home in homes:
            home.mkdir(mode=0o755)
        for place in (ROOT, ROOT / "runner", ROOT / "shards"):
            timed(f"build {place.name}", sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=place)
        wheels = [next(folder.glob(f"{one}-*.whl")) for one in NAMES]
        sdists = [next(folder.glob(f"{one}-*.tar.gz")) for one in NAMES]
        python = install(folder / "wheels", f"{wheels[0]}[local]")
        megabytes = wheels[0].stat().st_size / 1e6
        print(f"{size(folder / 'wheels'):6.0f} MB installed, of it {megabytes:.2f} MB the wheel")
        well = [remembers(python, homes[0])]
        install(folder / "wheels", *wheels[1:])
        print(run(python.parent / "pgmnemo-bench", "--version", cwd=homes[0]), end="")
        print(run(python.parent / "pgmnemo-shards", "--help", cwd=homes[0]).splitlines()[0])
        other = install(folder / "sdists", *sdists)
        well += [measures(other, homes[1]), same(wheels, other)]
    return int(not all(well))


if __name__ == "__main__":
    sys.exit(main())
