"""Draw the hierarchy of networks behind a LIFE model, and how its neurons divide the rows.

    python examples/hierarchy.py [folder]

writes life-hierarchy.png and life-partition.png: house prices by longitude and latitude where the
data folder is found, else a simulated surface.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

from lifenet import LLA, LIFERegressor, NeuronProjection
from lifenet.datasets import load
from lifenet.plots import HierarchyDisplay, PartitionDisplay


def two_columns() -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """Rows, response and the names of the columns."""
    try:
        data = load("california_housing")
    except (FileNotFoundError, ImportError) as error:
        print(f"Simulated data instead of California housing: {error}")
        generator = np.random.default_rng(0)
        X = generator.normal(size=(5000, 2))
        y = np.abs(X[:, 0] + X[:, 1]) - np.maximum(X[:, 1] - 0.5, 0.0)
        return X, y + 0.1 * generator.normal(size=len(X)), ("x0", "x1")
    columns = [data.feature_names.index(name) for name in ("longitude", "latitude")]
    return data.X[:, columns], data.y, ("longitude (degrees)", "latitude (degrees)")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    X, y, names = two_columns()
    sampler = NeuronProjection(levels=(3, 3))
    model = LIFERegressor(sampler, LLA(n_neurons=2), random_state=29).fit(X, y)

    short = [name.split(" ")[0] for name in names]
    tree = HierarchyDisplay(model.hierarchy_, short).plot()
    tree.figure_.savefig(folder / "life-hierarchy.png", dpi=110)
    partition = PartitionDisplay(model.hierarchy_, X, level=2, names=names).plot()
    partition.figure_.savefig(folder / "life-partition.png", dpi=90)

    print(tree.to_frame().to_string(index=False))
    print(f"\nThe subsets of level 2 that are kept hold {partition.coverage:.0%} of the rows.")
    print(f"Pictures: {folder / 'life-hierarchy.png'}, {folder / 'life-partition.png'}")


if __name__ == "__main__":
    main()
