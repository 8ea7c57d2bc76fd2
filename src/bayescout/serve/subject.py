"""A graph of a run with the data and the score behind it, as the questions about it need them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from bayescout.data import as_table, read_table
from bayescout.data.table import Table
from bayescout.errors import SettingError, UnknownNameError
from bayescout.evidence import evidence_of
from bayescout.graph.dag import Dag
from bayescout.graph.pdag import Pdag
from bayescout.plots.crossings import EFFORT
from bayescout.report.views import FLAT_BEYOND, placed
from bayescout.result import Counters, Result
from bayescout.result_settings import Settings
from bayescout.result_top import Scored, Top
from bayescout.result_trace import Trace
from bayescout.scores import Scorer
from bayescout.scores.network_score import total
from bayescout.serve.wire import encoded

MOST_KEPT = 8
"""The most tables, scorers and graphs that are kept for the next question."""


class Kept:
    """Values that were costly to make, the latest used of each kind."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self.most = most
        self._values: OrderedDict[Any, Any] = OrderedDict()

    def __contains__(self, key: Any) -> bool:
        return key in self._values

    def get(self, key: Any, make: Any) -> Any:
        if key not in self._values:
            self.put(key, make())
        self._values.move_to_end(key)
        return self._values[key]

    def put(self, key: Any, value: Any) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self.most:
            self._values.popitem(last=False)

    def clear(self) -> None:
        self._values.clear()


ENOUGH = 50_000
"""Pairs of neighbours compared for the drawing of up to 150 variables.

Of the library's networks of that size none gains by more; a search's dense graph would take 0.3 s, not 0.1 s.
"""

TABLES, SCORED, SUBJECTS = Kept(2), Kept(), Kept(16)


def named_in(names: Sequence[Any]) -> Callable[[str], Any]:
    """The label that a text names; a text that names none stands for itself, to be refused as unknown."""
    labels = {str(name): name for name in names}
    return lambda text: labels.get(text, text)


def table_at(path: str, fingerprint: str) -> Table:
    """The table with this fingerprint, which the file had when the question was asked.

    A question may have waited while the file was read anew: the table of then, or a refusal, but never
    an answer from other rows.
    """
    found: Table = TABLES.get(fingerprint, lambda: checked_table(path, fingerprint))
    return found


def checked_table(path: str, fingerprint: str) -> Table:
    """The table in a file, if it is the one that is meant."""
    table = read_table(path)
    if table.fingerprint != fingerprint:
        raise SettingError(
            "the project has other data now than this was begun with: open those again to go on, or start "
            "another run"
        )
    return table


