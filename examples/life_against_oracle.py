"""Fit LIFE to a simulated function whose truth is known, and read it."""

from __future__ import annotations

import time

import numpy as np
from sklearn.linear_model import LinearRegression

from lifenet import LIFERegressor, LLARegressor
from lifenet.datasets import simulate
from lifenet.explain import accumulated_effects, explain_row, interaction_strength


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
        "LIFE, as in the paper": LIFERegressor(preset="paper", n_jobs=-1, random_state=0),
    }
    print(f"  {'':32s} test RMSE   seconds")
    for name, model in models.items():
        begun = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begun
        print(f"  {name:32s} {rmse(model.predict(X_test), y_test):9.3f} {seconds:9.1f}")
    print(f"  {'oracle: the true function':32s} {rmse(data.truth[test], y_test):9.3f}\n")

    life = models["LIFE, as in the paper"]
    print(f"{life.record_}")
    print(f"flattened into one layer of {life.network_.n_neurons} neurons.\n")
    subset = life.members_[0].subset
    print(f"The first member was trained on {subset.share:.0%} of the rows, where")
    print(f"    {subset.describe(life.schema_.names)}\n")
    show_features(life, X)
    show_equation(life, X_test[0], X)


def show_features(model: LIFERegressor, X: np.ndarray) -> None:
    effects = accumulated_effects(model, X)
    pairs = interaction_strength(model, X)
    print("What each column does to the score, and with which other it interacts most:")
    for place, curve in enumerate(effects.curves):
        other = int(np.argmax(pairs.pair[place]))
        print(
            f"    {curve.feature:4s} effect {curve.strength:6.3f}   with "
            f"{effects.curves[other].feature:4s} {pairs.pair[place, other]:6.3f}"
        )
    print()


def show_equation(model: LIFERegressor, x: np.ndarray, X: np.ndarray) -> None:
    row = explain_row(model, x, X=X)
    print("Around every row there is a linear equation. The first test row's:")
    print(f"    {row.equation()}")
    print(*(f"    {sentence}" for sentence in row.worth), sep="\n")
    print(f"    of the row     {row.contributions.sum() + row.intercept:.6f}")
    print(f"    prediction     {model.predict(x[None])[0]:.6f}")
    print(f"From the mean score ({row.reference_score:.3f}) to this one, column by column:")
    for name, part in row.steps():
        print(f"    {name:20s} {part:+8.3f}")


if __name__ == "__main__":
    main()
