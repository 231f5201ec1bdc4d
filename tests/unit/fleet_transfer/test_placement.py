"""Where a conversation is put, and what resumes it."""

import shlex

import pytest

from hopline.fleet.transfer.placement import is_session_id, place, slug, why_not_cwd


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/Users/x/Sandbox/my_app", "-Users-x-Sandbox-my-app"),
        ("/home/x/a.b+c d/", "-home-x-a-b-c-d"),
        ("/", "-"),
        ("/srv/é", "-srv--"),
    ],
)
def test_what_is_no_ascii_letter_or_digit_becomes_one_hyphen(cwd: str, name: str) -> None:
    assert slug(cwd) == name


def test_a_transcript_goes_under_the_slug_of_its_working_directory() -> None:
    assert place("/home/x/my_app", "s-1").path == ".claude/projects/-home-x-my-app/s-1.jsonl"


@pytest.mark.parametrize("cwd", ["/home/x", "/home/x y", "/home/$(reboot)", "/it's `here`; rm -rf ~", '/"'])
def test_the_command_that_resumes_is_quoted_for_a_shell(cwd: str) -> None:
    words = shlex.split(place(cwd, "s-1").resume)
    assert words == ["cd", cwd, "&&", "claude", "--resume", "s-1", "--fork-session"]


@pytest.mark.parametrize("text", ["a", "A-b_9", "3f0c6f0e-8a2b-4f1e-9d2e-000000000000", "x" * 128])
def test_a_session_id_is_letters_digits_underscore_and_hyphen(text: str) -> None:
    assert is_session_id(text)


@pytest.mark.parametrize(
    "text", ["", "x" * 129, "../x", "a/b", "a.b", "a b", "a\n", "a\0", "é", "-x", "--dangerously-skip-permissions"]
)
def test_what_could_be_a_path_or_an_option_is_no_session_id(text: str) -> None:
    assert not is_session_id(text)


@pytest.mark.parametrize("cwd", ["/", "/home/x", "/home/x/..y/...", "/srv/é 日本", "/" + "a" * 200])
def test_an_absolute_path_that_can_be_printed_is_a_working_directory(cwd: str) -> None:
    assert why_not_cwd(cwd) is None


@pytest.mark.parametrize(
    ("cwd", "why"),
    [
        ("", "absolute"),
        ("home/x", "absolute"),
        ("~/x", "absolute"),
        ("/home/../etc", ".."),
        ("/..", ".."),
        ("/a\nb", "control"),
        ("/a\x00b", "control"),
        ("/a\x1b[2J", "control"),
        ("/\udcff", "UTF-8"),
        ("/" + "a" * 4096, "4096"),
        ("/" + "a" * 255, "255"),
    ],
)
def test_path_tricks_are_refused_with_what_is_wrong(cwd: str, why: str) -> None:
    found = why_not_cwd(cwd)
    assert found is not None
    assert why in found
