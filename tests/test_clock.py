"""Deadlines against a clock that stands still until it is moved."""

import math
import time

import pytest

from lifenet import _clock
from lifenet._clock import NEVER, Deadline, now


@pytest.fixture
def clock(monkeypatch):
    """The time as a list of one number, which tests may change."""
    reading = [100.0]
    monkeypatch.setattr(_clock, "now", lambda: reading[0])
    return reading


def test_the_clock_is_the_monotonic_one():
    before = time.monotonic()
    assert before <= now() <= time.monotonic()


def test_a_deadline_passes_after_its_seconds(clock):
    deadline = Deadline.after(4.0)
    assert (deadline.begun, deadline.end) == (100.0, 104.0)
    assert not deadline.passed
    clock[0] = 103.999
    assert not deadline.passed
    clock[0] = 104.0
    assert deadline.passed


def test_no_limit_never_passes(clock):
    clock[0] = 1e300
    for deadline in (NEVER, Deadline.after(None)):
        assert math.isinf(deadline.end)
        assert not deadline.passed
        assert not deadline.at(1e-9).passed
        assert not deadline.rest(0.0).passed


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-300])
def test_no_time_at_all_is_over_at_once(seconds, clock):
    assert Deadline.after(seconds).passed


def test_a_share_of_the_whole_does_not_depend_on_when_it_is_asked_for(clock):
    deadline = Deadline.after(10.0)
    early = deadline.at(0.3)
    clock[0] = 107.0
    assert deadline.at(0.3) == early == Deadline(100.0, 103.0)
    assert early.passed
    assert deadline.at(1.0) == deadline


def test_a_share_of_the_rest_is_of_the_time_that_is_left(clock):
    deadline = Deadline.after(10.0)
    clock[0] = 106.0
    assert deadline.rest() == Deadline(106.0, 110.0)
    assert deadline.rest(0.25) == Deadline(106.0, 107.0)
    clock[0] = 111.0
    assert deadline.rest() == Deadline(111.0, 111.0)
    assert deadline.rest(0.5).passed


def test_shares_of_the_rest_divide_it_equally(clock):
    """As the classes of a single network do: 1/3 of the rest, 1/2 of what is left, then all."""
    deadline, ends = Deadline.after(9.0), []
    for left in (3, 2, 1):
        ends.append(deadline.rest(1 / left).end)
        clock[0] = ends[-1]
    assert ends == pytest.approx([103.0, 106.0, 109.0])
