"""Pictures of models of users' tables: missing values, levels and dates are drawn and named."""

import itertools

import numpy as np
import pytest

from lifenet import LIFERegressor
from lifenet.explain import accumulated_effects, decompose, merge_regions, pair_effect
from lifenet.plots import (
    CoefficientViolinDisplay,
    EffectsAndPairsDisplay,
    EffectsDisplay,
    FeatureImportanceDisplay,
    FidelityDisplay,
    InteractionDisplay,
    MergedRegionsDisplay,
    NeuronContributionDisplay,
    PairEffectDisplay,
    StabilityDisplay,
    VaryingCoefficientsDisplay,
    WaterfallDisplay,
)
from lifenet.plots._axes import mark_values
from user_tables import fitted, settings, table, target

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def words(ax):
    """What stands at the axes: ticks, and words beside them."""
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return [one.get_text() for one in (*ticks, *ax.texts)]


def panel(display, name):
    return next(ax for ax in display.axes_ if ax.get_title() == name)


def test_missing_values_stand_beside_their_curve():
    model, X = fitted("number", "quick")
    effects = accumulated_effects(model, X)
    display = EffectsDisplay(effects).plot(share_of_rows=1)
    ax = panel(display, "income")
    assert "missing" in words(ax)
    curve = effects["income"]
    (point,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert point.get_ydata() == pytest.approx([curve.missing])
    line = max(ax.lines, key=lambda one: len(one.get_xdata()))
    np.testing.assert_array_equal(line.get_xdata(), curve.observed.values)
    np.testing.assert_array_equal(line.get_ydata(), curve.observed.effect)
    assert point.get_xdata()[0] < curve.values[0]
    assert "missing" not in words(panel(display, "age"))
    assert len(panel(display, "purpose").get_xticklabels()) == len(effects["purpose"].labels)


def test_dates_and_truths_are_named():
    model, X = fitted("number", "quick")
    display = EffectsDisplay.from_estimator(model, X)
    display.figure_.canvas.draw()
    assert {"2011-07", "2012-01", "2012-07"} <= set(words(panel(display, "day")))
    assert words(panel(display, "owns"))[:2] == ["no", "yes"]
    assert words(panel(display, "day: weekday"))[:2] == ["Mon", "Tue"]


@pytest.mark.parametrize(("first", "last", "expected"), [
    ("2011-01-01", "2012-12-31", ["2011", "2012"]),
    ("1995-03-01", "2021-01-31", ["2000", "2010", "2020"]),
    ("2020-02-03", "2020-02-10", ["2020-02-03", "2020-02-06", "2020-02-10"]),
    ("2020-02-03", "2020-02-03", ["2020-02-03"]),
])  # fmt: skip
def test_ticks_of_dates_are_round(first, last, expected):
    figure, ax = pyplot.subplots()
    days = np.array([first, last], dtype="datetime64[D]").astype(float)
    mark_values(ax.xaxis, days, "date")
    assert [one.get_text() for one in ax.get_xticklabels()] == expected
    assert figure is ax.figure


def test_rare_levels_of_many_share_a_bar():
    model, X = fitted("number", "quick")
    curve = accumulated_effects(model, X)["city"]
    assert len(curve.labels) < 15  # so that each has its own
    many = X.assign(city=[f"city {one % 20}" for one in range(len(X))])
    y = target(X, "number") + np.arange(len(X)) % 20
    wide = LIFERegressor(**settings("quick")).fit(many, y)
    effects = accumulated_effects(wide, many, features=["city"])
    display = EffectsDisplay(effects).plot()
    labels = words(display.axes_[0])
    assert len(effects["city"].labels) == 20
    assert "6 others" in labels
    bars = [bar for bar in display.axes_[0].patches if bar.get_height()]
    assert len(bars) == 15


@pytest.mark.parametrize(
    "pair",
    [*itertools.combinations(["income", "purpose", "children", "day", "owns"], 2)],
)
def test_maps_have_bands_for_missing_values(pair):
    model, X = fitted("number", "quick")
    result = pair_effect(model, X, pair, grid=12)
    display = PairEffectDisplay(result).plot()
    said = words(display.ax_).count("missing")
    gaps = sum(name in ("income", "children", "purpose") for name in pair)
    assert said == gaps
    drawn = [
        np.asarray(mesh.get_array()).ravel()
        for mesh in display.ax_.collections
        if mesh.get_alpha() is None and hasattr(mesh, "get_coordinates")
    ]
    assert sum(map(len, drawn)) == result.effect.size
    np.testing.assert_allclose(np.sort(np.concatenate(drawn)), np.sort(result.effect.ravel()))


@pytest.mark.parametrize("kind", ["number", "two classes"])
def test_every_display_draws_tables(kind, tmp_path):
    model, X = fitted(kind, "quick")
    other = type(model)(**settings("quick") | {"random_state": 1}).fit(X, target(X, kind))
    displays = [
        CoefficientViolinDisplay.from_estimator(model, X, expected={"age": 1}),
        EffectsAndPairsDisplay(decompose(model, X, max_pairs=3)).plot(),
        FeatureImportanceDisplay.from_estimator(model, X),
        FidelityDisplay.from_estimator(model, X),
        InteractionDisplay.from_estimator(model, X, n_pairs=50),
        MergedRegionsDisplay(merge_regions(model, X, n_regions=3, min_rows=20)).plot(),
        NeuronContributionDisplay.from_estimator(model, X),
        StabilityDisplay.from_estimator([model, other], X),
        VaryingCoefficientsDisplay.from_estimator(model, X),
        WaterfallDisplay.from_estimator(model, X.iloc[[3]], X=X),
    ]
    for number, display in enumerate(displays):
        display.figure_.savefig(tmp_path / f"{number}.png")
        assert not display.to_frame().empty


def test_the_waterfall_names_the_cells_of_the_table():
    model, X = fitted("number", "quick")
    row = X.iloc[[3]].assign(income=np.nan, purpose="ship")
    display = WaterfallDisplay.from_estimator(model, row, X=X)
    said = words(display.ax_)
    assert "income = missing" in said
    assert "purpose = ship" in said
    assert "a level that training did not have" in display.ax_.get_title(loc="left").replace(
        "\n", " "
    )


def test_signs_leave_out_rows_without_a_value():
    X = table()[["income", "age"]]
    model = LIFERegressor(**settings("quick")).fit(X, X["income"].fillna(0) + X["age"])
    display = CoefficientViolinDisplay.from_estimator(model, X)
    names = [one.get_text() for one in display.ax_.get_yticklabels()]
    assert set(names) == {"income", "income is missing", "age"}
    assert "its being so" in display.ax_.get_xlabel().replace("\n", " ")
