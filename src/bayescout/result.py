"""The result of learning: the network with its evidence."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescout.data.files import atomic_write
from bayescout.data.reading import ColumnReadings, DataReading, in_words
from bayescout.data.table import Table
from bayescout.errors import FormatError, SettingError
from bayescout.explain import Explanation, explain
from bayescout.formats.labels import decode_label, encode_label
from bayescout.graph.dag import Dag
from bayescout.graph.equivalence import meek
from bayescout.graph.labels import graph_size
from bayescout.graph.pdag import Pdag
from bayescout.result_settings import Settings
from bayescout.result_top import Scored, Top
from bayescout.result_trace import Trace
from bayescout.scores import Scorer, bind, family_prior
from bayescout.scores.wide_scorer import WideScorer, takes_columns
from bayescout.search.classes.sparse import class_pairs
from bayescout.search.frame.knowledge import Rules
from bayescout.search.frame.outcome import Outcome, Step
from bayescout.search.frame.problem import Edges, ParentSets
from bayescout.search.frame.wide_rules import compile_wide
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.dependencies import DependencyRecord
from bayescout.statistics.screening import MOST_DENSE, Screened
from bayescout.wording import setting

if TYPE_CHECKING:
    import polars as pl

    from bayescout.network import Network

Label = Hashable
USELESS = 0.2
"""A bound further off than this share of the score still covers parent sets that were not examined yet."""

CHARGED_BY_WIDTH = ("ebic",)
"""Scores that charge an arc by the number of columns themselves."""

OTHER_ENDINGS = (".bif", ".dot", ".gv", ".txt", ".csv", ".html", ".jkl", ".svg", ".png", ".pdf")


def says_nothing(score: float, gap: float) -> bool:
    """Return True if a bound is so far off that it says nothing about a network."""
    return gap > USELESS * abs(score)


class Arcs(list[tuple[Label, Label]]):
    """(parent, child) pairs. Called, it gives them one by one, as `arcs()` of a graph does."""

    def __call__(self) -> Iterator[tuple[Label, Label]]:
        return iter(self)

    def to_polars(self) -> pl.DataFrame:
        """A frame with the columns `parent` and `child`."""
        from bayescout.result_document import label_series

        ends = (("parent", [arc[0] for arc in self]), ("child", [arc[1] for arc in self]))
        return label_series(*ends)


@dataclass(frozen=True)
class Counters:
    """Steps of the search, operations considered, families scored, and the number of those computed."""

    iterations: int
    operations: int
    evaluations: int
    computed: int


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A learned network structure, and how it was found.

    dag          the best graph met, its nodes in the order of the data's columns
    score        its score, in nats, larger is better
    trace        one `Step` per step of the search; it shows itself as a table
    top          the best distinct networks met, best first; not the empty one it began with, if any is better
    counters     iterations, operations, evaluations, computed
    stop_reason  "converged", "max_time", "max_steps", "interrupted" or "callback"
    seconds      from data to result, without those of compiling kernels at first use
    settings     search, score, knowledge, start and seed
    bound, gap   an upper bound on the score and its distance, if known; a gap of 0 is a proof
    ends_in_class  True if the search answers with an equivalence class: then `cpdag` is its answer, and
                 `dag` a member of it that keeps the knowledge
    dependencies the tests of independence that the search made, if it made any
    table        the data, and `completed` the same with the missing cells drawn, if there were any: what was
                 scored, by `score`, `explain` and `gap`
    data         how the columns of the data were read; None for scored parent sets
    fingerprint  of the table that a result read from a file was learned from
    own_score    if the time was over before the search had got as far as greedy climbing from the start:
                 the best score that it had met itself. `dag` is then the graph of that climb
    one_way      the arcs of `dag`, by position, whose reverse the score's model cannot have: those from a
                 discrete to a continuous variable in a conditional Gaussian network
    told         the arcs of `dag`, by position, whose direction interventions tell: some row has one end set
                 from outside and not the other
    screened     the pairs of variables that the search looked at, if not all, and by which rule
    """

    dag: Dag
    score: float
    trace: Trace
    top: Top
    counters: Counters
    stop_reason: str
    seconds: float
    settings: Settings
    bound: float | None = None
    found_class: Pdag | None = None
    dependencies: DependencyRecord | None = None
    own_score: float | None = None
    one_way: tuple[tuple[int, int], ...] = ()
    told: tuple[tuple[int, int], ...] = ()
    data: DataReading | None = None
    fingerprint: str | None = None
    screened: Screened | None = None
    table: Table | None = field(default=None, repr=False)
    completed: Table | None = field(default=None, repr=False)
    scores: Scorer | None = field(default=None, repr=False)

    @classmethod
    def of_run(
        cls,
        run: Outcome,
        scorer: Scorer,
        table: Table,
        names: Sequence[Label],
        settings: Settings,
        seconds: float,
    ) -> Result:
        """The result of a run, from positions in `table` to graphs over the labels `names`."""
        counters = Counters(
            iterations=len(run.trace) - 1,
            operations=run.trace[-1].operations,
            evaluations=run.trace[-1].evaluations,
            computed=scorer.computed,
        )
        top = Top(Scored(score, labelled_graph(graph, table.names, names)) for score, graph in run.top)
        place = {name: i for i, name in enumerate(names)}
        moved = [place[name] for name in table.names]
        edges, tests = run.answer.found_class(), run.answer.dependencies()
        return cls(
            dag=top[0].dag,
            score=run.best[0],
            trace=Trace(run.trace),
            top=top,
            counters=counters,
            stop_reason=run.stop_reason,
            seconds=seconds,
            settings=settings,
            bound=run.bound,
            found_class=None if edges is None else _labelled_class(edges, moved, names),
            dependencies=None if tests is None else tests.labelled(table.names.__getitem__),
            own_score=run.own_score,
            one_way=_arcs_in(top[0].dag, None if scorer.legal is None else ~scorer.legal.T, table.names),
            told=_arcs_in(top[0].dag, scorer.telling, table.names),
            data=_reading_of(table, names),
            table=table,
            scores=scorer,
        )

    # ---- reading

    @property
    def seed(self) -> int:
        return self.settings.seed

    @property
    def gap(self) -> float | None:
        """The most, in nats, by which another network can be better; None if no bound is known."""
        return None if self.bound is None else self.bound - self.score

    @property
    def optimality(self) -> str | None:
        """A sentence on how near to the best network this is known to be; None if there is no bound."""
        if self.gap is None:
            return None
        if self.gap == 0:
            return "proven optimal"
        if says_nothing(self.score, self.gap):
            return "no useful bound yet"
        return f"at most {self.gap:,.3f} nats below the best"

    @property
    def found_by(self) -> str | None:
        """The part of the search "auto" that found the graph; None for a search without parts."""
        from bayescout.search.auto import PARTS

        last = self.trace[-1].facts if self.trace else {}
        return PARTS[int(last["found_by"])] if "found_by" in last and self.own_score is None else None

    @property
    def stopped(self) -> str:
        """The reason why the run ended, in words; and whose graph this is if the search did not get far."""
        if self.own_score is None:
            return self.stop_reason
        own = f"{self.settings.search} itself had met {self.own_score:,.3f}"
        return f"{self.stop_reason}, by greedy climbing: {own}"

    @property
    def arcs(self) -> Arcs:
        """The arcs of the graph: a list of (parent, child) pairs."""
        return Arcs(self.dag.arcs())

    @property
    def ends_in_class(self) -> bool:
        return self.found_class is not None

    @cached_property
    def _rules(self) -> Rules:
        """The knowledge and what the score's model rules out, in positions of the graph's nodes."""
        one_kind = self.table is None or self.table.is_continuous or self.table.is_discrete
        if self.screened is not None and one_kind and not (self.one_way or self.settings.knowledge.beliefs):
            return compile_wide(self.settings.knowledge, self.dag.nodes)
        rules = self.settings.knowledge.compile(self.dag.nodes)
        legal = np.ones((len(self.dag), len(self.dag)), dtype=bool)
        for parent, child in self.one_way:
            legal[child, parent] = False
        known = self.scores is not None or self.settings.can_be_made
        if self.table is not None and known and (found := self._scorer.legal) is not None:
            places = [self.table.index(node) for node in self.dag.nodes]
            legal &= found[np.ix_(places, places)]
        return rules.within(legal, self.dag.nodes)

    @cached_property
    def cpdag(self) -> Pdag:
        """The equivalence class, with every edge directed that the knowledge or the score's model directs."""
        free_of_rules = self.settings.knowledge.is_empty and not self.one_way
        found = self.found_class or self._own_class
        # Tests may end in a pattern that is no class of the graph: nothing follows for it from its arcs.
        told = set(self.told) if self.told and found == self.dag.cpdag() else set()
        if (free_of_rules and not told) or not found.undirected:
            return found
        rules = self._rules
        fixed = set()
        for one, two in found.undirected:
            parent, child = (one, two) if one in self.dag.parents[two] else (two, one)
            ruled = rules.required[parent, child] or not rules.allowed[child, parent]
            if ruled or (parent, child) in told:
                fixed.add((parent, child))
        if not fixed:
            return found
        free = [edge for edge in found.undirected if edge not in fixed and edge[::-1] not in fixed]
        directed = tuple(sorted([*found.directed, *fixed]))
        return meek(Pdag(found.nodes, directed, tuple(free)))

    @cached_property
    def _own_class(self) -> Pdag:
        """The class of the graph alone."""
        if self.screened is None:
            return self.dag.cpdag()
        return Pdag(self.dag.nodes, *class_pairs(self.dag.parents))

    def explain(self, a: Label, b: Label) -> Explanation:
        """The worth of the arc between two variables, or of its absence, and the counts behind it."""
        table, scores = self._evidence()
        tests = () if self.dependencies is None else self.dependencies.about(a, b)
        own = self._own_class
        return explain(self.dag, self.cpdag, table, scores, a, b, self._rules, tests, own, self.told)

    def fit(self, data: Any = None, prior: str | None = None, **options: Any) -> Network:
        """The network with parameters, from the data it was learned from unless other data are given.

        Its tables have the prior `"bdeu"` unless another is named, so that no answer is undefined and no
        state impossible because the data never showed it; `prior="mle"` gives the shares of the data.
        Further options are those of `bayescout.fit`.
        """
        from bayescout.network import fit

        if data is None:
            data = self.table if self.table is not None else self._evidence()[0]
        return fit(self.dag, data, prior=prior, **options)

    def report(
        self,
        path: str | PathLike[str],
        truth: Any = None,
        model: Any = None,
        title: str | None = None,
    ) -> None:
        """Write one self-contained HTML page: the network to explore, its evidence, and how to repeat it.

        `truth` is a graph or network to compare with, `model` a network fitted to this graph whose
        parameters are shown in place of those of `fit()`. Of more than 1,500 variables the page shows the
        neighbourhood of one at a time, found by its name.
        """
        from bayescout.report.page import write_report

        write_report(self, path, truth, model, title)

    def widget(self, truth: Any = None, height: int = 620) -> Any:
        """The page of this result in a notebook's cell, to explore and to ask; needs the extra `notebook`."""
        from bayescout.report.widget import result_widget

        return result_widget(self, truth, height)

    def open(
        self, project: str | PathLike[str] | None = None, browser: bool = True, block: bool | None = None
    ) -> Any:
        """Open the page of this result in the browser, served on this computer; needs the extra `serve`.

        What is returned has the `address` and `close()`. A script waits there for Ctrl-C; `block` says
        otherwise. `project` is a folder that keeps what is done in the page. Of more than 1,500 variables the
        page is that of `report`, a file that needs no server.
        """
        from bayescout.serve.opening import open_result

        return open_result(self, project, browser, block)

    def _evidence(self) -> tuple[Table, Scorer]:
        """The table that was scored, and its scores, which a copy computes again."""
        if self.scored_table is None:
            raise SettingError(
                "this result has no data with it, as it was read from a file or learned from scored parent "
                "sets; give them: Result.load(path, data=...), fit(data), bayescout.gap(result, data=...)"
            )
        return self.scored_table, self._scorer

    @cached_property
    def _scorer(self) -> Scorer:
        if self.scores is not None:
            return self.scores
        assert self.scored_table is not None
        settings, table = self.settings, self.scored_table
        formula, prior = settings.made_score(), settings.made_prior()
        weighed = family_prior(prior, table.names, settings.knowledge)
        if self.screened is not None and takes_columns(table, formula, weighed):
            return WideScorer(formula, ColumnCovariance(table), prior=weighed)
        return bind(formula, table, prior=weighed)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the scorer, which is made again from the settings and the table."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"scores": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Result:
        return replace(self)  # its parts are frozen

    @property
    def scored_table(self) -> Table | None:
        """The table that was scored: the data, or if cells were missing, with these drawn."""
        return self.table if self.completed is None else self.completed

    def plot(self, kind: str = "network", **options: Any) -> Any:
        """A matplotlib figure: the "network" (`truth`, `strengths`) or the "trace" (`x`, `truth`).

        See `bayescout.plots.plot_network` and `plot_trace` for the options.
        """
        from bayescout.plots.figures import plot_network, plot_trace

        kinds: dict[str, Any] = {"network": plot_network, "trace": plot_trace}
        if kind not in kinds:
            raise SettingError(f"kind must be 'network' or 'trace', not {kind!r}")
        return kinds[kind](self, **options)

    def to_svg(
        self, path: str | PathLike[str] | None = None, truth: Any = None, strengths: Any = None
    ) -> str:
        """The drawing as SVG text, also written to `path` if given; needs no matplotlib."""
        from bayescout.plots.saving import svg_of

        return svg_of(self, path, truth, strengths)

    def _repr_html_(self) -> str:
        from bayescout.report.notebook import result_html

        return result_html(self)

    def summary(self) -> dict[str, Any]:
        """The values that the command line prints as JSON."""
        return {
            "search": self.settings.search,
            "score_name": self.settings.score,
            "structure_prior": self.settings.prior_told or "uniform",
            "score": self.score,
            "arcs": [list(arc) for arc in self.dag.arcs()],
            "seconds": self.seconds,
            "iterations": self.counters.iterations,
            "operations": self.counters.operations,
            "evaluations": self.counters.evaluations,
            "stop_reason": self.stop_reason,
            "seed": self.seed,
            "bound": self.bound,
            "gap": self.gap,
            "own_score": self.own_score,
            "found_by": self.found_by,
            **({} if self.screened is None else {"screened": asdict(self.screened)}),
            **({"prior_note": self.prior_note} if self.prior_note else {}),
            "data": None if self.data is None else self.data.to_dict(),
            **self._class_summary(),
        }

    def _class_summary(self) -> dict[str, Any]:
        """The parts of `summary` that only some searches have."""
        found: dict[str, Any] = {}
        if self.ends_in_class:
            directed, undirected = list(self.cpdag.arcs()), list(self.cpdag.edges())
            found["class"] = {"arcs": [list(a) for a in directed], "edges": [list(e) for e in undirected]}
        if self.dependencies is not None:
            made = self.dependencies
            found["dependencies"] = {
                name: getattr(made, name) for name in ("tested", "rejected", "inconclusive", "covered")
            }
        return found

    @property
    def prior_note(self) -> str:
        """What to give where the many pairs of a wide table pass by chance, as no prior charges for them."""
        charged = self.settings.prior_told or self.settings.score_name in CHARGED_BY_WIDTH
        if self.screened is None or len(self.dag) <= MOST_DENSE or charged:
            return ""
        return (
            f"uniform, and of {self.screened.pairs:,} pairs many raise a score by chance: "
            f"{setting('structure_prior', 'sparse')} charges an arc by the number of columns, as the default "
            f"score does"
        )

    def __repr__(self) -> str:
        size, score, search = self._in_words()
        return f"<Result: {size}, {score}, {search}>"

    def __str__(self) -> str:
        """What `print` shows: a line each for the graph, the score, the search and the data."""
        size, score, search = self._in_words()
        lines = [f"Result: {size}", f"  score     {score}", f"  search    {search}"]
        if self.screened is not None:
            lines.append(f"  screened  {self.screened}")
        if self.prior_note:
            lines.append(f"  prior     {self.prior_note}")
        if self.data is not None:
            drawn = "" if self.completed is None else ", drawn for the search"
            lines.append(f"  data      {self.data.used}{drawn}")
            if self.data.left_out:
                lines.append(f"  left out  {in_words(self.data.left_out)}")
        return "\n".join(lines)

    def _in_words(self) -> tuple[str, str, str]:
        """The size of the graph, its score, and the search that found it."""
        proof = "" if self.optimality is None else f", {self.optimality}"
        part = "" if self.found_by is None else f" (found by {self.found_by})"
        prior = f" (prior: {self.settings.prior_told})" if self.settings.prior_told else ""
        return (
            graph_size(len(self.dag), self.dag.n_arcs),
            f"{self.settings.score} {self.score:,.3f}{prior}{proof}",
            f"{self.settings.search}{part} in {self.seconds:.3g} s, {self.stopped}",
        )

    # ---- files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result, without its data, as JSON; or its arcs alone, as Parquet or Arrow.

        A path that ends in .parquet, .arrow or .feather gets a table with the columns `parent`, `child` and
        `decided`: whether all graphs of the equivalence class have the arc. It is small and quick where there
        are many variables, and any tool reads it; `load` reads JSON.
        """
        suffix = Path(path).suffix.lower()
        if suffix in OTHER_ENDINGS:
            raise SettingError(
                f"{path} has the ending of another kind of file, and a result is JSON; name it .json, or "
                f".parquet for its arcs alone, or write the network with result.fit().save(path), a picture "
                f"with result.to_svg(path)"
            )
        from bayescout.result_document import (
            ARCS_ALONE,
            FORMAT,
            VERSION,
            arcs_frame,
            data_to_json,
            json_text,
            write_frame,
        )

        if suffix in ARCS_ALONE:
            write_frame(arcs_frame(self.dag, self.cpdag), path)
            return

        document = {
            "format": FORMAT,
            "version": VERSION,
            "nodes": [encode_label(node) for node in self.dag.nodes],
            "score": self.score,
            "parents": self.dag.parents,
            "top": [[entry.score, entry.dag.parents] for entry in self.top],
            "trace": self.trace,
            "counters": asdict(self.counters),
            "stop_reason": self.stop_reason,
            "seconds": self.seconds,
            "settings": self.settings.to_json(),
            "bound": self.bound,
            "own_score": self.own_score,
            "one_way": self.one_way,
            "told": self.told,
            "data": data_to_json(self.data),
            "fingerprint": self.fingerprint if self.table is None else self.table.fingerprint,
            "class": _class_to_json(self.found_class),
            "dependencies": _tests_to_json(self.dependencies),
            **({} if self.screened is None else {"screened": asdict(self.screened)}),
        }
        with atomic_write(path, text=True) as stream:
            stream.writelines(json_text(document))

    @classmethod
    def load(cls, path: str | PathLike[str], data: Any = None) -> Result:
        """Read a result that `save` wrote.

        With the data that it was learned from, `explain`, `gap`, `fit` and `report` work as before: missing
        cells are drawn again with the same seed. Other data are refused; `fit` and `bayescout.gap` take them.
        """
        found = cls._read(path)
        if data is None:
            return found
        from bayescout.evidence import with_data

        return with_data(found, data)

    @classmethod
    def _read(cls, path: str | PathLike[str]) -> Result:
        import msgspec

        from bayescout.formats.shape import misfit
        from bayescout.result_document import ARCS_ALONE, Head, SavedResult, data_from_saved

        not_one = "is not a result of this version of bayescout, or damaged"
        infinite = {"Infinity": math.inf, "-Infinity": -math.inf}  # JSON has no word for NaN either
        try:
            if Path(path).suffix.lower() in ARCS_ALONE:
                not_one = "holds the arcs of a result alone; a result that can be loaded is saved as .json"
                raise ValueError
            text = Path(path).read_bytes()
            try:  # many times faster, and knows no infinite numbers
                head, saved = msgspec.json.decode(text, type=Head), None
                if head.is_ours:
                    saved = msgspec.json.decode(text, type=SavedResult)
            except (msgspec.DecodeError, UnicodeError):
                document = json.loads(text.decode(), parse_constant=infinite.__getitem__)
                head = Head(document["format"], document["version"], document["settings"])
                saved = msgspec.convert(document, SavedResult) if head.is_ours else None
            if saved is None:
                raise ValueError
            nodes = tuple(decode_label(label) for label in saved.nodes)
            found, tests = saved.found_class, saved.dependencies
            return cls(
                dag=Dag(nodes, saved.parents),
                score=saved.score,
                trace=Trace(Step(*values) for values in saved.trace),
                top=Top(Scored(score, Dag(nodes, parents)) for score, parents in saved.top),
                counters=Counters(**saved.counters),
                stop_reason=saved.stop_reason,
                seconds=saved.seconds,
                settings=Settings.from_json(head.settings),
                bound=saved.bound,
                own_score=saved.own_score,
                one_way=saved.one_way,
                told=saved.told,
                data=data_from_saved(saved.data),
                fingerprint=saved.fingerprint,
                screened=saved.screened,
                found_class=None if found is None else Pdag(nodes, found.directed, found.undirected),
                dependencies=None if tests is None else tests.labelled(decode_label),
            )
        except FileNotFoundError:
            raise FormatError("there is no such file", path) from None
        except msgspec.ValidationError as error:
            raise FormatError(f"{not_one}: {misfit(error)}", path) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
            raise FormatError(not_one, path) from None


def _reading_of(table: Table, names: Sequence[Label]) -> DataReading:
    """How a table was read, its columns in the order of `names`."""
    found = {one.name: one for one in table.columns}
    columns = ColumnReadings(found[name] for name in names)
    return DataReading(table.reading, table.n_rows, columns, table.notes.left_out)


def labelled_graph(parents: ParentSets, columns: Sequence[Label], names: Sequence[Label]) -> Dag:
    """A graph in positions of the columns, given their labels, its nodes in the order of `names`."""
    place = {name: i for i, name in enumerate(names)}
    moved = [place[name] for name in columns]
    sets: list[tuple[int, ...]] = [()] * len(moved)
    for child, own in enumerate(parents):
        sets[moved[child]] = tuple(moved[parent] for parent in own)
    return Dag(tuple(names), tuple(sets))


def _arcs_in(dag: Dag, marked: Any, columns: Sequence[Label]) -> tuple[tuple[int, int], ...]:
    """The arcs of a graph that are marked [parent, child], in positions of the columns; none if None."""
    if marked is None:
        return ()
    place = {name: i for i, name in enumerate(columns)}
    at = [place[node] for node in dag.nodes]
    arcs = ((parent, child) for child, own in enumerate(dag.parents) for parent in own)
    return tuple((parent, child) for parent, child in arcs if marked[at[parent], at[child]])


def _labelled_class(edges: Edges, moved: Sequence[int], names: Sequence[Label]) -> Pdag:
    directed, undirected = ([(moved[a], moved[b]) for a, b in pairs] for pairs in edges)
    return Pdag(tuple(names), tuple(sorted(directed)), tuple(sorted((min(e), max(e)) for e in undirected)))


def _class_to_json(found: Pdag | None) -> Any:
    return None if found is None else {"directed": found.directed, "undirected": found.undirected}


def _tests_to_json(made: DependencyRecord | None) -> Any:
    if made is None:
        return None
    named = made.labelled(encode_label)
    return {
        "tested": named.tested,
        "rejected": named.rejected,
        "inconclusive": named.inconclusive,
        "covered": named.covered,
        "entries": named.entries,
    }
