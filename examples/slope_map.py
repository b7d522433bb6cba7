"""What a little more income adds to house prices, district by district.

A boosted tree is flat between its splits and has no slopes to draw. A lifenet model has an equation
around every row; this draws one of its coefficients on the map. Needs California housing (see
`lifenet.datasets.load`) and ``pip install 'lifenet[data,plots]'``.

    python examples/slope_map.py [picture]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from lifenet import LIFERegressor
from lifenet.datasets import load
from lifenet.explain import equation_fidelity, varying_coefficients


def main() -> None:
    """Fit the default, and draw the slope of median income around unseen districts."""
    data = load("california_housing")
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.2, random_state=0)
    model = LIFERegressor(random_state=0, n_jobs=2).fit(X, y)
    print(f"R² on unseen districts: {model.score(X_test, y_test):.3f}")

    found = varying_coefficients(model, X_test, max_points=len(X_test))
    names = list(data.feature_names)
    income, east, north = (names.index(name) for name in ("median_income", "longitude", "latitude"))
    slope = found.alpha[:, found.owner == income][:, 0]
    held = equation_fidelity(model, X_test, reach=found.reach).one[0]
    print(f"equations explain {held:.0%} of what the model does within {found.reach:.0%}")

    figure, ax = plt.subplots(figsize=(6.4, 6.2), layout="constrained")
    order = np.argsort(slope)
    low, high = np.quantile(slope, [0.02, 0.98])
    points = ax.scatter(
        found.places[order, east],
        found.places[order, north],
        c=slope[order],
        cmap="viridis",
        vmin=low,
        vmax=high,
        s=7,
        linewidths=0,
    )
    bar = figure.colorbar(points, ax=ax, shrink=0.75, extend="both")
    bar.set_label("house value (\\$100,000) per \\$10,000 of median income")
    ax.set_xlabel("longitude")
    ax.set_ylabel("latitude")
    ax.set_aspect(1 / np.cos(np.radians(37)))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("What a little more income adds to house prices", loc="left", fontsize=11)
    path = sys.argv[1] if len(sys.argv) > 1 else "slope_map.png"
    figure.savefig(path, dpi=130)
    print(path)


if __name__ == "__main__":
    main()
