"""Simulated problems of the LIFE paper, returned together with the truth behind them.

Six predictors drive one of three functions, in a regression and in a classification form:

=======  ======================================  ==============  =====================
name     shape                                   regression      classification
=======  ======================================  ==============  =====================
``gam``  sum of functions of one predictor each  ``eq:sim_gam``  ``eq:sim_gam_binary``
``aim``  sum of functions of linear indices      ``eq:sim_aim``  ``eq:sim_aim_binary``
``mim``  products and ratios of indices          ``eq:sim_mim``  ``eq:sim_mim_binary``
=======  ======================================  ==============  =====================

Breiman's `ringnorm`, whose posterior is known in closed form, completes the list.

The draws of one call come in the order predictors, noise, labels. One seed therefore gives the same
predictors and the same noise in both tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.special import expit, roots_hermitenorm

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lifenet._typing import Floats, Integers

__all__ = ["Simulation", "aim", "gam", "make", "mim", "ringnorm"]

_TASKS = ("regression", "classification")
#: The paper's scale of each predictor distribution (not printed there; found from its oracle rows).
_SCALES = {"normal": 1.0, "laplace": 2.0}


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated sample and everything that is known about it.

    Attributes
    ----------
    name : str
        The generator: "gam", "aim", "mim" or "ringnorm".
    task : str
        "regression" or "classification".
    X : array of shape (n_samples, n_features)
        Predictors, not standardised.
    y : array of shape (n_samples,)
        Response: float in regression, integer 0 or 1 in classification.
    truth : array of shape (n_samples,)
        The function without noise, f(x); in classification the log-odds without noise.
    noisy : array of shape (n_samples,)
        f(x) + eps. In regression this is the response itself.
    feature_names : tuple of str
        One name a column of `X`.
    oracle_probability : array of shape (n_samples,) or None
        sigma(f(x) + eps), what the labels were drawn with. It knows eps, so no model of x
        attains its loss. None in regression.
    attainable_probability : array of shape (n_samples,) or None
        P(y = 1 | x), the average of sigma(f(x) + eps) over eps: the best that a model of x can do.
        None in regression.
    """

    name: str
    task: str
    X: Floats
    y: Floats | Integers
    truth: Floats
    noisy: Floats
    feature_names: tuple[str, ...]
    oracle_probability: Floats | None = None
    attainable_probability: Floats | None = None


def gam(
    n_samples: int = 20_000,
    *,
    task: str = "regression",
    predictors: str = "normal",
    scale: float | None = None,
    noise: float = 1.0,
    random_state: int | np.random.Generator | None = None,
    form: str = "finite",
) -> Simulation:
    """Simulate the generalized additive model, ``eq:sim_gam`` or ``eq:sim_gam_binary``.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    task : {"regression", "classification"}
        Which of the paper's two forms of the function.
    predictors : {"normal", "laplace"}
        Distribution of the six independent predictors: N(0, scale²) or Laplace(0, scale).
    scale : float, optional
        None takes the paper's setting, 1 for normal and 2 for Laplace predictors.
    noise : float
        Standard deviation of eps, which is added to f(x).
    random_state : int, Generator or None
        Seed, or the generator to draw from.
    form : {"finite", "printed"}
        Regression only. The printed terms in x_4 and x_5, 4 e^(-3/14) e^(x_4) and
        4 log(1.5) log|x_5|, let a few rows decide every score: under Laplace predictors even the
        mean is infinite from scale 1 on. The finite form reads them as the appendix does:
        4 exp(-3/14 x_4) and 4 log(1.5 |x_5|).

    Returns
    -------
    Simulation
    """
    _check_choice("form", form, _GAM_FORMS)
    if task == "classification" and form != "finite":
        raise ValueError(f"form={form!r} is for task='regression'; allowed here: 'finite'")
    settings = (n_samples, task, predictors, scale, noise, random_state)
    return _simulate("gam", _GAM_FORMS[form], _gam_log_odds, *settings)


