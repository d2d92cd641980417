"""Who signed a run is told, and a signature that does not hold is a fault."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.cli import main
from runner.commands.leaderboard import leaderboard
from runner.commands.leaderboard.board import leaderboard_markdown
from runner.runs.manifest import MANIFEST, SIGNATURE
from runner.verification import CheckResult, CheckStatus, verify
from runner.verification.sign import NAMESPACE, keygen, sign
from tests.verify.sign.conftest import Key

New = Callable[..., Key]
Believed = Callable[..., Path]


def signature(run: Path, signers: Path | None = None) -> CheckResult:
    [answer] = (one for one in verify(run, allowed_signers=signers).answers if one.check == "signature")
    return answer


def test_a_run_is_signed_by_a_name_of_the_list(run: Path, new_key: New, believed: Believed) -> None:
    assert main(["sign", str(run), "--key", str(new_key("ann").path)]) == 0
    found = verify(run, allowed_signers=believed(new_key("bob"), Key(run.parent / "ann")))
    assert found.intact
    assert found.attested == found.document()["attested"] == "signed by ann@example.org"
    answer = signature(run, run.parent / "allowed_signers")
    assert answer.sentence.startswith("signed by ann@example.org; the key is SHA256:")


def test_an_unsigned_run_is_intact_and_says_so(run: Path) -> None:
    assert signature(run) == CheckResult(
        "signature", CheckStatus.NOT_ASKED, f"unsigned: there is no {SIGNATURE}"
    )
    assert verify(run).attested == "self-run"


def test_without_a_list_the_key_alone_is_told_and_vouches_for_nobody(run: Path, new_key: New) -> None:
    sign(run, new_key().path)
    assert signature(run).found is CheckStatus.NOT_ASKED
    assert "SHA256:" in signature(run).sentence
    assert verify(run).attested == "self-run"


def test_the_key_of_a_stranger_is_a_fault(run: Path, new_key: New, believed: Believed) -> None:
    sign(run, new_key("mallory").path)
    answer = signature(run, believed(new_key("ann")))
    assert answer.found is CheckStatus.WRONG
    assert "is of no signer of allowed_signers" in answer.sentence


@pytest.mark.parametrize("options", ['namespaces="git"', 'valid-before="20200101"'])
def test_the_list_bounds_what_a_key_may_sign_and_when(
    run: Path, new_key: New, believed: Believed, options: str
) -> None:
    sign(run, (key := new_key()).path)
    assert signature(run, believed(key, options=options)).found is CheckStatus.WRONG


@pytest.mark.parametrize("listed", [True, False])
def test_a_signature_of_another_manifest_is_a_fault(
    run: Path, new_key: New, believed: Believed, listed: bool
) -> None:
    sign(run, (key := new_key()).path)
    manifest = json.loads((run / MANIFEST).read_text())
    manifest["files"][0]["sha256"] = "0" * 64
    (run / MANIFEST).write_text(json.dumps(manifest))
    answer = signature(run, believed(key) if listed else None)
    assert (answer.found, "does not hold" in answer.sentence) == (CheckStatus.WRONG, True)


@pytest.mark.parametrize("namespace", ["git", "file"])
def test_a_signature_for_another_purpose_is_a_fault(
    run: Path, new_key: New, believed: Believed, namespace: str
) -> None:
    key = new_key()
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", key.path, run / MANIFEST], check=True
    )
    answer = signature(run, believed(key, options=""))
    assert answer.found is CheckStatus.WRONG
    assert NAMESPACE in answer.sentence


@pytest.mark.usefixtures("new_key")
@pytest.mark.parametrize("content", [b"", b"junk", b"-----BEGIN SSH SIGNATURE-----\n\xff\n"])
def test_what_is_no_signature_is_a_fault(run: Path, content: bytes) -> None:
    (run / SIGNATURE).write_bytes(content)
    assert signature(run).found is CheckStatus.WRONG


def test_without_ssh_keygen_a_signature_is_not_asked(
    run: Path, new_key: New, believed: Believed, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign(run, (key := new_key()).path)
    monkeypatch.setattr(keygen, "PROGRAM", "/nowhere/ssh-keygen")
    answer = signature(run, believed(key))
    assert answer.found is CheckStatus.NOT_ASKED
    assert "ssh-keygen cannot be run" in answer.sentence


def test_the_board_says_who_vouches(run: Path, new_key: New, believed: Believed) -> None:
    key = new_key("ann")
    assert "| self-run " in leaderboard_markdown(leaderboard([run]))
    sign(run, key.path)
    found = leaderboard([run], allowed_signers=believed(key))
    assert {row.attested for board in found.groups[0].boards for row in board.rows} == {
        "signed by ann@example.org"
    }
    assert "signed by ann@example.org" in leaderboard_markdown(found)
