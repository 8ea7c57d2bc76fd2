"""Build the wheel, install it where nothing else is, and use it as a stranger would.

    python scripts/check_wheel.py              # in a temporary folder, about three minutes
    python scripts/check_wheel.py --keep DIR   # leave the environment and the files there

A script and not a test: it needs the package index (or pip's cache), and tests need nothing from outside.
Checked: the wheel holds its types and names the licences of what it ships; with the core dependencies alone
the README's Python and commands work, and a missing extra says the line that installs it; a small program
of a user's passes `mypy --strict`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"

PROGRAM = '''"""A user's program."""

from __future__ import annotations

import bayescout as bs


def strongest(path: str, runs: int = 3) -> list[tuple[object, object]]:
    """The arcs of a table's network that most resamples have."""
    table: bs.Table = bs.read_table(path)
    result: bs.Result = bs.learn(table, search="hill-climb", score="bdeu", knowledge={"max_parents": 2})
    model: bs.Network = result.fit()
    chances = model.predict_proba(table, model.nodes[0])
    shares: float = float(chances.max())
    svg: str = result.dag.to_svg()
    distance: int = bs.compare(result.dag, model.dag).shd
    known = bs.Knowledge(required=["smoke->lung"], forbidden=[("xray", "lung")], tiers=[["smoke"], ["dysp"]])
    search, score = bs.search.Tabu(length=5), bs.scores.BDeu(ess=3.0)
    again: bs.Result = bs.learn(table, search, score, known, max_time=5.0)
    agreed: bs.Dag = bs.bootstrap(table, runs=runs, search="hill-climb", score="bic").averaged()
    chance: float = model.query("lung | smoke=yes")["yes"]
    filled: bs.Table = model.impute(table)
    print(len(svg), distance, round(shares, 3), again.score, chance, filled.n_rows)
    print(bs.effect(again.dag, table, "smoke", "lung").difference("yes", "no"))
    return list(agreed.arcs())


print(strongest("asia.csv"))
'''

EXTRAS = (
    ("bs.load_network('asia').plot()", "plot"),
    ("import bayescout.sklearn", "sklearn"),
    ("bs.load_network('asia').dag.to_networkx()", "networkx"),
    ("bs.load_network('asia').sample(5).to_pandas()", "pandas"),
    ("bs.learn(bs.load_network('asia').sample(50), 'hill-climb', 'bic').open()", "serve"),
)
"""Code that needs more than the core, and the extra that its error has to name."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a new folder for the environment and all files")
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="bayescout-wheel-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        check(folder.resolve())
    finally:
        if given.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def check(folder: Path) -> None:
    wheel = step("build", lambda: built(folder / "dist"))
    step("content", lambda: check_content(wheel))
    python = step("install with core dependencies", lambda: installed(folder / "core", wheel, []))
    work = folder / "work"
    work.mkdir()
    iris = (ROOT / "tests/datasets/data/iris.csv").read_text(encoding="utf-8")
    (work / "iris.csv").write_text(iris.replace("target", "species", 1), encoding="utf-8")
    step("README, Python", lambda: run([python, "-c", readme_python()], work))
    step("README, commands", lambda: [run(line, work, python) for line in readme_commands()])
    step("extras that are missing", lambda: [check_extra(python, work, *pair) for pair in EXTRAS])
    typed = step("install mypy", lambda: installed(folder / "typed", wheel, ["mypy"]))
    (work / "program.py").write_text(PROGRAM, encoding="utf-8")
    step("mypy --strict", lambda: run([typed, "-m", "mypy", "--strict", "program.py"], work))
    run("bayescout sample asia -n 500 --seed 1 -o asia.csv", work, python)
    step("the program runs", lambda: run([python, "program.py"], work))


def step(name, do):
    begin = time.perf_counter()
    print(f"{name} ...", end=" ", flush=True)
    found = do()
    print(f"{time.perf_counter() - begin:.0f} s", flush=True)
    return found


def built(folder: Path) -> Path:
    run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        ROOT,
    )
    (wheel,) = folder.glob("bayescout-*.whl")
    return wheel


def check_content(wheel: Path) -> None:
    """The types, the networks, the pages' files, and the licences are in the wheel; tests are not."""
    with zipfile.ZipFile(wheel) as content:
        names = content.namelist()
        metadata = content.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
    for needed in (
        "py.typed",
        "network/library/alarm.bif.gz",
        "network/library/LICENSE.md",
        "report/page.py",
    ):
        expect(f"bayescout/{needed}" in names, f"{needed} is not in the wheel")
    expect(any(n.endswith("licenses/LICENSE") for n in names), "the licence is not in the wheel")
    expect("License-Expression: BSD-3-Clause AND CC-BY-SA-3.0" in metadata, "the licences are not named")
    strange = [n for n in names if not n.startswith("bayescout")]
    expect(not strange, f"not of the package: {strange[:5]}")


def installed(folder: Path, wheel: Path, more: list[str]) -> str:
    """The Python of a new environment with the wheel, its core dependencies, and `more`."""
    run([sys.executable, "-m", "venv", str(folder)], ROOT)
    python = str(folder / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", constraints]
    run([*pip, str(wheel), *more], ROOT)
    return python


def readme_python() -> str:
    """The fenced code of the README, and what it says about raw tables, with a few rows to predict."""
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    begun = text.index("## From a raw table to predictions")
    raw = text[begun : text.index("or on the command line", begun)]
    lines = [line[4:] for line in raw.splitlines() if line.startswith("    ")]
    rows = (
        "from pathlib import Path\n"
        "Path('new.csv').write_text('\\n'.join(Path('iris.csv').read_text().split('\\n')[:9]) + '\\n')"
    )
    return "\n".join([*blocks, rows, *lines])


def readme_commands() -> list[str]:
    """The commands of the README, but for the study, which takes minutes, and the page, which has no end."""
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"^    (bayescout .*)$", text, flags=re.MULTILINE)
    expect(len(found) > 10, "the README's commands were not found")
    quick = {"--runs 100": "--runs 5", "--folds 10": "--folds 3"}
    lines = [line for line in found if not re.search(" (experiment|serve) ", line)]
    for long, short in quick.items():
        lines = [line.replace(long, short) for line in lines]
    order = sorted(lines, key=lambda line: "iris.csv" in line or "model.json" in line)
    return [
        *order,
        "bayescout",
        "bayescout --help",
        "bayescout searches",
        "bayescout scores",
        "bayescout networks",
    ]


def check_extra(python: str, work: Path, code: str, extra: str) -> None:
    done = subprocess.run(
        [python, "-c", f"import bayescout as bs\n{code}"],
        cwd=work, capture_output=True, text=True, env=bare(python), check=False,
    )  # fmt: skip
    expect(
        f"bayescout[{extra}]" in done.stderr,
        f"{code}: the error does not name the extra {extra}: {done.stderr[-300:]}",
    )


def run(command: list[str] | str, folder: Path, python: str | None = None) -> str:
    """The output of a command, which has to end well."""
    done = subprocess.run(
        command, shell=isinstance(command, str), cwd=folder, capture_output=True, text=True,
        env=bare(python) if python else bare(sys.executable), check=False,
    )  # fmt: skip
    shown = command if isinstance(command, str) else " ".join(command)[:200]
    expect(
        done.returncode == 0, f"{shown}: exit {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
    )
    return done.stdout


def bare(python: str) -> dict[str, str]:
    """The environment of a process, without paths to this checkout."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"PATH": f"{Path(python).parent}{os.pathsep}{kept.get('PATH', '')}"}


def expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"\n{what}")


if __name__ == "__main__":
    main()
