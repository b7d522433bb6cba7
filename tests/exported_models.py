"""Fitted models of every kind of table for tests of exports, and rows that ask for every code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from benchmarks.files.exports import by_feature

from lifenet import (
    LLA,
    CrossFit,
    Hierarchy,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LLARegressor,
    MiniBatch,
    NeuronProjection,
    preset,
)

#: Leaf neurons on codes of the columns and base learners, in a second.
QUICK = replace(
    preset("fast"),
    neurons=(Leaves(3), Hierarchy(n_neurons=3, max_iter=3, n_networks=2, max_rows="auto")),
    finetune=MiniBatch(4),
    resampling=CrossFit(2, min_rows=4),
)
#: Names and levels that end a literal or a comment where they are not quoted.
QUOTED, INJECTED = "in\"come's", 'x"); DROP TABLE t; --'
LEVELS = ("clerk", 'it\'s "me"', "'; DROP TABLE t; --", "", "naïve \\ \u200b\n{0} %s")


def table(n, seed=0):
    """Numbers with gaps, truth values, categories of few and many levels, dates, durations."""
    rng = np.random.default_rng(seed)
    cities = np.array([f"city {one}" for one in range(30)], dtype=object)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n) * 1e3,
            QUOTED: np.where(rng.random(n) < 0.15, np.nan, rng.lognormal(size=n)),
            "count": rng.integers(0, 6, n),
            "owner": rng.random(n) < 0.4,
            INJECTED: rng.choice(np.array(LEVELS, dtype=object), n),
            "city": rng.choice(cities, n, p=np.arange(1, 31) / 465),
            "zone": pd.Categorical(rng.choice([1, 2, 3, 10], n)),
            "flag": pd.Categorical(rng.random(n) < 0.3),
            "day": pd.Timestamp("1968-01-01")
            + pd.to_timedelta(rng.integers(0, 40_000, n), unit="h"),
            "due": pd.Timestamp("2020-01-30")
            + pd.to_timedelta(rng.integers(0, 2_000, n), unit="D"),
            "wait": pd.to_timedelta(rng.integers(0, 5_000_000_000, n), unit="us"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "city"] = None
    frame.loc[rng.random(n) < 0.1, "day"] = pd.NaT
    return frame


def target(frame):
    level = frame["city"].fillna("0").str[-1].astype(int) + 2.0 * (frame["zone"] == 3)
    flat = np.log1p(frame[QUOTED].fillna(1.0)) * (frame[INJECTED] == LEVELS[1])
    days = frame["day"].dt.month.fillna(3) + frame["due"].dt.day_of_week + frame["wait"].dt.days
    own = (
        np.sin(frame["number"] / 500) * frame["owner"] + frame["count"] + frame["flag"].astype(int)
    )
    return (level + flat + own + days / 4).to_numpy(dtype=float)


def asked(n=60, seed=1):
    """Rows that training did not have: unseen levels, gaps where there were none, far values."""
    frame = table(n, seed)
    frame["city"] = frame["city"].astype(object)
    frame.loc[:2, "city"] = "city \u00fcberall"
    frame.loc[3:4, INJECTED] = "CLERK"
    frame["zone"] = frame["zone"].astype(float).astype(object)
    frame.loc[5, "zone"] = 77.0
    frame["zone"] = frame["zone"].astype(float)
    frame.loc[6:8, "number"] = [1e9, -1e9, np.nan]
    frame.loc[9, "due"] = pd.NaT
    frame.loc[10, "wait"] = pd.NaT
    frame.loc[11, INJECTED] = None
    frame.loc[12, "zone"] = np.nan
    frame["flag"] = frame["flag"].astype(object)
    frame.loc[13, "flag"] = None
    frame.loc[14:15, "day"] = pd.Timestamp("1931-02-28 23:59:59.999999")
    frame["owner"] = frame["owner"].astype(object)
    frame.loc[16, "owner"] = None
    return frame


@dataclass(frozen=True)
class Case:
    """A fitted model, rows for it, and what it says of them."""

    model: object
    rows: pd.DataFrame

    @property
    def scores(self):
        return self.model.network_.score(self.columns)

    @property
    def columns(self):
        """The columns of numbers of the rows."""
        return self.model.table_.transform(self.rows)

    @property
    def predictions(self):
        return self.model.predict(self.rows)

    @property
    def probabilities(self):
        return self.model.predict_proba(self.rows)

    @property
    def contributions(self):
        """By feature of the schema, (n, n_features, n_outputs), and local intercepts."""
        found = by_feature(self.model, self.rows)
        return found, self.scores - found.sum(axis=1)


@cache
def case(name):
    """A fitted model by its name."""
    frame = table(300)
    y = target(frame)
    three = np.array(["low", "mid'dle", "high"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    small = {"sampler": NeuronProjection(levels=(2,)), "solver": LLA(3, max_iter=3)}
    if name == "single":
        model = LLARegressor(3, max_iter=5, random_state=0).fit(frame, y)
    elif name == "paper":
        model = LIFERegressor(preset="paper", random_state=0, **small).fit(frame, y)
    elif name == "quick":
        model = LIFERegressor(preset=QUICK, random_state=0).fit(frame, y)
    elif name == "two classes":
        model = LIFEClassifier(preset=QUICK, random_state=0).fit(frame, y > np.median(y))
    elif name == "three classes":
        model = LIFEClassifier(preset=QUICK, random_state=0).fit(frame, three)
    elif name == "classes of paper":
        labels = np.digitize(y, np.quantile(y, [0.3, 0.7])) * 10
        model = LIFEClassifier(preset="paper", random_state=0, **small).fit(frame, labels)
    else:
        return numbers(name)
    return Case(model, asked())


def numbers(name):
    """A table of numbers alone; new rows may have gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [1.0, 10.0, 0.1, 1e4]
    y = X[:, 0] * (X[:, 1] > 0) + np.abs(X[:, 2] * 10)
    settings = {"plain": QUICK, "plain paper": "paper"}
    steps = {"sampler": NeuronProjection(levels=(2,)), "solver": LLA(3, max_iter=3)}
    more = steps if name == "plain paper" else {}
    model = LIFERegressor(preset=settings[name], random_state=0, **more).fit(X, y)
    new = np.vstack([rng.normal(size=(40, 4)) * [1.0, 10.0, 0.1, 1e4], X[:20], 1e6 * X[:3]])
    new[5, 1] = np.nan
    return Case(model, new)


