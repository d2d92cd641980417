"""Tokens: hashed at rest, several a tenant, revoked at once, one writer at a time."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pgmnemo.errors import UsageError
from pgmnemo.http.tokens import TokenFile

NAMES = ("acme", "acme-corp", "_", "%", "a\\b", "a'b\"", "a\nb", "x" * 1000, "\u0430cme")
NO_NAMES = ("", " \n", "x" * 10_000, "a\0b", "\ud800")


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


def test_a_token_is_its_holders_and_the_file_does_not_tell_it(tokens: TokenFile) -> None:
    made = {name: tokens.create(name, project="p", name="laptop") for name in NAMES}
    kept = tokens.path.read_text()
    for name, token in made.items():
        found = tokens.principal(token)
        assert (found.tenant, found.project, found.name) == (name, "p", "laptop")
        assert token not in kept
        assert token.split("_", 2)[2] not in kept
        assert len(token) >= len("mnemo_") + 43  # 256 bits
    assert [one.tenant for one in tokens.principals()] == list(NAMES)
    assert not hasattr(tokens.principals()[0], "sha256")
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600


def test_what_names_nobody_gets_no_token(tokens: TokenFile) -> None:
    for name in NO_NAMES:
        with pytest.raises(UsageError, match="tenant"):
            tokens.create(name)
        with pytest.raises(UsageError, match="project"):
            tokens.create("ada", name)
    assert not tokens.path.exists()


def test_what_is_nearly_a_token_is_none(tokens: TokenFile) -> None:
    token, other = tokens.create("ada"), tokens.create("bob")
    number, secret = token.removeprefix("mnemo_").split("_", 1)
    theirs = other.removeprefix("mnemo_").split("_", 1)[1]
    near = (
        "", "mnemo_", number, secret, f"mnemo_{number}_", f"mnemo_{number}_{theirs}", token[:-1], token + "A",
        token.upper(), token.replace("mnemo_", ""), f"mnemo__{secret}", token + "\0", "\ud800", "é" * 100_000,
        json.loads(tokens.path.read_text())["tokens"][0]["sha256"],
    )  # fmt: skip
    assert [tokens.principal(one) for one in near] == [None] * len(near)


def test_a_tenant_has_several_and_each_is_revoked_alone_and_at_once(tokens: TokenFile) -> None:
    server = TokenFile(tokens.path)  # another process
    old, new = tokens.create("ada", name="old"), tokens.create("ada", name="new")
    first = server.principal(old)
    assert tokens.revoke(first.id)
    assert not tokens.revoke(first.id)
    assert server.principal(old) is None
    assert server.principal(new) is not None
    tokens.path.unlink()
    assert server.principal(new) is None


def test_a_link_stays_one_and_its_readers_see_a_change(tokens: TokenFile, tmp_path: Path) -> None:
    token, link = tokens.create("ada"), TokenFile(tmp_path / "link.json")
    link.path.symlink_to(tokens.path)
    assert [link.revoke(one.id) for one in link.principals()] == [True]
    assert link.path.is_symlink()
    assert tokens.principal(token) is None


def test_nothing_is_lost_where_many_write(tokens: TokenFile) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: TokenFile(tokens.path).create(f"t{number}"), range(40)))
    found = [tokens.principal(token) for token in made]
    assert [one and one.tenant for one in found] == [f"t{number}" for number in range(40)]
    assert [one.name for one in tokens.path.parent.iterdir()] == [tokens.path.name]


@pytest.mark.parametrize("held", ["", "{", "[]", '{"tokens": 1}', '{"other": []}', "\xff", "[" * 100_000])
def test_what_is_no_file_of_tokens_is_told(tokens: TokenFile, held: str) -> None:
    tokens.path.write_bytes(held.encode("latin-1"))
    tokens.path.chmod(0o600)
    with pytest.raises(UsageError, match="is no file of tokens"):
        tokens.principal("mnemo_x")
    with pytest.raises(UsageError, match="is no file of tokens"):
        tokens.create("ada")


def test_a_file_that_others_may_write_is_refused(tokens: TokenFile) -> None:
    token = tokens.create("ada")
    tokens.path.chmod(0o622)
    with pytest.raises(UsageError, match="chmod 600"):
        TokenFile(tokens.path).principal(token)


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o722, 0o1777])
@pytest.mark.parametrize("above", [0, 1])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int, above: int) -> None:
    home = tmp_path / "outer" / "inner"
    home.mkdir(parents=True)
    there = TokenFile(home / "tokens.json")
    token = there.create("ada")
    folder = [home, home.parent][above]
    folder.chmod(mode)
    if mode & 0o1000:  # where nobody takes away what is another's
        assert TokenFile(there.path).principal(token)
        return
    for refused in (
        lambda: TokenFile(there.path).principal(token),
        lambda: TokenFile(there.path).create("bob"),
    ):
        with pytest.raises(UsageError, match="chmod go-w"):
            refused()
    with pytest.raises(UsageError, match="chmod go-w"):
        TokenFile(home / "new.json").create("ada")
    assert not (home / "new.json").exists()
    folder.chmod(0o755)
    assert TokenFile(there.path).principal(token)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("whose", ["file", "folder"])
def test_a_file_or_folder_of_another_user_is_refused(tmp_path: Path, whose: str) -> None:
    home = tmp_path / "inner"
    home.mkdir()
    there = TokenFile(home / "tokens.json")
    token = there.create("ada")
    os.chown(there.path if whose == "file" else home, 65534, 65534)
    with pytest.raises(UsageError, match="belongs to the user 65534"):
        TokenFile(there.path).principal(token)


def test_a_link_in_a_folder_that_others_may_write_is_refused(tokens: TokenFile, tmp_path: Path) -> None:
    token, folder = tokens.create("ada"), tmp_path / "open"
    folder.mkdir()
    (folder / "link.json").symlink_to(tokens.path)
    folder.chmod(0o777)
    with pytest.raises(UsageError, match="chmod go-w"):
        TokenFile(folder / "link.json").principal(token)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        TokenFile(tmp_path / "no" / "tokens.json").create("ada")
