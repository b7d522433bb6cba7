"""Sums of curves and surfaces that are known, fitted by "glass" and read as functional ANOVA."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runs import Runs
from lifenet import LIFERegressor
from lifenet.explain import decompose
from lifenet.explain._windows import window_lines

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from planted_interactions import Planted

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bars import Bars

N_SAMPLES, N_COLUMNS, N_SEEDS = 5_000, 8, 5
TRIES = Runs("readable-planted.csv", ("main", "pairs", "absent", "slopes"))
_ROWS, _FEW, _STEP = 4_000, 500, 1e-6
#: Midpoints of so many cells of [-1, 1] stand for a column.
_GRID = (np.arange(800) + 0.5) / 400 - 1


@dataclass(frozen=True)
class Truth:
    """A function of independent columns, each uniform on [-1, 1]; those without a part are noise.

    Attributes
    ----------
    curves : of the first columns
    surfaces : by pair of columns
    rough : columns with a kink or a jump
    """

    name: str
    curves: tuple[Callable[[Any], Any], ...]
    surfaces: dict[tuple[int, int], Callable[[Any, Any], Any]]
    rough: frozenset[int]

    def value(self, X: Any) -> Any:
        """The function at rows."""
        total = sum(curve(X[:, j]) for j, curve in enumerate(self.curves))
        return total + sum(one(X[:, j], X[:, k]) for (j, k), one in self.surfaces.items())

    @cached_property
    def tables(self) -> dict[tuple[int, int], Any]:
        """Surfaces on the grid."""
        first, second = _GRID[:, None], _GRID[None]
        return {pair: one(first, second) for pair, one in self.surfaces.items()}

    def main(self, j: int, x: Any) -> Any:
        """The effect of a column alone: its curve, and the mean of its surfaces."""
        found, grid = self.curves[j](x), self.curves[j](_GRID)
        for pair, table in self.tables.items():
            if j in pair:
                mean = table.mean(axis=1 - pair.index(j))
                found, grid = found + np.interp(x, _GRID, mean), grid + mean
        return found - grid.mean()

    def joint(self, pair: tuple[int, int], x: Any, z: Any) -> Any:
        """The effect of a pair beyond those of its columns."""
        table = self.tables[pair]
        means = (np.interp(at, _GRID, table.mean(axis=1 - k)) for k, at in enumerate((x, z)))
        return self.surfaces[pair](x, z) - sum(means) + table.mean()

    def slopes(self, X: Any) -> dict[int, Any]:
        """Slopes by differences."""
        found = {}
        for j in range(len(self.curves)):
            ends = [X.copy(), X.copy()]
            for sign, rows in zip((-1, 1), ends, strict=True):
                rows[:, j] += sign * _STEP
            found[j] = (self.value(ends[1]) - self.value(ends[0])) / (2 * _STEP)
        return found

    def draw(self, n: int, seed: int) -> tuple[Any, Any]:
        """Rows, and a response with a tenth of the function's deviation as noise."""
        generator = np.random.default_rng(seed)
        X = generator.uniform(-1, 1, (n, N_COLUMNS))
        f = self.value(X)
        return X, f + 0.1 * f.std() * generator.normal(size=n)


_CURVES: tuple[Callable[[Any], Any], ...] = (
    lambda x: 1.5 * x,
    lambda x: np.sin(np.pi * x),
    lambda x: 1.5 * x**2,
    lambda x: 2 * np.abs(x),
    lambda x: 3 * np.maximum(x - 0.2, 0),
    lambda x: 1.2 * (x > 0.1),
)
_ROUGH = frozenset({3, 4, 5})
_SURFACES: dict[tuple[int, int], Callable[[Any, Any], Any]] = {
    (0, 1): lambda x, z: 1.5 * x * z,
    (1, 2): lambda x, z: 1.5 * np.exp(-2 * (x**2 + z**2)),
    (3, 4): lambda x, z: np.sin(2 * x + 2 * z),
}
TRUTHS = {
    one.name: one
    for one in (
        Truth(
            "linear", tuple(lambda x, b=b: b * x for b in (1, -2, 0.5, 1.5, -1)), {}, frozenset()
        ),
        Truth("additive", _CURVES, {}, _ROUGH),
        Truth("three pairs", _CURVES, _SURFACES, _ROUGH),
    )
}


def planted_try(name: str, seed: int) -> list[dict[str, Any]]:
    """Least R² of curves and of surfaces, share of absent pairs, R² of the default's slopes."""
    truth = TRUTHS[name]
    X, y = truth.draw(N_SAMPLES, seed)
    rows = truth.draw(_ROWS, seed + 1_000)[0]
    model = LIFERegressor(preset="glass", random_state=seed).fit(X, y)
    found = decompose(model, X)
    numbers = {feature: j for j, feature in enumerate(found.features)}
    order = [tuple(numbers[one] for one in surface.features) for surface in found.surfaces]
    main, joint = found.main(rows), found.pairs(rows)
    curves = [_r2(main[:, j], truth.main(j, rows[:, j])) for j in range(len(truth.curves))]
    surfaces = []
    for pair in truth.surfaces:
        ours = joint[:, order.index(pair)] if pair in order else np.zeros(len(rows))
        surfaces.append(_r2(ours, truth.joint(pair, *rows[:, pair].T)))
    absent = [pair not in truth.surfaces for pair in order]
    figures = {
        "main": min(curves),
        "pairs": min(surfaces, default=np.nan),
        "absent": float(found.pair_share[absent].sum()),
        "slopes": _slopes(truth, X, y, seed),
    }
    return [{"part": "glass", "data": name, "seed": seed, **figures}]


def _slopes(truth: Truth, X: Any, y: Any, seed: int) -> float:
    """R² over rows and columns without a kink of the default's slopes at a reach."""
    rows = truth.draw(_FEW, seed + 2_000)[0]
    model = LIFERegressor(random_state=seed).fit(X, y)
    known: Any = Planted(
        truth.name, N_COLUMNS, frozenset(truth.surfaces), truth.value, truth.slopes
    )
    smooth = [j for j in range(N_COLUMNS) if j not in truth.rough]
    ours, theirs = (
        window_lines(one, rows, model.schema_, 0.05).slopes[:, smooth, 0]
        for one in (model.network_, known)
    )
    return _r2(ours.ravel(), theirs.ravel())


def _r2(ours: Any, theirs: Any) -> float:
    return float(1 - np.square(ours - theirs).sum() / np.square(theirs - theirs.mean()).sum())


def planted(bars: Bars) -> None:
    """Curves, surfaces and slopes that are known."""
    jobs = [(name, seed) for name in TRUTHS for seed in range(N_SEEDS)]
    TRIES.run_missing("glass", jobs, planted_try)
    for name, truth in TRUTHS.items():
        rows = [row for row in TRIES.read("glass") if row["data"] == name]
        worst = {key: min((row[key] for row in rows), default=np.nan) for key in TRIES.figures}
        what = f"{name}, {len(rows)} seeds:"
        bars.at_least(f"{what} least R² of a curve", worst["main"], 0.98, ".4f")
        if truth.surfaces:
            bars.at_least(f"{what} least R² of a surface", worst["pairs"], 0.98, ".4f")
        absent = max((row["absent"] for row in rows), default=np.nan)
        bars.at_most(f"{what} largest share of the variance of absent pairs", absent, 0.01, ".4f")
        where = "least R² of the default's slopes at reach .05, columns without kinks"
        bars.at_least(f"{what} {where}", worst["slopes"], 0.95, ".4f")
