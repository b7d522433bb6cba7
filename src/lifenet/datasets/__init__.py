"""Data to learn from: simulated problems whose truth is known, and real public sets.

>>> from lifenet.datasets import simulate
>>> sample = simulate.mim(n_samples=500, random_state=0)
>>> sample.X.shape, sample.task
((500, 6), 'regression')

Real sets come from a folder of parquet files, from the cache of earlier downloads, or from OpenML,
which needs ``pip install 'lifenet[data]'``::

    from lifenet.datasets import load

    abalone = load("abalone", download=True)
    abalone.X, abalone.y, abalone.feature_names
"""

from __future__ import annotations

from lifenet.datasets import simulate
from lifenet.datasets.registry import Dataset, available, load
from lifenet.datasets.simulate import Simulation

__all__ = ["Dataset", "Simulation", "available", "load", "simulate"]
