"""The checker of the documentation's code finds what differs, and writes what matches."""

from __future__ import annotations

import runpy

import pytest

from scripts.docs_snippets import DOCS, as_written, commands, matches, outputs_of, revised, snippets, visit

PAGE = """# A page

```python
import warnings
x = 20
warnings.warn("watch out", stacklevel=2)
x + 1
```

```text
UserWarning: watch out
21
```

Names last from block to block.

```python
print("it took", x / 10, "s")
```

```text
it took ... s
```

```python
y = None
y
```

```console
$ echo "one" \\
    two
one two
$ echo three
three
```

```sh
not run
```
"""


def test_a_page_that_is_right_has_no_differences(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert visit(page, write=False) == []
    assert visit(page, write=True) == []
    assert page.read_text() == PAGE


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("21\n```", "22\n```", 11),
        ("UserWarning: watch out\n", "", 11),
        ("one two\n", "one\n", 31),
        ("\nthree\n", "\n", 31),
        ("it took ... s", "it took ... minutes", 22),
    ],
)
def test_what_differs_is_found_and_put_right(tmp_path, right, wrong, line):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace(right, wrong))
    (found,) = visit(page, write=False)
    assert (found.page, found.line) == (page, line)
    visit(page, write=True)
    assert page.read_text() == PAGE


def test_an_output_that_is_not_shown_is_a_difference_and_is_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\nText.\n")
    assert len(visit(page, write=False)) == 1
    visit(page, write=True)
    assert page.read_text() == "```python\nprint(1)\n```\n\n```text\n1\n```\n\nText.\n"


def test_code_that_fails_says_where(tmp_path):
    page = "# A page\n\n```python\n1 / 0\n```\n"
    with pytest.raises(ZeroDivisionError) as caught:
        outputs_of(tmp_path / "page.md", page, tmp_path)
    assert "page.md:6" in caught.value.__notes__[0]


def test_a_command_that_fails_is_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="ended with 3"):
        outputs_of(tmp_path / "page.md", "```console\n$ exit 3\n```\n", tmp_path)


def test_the_note_on_first_use_is_left_out(tmp_path):
    page = '```console\n$ echo "bayescout: compiling its kernels (5 s)"; echo one\none\n```\n'
    ((snippet, output),) = outputs_of(tmp_path / "page.md", page, tmp_path)
    assert output == snippet.shown == page.split("```")[1].removeprefix("console\n")


def test_pictures_are_compared_with_those_beside_the_page(tmp_path):
    page = tmp_path / "page.md"
    code = 'from pathlib import Path\nn = Path("a.svg").write_text("<svg/>")\n'
    page.write_text(f"```python\n{code}```\n![](images/a.svg)\n")
    (found,) = visit(page, write=False)
    assert "images/a.svg" in found.what
    visit(page, write=True)
    assert (tmp_path / "images" / "a.svg").read_text() == "<svg/>"
    assert visit(page, write=False) == []


def test_wildcards():
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... c\n", "a b\nc\n")
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n...\nb\n", "a\nb\n")
    assert not matches("a.b\n", "axb\n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("", "a\n")
    assert matches(" seconds    ...\n", " seconds  10.25\n")
    assert matches(" seconds    ...\n", " seconds     2.5\n")
    assert not matches(" seconds    ...\n", " seconds2.5\n")


def test_times_are_left_out():
    assert as_written("in 0.06 s, 1,200 ms, 3 seconds; 5 states, 10 s/row\n seconds   1.1\n") == (
        "in ... s, ... ms, ... seconds; 5 states, 10 s/row\n seconds   ...\n"
    )


def test_only_python_and_console_are_run():
    assert [snippet.language for snippet in snippets(PAGE)] == ["python"] * 3 + ["console"]
    assert commands("$ a \\\n b\nout\n$ c\n") == "$ a \\\n b\n$ c"
    assert revised(PAGE, []) == PAGE
    assert list(snippets("# A page without code\n")) == []


def test_the_code_of_a_page_is_its_own(tmp_path):
    """Annotations are evaluated as where the page's reader runs it, whatever this checker imports."""
    page = "```python\nclass A:\n    x: int = 1\nA.__annotations__['x'] is int\n```\n"
    ((_, output),) = outputs_of(tmp_path / "page.md", page, tmp_path)
    assert output == "True\n"


def test_the_table_of_the_tutorial_is_what_its_script_makes():
    made = runpy.run_path(str(DOCS / "data" / "make_clinic.py"))["clinic"]()
    assert made.write_csv() == (DOCS / "data" / "clinic.csv").read_text()
