"""Run the code of the documentation's pages, and compare what it prints with what the pages show.

    python scripts/docs_snippets.py --check            # say where a page differs from what its code prints
    python scripts/docs_snippets.py --write            # put what the code prints into the pages
    python scripts/docs_snippets.py --check docs/tutorial.md

A ```python block is run; a ```text block that follows it directly holds its output: what it printed, the
warnings it gave, and the value of its last expression, unless a notebook draws that. The blocks of a page
share their names. A ```console block holds commands after `$ ` and, below each, its output. Other blocks
are not run. In an output `...` stands for any text within a line, and alone on a line for any lines. Times
are written as `... s`.

Each page runs in a folder of its own, with copies of the csv files of docs/data. A picture that the page
shows as `images/x.svg` and its code saves as `x.svg` is compared with the one in the folder `images` beside
the page, or written there.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOT_RUN = ("decisions", "studies")
COLUMNS = 96
PROCESSES = 2

FENCE = re.compile(r"^```(\w*)[^\n`]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
FIRST_USE = re.compile(r"^bayescout: compiling its kernels[^\n]*\n", re.MULTILINE)
TIMES = re.compile(r"\b\d[\d,.]*( ?(?:ms|s|seconds|minutes))\b(?!/)")
SECONDS = re.compile(r"^( *seconds +)\d[\d,.]*$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and where the text stands."""

    language: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Snippet:
    """Code with the output that the page shows; `shown` is None where it shows none.

    place  of the output's text in the page; where there is none, the end of the code's block
    """

    language: str
    code: str
    shown: str | None
    place: tuple[int, int]


@dataclass(frozen=True)
class Difference:
    page: Path
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.what}"


def blocks(page: str) -> list[Block]:
    return [Block(found[1], found[2], found.start(2), found.end(2)) for found in FENCE.finditer(page)]


def snippets(page: str) -> Iterator[Snippet]:
    """The code of a page that is run, in order, each with the output shown."""
    found = blocks(page)
    for i, block in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else None
        if block.language == "python":
            end = block.end + len("```\n")
            between = page[end : after.start - len("```text\n")] if after else ""
            if after and after.language == "text" and not between.strip():
                yield Snippet("python", block.text, after.text, (after.start, after.end))
            else:
                yield Snippet("python", block.text, None, (end, end))
        elif block.language == "console":
            yield Snippet("console", commands(block.text), block.text, (block.start, block.end))


def commands(text: str) -> str:
    """The lines of a console block that are commands, with those that continue them."""
    kept, goes_on = [], False
    for line in text.splitlines():
        if goes_on or line.startswith("$ "):
            kept.append(line)
        goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\")
    return "\n".join(kept)


# ---- running


def run_python(code: str, names: dict[str, Any]) -> str:
    """What a block prints: its output, its warnings, and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        out.write(f"{category.__name__}: {message}\n")

    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show  # type: ignore[assignment]
        exec(compile(tree, "<page>", "exec", dont_inherit=True), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval", dont_inherit=True), names)
            if value is not None and not hasattr(value, "_repr_svg_"):  # a notebook draws that one
                out.write(f"{value!r}\n")
    return tidy(out.getvalue())


def run_console(code: str, folder: Path) -> str:
    """The commands, each followed by what it printed on either stream."""
    beside = Path(sys.executable).parent
    environment = {
        **os.environ,
        "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    parts = []
    for command in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        parts.append(f"$ {command.rstrip()}\n{FIRST_USE.sub('', done.stdout)}")
        if done.returncode:
            raise RuntimeError(f"`{command.strip()}` ended with {done.returncode}: {done.stdout}")
    return tidy("".join(parts))


def tidy(output: str) -> str:
    """Output as a page holds it: no spaces at the ends of lines, no empty lines at its end."""
    lines = [line.rstrip() for line in output.splitlines()]
    return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""


# ---- comparing


def matches(shown: str, output: str) -> bool:
    """True if an output is what the page shows, in which `...` stands for anything."""
    lines = [_pattern(line) for line in tidy(shown).splitlines()]
    return re.fullmatch("".join(lines), output) is not None


def _pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:[^\n]*\n)*?"
    *before, last = line.split("...")
    return "".join(f"{_aligned(part)}[^\n]*" for part in before) + re.escape(last) + "\n"


def _aligned(part: str) -> str:
    """What stands before `...`: several blanks put it at the right of a column, and may be fewer."""
    return re.escape(part.rstrip()) + " +" if part.endswith("  ") else re.escape(part)


def as_written(output: str) -> str:
    """The output with its times left out, as it is written into a page."""
    return SECONDS.sub(r"\1...", TIMES.sub(r"...\1", output))


def revised(page: str, outputs: list[tuple[Snippet, str]]) -> str:
    """The page with the outputs of its snippets put in where what it shows differs."""
    for snippet, output in reversed(outputs):
        if snippet.shown is not None and matches(snippet.shown, output):
            continue
        text = as_written(output)
        if snippet.shown is None:
            text = f"\n```text\n{text}```\n" if output else ""
        start, end = snippet.place
        page = page[:start] + text + page[end:]
    return page


def differences(path: Path, page: str, outputs: list[tuple[Snippet, str]]) -> Iterator[Difference]:
    for snippet, output in outputs:
        shown = snippet.shown or ""
        if not matches(shown, output):
            lines = difflib.unified_diff(
                shown.splitlines(), as_written(output).splitlines(), "the page", "the code", lineterm="", n=1
            )
            line = page.count("\n", 0, snippet.place[0]) + 1
            yield Difference(path, line, "the code prints something else\n" + "\n".join(lines))


# ---- pages


def outputs_of(path: Path, page: str, folder: Path) -> list[tuple[Snippet, str]]:
    """Run the code of a page in a folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    with contextlib.chdir(folder):
        for snippet in snippets(page):
            try:
                if snippet.language == "python":
                    output = run_python(snippet.code, names)
                else:
                    output = run_console(snippet.code, folder)
            except Exception as error:
                line = page.count("\n", 0, snippet.place[0]) + 1
                error.add_note(f"in the code that ends at {path}:{line}")
                raise
            found.append((snippet, output))
    return found


