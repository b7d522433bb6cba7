import sys

import pytest
import threadpoolctl

from lifenet._threads import one_blas_thread, quick_turns


def blas_threads():
    return [
        pool["num_threads"]
        for pool in threadpoolctl.threadpool_info()
        if pool["user_api"] == "blas"
    ]


def test_the_limit_holds_until_the_last_user_leaves():
    """One fit's end used to lift the limit under another, and to leave it at one for good."""
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    assert set(blas_threads()) == {1}
    first.__exit__(None, None, None)  # not the last to have entered: fits in threads overlap so
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_the_limit_is_lifted_after_an_error():
    before = blas_threads()
    with pytest.raises(RuntimeError, match="inside"), one_blas_thread():
        raise RuntimeError("inside")
    assert blas_threads() == before


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
