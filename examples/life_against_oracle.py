"""Fit LIFE to a simulated function whose truth is known, and read one prediction."""

from __future__ import annotations

import time

import numpy as np
from sklearn.linear_model import LinearRegression

from lifenet import LIFERegressor, LLARegressor
from lifenet.datasets import simulate


def rmse(prediction: np.ndarray, target: np.ndarray) -> float:
    return float(np.sqrt(np.mean((prediction - target) ** 2)))


def main() -> None:
    data = simulate.aim(10_000, random_state=0)
    train, test = slice(0, 8_000), slice(8_000, None)
    X, y, X_test, y_test = data.X[train], data.y[train], data.X[test], data.y[test]
    print(
        "Additive index model of the LIFE paper: 8,000 rows to fit, 2,000 to test, "
        f"{X.shape[1]} columns.\n"
    )
    models = {
        "linear regression": LinearRegression(),
        "one LLA network, 10 neurons": LLARegressor(10, random_state=0),
        "LIFE, default settings": LIFERegressor(n_jobs=-1, random_state=0),
    }
    print(f"  {'':32s} test RMSE   seconds")
    for name, model in models.items():
        begun = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begun
        print(f"  {name:32s} {rmse(model.predict(X_test), y_test):9.3f} {seconds:9.1f}")
    print(f"  {'oracle: the true function':32s} {rmse(data.truth[test], y_test):9.3f}\n")

    life = models["LIFE, default settings"]
    print(f"{life.record_}")
    print(f"flattened into one layer of {life.network_.n_neurons} neurons.\n")
    subset = life.members_[0].subset
    print(f"The first member was trained on {subset.share:.0%} of the rows, where")
    print(f"    {subset.describe(life.schema_.names)}\n")
    show_equation(life, X_test[:1])


def show_equation(model: LIFERegressor, row: np.ndarray) -> None:
    print("Every prediction is an exact linear equation. The first test row's:")
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
