"""Fit an LLA network to a simulated function whose truth is known, and read one prediction."""

from __future__ import annotations

import time

import numpy as np
from sklearn.linear_model import LinearRegression

from lifenet import LLARegressor
from lifenet.datasets import simulate


def rmse(prediction: np.ndarray, target: np.ndarray) -> float:
    return float(np.sqrt(np.mean((prediction - target) ** 2)))


def main() -> None:
    data = simulate.mim(20_000, random_state=0)
    train, test = np.arange(20_000) < 16_000, np.arange(20_000) >= 16_000
    print("Multiple index model of the LIFE paper: 16,000 rows to fit, 4,000 to test, 6 columns.\n")

    begun = time.perf_counter()
    model = LLARegressor(n_neurons=20, n_restarts=3, random_state=0)
    model.fit(data.X[train], data.y[train])
    seconds = time.perf_counter() - begun
    linear = LinearRegression().fit(data.X[train], data.y[train])

    print("                                test RMSE")
    print(
        f"  linear regression                {rmse(linear.predict(data.X[test]), data.y[test]):.3f}"
    )
    print(
        f"  LLA network, 20 neurons          {rmse(model.predict(data.X[test]), data.y[test]):.3f}"
        f"   (3 starts, {seconds:.1f} s)"
    )
    print(f"  oracle: the true function        {rmse(data.truth[test], data.y[test]):.3f}\n")
    (outcome,) = model.outcomes_
    print(f"  {outcome.n_iterations} iterations. {outcome.status}\n")

    print("Every prediction is an exact linear equation. The first test row's:")
    row = data.X[test][:1]
    slopes = model.network_.gradient(row)[0, :, 0]
    constant = model.network_.local_intercept(row)[0, 0]
    parts = model.network_.contributions(row)[0, :, 0]
    print(f"    {'constant':10s} {'':19s} {constant:8.3f}")
    for name, slope, value, part in zip(model.schema_.names, slopes, row[0], parts, strict=True):
        print(f"    {name:10s} {slope:8.3f} x {value:8.3f} {part:8.3f}")
    print(f"    {'sum':10s} {'':19s} {constant + parts.sum():8.3f}")
    print(f"    {'prediction':10s} {'':19s} {model.predict(row)[0]:8.3f}")


if __name__ == "__main__":
    main()
