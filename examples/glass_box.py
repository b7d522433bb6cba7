"""A credit model that is its own pictures: curves of single columns and maps of the pairs that pay.

Fits the preset "glass" to HELOC and draws all that it says. The parts sum to the score of every
row exactly. Needs the HELOC data (see `lifenet.datasets.load`) and
``pip install 'lifenet[data,plots]'``.

    python examples/glass_box.py [picture]
"""

import sys

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from lifenet import LIFEClassifier
from lifenet.datasets import load
from lifenet.explain import decompose
from lifenet.plots import EffectsAndPairsDisplay


def main() -> None:
    """Fit, check that the parts are the model, and draw them."""
    data = load("heloc")
    table = pd.DataFrame(data.X, columns=data.feature_names)
    X, X_test, y, y_test = train_test_split(
        table, data.y, test_size=0.2, random_state=0, stratify=data.y
    )
    for preset in ("fast", "glass"):
        model = LIFEClassifier(preset=preset, random_state=0).fit(X, y)
        print(f"{preset}: log-loss {log_loss(y_test, model.predict_proba(X_test)):.4f}")
    parts = decompose(model, X)
    gap = np.abs(parts.parts(X_test).sum(axis=1) - model.decision_function(X_test)).max()
    n_pairs = sum(len(group) == 2 for group in model.interaction_cst_)
    print(f"{len(table.columns)} curves, {n_pairs} maps; largest gap to the score {gap:.0e}")
    path = sys.argv[1] if len(sys.argv) > 1 else "glass_box.png"
    EffectsAndPairsDisplay(parts).plot().figure_.savefig(path, dpi=80)
    print(path)


if __name__ == "__main__":
    main()
