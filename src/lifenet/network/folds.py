"""The networks of folds, whose mean a cross-fitted network is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifenet.network.coded import CodedNetwork
from lifenet.network.relu import ReluNetwork

if TYPE_CHECKING:
    from lifenet.network.coding import ColumnCoding

__all__ = ["FoldNetworks"]


@dataclass(frozen=True, eq=False, repr=False)
class FoldNetworks(Sequence[ReluNetwork | CodedNetwork]):
    """For each fold the whole network, with the fold's own in place of the mean of all.

    Their mean is the whole network. Companions are the same in all.

    Attributes
    ----------
    inner : of each fold, its own network times the weight that the mean of all has
    rest : the companions; None where the whole network is the mean of the folds' alone
    coding : of the columns; None where networks read these
    """

    inner: tuple[ReluNetwork, ...] = ()
    rest: ReluNetwork | None = None
    coding: ColumnCoding | None = None

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return FoldNetworks(self.inner[index], self.rest, self.coding)
        own = self.inner[index]
        whole = own if self.rest is None else ReluNetwork.concatenate([own, self.rest])
        return self._of_columns(whole)

    def __repr__(self) -> str:
        beside = "" if self.rest is None else ", companions"
        return f"FoldNetworks({len(self)} folds{beside})"

    @property
    def own(self) -> tuple[ReluNetwork | CodedNetwork, ...]:
        """The folds' own networks: of all there is, what differs between the folds."""
        return tuple(self._of_columns(one) for one in self.inner)

    @property
    def companions(self) -> ReluNetwork | CodedNetwork | None:
        """What is the same in all, if anything is."""
        return None if self.rest is None else self._of_columns(self.rest)

    def _of_columns(self, network: ReluNetwork) -> ReluNetwork | CodedNetwork:
        return network if self.coding is None else CodedNetwork(self.coding, network)