class Subject:
    """A graph over the columns of a table, and how it was scored."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.path: str | None = values.get("table")
        self.fingerprint: str = values.get("fingerprint") or ""
        self.plain: dict[str, Any] = values["settings"]
        self.names = tuple(values["nodes"])
        self.arcs: Sequence[Sequence[int]] = values["arcs"]
        self.bases = Kept()  # marginals given the evidence that an answer is compared with

    @classmethod
    def of(cls, values: dict[str, Any]) -> Subject:
        """The subject of a message; the same graph over the same rows again is the same subject."""
        keys = ("table", "fingerprint", "settings", "nodes", "arcs")
        key = encoded([values.get(one) for one in keys])
        found: Subject = SUBJECTS.get(key, lambda: cls(values))
        return found

    @cached_property
    def settings(self) -> Settings:
        return Settings.from_json(self.plain)

    @cached_property
    def _evidence(self) -> tuple[Table, Table | None, Scorer]:
        if self.path is None:
            raise SettingError("this result has no data with it: open it with the data to ask this")
        key = self.fingerprint, encoded(self.plain)
        found: tuple[Table, Table | None, Scorer] = SCORED.get(key, self._made_evidence)
        return found

    def _made_evidence(self) -> tuple[Table, Table | None, Scorer]:
        assert self.path is not None
        table = table_at(self.path, self.fingerprint)
        if self.settings.missing != "em":
            policy: Any = self.settings.missing
            table = as_table(table, missing=policy)
        return evidence_of(table, self.settings)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The nodes as the data have them, in the order of `names`."""
        if self.path is None:
            return self.names
        own = {str(name): name for name in self._evidence[0].names}
        return tuple(own[name] for name in self.names)

    @property
    def scorer(self) -> Scorer:
        return self._evidence[2]

    @property
    def table(self) -> Table:
        return self._evidence[0]

    @property
    def scored(self) -> Table:
        table, drawn, _ = self._evidence
        return table if drawn is None else drawn

    def dag_of(self, arcs: Sequence[Sequence[int]], labels: Sequence[Any] | None = None) -> Dag:
        """A graph from arcs as positions of the names."""
        own = self.labels if labels is None else labels
        parents: list[list[int]] = [[] for _ in own]
        for a, b in arcs:
            parents[b].append(a)
        return Dag(tuple(own), tuple(tuple(sorted(one)) for one in parents))

    @cached_property
    def result(self) -> Result:
        """The graph as a result, as if a run had ended with it."""
        scorer, names = self.scorer, self.table.names
        score = total(scorer, self.unscored.dag.reordered(names))
        return replace(self.unscored, score=score, top=Top((Scored(score, self.unscored.dag),)))

    @cached_property
    def unscored(self) -> Result:
        """The result without its score, which takes a while and is not needed for the class."""
        table, drawn, scorer = self._evidence
        dag = self.dag_of(self.arcs)
        place = {name: i for i, name in enumerate(table.names)}
        legal = scorer.legal
        one_way = tuple(
            (p, c)
            for c, own in enumerate(dag.parents)
            for p in own
            if legal is not None and not legal[place[dag.nodes[c]], place[dag.nodes[p]]]
        )
        return Result(
            dag=dag,
            score=0.0,
            trace=Trace(),
            top=Top((Scored(0.0, dag),)),
            counters=Counters(0, 0, 0, 0),
            stop_reason="converged",
            seconds=0.0,
            settings=self.settings,
            one_way=one_way,
            table=table,
            completed=drawn,
            scores=scorer,
        )

    def beside(self, saved: Result) -> Result:
        """A saved result, if there are data, with these."""
        if self.path is None:
            return saved
        table, drawn, scorer = self._evidence
        return replace(saved, table=table, completed=drawn, scores=scorer)

    @cached_property
    def cpdag(self) -> Pdag:
        """The equivalence class, as far as it is known: with the knowledge if there are data."""
        if self.path is not None:
            return self.unscored.cpdag
        return self.dag_of(self.arcs).cpdag()

    @cached_property
    def kinds(self) -> list[list[Any]]:
        """[parent, child, kind] of every arc."""
        dag = self.dag_of(self.arcs)
        required = {(str(a), str(b)) for a, b in self.settings.knowledge.required}
        free = set(self.cpdag.undirected)
        found: list[list[Any]] = []
        for child, own in enumerate(dag.parents):
            for parent in own:
                pair = self.names[parent], self.names[child]
                either = (parent, child) in free or (child, parent) in free
                kind = "required" if pair in required else "reversible" if either else "compelled"
                found.append([*pair, kind])
        return found

    @cached_property
    def network(self) -> Any:
        """The graph with the parameters that a learned result has."""
        return self.unscored.fit()

    @cached_property
    def placed(self) -> dict[str, Any]:
        """A layout of its own: positions and sizes of boxes, curves of arcs, and the size of the whole."""
        return self.placed_with(EFFORT if len(self.names) > FLAT_BEYOND else ENOUGH)

    def placed_with(self, effort: int) -> dict[str, Any]:
        return placed(self.dag_of(self.arcs, self.names), tuple(self.names), effort)

    def at(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError("variable", name, self.names)
        return self.names.index(name)

    def label(self, name: str) -> Any:
        return self.labels[self.at(name)]

    def after(self, steps: int, ended: bool) -> Result:
        """The result with the number of steps that repeat it; none if the search ended by itself."""
        if ended:
            return self.result
        return replace(self.result, stop_reason="max_steps", counters=Counters(steps, 0, 0, 0))
