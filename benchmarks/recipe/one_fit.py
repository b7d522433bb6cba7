"""One fit under the version of the package that is on the path: its test error and CPU seconds.

usage: PYTHONPATH=SRC python one_fit.py SET SEED PRESET MOST_ROWS
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from lifenet import LIFEClassifier, LIFERegressor
from lifenet.datasets import load


def table(name: str, most_rows: int) -> tuple[np.ndarray, np.ndarray]:
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        data = load(name)
        X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    if len(X) > most_rows:
        chosen = np.random.default_rng(0).choice(len(X), most_rows, replace=False)
        X, y = X[chosen], y[chosen]
    return X, y


def main(name: str, seed: int, preset: str, most_rows: int) -> None:
    X, y = table(name, most_rows)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    classes = len(np.unique(y)) == 2
    model = (LIFEClassifier if classes else LIFERegressor)(preset=preset, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        model.fit(train, y_train)
        seconds = time.process_time() - begun
    if classes:
        error = log_loss(y_test, model.predict_proba(test))
    else:
        error = np.sqrt(np.mean(np.square(model.predict(test) - y_test)))
    print(json.dumps({"error": float(error), "cpu": seconds}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
