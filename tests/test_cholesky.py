import threading
import time

import numpy as np
import pytest

import lifenet.kernels.cholesky as module
from lifenet.kernels.cholesky import factor_in_place, solve_factored


def positive_definite(size, kind):
    rows = np.random.default_rng(size).normal(size=(2 * size + 3, size))
    return (rows.T @ rows / len(rows) + 0.1 * np.eye(size)).astype(kind)


@pytest.fixture(params=["address", "wrapper"])
def each_way(request, monkeypatch):
    if request.param == "wrapper":
        for name in ("_FACTOR", "_SOLVE"):
            monkeypatch.setattr(module, name, dict.fromkeys(getattr(module, name)))


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize(("kind", "accuracy"), [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("size", [1, 2, 7, 130])
def test_the_lower_triangle_is_that_of_numpy(size, kind, accuracy):
    matrix = positive_definite(size, kind)
    expected = np.linalg.cholesky(matrix.astype(np.float64))
    assert factor_in_place(matrix)
    assert matrix.dtype == kind
    np.testing.assert_allclose(np.tril(matrix), expected, atol=accuracy)


@pytest.mark.usefixtures("each_way")
@pytest.mark.parametrize(("kind", "accuracy"), [(np.float32, 1e-4), (np.float64, 1e-12)])
@pytest.mark.parametrize("n_right", [1, 3])
def test_solutions_are_those_of_numpy(kind, accuracy, n_right):
    matrix = positive_definite(40, kind)
    right = np.random.default_rng(0).normal(size=(40, n_right)).astype(kind)
    expected = np.linalg.solve(matrix.astype(np.float64), right)
    assert factor_in_place(matrix)
    before = right.copy()
    np.testing.assert_allclose(solve_factored(matrix, right), expected, rtol=0, atol=accuracy)
    np.testing.assert_array_equal(right, before)


@pytest.mark.usefixtures("each_way")
def test_a_matrix_with_a_negative_eigenvalue_is_told():
    assert not factor_in_place(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_matrices_in_another_order_are_factored_too():
    matrix = positive_definite(6, np.float64)
    expected = np.linalg.cholesky(matrix)
    other = np.asfortranarray(matrix)
    assert factor_in_place(other)
    np.testing.assert_allclose(np.tril(other), expected, atol=1e-13)


def test_addresses_of_the_supported_scipy_are_understood():
    for calls in (module._FACTOR, module._SOLVE):
        assert all(call is not None for call in calls.values())


def test_other_threads_go_on_meanwhile():
    matrix, done, counted = positive_definite(1_500, np.float64), threading.Event(), []

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())

    counting = threading.Thread(target=count)
    counting.start()
    begun = time.perf_counter()
    for _ in range(3):
        assert factor_in_place(matrix.copy())
    ended = time.perf_counter()
    done.set()
    counting.join()
    inside = [one for one in counted if begun < one < ended]
    longest = np.diff([begun, *inside, ended]).max()
    # Were the lock held, the count would stand still for a whole factorisation.
    assert longest < (ended - begun) / 3
