"""The models whose readings and errors are compared, by the names that records have for them."""

from __future__ import annotations

from typing import Any

from benchmarks.paper.experiments import REGRESSION

DEFAULT, TODAY, PAPER, SMALL, BEST = "default", "before", "paper", "small", "best"
GLASS, ADDITIVE = "glass", "no interactions"
#: Prices of the frontier of error and fidelity; the default's is chosen by each fit.
PRICES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
#: What ramps spanned for classes before leaves had several widths, and passes of fine-tuning.
_RAMP_SHARE_BEFORE, _EPOCHS_BEFORE = 0.05, 12


def at_price(price: float) -> str:
    """The default at a given price of straight lines."""
    return f"smoothness {price:g}"


def build(label: str, task: str, seed: int) -> Any:
    """An unfitted estimator, one thread."""
    from lifenet import LIFEClassifier, LIFERegressor, preset

    more: dict[str, Any] = {}
    recipe: Any = {DEFAULT: "fast", ADDITIVE: "fast"}.get(label, label)
    if label == TODAY:
        recipe = preset("fast").set_params(smoothness=0.0)
        recipe.finetune.set_params(max_epochs=_EPOCHS_BEFORE)
        if task != REGRESSION:
            recipe.neurons[0].set_params(ramp_share=_RAMP_SHARE_BEFORE)
    elif label.startswith("smoothness "):
        recipe, more = "fast", {"smoothness": float(label.split()[1])}
    if label == ADDITIVE:
        more["interaction_cst"] = "no_interactions"
    kind = LIFERegressor if task == REGRESSION else LIFEClassifier
    return kind(preset=recipe, n_jobs=1, random_state=seed, **more)
