"""The three steps' settings, by name or as objects."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lifenet.blend import Blend
from lifenet.encoding import QuantileCoding
from lifenet.readouts.averaging import Averaging
from lifenet.readouts.elastic_net import ElasticNet
from lifenet.readouts.mixing import Mixing
from lifenet.readouts.ridge import Ridge
from lifenet.readouts.selection import BaseLearnerSelection
from lifenet.rules.boosting import Boosting
from lifenet.sampling import Bootstrap, NeuronProjection, RandomProjection
from lifenet.solvers.adam import Adam
from lifenet.solvers.descent import Descent
from lifenet.solvers.lla import LLA
from lifenet.solvers.polish import Polish

if TYPE_CHECKING:
    from lifenet.readouts.design import Readout
    from lifenet.sampling import Sampler
    from lifenet.solvers.base import Trainer

__all__ = [
    "CODING_CONSTRAINT",
    "MEMBER_READOUTS",
    "PART_CONSTRAINTS",
    "POLISH_CONSTRAINT",
    "PRESET_CONSTRAINT",
    "SMALL_NEURONS",
    "resolve_coding",
    "resolve_parts",
    "resolve_polish",
    "resolve_preset",
]

SAMPLERS = {"neurons": NeuronProjection, "random": RandomProjection, "bootstrap": Bootstrap}
READOUTS = {
    "ridge": Ridge(),
    "linear": Ridge(penalty=0.0),
    "elastic-net": ElasticNet(),
    "lasso": ElasticNet(l1_ratio=1.0),
    "selection": BaseLearnerSelection(),
    "mixing": Mixing(),
    "average": Averaging(),
}
#: Those that ask which member a neuron came from.
MEMBER_READOUTS = (Averaging, BaseLearnerSelection, Mixing)


class _Splitter(HasMethods):  # type: ignore[misc]
    """Splitters; strings can split too, but are none."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether it can split rows."""
        return not isinstance(val, str) and bool(super().is_satisfied_by(val))


PART_CONSTRAINTS: dict[str, list[Any]] = {
    "sampler": [StrOptions(set(SAMPLERS)), HasMethods(["widths", "begin", "split", "check"]), None],
    "solver": [StrOptions({"lla", "adam"}), HasMethods(["train", "check"]), None],
    "readout": [StrOptions(set(READOUTS)), HasMethods(["fit", "check"]), None],
    "validation": [
        StrOptions({"auto"}),
        Interval(Real, 0, 1, closed="neither"),
        _Splitter(["split"]),
        None,
    ],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}

#: Blends by name. "small" is then simplified to so many neurons.
BLENDS = {
    "fast": Blend(),
    "best": Blend("more", descent=Descent(600, max_epochs=30, min_epochs=10), boosting=Boosting()),
    "small": Blend(),
}
#: The same for regression: numbers can be refined for longer than classes, whose scores few rows
#: apart would let grow without end.
BLENDS_OF_NUMBERS = {
    **BLENDS,
    "best": replace(BLENDS["best"], descent=Descent(600, 150, 5e-4, min_epochs=10)),
}
SMALL_NEURONS = 64
PRESET_CONSTRAINT: list[Any] = [StrOptions({"auto", "paper", *BLENDS}), Blend]

CODINGS = ("both", "piecewise", "quantile")
CODING_CONSTRAINT: list[Any] = [StrOptions(set(CODINGS)), HasMethods(["learn", "check"]), None]
POLISH_CONSTRAINT: list[Any] = [StrOptions({"lbfgs"}), HasMethods(["refine", "check"]), None]


def resolve_preset(preset: Blend | str, given: dict[str, Any], *, regression: bool) -> Blend | None:
    """The blend of a preset, checked; None for the paper's way.

    Parameters
    ----------
    given : steps and options of the paper's way, by their parameters; None where left open
    """
    named = [name for name, value in given.items() if value is not None]
    if preset == "paper" or (preset == "auto" and named):
        return None
    if named:
        raise ValueError(
            f"preset={preset!r} has its own ways and leaves nothing to the parameter "
            f"{named[0]!r}; use preset='paper', or leave {named[0]!r} out."
        )
    if isinstance(preset, str):
        known = BLENDS_OF_NUMBERS if regression else BLENDS
        preset = known["fast" if preset == "auto" else preset]
    _check("preset", preset)
    return preset


def resolve_coding(coding: QuantileCoding | str | None) -> QuantileCoding | None:
    """Settings for a name, checked; None for columns as they are."""
    if coding is None:
        return None
    settings = QuantileCoding(coding) if isinstance(coding, str) else coding
    _check("coding", settings)
    return settings


def resolve_polish(polish: Polish | str | None) -> Polish | None:
    """Settings for a name, checked; None for no polish."""
    if polish is None:
        return None
    settings = Polish() if isinstance(polish, str) else polish
    _check("polish", settings)
    return settings


def resolve_parts(
    sampler: Sampler | str | None,
    solver: Trainer | str | None,
    readout: Readout | str | None,
    *,
    ridge: float,
    n_neurons: int = 10,
) -> tuple[Sampler, Trainer, Readout]:
    """Settings for names, all checked; None is the paper's: "neurons", "lla" and "ridge".

    `n_neurons` and `ridge` are K_J and LLA's penalty where the solver is given by name.
    """
    sampler = "neurons" if sampler is None else sampler
    solver = "lla" if solver is None else solver
    readout = "ridge" if readout is None else readout
    parts = (
        SAMPLERS[sampler]() if isinstance(sampler, str) else sampler,
        _named_solver(solver, n_neurons, ridge) if isinstance(solver, str) else solver,
        READOUTS[readout] if isinstance(readout, str) else readout,
    )
    for name, part in zip(("sampler", "solver", "readout"), parts, strict=True):
        _check(name, part)
    return _sized(parts[0], parts[1].n_neurons), parts[1], parts[2]


def _sized(sampler: Sampler, member_neurons: int) -> Sampler:
    """A sampler that knows how many networks there may be."""
    if not isinstance(sampler, NeuronProjection):
        return sampler
    return replace(sampler, max_networks=sampler.n_networks(member_neurons))


def _check(name: str, part: Any) -> None:
    if isinstance(part, type):
        raise ValueError(
            f"The {name!r} parameter must be an object, not the class {part.__name__}; "
            f"write {part.__name__}()."
        )
    part.check()


def _named_solver(name: str, n_neurons: int, ridge: float) -> Trainer:
    # Members need not be trained to the last digit: the read-out is fitted anew.
    return Adam(n_neurons) if name == "adam" else LLA(n_neurons, ridge=ridge, max_iter=20, tol=5e-3)
