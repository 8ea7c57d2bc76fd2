"""Imports go one way; numba stays in its folder; importing the package is light."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from scripts.import_graph import LAYERS, imports, modules, part

REACHING_UP = {
    ("graph.dag", "plots.figures"): "Dag.plot",
    ("graph.dag", "plots.saving"): "Dag.to_svg",
    ("graph.dag", "report.notebook"): "Dag in a notebook",
    ("graph.pdag", "plots.figures"): "Pdag.plot",
    ("graph.pdag", "plots.saving"): "Pdag.to_svg",
    ("graph.pdag", "report.notebook"): "Pdag in a notebook",
    ("graph.pdag", "graph.dag"): "Pdag.to_dag",
    ("data.table", "data.write"): "Table.save and other forms of a table",
    ("network.network", "formats"): "Network.save",
    ("network.network", "formats.neighbours"): "Network.to_pgmpy and to_pyagrum",
    ("network.network", "formats.bif"): "Network.to_rbnlearn",
    ("graph.dag", "formats.neighbours"): "Dag.to_igraph",
    ("graph.dag", "formats.dot"): "Dag.to_dot and from_dot",
    ("network.network", "report.notebook"): "Network in a notebook",
    ("result", "report.notebook"): "Result in a notebook",
    ("result", "report.page"): "Result.report",
    ("result", "report.widget"): "Result.widget",
    ("result", "serve.opening"): "Result.open",
    ("result", "evidence"): "Result.load with the data",
}
"""The few conveniences that reach up from inside a method: (module, imported module) and what for."""

KNOWN_CYCLES: list[set[str]] = []


def reaches_up(one):
    """Whether an import is one of the named conveniences, or the package of one, loaded with it."""
    return any(
        one.source == source and (target == one.target or target.startswith(f"{one.target}."))
        for source, target in REACHING_UP
    )


def level(module):
    return LAYERS.index(part(module))


@pytest.mark.parametrize("module", modules())
def test_imports_go_down(module):
    """Those inside functions and those of types too."""
    for one in imports():
        if one.source == module and not reaches_up(one):
            assert level(one.target) <= level(module), f"{one.source} imports {one.target} ({one.kind})"


def test_only_methods_reach_up():
    listed = set(REACHING_UP)
    for one in imports():
        if (one.source, one.target) in REACHING_UP:
            assert one.kind in ("lazy", "type"), f"{one.source} imports {one.target} when it is loaded"
            listed -= {(one.source, one.target)} if one.kind == "lazy" else set()
    assert not listed, "no longer imported: take them off the list"


def test_imports_have_no_cycles():
    """Those of types apart, which nothing loads."""
    targets = {module: set() for module in modules()}
    for one in imports():
        if one.kind != "type" and not reaches_up(one):
            targets[one.source].add(one.target)
    assert sorted(map(sorted, cycles(targets))) == sorted(map(sorted, KNOWN_CYCLES))


def cycles(targets):
    """The sets of modules that reach one another: two or more each."""
    reached = {}
    for module in targets:
        seen, waiting = set(), [module]
        while waiting:
            for target in targets[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        reached[module] = seen
    return {
        frozenset(other for other in reached[module] if module in reached[other])
        for module in targets
        if module in reached[module]
    }


def test_a_cycle_is_seen():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {frozenset("bc")}


def test_imports_are_seen_however_they_are_written():
    found = {(one.source, one.target): one.kind for one in imports()}
    assert found["report.provenance", "__init__"] == "lazy"  # from bayescout import __version__
    assert found["report.reproduce", "scores"] == "top"  # from bayescout import scores
    assert found["data.columnar", "data.memory"] == "top"  # from bayescout.data import memory
    assert found["graph.separation", "graph.dag"] == "type"


@pytest.mark.parametrize("module", [name for name in modules() if part(name) != "kernels"])
def test_the_compiler_stays_in_its_folder(module):
    for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {"numba", "llvmlite"} & set(map(part, names)), f"{module} imports {names}"


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_warnings_have_one_home():
    """`errors.warn` finds the line of the user's that the warning is of."""
    for name, path in modules().items():
        if name != "errors":
            assert "warnings.warn(" not in path.read_text(encoding="utf-8"), name


def test_importing_is_light():
    heavy = run_python(
        "import sys, bayescout;"
        "heavy = ('numba', 'polars', 'scipy', 'matplotlib', 'pandas', 'pyarrow', 'jinja2', 'msgspec');"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert heavy.strip() == "[]"


def test_asking_and_sampling_do_not_load_the_compiler():
    loaded = run_python(
        "import sys, bayescout as bs; bs.load_network('asia').query('lung'); print('numba' in sys.modules)"
    )
    assert loaded.strip() == "False"


def test_measuring_a_network_does_not_load_the_compiler():
    loaded = run_python(
        "import sys, bayescout as bs; asia = bs.load_network('asia'); bs.divergence(asia, asia);"
        "print([m for m in ('numba', 'scipy', 'joblib') if m in sys.modules])"
    )
    assert loaded.strip() == "[]"


def test_drawing_a_graph_loads_graphs_and_plots_only():
    loaded = run_python(
        "import sys, bayescout as bs; dag = bs.Dag.from_arcs([('a', 'b')]); dag.plot(); dag._repr_html_();"
        "print(*sorted({name.split('.')[1] for name in sys.modules if name.startswith('bayescout.')}))"
    )
    assert set(loaded.split()) == {
        "checks", "display", "errors", "data", "graph", "learn", "plots", "report", "wording",
    }  # fmt: skip


def test_every_public_name_is_there():
    import bayescout

    for name in bayescout.__all__:
        assert getattr(bayescout, name) is not None
    assert set(bayescout.__all__) <= set(dir(bayescout))
    with pytest.raises(AttributeError, match="no attribute 'lern'"):
        _ = bayescout.lern


FROM_STATISTICS = {
    "bayescout.statistics.independence": {
        "CORRECTIONS", "TESTS", "Correction", "Finding", "IndependenceTests", "Question",
    },
    "bayescout.statistics.dependencies": {"CachedTest", "DependencyRecord"},
    "bayescout.statistics.screening": {"Neighbourhood", "Screening"},
}  # fmt: skip
"""Values that searches get from the scorer, hand on or keep."""

FROM_SCORES = {f"bayescout.scores.{name}" for name in ("scorer", "gain_rows", "entry_gains", "threads")}

SEARCH_MODULES = [name for name in modules() if part(name) == "search"]


@pytest.mark.parametrize("name", SEARCH_MODULES)
def test_a_search_touches_nothing_below_the_scorer(name):
    """It imports no statistics, no formula, and reaches for none through the scorer."""
    tree = ast.parse(modules()[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("bayescout.statistics"):
            names = {alias.name for alias in node.names}
            assert names <= FROM_STATISTICS.get(node.module, set()), node.module
        if isinstance(node, ast.ImportFrom) and node.module.startswith("bayescout.scores"):
            assert node.module in FROM_SCORES, node.module
        if isinstance(node, ast.Attribute):
            assert node.attr not in ("statistics", "_cache"), f"{name}: .{node.attr}"
        if isinstance(node, ast.Name):
            assert node.id not in ("Counts", "Covariance", "TableScorer", "CustomScorer"), node.id
