"""What a person sees of a transfer that is under way."""

import pytest

from hopline.cli.transfer_view import Rate, Tenths, bar, follow
from hopline.wire.hub.sessions import SendProgress


def news(state: str, done: int = 0, size: int = 200_000_000) -> SendProgress:
    return SendProgress(state=state, done=done, size=size)


def test_the_bar_says_how_much_of_what_at_which_rate() -> None:
    line = bar(news("sending", 50_000_000), 310e6, 80)
    assert line == "██████░░░░░░░░░░░░░░░░░░  25%  50.0 MB of 200 MB, 310 MB/s"


def test_a_narrow_terminal_gets_the_words_and_never_a_second_line() -> None:
    assert bar(news("sending", 50_000_000), 310e6, 50) == " 25%  50.0 MB of 200 MB, 310 MB/s"
    assert len(bar(news("sending", 50_000_000), 310e6, 20)) == 19


@pytest.mark.parametrize("state", ["hashing", "connecting", "waiting", "confirming", "something new"])
def test_every_state_has_words(state: str) -> None:
    assert bar(news(state), 0, 80)


def test_an_empty_transcript_has_a_line_too() -> None:
    assert bar(news("sending", 0, 0), 0, 80) == "sending"


def test_without_a_terminal_there_is_a_line_a_tenth_and_one_for_each_wait() -> None:
    tenths = Tenths()
    said = [tenths.line(news("sending", done * 1_000_000)) for done in range(0, 201, 5)]
    assert [line for line in said if line][:2] == ["10% of 200 MB sent\n", "20% of 200 MB sent\n"]
    assert len([line for line in said if line]) == 10
    waits = [tenths.line(news(state)) for state in ("waiting", "waiting", "connecting", "waiting")]
    assert len([line for line in waits if line]) == 2


def test_the_rate_is_that_of_this_attempt() -> None:
    rate = Rate()
    assert rate.at(9.0, news("connecting")) == 0
    assert rate.at(10.0, news("sending", 100)) == 0
    assert rate.at(12.0, news("sending", 300)) == 100
    assert rate.at(13.0, news("waiting", 300)) == 0
    assert rate.at(20.0, news("sending", 310)) == 0
    assert rate.at(21.0, news("sending", 320)) == 10
    assert bar(news("sending", 50_000_000), 0, 80).endswith("50.0 MB of 200 MB")


def test_quiet_is_quiet_and_otherwise_it_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    for quiet in (True, False):
        with follow(quiet=quiet) as show:
            show(news("sending", 100_000_000))
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == ("" if quiet else "50% of 200 MB sent\n")
