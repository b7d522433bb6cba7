"""What a read-out is fitted to: features of the rows, and the members that they came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.blocks import Block
    from lifenet.solvers.base import Problem
    from lifenet.solvers.features import Features

__all__ = ["Design", "HeldOut", "Readout"]


@dataclass(frozen=True)
class Design:
    """Features grouped by the member that made them, and each member's own score.

    A member's score is ``intercept_k + sum_j beta_j feature_j`` over its features; it speaks of one
    output only (of a class against the rest where there are several).

    Attributes
    ----------
    features : evaluated on all rows, whatever subset their member was trained on
    scale : (n_features,), what a penalty measures coefficients in: it falls on scale * coefficient
    member : (n_features,), the member of each feature, not falling
    beta : (n_features,), each member's own read-out
    intercept : (n_members,), each member's own intercept
    output : (n_members,), the output that each member's score is of
    """

    features: Features
    scale: Floats
    member: Integers
    beta: Floats
    intercept: Floats
    output: Integers

    @classmethod
    def of(cls, features: Features, scale: Floats) -> Design:
        """Features of one member, for a read-out that asks for nothing that members found."""
        n = features.n_features
        return cls(
            features=features,
            scale=scale,
            member=np.zeros(n, dtype=np.intp),
            beta=np.zeros(n),
            intercept=np.zeros(1),
            output=np.zeros(1, dtype=np.intp),
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.features.n_features

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.intercept)

    def own_readout(self) -> sparse.csr_array:
        """Each member's own coefficients, (n_members, n_features)."""
        places = np.arange(self.n_features)
        return sparse.csr_array(
            (self.beta, (self.member, places)), shape=(self.n_members, self.n_features)
        )

    def member_scores(self, block: Block) -> Floats:
        """Scores of the members on a block, (n_members, n_rows)."""
        return np.asarray(self.own_readout() @ self.features.of(block) + self.intercept[:, None])

    def places_of(self, members: Integers) -> Integers:
        """Numbers of the features of some members, in order."""
        return np.flatnonzero(np.isin(self.member, members))

    def select(self, members: Integers) -> Design:
        """Only some members, in their order."""
        members = np.sort(members)
        places = self.places_of(members)
        return replace(
            self,
            features=self.features.select(places),
            scale=self.scale[places],
            member=np.searchsorted(members, self.member[places]),
            beta=self.beta[places],
            intercept=self.intercept[members],
            output=self.output[members],
        )


@dataclass(frozen=True)
class HeldOut:
    """Rows apart: what the members were trained on, and rows that none of them has seen."""

    learn: Problem
    judge: Problem


class Readout(Protocol):
    """Settings of step 3: how the features are combined into scores."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def fit(
        self,
        problem: Problem,
        design: Design,
        held_out: HeldOut | None,
        generator: np.random.Generator,
    ) -> Floats:
        """Coefficients of the features, the intercepts last: (n_features + 1, n_outputs).

        Parameters
        ----------
        problem : all rows, those held out included: what the coefficients are fitted to
        design : the features, to be evaluated on blocks of the rows
        held_out : where given, penalties are chosen on rows that no member has seen
        generator : for random folds and splits
        """
