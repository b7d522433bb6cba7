"""`python -m benchmarks.readable.gam DATA SEED`: pyGAM's grid search, in a process of its own.

pyGAM 0.12.0 asks for SciPy below 1.17, and runs with 1.17.1. So it is no requirement of the
benchmarks: install it with `pip install --no-deps pygam progressbar2 python-utils`.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np

from benchmarks.fast.measuring import measured
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.samples import draw_sample
from benchmarks.paper.work import evaluate
from benchmarks.peers.experiments import DATA

#: Columns with fewer values are linear; the others are splines.
_FEW_VALUES = 3


def search(data: str, seed: int) -> dict[str, float]:
    """Error and CPU seconds of a search for the penalty, as pyGAM does it by default."""
    from pygam import LinearGAM, LogisticGAM, l, s
    from pygam.terms import TermList

    task, sample = DATA[data].task, draw_sample(DATA[data], seed)
    X, X_test = (np.asarray(one, dtype=np.float64) for one in (sample.X, sample.X_test))
    few = [len(np.unique(column)) < _FEW_VALUES for column in X.T]
    terms = TermList(*(l(number) if is_few else s(number) for number, is_few in enumerate(few)))
    regression = task == REGRESSION
    y = np.asarray(sample.y)
    target = y if regression else (y == y.max()).astype(float)
    model = (LinearGAM if regression else LogisticGAM)(terms)
    cpu = measured(lambda: model.gridsearch(X, target, progress=False))["cpu"]
    output = model.predict(X_test) if regression else model.predict_proba(X_test)
    return {"error": float(evaluate(sample, output, task)[0]), "cpu": cpu}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(search(sys.argv[1], int(sys.argv[2]))))
