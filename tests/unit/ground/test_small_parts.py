import re
import time

import pytest

from hopline import clock, errors, ids


def test_times_are_rfc3339_in_utc_with_milliseconds() -> None:
    assert clock.rfc3339(0.9999) == "1970-01-01T00:00:00.999Z"
    assert abs(clock.parse_rfc3339(clock.rfc3339()) - time.time()) < 5


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        clock.parse_rfc3339("2026-01-01T00:00:00")


def test_ids_have_their_shape_and_differ() -> None:
    assert re.fullmatch("[0-9a-f]{12}", ids.new_run_id())
    assert re.fullmatch("[0-9a-f]{32}", ids.new_store_id())
    assert ids.new_run_id() != ids.new_run_id()


def test_exit_statuses_are_those_of_the_command_table() -> None:
    table = {error: error.exit_status for error in (errors.Refused, errors.UsageError, errors.RunGone)}
    assert table == {errors.Refused: 1, errors.UsageError: 2, errors.RunGone: 4}
    assert (errors.ConnectDenied.exit_status, errors.ConnectFailed.exit_status) == (5, 6)
    assert errors.Refused("no", code="run_read_only").code == "run_read_only"
