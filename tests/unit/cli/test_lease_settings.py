"""One key of config.toml is set, and everything else is left as somebody wrote it."""

import tomllib

import pytest

from hopline.cli.relay_setting import set_relay, with_relay_key
from hopline.errors import UsageError

KEY = "lease_authority"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[relay]\nlease_authority = "a-1"\n'),
        ('runner = "auto"  # mine', 'runner = "auto"  # mine\n\n[relay]\nlease_authority = "a-1"\n'),
        ("[relay]\nlisten_port = 1\n", '[relay]\nlease_authority = "a-1"\nlisten_port = 1\n'),
        ("[relay] # here", '[relay] # here\nlease_authority = "a-1"\n'),
        (
            "# top\n[ relay ]\n  lease_authority='old' # why\n[other]\nlease_authority = 1\n",
            '# top\n[ relay ]\n  lease_authority="a-1" # why\n[other]\nlease_authority = 1\n',
        ),
        (
            '[other]\nlease_authority = "x"\n\n[relay]\n',
            '[other]\nlease_authority = "x"\n\n[relay]\nlease_authority = "a-1"\n',
        ),
        ("[relay]\r\nmax_peers = 2\r\n", '[relay]\r\nlease_authority = "a-1"\r\nmax_peers = 2\r\n'),
    ],
)
def test_the_key_is_put_where_it_belongs_and_nothing_else_moves(tmp_path, before, after):
    path = tmp_path / "config.toml"
    path.write_bytes(before.encode())
    set_relay(path, KEY, "a-1")
    assert path.read_bytes().decode() == after
    assert tomllib.loads(after)["relay"][KEY] == "a-1"


def test_taking_the_key_away_leaves_the_rest():
    text = '# c\n[relay]\nlease_authority = "a" # x\nmax_peers = 2\n'
    assert with_relay_key(text, KEY, "") == "# c\n[relay]\nmax_peers = 2\n"
    assert with_relay_key("x = 1\n", KEY, "") == "x = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        'relay = { lease_authority = "a" }\n',
        'relay.lease_authority = "a"\n',
        '[relay]\nlease_authority = """\na"""\n',
        'x = """\n[relay]\n"""\n[relay]\nlease_authority = "b"\n',
    ],
)
def test_a_file_written_another_way_is_left_alone_and_the_person_is_told_what_to_write(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match="lease_authority"):
        set_relay(path, KEY, "a-1")
    assert path.read_text() == text


def test_a_file_that_is_no_toml_is_left_alone(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text("[relay\n")
    with pytest.raises(UsageError, match="cannot be read"):
        set_relay(path, KEY, "a-1")
    assert path.read_text() == "[relay\n"


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("[relay]\n")
    real.chmod(0o640)
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    set_relay(link, KEY, "a-1")
    assert link.is_symlink()
    assert KEY in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["config.toml", "dotfiles.toml"]
