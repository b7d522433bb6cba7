"""Why a mixture of members beats its members: ambiguity, stacking, selection (section 2.3).

Everything is a function of a matrix of members' predictions, ``(n_samples, n_members)``; nothing
here trains. For a fitted model they are
``np.column_stack([one.network.score(X)[:, 0] for one in model.members_])``.

| question | function |
|---|---|
| How much of a mixture's loss is its members', how much do their differences save? | `decompose` |
| How many members are worth keeping? | `decompose_path` |
| How small should the subsets be? | `DecompositionCurve.of` decompositions for several cutoffs |
| Which weights mix the members best? | `simplex_weights`, `optimality_gap` |
| Does joining the neurons beat stacking the predictions? | `compare_settings` |
| What does dropping members cost? | `selection_curve` |

Each result has ``to_frame()``, and curves have a display in `lifenet.plots`.
"""

from __future__ import annotations

from lifenet.theory.curves import DecompositionCurve, decompose_path
from lifenet.theory.decomposition import Decomposition, decompose
from lifenet.theory.selection import SelectionCurve, selection_curve
from lifenet.theory.stacking import (
    SettingsLine,
    compare_settings,
    optimality_gap,
    simplex_weights,
)

__all__ = [
    "Decomposition",
    "DecompositionCurve",
    "SelectionCurve",
    "SettingsLine",
    "compare_settings",
    "decompose",
    "decompose_path",
    "optimality_gap",
    "selection_curve",
    "simplex_weights",
]
