"""What the user says about the rows of data: their weights, and the interventions in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescout.data.acting import is_column, of_rows, of_values
from bayescout.data.declared import split_weights
from bayescout.data.interventions import Interventions
from bayescout.data.table import Label, Table

if TYPE_CHECKING:
    from bayescout.data.columns import Column


@dataclass(frozen=True)
class AboutRows:
    """What the user says about the rows: their weights and the interventions in them, as columns or as given.

    weight_name, acting_name  the columns that hold them, if they are columns
    weights, acting           what was given instead
    known                     the names of all columns of the data
    """

    weight_name: Label | None
    weights: NDArray[np.float64] | None
    acting_name: Label | None
    acting: Any
    known: tuple[Label, ...]

    @classmethod
    def of(cls, weights: Any, interventions: Any, names: Sequence[Label]) -> AboutRows:
        name, given = split_weights(weights, names)
        if interventions is not None and is_column(interventions, names):
            return cls(name, given, interventions, None, tuple(names))
        return cls(name, given, None, interventions, tuple(names))

    def after(self, table: Table) -> AboutRows:
        """The same, with what a table says about its rows where nothing else is said."""
        weights = table.weights if self.weight_name is None and self.weights is None else self.weights
        acting = self.acting
        if self.acting_name is None and acting is None:
            acting = table.interventions
        return replace(self, weights=weights, acting=acting)

    def interventions(self, columns: Sequence[Column], n_rows: int) -> Interventions | None:
        """The interventions of all rows; `columns` holds the one that tells them, if one does."""
        if isinstance(self.acting, Interventions) or (self.acting is None and self.acting_name is None):
            return self.acting
        variables = [name for name in self.known if name not in self.columns]
        if self.acting_name is None:
            return of_rows(self.acting, n_rows, variables)
        own = next(column for column in columns if column.name == self.acting_name)
        codes = np.concatenate(own.chunks).astype(np.int32)
        return of_values(own.values, codes, variables, f"column {own.name!r}")

    @property
    def columns(self) -> list[Label]:
        """The columns that tell about rows and are no variables."""
        return [name for name in (self.weight_name, self.acting_name) if name is not None]


NOTHING_SAID = AboutRows(None, None, None, None, ())
