import os
from pathlib import Path

import pytest

from hopline import settings
from hopline.errors import ConnectDenied, Unavailable, UsageError


def test_an_unknown_setting_names_the_nearest_known_one() -> None:
    with pytest.raises(UsageError, match=r"unknown setting 'durabilty' in x\.toml; did you mean 'durability'"):
        settings.parse_settings({"durabilty": "full"}, "x.toml")


def test_an_unknown_setting_near_nothing_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="known settings: runner, durability"):
        settings.parse_settings({"zzz": 1}, "x.toml")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("runner", "docker"),
        ("durability", 1),
        ("when_journal_full", "drop"),
        ("stop_grace_seconds", -1),
        ("stop_grace_seconds", True),
        ("stop_grace_seconds", "1"),
        ("unix_write_deadline_seconds", -1),
        ("journal_reserve", "much"),
        ("max_journal", True),
        ("max_journal", -2),
    ],
)
def test_a_wrong_value_is_refused_with_its_key_or_value(key: str, value: object) -> None:
    with pytest.raises(UsageError, match=r"must be|is not a size"):
        settings.parse_settings({key: value}, "x.toml")


def test_every_setting_is_read() -> None:
    table = {
        "runner": "bwrap",
        "durability": "full",
        "journal_reserve": "1GiB",
        "max_journal": "500 MB",
        "when_journal_full": "drop-oldest",
        "stop_grace_seconds": 2,
        "unix_write_deadline_seconds": 40,
    }
    assert settings.parse_settings(table, "x") == settings.Settings(
        "bwrap", "full", 2**30, 500_000_000, "drop-oldest", 2, 40
    )


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("64k", 64_000), ("64KiB", 65_536), ("1.5 GB", 1_500_000_000), (7, 7), ("2TiB", 2**41)]
)
def test_sizes_are_read_as_people_write_them(text: str | int, size: int) -> None:
    assert settings.parse_size(text) == size


def test_no_settings_file_means_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HOPLINE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings.load_settings() == settings.Settings()


def test_a_named_settings_file_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPLINE_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="which does not exist"):
        settings.load_settings()


def test_a_settings_file_that_is_not_toml_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("runner = ")
    monkeypatch.setenv("HOPLINE_CONFIG", str(path))
    with pytest.raises(UsageError, match="cannot read the settings"):
        settings.load_settings()


def test_a_settings_file_is_in_force(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('durability = "full"\n')
    monkeypatch.setenv("HOPLINE_CONFIG", str(path))
    assert settings.load_settings().durability == "full"


def test_state_and_sockets_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert settings.runs_folder() == tmp_path / "runs"
    assert settings.socket_path("abc") == Path("/run/user/7/hopline/runs/abc/control.sock")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "not/absolute")
    assert settings.runtime_folder() == Path(f"/tmp/hopline-{os.getuid()}")
    monkeypatch.delenv("HOPLINE_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert settings.home() == Path("/state/hopline")


def test_a_too_long_socket_path_is_refused_before_any_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "d" * 90)
    with pytest.raises(UsageError, match="the system allows 107; set XDG_RUNTIME_DIR"):
        settings.socket_path("0123456789ab")


def test_a_private_folder_is_made_with_mode_0700(tmp_path: Path) -> None:
    assert settings.private_folder(tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_folder_open_to_others_is_refused_with_the_command_that_closes_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(ConnectDenied, match=f"run: chmod 700 {tmp_path}"):
        settings.private_folder(tmp_path)


def test_a_symlink_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConnectDenied, match="not a plain folder"):
        settings.private_folder(tmp_path / "link")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConnectDenied, match="not a plain folder"):
        settings.private_folder(tmp_path / "file")


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot make the folder"):
        settings.private_folder(tmp_path / "file" / "sub")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(ConnectDenied, match="belongs to user 12345"):
        settings.private_folder(folder)
