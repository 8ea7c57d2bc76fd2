"""The base of all nodes of a network: a conditional distribution given the parents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescout.data.table import Label, States, lock
from bayescout.errors import NetworkError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Columns = Sequence[NDArray[Any]]
"""One column per parent, in the order of the graph: codes of a discrete one, numbers of a continuous one."""

Draw = Callable[[np.random.Generator, Columns, NDArray[Any]], bool]
"""Fill the column given last; True if a row had parents' values for which there is no estimate."""

CHUNK = 2**14
"""Rows drawn together: few enough for the columns in use to stay in a cache.

The order of the random numbers follows from it, so changing it changes every sample.
"""


class Parameters(Protocol):
    """The parameters of one node with their labels, as a table for display."""

    @property
    def title(self) -> str: ...

    @property
    def columns(self) -> tuple[Label, ...]:
        """The headings; the first `leading` columns describe a line, the others are numbers."""

    @property
    def leading(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    def lines(self) -> Iterator[tuple[Any, ...]]:
        """One value per column; None for a number that could not be estimated."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values, ready for JSON."""


class NodeDistribution(ABC):
    """The distribution of one node given its parents, without labels: those belong to the network.

    A new kind of node is one subclass: a frozen dataclass of its parameters that defines the abstract
    methods. `Network` samples it, scores rows with it and shows it, beside nodes of any other kind.
    Three things are chosen by kind outside of the class, each in one place: how it is estimated
    (`network.fit`), how it is kept in files (`formats.native_json`), and exact inference, if there is
    any (`Network.query`).

    kind    one word, different from that of any other class
    states  the node's states in order, or None if its values are numbers
    """

    kind: ClassVar[str]
    states: States | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        lock(*(value for value in state.values() if isinstance(value, np.ndarray)))

    @property
    def declared(self) -> States | None:
        """The states as they are declared of data for the node."""
        return self.states

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @property
    def n_undefined(self) -> int:
        """The parent configurations that the data left without an estimate."""
        return 0

    @abstractmethod
    def check(self, label: Label, given: Mapping[Label, NodeDistribution]) -> None:
        """Refuse parameters that do not fit the node, or its parents, which are `given` in order."""

    @abstractmethod
    def encode(self, label: Label, value: Any, is_text: bool = False) -> Any:
        """An observed value as it is in a column: a code or a number; refused if the node lacks it."""

    @abstractmethod
    def sampler(self) -> Draw:
        """A function that draws the node given its parents; its preparations serve every call."""

    @abstractmethod
    def log_densities(self, label: Label, own: NDArray[Any], given: Columns) -> tuple[Array, Mask | None]:
        """The log-density of each row in nats, and a mask of rows with parents' values without an estimate.

        The mask is None if all parents' values have an estimate.
        """

    def log_density(self, label: Label, own: Any, given: Sequence[Any]) -> float:
        """The log-density of one row."""
        return float(self.log_densities(label, np.array([own]), [np.array([value]) for value in given])[0][0])

    @abstractmethod
    def equals(self, other: NodeDistribution, tolerance: float) -> bool:
        """Return True if `other` is of the same kind and no parameter differs by more."""

    @abstractmethod
    def parameters(self, label: Label, given: Mapping[Label, NodeDistribution]) -> Parameters:
        """The parameters with the labels of the node and its parents, to be shown."""


def configuration_numbers(sizes: Sequence[int], columns: Columns, n_rows: int) -> NDArray[np.int64]:
    """For each row the number of the configuration of its codes, the last column varying fastest."""
    numbers = np.zeros(n_rows, dtype=np.int64)
    for size, codes in zip(sizes, columns, strict=True):
        numbers *= size
        numbers += codes
    return numbers


def as_array(values: Any, kind: type[Any], what: str) -> NDArray[Any]:
    """A copy of the values as an array, so that no one else can change it."""
    try:
        return np.array(values, dtype=kind, order="C")
    except (TypeError, ValueError):
        raise NetworkError(f"a {what} of the network is not numbers in rows of equal length") from None
