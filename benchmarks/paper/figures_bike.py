"""Figures of section 4, on one network of hourly bike rentals: that of `examples/bike_sharing.py`.

The network is kept; what is read from it, and the rows that it is read on, are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.explain.bike import _study as load_study
from lifenet import (
    BaseLearnerSelection,
    ElasticNetOutput,
    FeatureSchema,
    LIFERegressor,
    NeuronProjection,
)
from lifenet.explain import (
    accumulated_effects,
    local_regions,
    neuron_contributions,
    neuron_importance,
    two_stage_strength,
    varying_coefficients,
)
from lifenet.network import ReluNetwork
from lifenet.plots import (
    EffectsDisplay,
    InteractionDisplay,
    LocalCoefficientsDisplay,
    NeuronContributionDisplay,
    NeuronImportanceDisplay,
    VaryingCoefficientsDisplay,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmarks.paper.figures_data import Store

FILE = "bike.npz"
#: Neurons of the paper's network, and shares of base learners that are kept to come near.
PAPER_NEURONS, _KEEP = 116, (0.06, 0.08, 0.1, 0.12, 0.15, 0.2)
SMALL_ROWS = 400
#: Regions of at least three rows are shown, as in the paper.
MIN_ROWS = 3
#: So many points a panel that the file stays small; curves are of all rows.
MAX_POINTS = 700
#: What each figure reads, and how it is shown.
READINGS: dict[str, tuple[Any, Any]] = {
    "neuron_imp": (neuron_importance, NeuronImportanceDisplay),
    "heatmap_imp": (neuron_contributions, NeuronContributionDisplay),
    "local_imp": (local_regions, LocalCoefficientsDisplay),
    "int_dect": (varying_coefficients, VaryingCoefficientsDisplay),
    "int_dect_heatmap": (two_stage_strength, InteractionDisplay),
    "gam_plot2": (accumulated_effects, EffectsDisplay),
}


def draw_reading(name: str, store: Store) -> Figure:
    """One reading of the network on the training rows; its table is kept too."""
    X, _, y, _ = load_study().data()
    if store.small:
        X, y = X[:SMALL_ROWS], y[:SMALL_ROWS]
    network = _network(name, X, y, store)
    if name == "neuron_imp" and not store.kept:
        _keep_reading(network, X, store)
    explain, show = READINGS[name]
    options: dict[Any, dict[str, Any]] = {
        local_regions: {"y": y, "min_rows": MIN_ROWS},
        varying_coefficients: {"max_points": MAX_POINTS},
    }
    display = show(explain(network, X, schema=FeatureSchema.of(X), **options.get(explain, {})))
    display.score_name = "hourly rentals"
    store.write(f"{name}.csv", display.to_frame())
    return display.plot().figure_


def _keep_reading(network: ReluNetwork, X: Any, store: Store) -> None:
    """What the paper says of its network in numbers, of ours."""
    known = FeatureSchema.of(X)
    regions = local_regions(network, X, min_rows=MIN_ROWS, schema=known)
    row = {
        "neurons": network.n_neurons,
        "above": neuron_importance(network, X, schema=known).n_above(0.02),
        "regions": regions.n_regions,
        "coverage": regions.coverage,
    }
    store.add("bike_reading.csv", [row], ["neurons"])


def _fit(X: Any, y: Any) -> LIFERegressor:
    """Of read-outs that keep more and more base learners, the one nearest to the paper's width."""
    known = []
    for keep in _KEEP:
        readout = BaseLearnerSelection(keep=keep, then=ElasticNetOutput(l1_ratio=0.9))
        known.append(LIFERegressor(readout=readout, random_state=0).fit(X, y))
    return min(known, key=lambda one: abs(one.network_.n_neurons - PAPER_NEURONS))


def _network(figure: str, X: Any, y: Any, store: Store) -> ReluNetwork:
    """The network that is kept, or else a new one."""
    arrays = store.read_arrays(FILE)
    if not arrays:
        store.refuse(figure, "the network of bike rentals is")
        print(f"  {figure}: fitting bike rentals", flush=True)
        network = (_fit_small(X, y) if store.small else _fit(X, y)).network_
        parts = ("weights", "bias", "beta", "intercept")
        arrays = {part: getattr(network, part) for part in parts}
        store.write_arrays(FILE, **arrays)
    return ReluNetwork(**arrays)


def _fit_small(X: Any, y: Any) -> LIFERegressor:
    readout = BaseLearnerSelection(keep=0.5, then=ElasticNetOutput(l1_ratio=0.9))
    return LIFERegressor(NeuronProjection(levels=(4,)), readout=readout, random_state=0).fit(X, y)