def pictures(path: Path, page: str, folder: Path, write: bool) -> Iterator[Difference]:
    """Copy the pictures that a page's code made to the folder beside it, or say which differ."""
    for made in sorted(folder.glob("*.svg")):
        kept = path.parent / "images" / made.name
        if f"(images/{made.name})" not in page:
            continue
        if write:
            kept.parent.mkdir(exist_ok=True)
            shutil.copy(made, kept)
        elif not kept.exists() or kept.read_bytes() != made.read_bytes():
            yield Difference(path, 1, f"its code draws another images/{made.name}")


def visit(path: Path, write: bool) -> list[Difference]:
    """Run a page; write it anew, or say where it differs."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for data in sorted(DOCS.glob("data/*.csv")):
            shutil.copy(data, folder)
        outputs = outputs_of(path, page, folder)
        outputs = [(snippet, output.replace(f"{folder}/", "")) for snippet, output in outputs]
        found = list(pictures(path, page, folder, write))
    if write:
        path.write_text(revised(page, outputs), encoding="utf-8")
        return found
    return [*found, *differences(path, page, outputs)]


def pages() -> list[Path]:
    """The pages with code to run, in order."""
    files = sorted(DOCS.rglob("*.md"))
    files = [path for path in files if path.relative_to(DOCS).parts[0] not in NOT_RUN]
    return [path for path in files if any(snippets(path.read_text(encoding="utf-8")))]


def _told(path: Path, write: bool) -> tuple[Path, float, list[Difference]]:
    """Visit one page: its name, the seconds it took, and its differences."""
    start = time.perf_counter()
    short = path.relative_to(ROOT)
    try:
        found = [replace(one, page=short) for one in visit(path, write)]
    except Exception as error:  # the other pages are run all the same
        where = " ".join(getattr(error, "__notes__", []))
        found = [Difference(short, 1, f"{type(error).__name__}: {error}; {where}")]
    return short, time.perf_counter() - start, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="compare")
    mode.add_argument("--write", action="store_true", help="put the outputs into the pages")
    parser.add_argument("pages", nargs="*", type=Path, help="by default all")
    chosen = parser.parse_args()
    os.environ["COLUMNS"] = str(COLUMNS)
    found: list[Difference] = []
    begin = time.perf_counter()
    every = [path.resolve() for path in chosen.pages] or pages()
    every.sort(key=lambda path: (-len(path.read_text(encoding="utf-8")), path))  # long ones first
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as workers:
        for short, seconds, differences in workers.map(partial(_told, write=chosen.write), every):
            found += differences
            print(f"{seconds:6.1f} s  {short}", flush=True)
    used = os.times()
    processor = used.user + used.system + used.children_user + used.children_system
    print(f"{time.perf_counter() - begin:6.1f} s  in all, {processor:.1f} s of processor time")
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