def aim(
    n_samples: int = 20_000,
    *,
    task: str = "regression",
    predictors: str = "normal",
    scale: float | None = None,
    noise: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Simulation:
    """Simulate the additive index model, ``eq:sim_aim`` or ``eq:sim_aim_binary``.

    The parameters are those of `gam`, without `form`.
    """
    settings = (n_samples, task, predictors, scale, noise, random_state)
    return _simulate("aim", _aim_response, _aim_log_odds, *settings)


def mim(
    n_samples: int = 20_000,
    *,
    task: str = "regression",
    predictors: str = "normal",
    scale: float | None = None,
    noise: float = 1.0,
    random_state: int | np.random.Generator | None = None,
) -> Simulation:
    """Simulate the multiple index model, ``eq:sim_mim`` or ``eq:sim_mim_binary``.

    The parameters are those of `gam`, without `form`.
    """
    settings = (n_samples, task, predictors, scale, noise, random_state)
    return _simulate("mim", _mim_response, _mim_log_odds, *settings)


def ringnorm(
    n_samples: int = 7400,
    *,
    n_features: int = 20,
    random_state: int | np.random.Generator | None = None,
) -> Simulation:
    """Simulate Breiman's ringnorm: a wide normal class around a narrow one.

    Class 0 is N(0, 4 I), class 1 is N(a 1, I) with a = 2 / sqrt(n_features), and both are equally
    likely. There is no noise beyond the overlap of the classes: `noisy` equals `truth`, the exact
    log-odds of class 1 given x, and both probabilities are the exact posterior.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    n_features : int
        Dimension; 20 is Breiman's. The distance between the class centres is 2 in any dimension.
    random_state : int, Generator or None
        Seed, or the generator to draw from.

    Returns
    -------
    Simulation
    """
    _check_count("n_samples", n_samples)
    _check_count("n_features", n_features)
    generator = _generator(random_state)
    centre = 2.0 / math.sqrt(n_features)
    y = generator.integers(0, 2, n_samples)
    standard = generator.standard_normal((n_samples, n_features))
    X = np.where(y[:, None] == 1, centre + standard, 2.0 * standard)
    distances = 0.125 * (X**2).sum(axis=1) - 0.5 * ((X - centre) ** 2).sum(axis=1)
    log_odds = n_features * math.log(2.0) + distances
    posterior = expit(log_odds)
    names = _feature_names(n_features)
    known = (log_odds, log_odds, names, posterior, posterior)
    return Simulation("ringnorm", "classification", X, y, *known)


def make(name: str, **settings: Any) -> Simulation:
    """Simulate by name ("gam", "aim", "mim" or "ringnorm"), with that generator's parameters."""
    _check_choice("name", name, _GENERATORS)
    return _GENERATORS[name](**settings)


_GENERATORS: dict[str, Callable[..., Simulation]] = {
    generator.__name__: generator for generator in (gam, aim, mim, ringnorm)
}


# The functions f(x): X (n_samples, 6) -> (n_samples,). Sums have names because ufuncs return Any.


def _gam_common(X: Floats) -> Floats:
    """The terms in x_1, x_3 and x_6, which all forms share."""
    terms: Floats = 1.5 * X[:, 0] + 2.0 * np.abs(X[:, 2]) - 4.0 * np.maximum(1.0, X[:, 5])
    return terms


def _gam_appendix(X: Floats) -> Floats:
    """The terms in x_4 and x_5 as the appendix has them."""
    terms: Floats = 4.0 * np.exp(-3.0 / 14.0 * X[:, 3]) + 4.0 * np.log(1.5 * np.abs(X[:, 4]))
    return terms


def _gam_finite(X: Floats) -> Floats:
    return _gam_common(X) + np.sqrt(5.0 * np.abs(X[:, 1])) + _gam_appendix(X)


def _gam_printed(X: Floats) -> Floats:
    exponential = 4.0 * math.exp(-1.5 / 7.0) * np.exp(X[:, 3])
    logarithm = 4.0 * math.log(1.5) * np.log(np.abs(X[:, 4]))
    terms: Floats = np.sqrt(5.0 * np.abs(X[:, 1])) + exponential + logarithm
    return _gam_common(X) + terms


_GAM_FORMS = {"finite": _gam_finite, "printed": _gam_printed}


def _gam_log_odds(X: Floats) -> Floats:
    return _gam_common(X) + 4.0 * np.sqrt(2.5 * np.abs(X[:, 1])) + _gam_appendix(X)


_AIM_BETA = np.array([3.0, -2.5, 2.0, -1.5, 1.5, -1.0])


def _aim_response(X: Floats) -> Floats:
    t1, t2, t3, t4, t5, t6 = (X * _AIM_BETA).T
    first = 2.0 * np.log(np.abs(t1 + t2 + t3 + t4))
    total: Floats = first + np.exp((t3 + t4 + t5 + t6) / 9.0) + np.maximum(0.0, t5 + t6)
    return total


def _aim_log_odds(X: Floats) -> Floats:
    t1, t2, t3, t4, t5, t6 = (X * _AIM_BETA).T
    total: Floats = np.log(np.abs(t1 + t2 + t3 + t4)) + np.exp((t4 + t5 + t6) / 11.0)
    return total


def _mim_common(X: Floats) -> Floats:
    """The product and the ratio, which both forms share."""
    product = np.exp(0.03 * X[:, 0] - 0.025 * X[:, 1]) * X[:, 2]
    terms: Floats = product - 3.0 * X[:, 3] / (1.0 + 1.5 * np.abs(X[:, 4]))
    return terms


def _mim_response(X: Floats) -> Floats:
    return _mim_common(X) + 2.0 * np.maximum(1.0, -X[:, 5])


def _mim_log_odds(X: Floats) -> Floats:
    return _mim_common(X) + 2.0 * np.maximum(1.0, X[:, 5])


def _simulate(
    name: str,
    response: Callable[[Floats], Floats],
    log_odds: Callable[[Floats], Floats],
    n_samples: int,
    task: str,
    predictors: str,
    scale: float | None,
    noise: float,
    random_state: int | np.random.Generator | None,
) -> Simulation:
    """Check the settings, then draw predictors, noise and, in classification, labels."""
    _check_choice("task", task, _TASKS)
    _check_choice("predictors", predictors, _SCALES)
    _check_count("n_samples", n_samples)
    scale = _SCALES[predictors] if scale is None else scale
    _check("scale", scale, _is_finite(scale) and scale > 0, "a finite number above 0, or None")
    _check("noise", noise, _is_finite(noise) and noise >= 0, "a finite number of at least 0")
    generator = _generator(random_state)
    draw = generator.normal if predictors == "normal" else generator.laplace
    X = draw(0.0, scale, (n_samples, 6))
    truth = response(X) if task == "regression" else log_odds(X)
    noisy = truth + noise * generator.standard_normal(n_samples)
    names = _feature_names(6)
    if task == "regression":
        return Simulation(name, task, X, noisy.copy(), truth, noisy, names)
    oracle = expit(noisy)
    y = (generator.random(n_samples) < oracle).astype(np.int64)
    attainable = _average_probability(truth, noise)
    return Simulation(name, task, X, y, truth, noisy, names, oracle, attainable)


def _average_probability(log_odds: Floats, noise: float) -> Floats:
    """Average sigma(log_odds + noise z) over z ~ N(0, 1), by Gauss-Hermite quadrature.

    sigma has poles at distance pi, that is pi / noise in z, so the number of nodes that a given
    error needs grows with the square of the noise. This many give an error below 1e-8 up to a
    noise of 20, and of about 1e-15 at the paper's noise of 1.
    """
    n_nodes = 64 + math.ceil(10.0 * min(noise, 20.0) ** 2)
    nodes, weights = roots_hermitenorm(n_nodes)
    weights = weights / weights.sum()
    average = np.zeros_like(log_odds)
    # One pass a node: a matrix of rows x nodes would not fit for long samples.
    for node, weight in zip(nodes, weights, strict=True):
        average += weight * expit(log_odds + noise * node)
    return average


def _feature_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(1, n_features + 1))


def _generator(random_state: object) -> np.random.Generator:
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    is_seed = isinstance(random_state, int | np.integer) and int(random_state) >= 0
    _check("random_state", random_state, is_seed, "None, an integer of at least 0, or a Generator")
    return np.random.default_rng(int(cast("int", random_state)))


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _check_count(parameter: str, value: object) -> None:
    is_count = isinstance(value, int | np.integer) and int(value) >= 1
    _check(parameter, value, is_count, "an integer of at least 1")


def _check_choice(parameter: str, value: object, choices: Collection[str]) -> None:
    allowed = ", ".join(repr(choice) for choice in choices)
    _check(parameter, value, value in tuple(choices), allowed)


def _check(parameter: str, value: object, passes: bool, allowed: str) -> None:
    if not passes:
        raise ValueError(f"{parameter}={value!r} is not valid; allowed: {allowed}")