@cache
def default(classes):
    """A default model of a table of every kind: thousands of neurons."""
    frame = table(800)
    y = target(frame)
    if classes:
        return Case(LIFEClassifier(random_state=0).fit(frame, y > np.median(y)), asked())
    return Case(LIFERegressor(random_state=0).fit(frame, y), asked())


NAMES = (
    *("single", "paper", "quick", "two classes", "three classes", "classes of paper"),
    *("plain", "plain paper"),
)
CLASSES = ("two classes", "three classes", "classes of paper")


def as_frame(case):
    """The rows under the names that the table has."""
    if isinstance(case.rows, pd.DataFrame):
        return case.rows
    return pd.DataFrame(case.rows, columns=case.model.schema_.names)


def close(found, expected, limit=1e-9):
    """Whether numbers are equal but for a share of one plus their size."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    worst = np.max(np.abs(found - expected) / (1 + np.abs(expected)))
    assert worst <= limit, worst
    return True


def expanded(network, codes, entries):
    """Weights on the network's own codes, of exported ones that join neighbouring ramps.

    Parameters
    ----------
    codes : for each exported code its column and its knots
    entries : neuron, exported code and weight
    """
    coding = network.coding
    ramps, first = coding.ramp_of_code, coding.grid.first
    found = np.zeros((network.n_neurons, coding.n_codes))
    for neuron, code, weight in entries:
        column, knots, values = codes[code]
        own = np.arange(coding.n_codes)[coding.codes_of(column)]
        if list(values) == list(range(len(values))) and len(values) > 1:
            start = first[column] + coding.knots[column].tolist().index(knots[0])
            narrow = [one for one in own if start <= ramps[one] < start + len(values) - 1]
            assert len(narrow) == len(values) - 1
        else:
            held = coding.values_of(column)
            narrow = [one for one in own if held[:, one - own[0]].tolist() == list(values)]
            assert len(narrow) == 1
        found[neuron, narrow] = weight
    return found
