"""The paper's bike-sharing study (section 4), figure by figure.

Fits hourly rentals by 9 predictors, with base learner selection and then an elastic net, so that
about as many neurons are left as in the paper (116), and draws each figure of its section on
interpretation, with what the paper could not show beside it. Needs the bike-sharing data (see
`lifenet.datasets.load`) and ``pip install 'lifenet[data,plots]'``.

    python examples/bike_sharing.py [folder for the pictures]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import train_test_split

from lifenet import BaseLearnerSelection, ElasticNetOutput, LIFERegressor
from lifenet.datasets import load
from lifenet.explain import (
    accumulated_effects,
    coefficient_signs,
    decompose,
    equation_fidelity,
    explain_row,
    integrated_effects,
    interaction_strength,
    local_regions,
    merge_regions,
    neuron_importance,
    stability,
    two_stage_strength,
    varying_coefficients,
)
from lifenet.plots import (
    CoefficientViolinDisplay,
    EffectsAndPairsDisplay,
    EffectsDisplay,
    FeatureImportanceDisplay,
    FidelityDisplay,
    InteractionDisplay,
    LocalCoefficientsDisplay,
    MergedRegionsDisplay,
    NeuronContributionDisplay,
    NeuronImportanceDisplay,
    PairEffectDisplay,
    StabilityDisplay,
    VaryingCoefficientsDisplay,
    WaterfallDisplay,
)

PREDICTORS = [
    *("season", "yr", "hr", "weekday", "workingday"),
    *("weathersit", "temp", "hum", "windspeed"),
]


def data():
    bike = load("bike_sharing")
    table = pd.DataFrame(bike.X, columns=bike.feature_names)[PREDICTORS]
    return train_test_split(table, bike.y, test_size=0.2, random_state=0)


def fit(X, y, seed=0):
    readout = BaseLearnerSelection(keep=0.1, then=ElasticNetOutput(l1_ratio=0.9))
    return LIFERegressor(readout=readout, random_state=seed).fit(X, y)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    X, X_test, y, y_test = data()
    model = fit(X, y)
    print(f"R² on rows not seen: {model.score(X_test, y_test):.3f}")
    for name, display in figures(model, X, y):
        display.figure_.savefig(folder / f"bike-{name}.png", dpi=80)
        plt.close(display.figure_)
    print(f"pictures are in {folder}")


def figures(model, X, y):
    """Each picture with its name; prints the figures that the paper gives in words."""
    network = model.network_
    neurons = neuron_importance(model, X)
    print(f"neurons: {network.n_neurons} (paper 116)")
    print(f"above 2 % of the largest importance: {neurons.n_above(0.02)} (paper 13)")
    yield "neuron-importance", NeuronImportanceDisplay(neurons).plot()
    yield "neuron-contribution", NeuronContributionDisplay.from_estimator(model, X)
    yield "feature-importance", FeatureImportanceDisplay.from_estimator(model, X)

    regions = local_regions(model, X, y, min_rows=3)
    print(f"regions with at least three rows: {regions.n_regions} (paper 47)")
    print(f"they hold {regions.coverage:.1%} of the rows")
    print(regions.to_frame().head(5).round(2).to_string())
    yield "coefficients", LocalCoefficientsDisplay(regions).plot()
    signs = coefficient_signs(model, X, expected={"temp": +1, "hum": -1})
    print(signs.to_frame().round(3).to_string())
    yield "violins", CoefficientViolinDisplay(signs).plot()
    merged = merge_regions(model, X, y)
    yield "merged", MergedRegionsDisplay(merged).plot()

    varying = varying_coefficients(model, X)
    print(varying.to_frame().round(2).to_string())
    yield "varying", VaryingCoefficientsDisplay(varying).plot()
    pairs = two_stage_strength(model, X)  # the paper's measure
    print(pairs.to_frame().head(5).round(2).to_string())
    yield "interactions", InteractionDisplay(pairs).plot()
    yield "second-order", InteractionDisplay(interaction_strength(model, X)).plot()

    effects = accumulated_effects(model, X)
    beside = [integrated_effects(model, X)]
    yield "effects", EffectsDisplay(effects).plot(beside=beside)
    parts = decompose(model, X)
    print(parts.to_frame().round(3).head(8).to_string())
    print(f"left over: {parts.left_over:.1%}")
    yield "parts", EffectsAndPairsDisplay(parts).plot()
    yield "pair", PairEffectDisplay.from_estimator(model, X, ("hr", "workingday"))

    fidelity = equation_fidelity(model, X)
    print(fidelity.to_frame().round(2).to_string())
    yield "fidelity", FidelityDisplay(fidelity).plot()

    row = X[(X["hr"] == 8) & (X["workingday"] == 1)].iloc[:1]
    one = explain_row(model, row, X=X)
    print(f"rentals = {one.equation()}")
    print(*one.worth, sep="\n")
    yield "waterfall", WaterfallDisplay(one).plot()

    networks = [network, *(fit(X, y, seed).network_ for seed in range(1, 5))]
    moved = stability(networks, X, schema=model.schema_)
    yield "stability", StabilityDisplay(moved).plot()
    yield "stability-interactions", StabilityDisplay(moved).plot(kind="interactions")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "bike-figures"))
