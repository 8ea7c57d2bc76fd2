"""Read which module of bayescout imports which; as a script, draw its packages to docs/import-graph.svg.

Modules are named from within the package: `graph.dag`, `plots` (its `__init__`), and `__init__` for
bayescout itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bayescout import Dag
from bayescout.plots import draw_graph, to_svg

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "bayescout"
LAYERS = (
    "errors", "wording", "display", "progress", "arrays", "checks", "settings", "kernels", "graph", "data",
    "plots", "statistics", "scores", "network", "formats", "search", "explain", "result_document",
    "result_settings", "result_top", "result_trace", "result", "completion", "evidence", "choosing", "wide",
    "task", "session", "learn", "optimality", "evaluate", "causal", "dynamic", "classify", "warming",
    "__init__", "experiments", "report", "serve", "cli", "sklearn", "__main__",
)  # fmt: skip
"""From the lowest: a module may import its own package and those before it."""


class Import(NamedTuple):
    """One module imports another: as it is loaded ("top"), inside a function ("lazy") or as a "type"."""

    source: str
    target: str
    kind: str


def part(module: str) -> str:
    """The package or top module that a module belongs to."""
    return module.split(".", maxsplit=1)[0]


@cache
def modules() -> dict[str, Path]:
    """The file of every module, by its name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Every import of a module of the package by another one."""
    found = (
        Import(source, target, kind)
        for source, path in modules().items()
        for name, kind in _statements(ast.parse(path.read_text(encoding="utf-8")), "top")
        for target in _loaded(name, source)
    )
    return tuple(dict.fromkeys(found))


def _statements(node: ast.AST, kind: str) -> Iterator[tuple[str, str]]:
    """The dotted names that a piece of code imports from bayescout, each with its kind."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, kind) for alias in child.names if part(alias.name) == "bayescout")
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: relative import"
            if part(child.module or "") == "bayescout":
                yield from ((f"{child.module}.{alias.name}", kind) for alias in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            yield from _statements(child, "type")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _statements(child, "lazy" if kind == "top" else kind)
        else:
            yield from _statements(child, kind)


def _loaded(name: str, source: str) -> Iterator[str]:
    """The modules that importing a dotted name loads, but for the packages that the importer is in.

    A name that bayescout itself offers is looked up where it comes from.
    """
    inner = name.removeprefix("bayescout").lstrip(".")
    if inner in _offered():
        inner = _offered()[inner]
    pieces = inner.split(".")
    known = [".".join(pieces[: k + 1]) for k in range(len(pieces))]
    found = [module for module in known if module in modules()] or ["__init__"]
    yield from (module for module in found if module != source and not source.startswith(f"{module}."))


@cache
def _offered() -> dict[str, str]:
    """The dotted names that bayescout's own `__init__` imports, by their last part; modules are left out."""
    code = ast.parse(modules()["__init__"].read_text(encoding="utf-8"))
    names = [name.removeprefix("bayescout.") for name, _ in _statements(code, "top")]
    return {name.split(".")[-1]: name for name in names if "." in name}


def packages() -> Dag:
    """The packages and top modules, importer above imported: only arcs that no longer path stands for.

    What only types need is left out, and so are the few conveniences that reach up.
    """
    place = {name: level for level, name in enumerate(LAYERS)}
    pairs = {(part(one.source), part(one.target)) for one in imports() if one.kind != "type"}
    whole = Dag.from_arcs([(a, b) for a, b in pairs if place[a] > place[b]], nodes=LAYERS[::-1])
    return Dag.from_arcs(
        [(a, b) for a, b in whole.arcs() if not any(whole.has_path(c, b) for c in whole.children_of(a))],
        whole.nodes,
    )


def main() -> None:
    drawing = to_svg(draw_graph(packages()))
    (ROOT / "docs" / "import-graph.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
