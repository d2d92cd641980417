"""Tokens: hashed at rest, several a tenant, revoked at once, one writer at a time."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.serving.tokens import Tokens

NAMES = ("acme", "acme-corp", "_", "%", "a\\b", "a'b\"", "a\nb", "x" * 1000, "\u0430cme")
NO_NAMES = ("", " \n", "x" * 10_000, "a\0b", "\ud800")


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def test_a_token_is_its_holders_and_the_file_does_not_tell_it(tokens: Tokens) -> None:
    made = {name: tokens.made(name, project="p", name="laptop") for name in NAMES}
    kept = tokens.path.read_text()
    for name, token in made.items():
        found = tokens.holder(token)
        assert found is not None
        assert (found.tenant, found.project, found.name) == (name, "p", "laptop")
        assert token not in kept
        assert token.split("_", 2)[2] not in kept
        assert len(token) >= len("mnemo_") + 43  # 256 bits
    assert [one.tenant for one in tokens.listed()] == list(NAMES)
    assert not hasattr(tokens.listed()[0], "sha256")
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600


def test_what_names_nobody_gets_no_token(tokens: Tokens) -> None:
    for name in NO_NAMES:
        with pytest.raises(UsageError, match="tenant"):
            tokens.made(name)
        with pytest.raises(UsageError, match="project"):
            tokens.made("ada", name)
    assert not tokens.path.exists()


def test_what_is_nearly_a_token_is_none(tokens: Tokens) -> None:
    token, other = tokens.made("ada"), tokens.made("bob")
    number, secret = token.removeprefix("mnemo_").split("_", 1)
    theirs = other.removeprefix("mnemo_").split("_", 1)[1]
    near = (
        "", "mnemo_", number, secret, f"mnemo_{number}_", f"mnemo_{number}_{theirs}", token[:-1], token + "A",
        token.upper(), token.replace("mnemo_", ""), f"mnemo__{secret}", token + "\0", "\ud800", "é" * 100_000,
        json.loads(tokens.path.read_text())["tokens"][0]["sha256"],
    )  # fmt: skip
    assert [tokens.holder(one) for one in near] == [None] * len(near)


def test_a_tenant_has_several_and_each_is_revoked_alone_and_at_once(tokens: Tokens) -> None:
    server = Tokens(tokens.path)  # another process
    old, new = tokens.made("ada", name="old"), tokens.made("ada", name="new")
    first = server.holder(old)
    assert first is not None
    assert tokens.revoked(first.id)
    assert not tokens.revoked(first.id)
    assert server.holder(old) is None
    assert server.holder(new) is not None
    tokens.path.unlink()
    assert server.holder(new) is None


def test_a_link_stays_one_and_its_readers_see_a_change(tokens: Tokens, tmp_path: Path) -> None:
    token, link = tokens.made("ada"), Tokens(tmp_path / "link.json")
    link.path.symlink_to(tokens.path)
    assert [link.revoked(one.id) for one in link.listed()] == [True]
    assert link.path.is_symlink()
    assert tokens.holder(token) is None


def test_nothing_is_lost_where_many_write(tokens: Tokens) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: Tokens(tokens.path).made(f"t{number}"), range(40)))
    found = [tokens.holder(token) for token in made]
    assert [one and one.tenant for one in found] == [f"t{number}" for number in range(40)]
    assert [one.name for one in tokens.path.parent.iterdir()] == [tokens.path.name]


@pytest.mark.parametrize("held", ["", "{", "[]", '{"tokens": 1}', '{"other": []}', "\xff", "[" * 100_000])
def test_what_is_no_file_of_tokens_is_told(tokens: Tokens, held: str) -> None:
    tokens.path.write_bytes(held.encode("latin-1"))
    tokens.path.chmod(0o600)
    with pytest.raises(UsageError, match="is no file of tokens"):
        tokens.holder("mnemo_x")
    with pytest.raises(UsageError, match="is no file of tokens"):
        tokens.made("ada")


def test_a_file_that_others_may_write_is_refused(tokens: Tokens) -> None:
    token = tokens.made("ada")
    tokens.path.chmod(0o622)
    with pytest.raises(UsageError, match="chmod 600"):
        Tokens(tokens.path).holder(token)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o722, 0o1777])
@pytest.mark.parametrize("above", [0, 1])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int, above: int) -> None:
    home = tmp_path / "outer" / "inner"
    home.mkdir(parents=True)
    there = Tokens(home / "tokens.json")
    token = there.made("ada")
    folder = [home, home.parent][above]
    folder.chmod(mode)
    if mode & 0o1000:  # where nobody takes away what is another's
        assert Tokens(there.path).holder(token)
        return
    for refused in (lambda: Tokens(there.path).holder(token), lambda: Tokens(there.path).made("bob")):
        with pytest.raises(UsageError, match="chmod go-w"):
            refused()
    with pytest.raises(UsageError, match="chmod go-w"):
        Tokens(home / "new.json").made("ada")
    assert not (home / "new.json").exists()
    folder.chmod(0o755)
    assert Tokens(there.path).holder(token)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("whose", ["file", "folder"])
def test_a_file_or_folder_of_another_user_is_refused(tmp_path: Path, whose: str) -> None:
    home = tmp_path / "inner"
    home.mkdir()
    there = Tokens(home / "tokens.json")
    token = there.made("ada")
    os.chown(there.path if whose == "file" else home, 65534, 65534)
    with pytest.raises(UsageError, match="belongs to the user 65534"):
        Tokens(there.path).holder(token)


def test_a_link_in_a_folder_that_others_may_write_is_refused(tokens: Tokens, tmp_path: Path) -> None:
    token, folder = tokens.made("ada"), tmp_path / "open"
    folder.mkdir()
    (folder / "link.json").symlink_to(tokens.path)
    folder.chmod(0o777)
    with pytest.raises(UsageError, match="chmod go-w"):
        Tokens(folder / "link.json").holder(token)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        Tokens(tmp_path / "no" / "tokens.json").made("ada")
