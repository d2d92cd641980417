"""Write the lock files, by uv: the sha256 of every file of every package, which pip checks.

    python -m tools.lock      after a change of constraints.txt, of dependencies, or of a pin in one of PINNED

`pip install --no-deps --require-hashes -r locks/test.txt` installs these files only, in the versions of
constraints.txt. Torch and the libraries of its CUDA build are left out: two indexes have builds of it, and
with a hash pip would download that file even if another build is at hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile

from tools.environments import ROOT, uv

LEFT_OUT = ("torch", "pgmnemo-memory", "pgmnemo-bench", "pgmnemo-shards")
ENVIRONMENTS = {
    "locks/run.txt": ("-e .[embed]", "-e runner", "hatchling"),
    "locks/test.txt": ("-e .[onnx,local,multilingual]", "-e runner[perf,test]", "-e shards", "hatchling"),
}
PINNED = (  # by hand
    "locks/hermes.txt", "locks/frameworks.txt", "docs/requirements.txt", "tools/sync_client.txt",
    "tools/lock.txt",
)  # fmt: skip
NOWHERE = " ; sys_platform == 'none'"


def compiled(requirements: str, *options: str) -> str:
    """Return the pinned packages that satisfy `requirements`, with hashes."""
    command = [uv(), "pip", "compile", "--quiet", "--generate-hashes", "--no-annotate", "--no-header"]
    try:
        return subprocess.check_output([*command, *options, "-"], input=requirements, cwd=ROOT, text=True)
    except subprocess.CalledProcessError:
        sys.exit(f"uv made no lock of: {requirements}")


def environment(inputs: tuple[str, ...]) -> str:
    """Return the pinned packages of an environment, for any platform.

    The dependencies of torch are included; torch and its CUDA libraries are not.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
        overrides.write(f"torch{NOWHERE}\n")
        overrides.flush()
        options = ["--universal", "--python-version", "3.11", "-c", "constraints.txt"]
        options += ["--overrides", overrides.name]
        options += [word for name in LEFT_OUT for word in ("--no-emit-package", name)]
        return compiled("\n".join(inputs), *options).replace(NOWHERE, "")


def main() -> int:
    """Write all lock files."""
    for name, inputs in ENVIRONMENTS.items():
        (ROOT / name).write_text(f"# By tools/lock.py, of {' '.join(inputs)}\n{environment(inputs)}", "utf-8")
    for name in PINNED:
        text = (ROOT / name).read_text(encoding="utf-8")
        head = "".join(re.findall(r"^#.*\n", text, re.MULTILINE))
        pins = "\n".join(re.findall(r"^[\w.-]+==[^\s;]+", text, re.MULTILINE))
        (ROOT / name).write_text(head + compiled(pins, "--no-deps"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
