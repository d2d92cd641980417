"""`python -m runner sign DIR --key KEY`: an SSH signature over manifest.json.

The manifest pins every other file of a run, and so the whole run.
"""

from __future__ import annotations

from pathlib import Path

from pgmnemo.errors import UsageError, os_errors
from pgmnemo.terminal import say
from runner.errors import SigningError
from runner.options import Run
from runner.runs.manifest import MANIFEST, SIGNATURE
from runner.runs.results import Results, read_results
from runner.verification.sign.keygen import NAMESPACE, reason
from runner.verification.sign.keygen import keygen as ssh_keygen  # its module keeps its name here

__all__ = ["NAMESPACE", "read_whole_run", "sign", "signature_of"]


def sign_command(folder: Run, /, *, key: Path) -> int:
    """Sign a run: an SSH signature over its manifest, beside it in manifest.json.sig.

    Args:
        key: private SSH key, or the public one of a key that the agent has
    """
    say(f"written: {sign(folder, key)}")
    return 0


def sign(folder: Path | str, key: Path | str) -> Path:
    """Sign the manifest of the run in `folder` with the private `key`; return the path of the signature.

    With a public key the agent signs. Every file is first checked against the manifest. Raises UsageError
    without a run or key and if a signature exists, UnusableRunError for a blocked or changed run,
    SigningError if ssh-keygen is missing or the key is locked.
    """
    results = read_whole_run(folder)
    target = results.folder / SIGNATURE
    if target.exists() or target.is_symlink():
        raise UsageError(
            f"{target} is there, and no signature is overwritten: remove it first if it is yours"
        )
    signature = signature_of(results.content(MANIFEST), key)
    with (
        os_errors(f"{target} cannot be written ({{why}}): make the folder writable"),
        target.open("xb") as file,
    ):
        file.write(signature)
    return target


def read_whole_run(folder: Path | str) -> Results:
    """Return the run, with each file checked against the manifest.

    Raises UsageError or UnusableRunError if wrong.
    """
    results: Results = read_results(folder)
    return read_results(folder, files=list(results.schemas))


def signature_of(content: bytes, key: Path | str, namespace: str = NAMESPACE) -> bytes:
    """Return the signature of `content`.

    Raises UsageError for an invalid key, SigningError for a locked one.
    """
    key = Path(key).expanduser()
    if not key.is_file():
        raise UsageError(
            f"--key: there is no file {key}; name a private SSH key, as `ssh-keygen -t ed25519` makes"
        )
    done = ssh_keygen("sign", "-q", "-n", namespace, "-f", key, "-", data=content)
    if not done.returncode:
        return done.stdout
    if b"passphrase" in done.stderr:
        raise SigningError(
            f"--key: {key} has a passphrase, and no agent has it: `ssh-add` it, then sign again"
        )
    raise UsageError(
        f"--key: {key} is no private SSH key that ssh-keygen signs with ({reason(done)}); name another"
    )
