import sys
import threading
from functools import partial

import pytest
import threadpoolctl

from lifenet._threads import one_blas_thread, one_openmp_thread, quick_turns, side_by_side


def threads(api="blas"):
    return [
        pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == api
    ]


def test_the_limit_holds_until_the_last_user_leaves():
    """One fit's end used to lift the limit under another, and to leave it at one for good."""
    before = threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)  # not the last to have entered: fits in threads overlap so
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before


def test_the_limit_is_lifted_after_an_error():
    before = threads()
    with pytest.raises(RuntimeError, match="inside"), one_blas_thread():
        raise RuntimeError("inside")
    assert threads() == before


def test_openmp_has_one_thread_inside():
    with threadpoolctl.threadpool_limits(2, user_api="openmp"):
        assert set(threads("openmp")) == {2}
        with one_openmp_thread():
            assert set(threads("openmp")) == {1}
        assert set(threads("openmp")) == {2}


def test_turns_are_short_until_the_last_user_leaves():
    before = sys.getswitchinterval()
    first, second = quick_turns(), quick_turns()
    first.__enter__()
    second.__enter__()
    assert sys.getswitchinterval() == pytest.approx(1e-3)
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(1e-3)
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(before)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def task(number):
        def work():
            threading.Event().wait(0.02 * (5 - number))  # the first takes longest
            return number

        return work

    assert list(side_by_side([task(number) for number in range(5)], n_jobs)) == list(range(5))


def test_two_tasks_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=20)
    assert sorted(side_by_side([meeting.wait, meeting.wait], 2)) == [0, 1]


def test_after_a_failure_no_further_task_begins():
    begun = []

    def fails():
        raise RuntimeError("the first fold")

    def waits(number):
        begun.append(number)
        threading.Event().wait(0.2)

    tasks = [fails, *(partial(waits, number) for number in range(6))]
    with pytest.raises(RuntimeError, match="the first fold"):
        list(side_by_side(tasks, 2))
    threading.Event().wait(0.5)
    assert len(begun) < 6
