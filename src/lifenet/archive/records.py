"""Forms of what a fit says of itself: base learners, folds, companions, outcomes of solvers."""

from __future__ import annotations

from lifenet.archive.forms import (
    Array,
    Fields,
    Many,
    Maybe,
    Names,
    Number,
    Numbers,
    Row,
    Rows,
    Shared,
    Text,
    Texts,
    Whole,
    Wholes,
)
from lifenet.archive.networks import RELU
from lifenet.archive.parameters import Parameters
from lifenet.data.origin import Origin
from lifenet.neurons.subset import Fate, Split, Subset
from lifenet.recipe.record import (
    FoldRecord,
    HierarchyRecord,
    Level,
    Member,
    Record,
    RecordRow,
)
from lifenet.solvers.base import Iteration, Outcome, Status
from lifenet.stacking.base import Stacked

__all__ = ["FOLDS", "HIERARCHY", "MEMBERS", "ORIGIN", "OUTCOMES", "RECORD", "STACKED"]

_SUBSET = Shared(
    Fields(
        Subset,
        {
            "weights": Array(2),
            "bias": Array(1),
            "cutoff": Number(),
            "share": Number(),
            "n_rows": Whole(0),
            "parent": Maybe(Row((Whole(), Whole()))),
            "draw": Maybe(Wholes),
            "base": Text(),
        },
    )
)
_SPLITS = Rows(Split, {"network": Wholes, "neuron": Wholes, "share": Numbers, "fate": Names(Fate)})
_LEVEL = Fields(
    Level,
    {
        "n_neurons": Whole(0),
        "networks": Many(RELU),
        "subsets": Many(_SUBSET),
        "splits": _SPLITS,
        "coverage": Number(),
    },
)
#: All levels of every fold.
HIERARCHY = Fields(HierarchyRecord, {"levels": Many(_LEVEL), "further": Many(Many(_LEVEL))})
#: Base learners.
MEMBERS = Many(
    Fields(
        Member,
        {"network": RELU, "subset": _SUBSET, "output": Whole(0), "fold": Whole(0)},
    )
)
#: The table of all networks that were trained.
RECORD = Fields(
    Record,
    {
        "rows": Rows(
            RecordRow,
            {
                **dict.fromkeys(("level", "member", "output", "parent", "neuron"), Wholes),
                "share": Numbers,
                **dict.fromkeys(("rows", "neurons"), Wholes),
                "loss": Numbers,
                "iterations": Wholes,
                "seconds": Numbers,
                "status": Texts(),
                "fold": Wholes,
            },
        )
    },
)
_COUNTS = ("train_rows", "validation_rows", "n_members", "n_neurons", "n_leaf_neurons")
#: The network of every fold.
FOLDS = Many(
    Fields(
        FoldRecord,
        {
            **dict.fromkeys(_COUNTS, Whole(0)),
            **dict.fromkeys(("loss", "smoothness"), Number()),
            "iterations": Whole(0),
            "objectives": Numbers,
            "validation_losses": Numbers,
            "status": Text(),
            "seconds": Number(),
        },
    )
)
#: Companions that were weighed.
STACKED = Many(
    Fields(
        Stacked,
        {
            "companion": Text(),
            **dict.fromkeys(("weight", "loss", "loss_without", "standard_error"), Number()),
            "settings": Parameters(),
        },
    )
)
_HISTORY = Rows(
    Iteration,
    {
        "iteration": Wholes,
        **dict.fromkeys(("seconds", "objective", "loss", "damping", "gain"), Numbers),
        "rejected": Wholes,
        "ridge": Numbers,
    },
)
#: How solvers of single networks ended.
OUTCOMES = Many(
    Fields(
        Outcome,
        {
            "network": RELU,
            "objective": Number(),
            "loss": Number(),
            "status": Names(Status),
            "history": _HISTORY,
            "restart": Whole(0),
            "objectives": Numbers,
        },
        lambda one: {**vars(one), "status": (one.status,)},
        lambda status, **rest: Outcome(status=_single(status), **rest),
    )
)


def _single(found: tuple[Status, ...]) -> Status:
    (one,) = found
    return one


#: What a fit was of.
ORIGIN = Fields(
    Origin,
    {
        "rows": Whole(0),
        "columns": Whole(0),
        "data": Text(),
        "seed": Whole(0),
        "versions": Many(Row((Text(), Text()))),
    },
)
