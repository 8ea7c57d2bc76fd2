"""Imports go one way; numba stays in its folder; importing the package is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "bayescout"
LAYERS = [
    {"errors", "spelling"},
    {"checks"},
    {"kernels"},
    {"data", "graph"},
    {"statistics"},
    {"scores"},
    {"network", "formats"},
    {"search"},
    {"explain"},
    {"result", "result_document"},
    {"learn"},
    {"exact"},
    {"evaluate"},
    {"experiments"},
    {"plots", "report"},
    {"cli"},
    {"__main__"},
]
REACHING_UP = {
    *(
        (module, f"bayescout.{name}")
        for module in ("graph.dag", "graph.pdag", "network.discrete", "network.gaussian", "result")
        for name in ("plots.figures", "report.notebook")
    ),
    ("result", "bayescout.report.page"),
}
"""The few conveniences that reach up from inside a method, as (module, imported module)."""


def level(part):
    return next(i for i, layer in enumerate(LAYERS) if part in layer)


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for name in imported(path):
        if name.startswith("bayescout."):
            there = name.split(".")[1]
            allowed = (".".join(path.relative_to(PACKAGE).with_suffix("").parts), name) in REACHING_UP
            assert allowed or level(there) <= level(here), f"{path.name} imports {name}"
        if name.split(".")[0] in ("numba", "llvmlite"):
            assert here == "kernels", f"{path.name} imports {name}"


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


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


def test_every_public_name_is_there():
    import bayescout

    for name in bayescout.__all__:
        assert getattr(bayescout, name) is not None
    assert set(bayescout.__all__) <= set(dir(bayescout))
    with pytest.raises(AttributeError, match="no attribute 'lern'"):
        _ = bayescout.lern
