"""Colours of the pages: what differs in meaning looks different, to colour-blind readers too, and is seen."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations

import pytest

from bayescout.plots.palette import mixed
from bayescout.report.render import resource
from tests.reference.vision import VISION, contrast, distance

FILES = files("bayescout.report") / "files"

MEANING = ("ink", "arc", "blue", "vermillion", "green", "purple")
"""Colours that stand beside one another and mean different things."""

GROUNDS = ("paper", "sheet", "wash", "node")
TEXT = {"ink", "quiet", "blue", "vermillion", "green", "purple"}
DECORATION = {"line"}
"""Frames and axes: nothing is lost with them."""

APART, READABLE, SEEN = 20.0, 4.5, 3.0
PUT_ASIDE = re.compile(r"faint|away|dim|disabled|@keyframes|50%")
"""What is pale because it is not what a person looks at, or is in motion."""

FILE = "painter-canvas.js"
KINDS = {"required": ".known", "forbidden": ".known.forbidden", "belief": ".known.belief"}
KINDS |= {kind: f".arc.{kind}" for kind in ("extra", "missing", "reversed")}
STATES = ("parent", "child", "observed", "done", "ruled")


def blocks():
    return re.findall(r"color-scheme: (light|dark);(.*?)\}", resource(["style.css"]), flags=re.DOTALL)


THEMES = {name: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for name, block in blocks()}


def rules():
    """(selector, {property: value}) of every rule of every style file."""
    names = sorted(path.name for path in FILES.iterdir() if path.name.endswith(".css"))
    text = re.sub(r"/\*.*?\*/", "", resource(names), flags=re.DOTALL)
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", text):
        parts = [one.partition(":") for one in body.split(";") if ":" in one]
        yield selector.strip(), {name.strip(): value.strip() for name, _, value in parts}


def named(value):
    """The colour that a value of a style names."""
    found = re.search(r"var\(--([a-z-]+)\)", value or "")
    return found and found[1]


def style(selector, name):
    return next(found[name] for wanted, found in rules() if wanted == selector and name in found)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISION)
def test_what_means_different_things_looks_different(theme, vision):
    colours = THEMES[theme]
    for one, two in combinations(MEANING, 2):
        assert distance(colours[one], colours[two], vision) >= APART, (one, two)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_and_marks_are_seen(theme):
    colours = THEMES[theme]
    for ground in GROUNDS:
        for name in TEXT | {"arc", "node-line"}:
            least = READABLE if name in TEXT else SEEN
            assert contrast(colours[name], colours[ground]) >= least, (name, ground)
    assert contrast(colours["paper"], colours["blue"]) >= READABLE  # of buttons
    deepest = mixed(colours["paper"], colours["blue"], 0.55)  # of a table of counts
    assert contrast(colours["ink"], deepest) >= READABLE


@pytest.mark.parametrize("theme", THEMES)
def test_no_style_uses_another_colour_or_makes_one_too_pale(theme):
    colours, looked_at = THEMES[theme], 0
    for selector, found in rules():
        if PUT_ASIDE.search(selector):
            continue
        if (text := named(found.get("color"))) is not None:
            assert text in TEXT | {"paper"}, selector
        opacity = float(found.get("opacity", 1)) * float(found.get("stroke-opacity", 1))
        drawn = named(found.get("stroke"))
        if drawn is None or drawn in DECORATION:
            continue
        pale = mixed(colours["paper"], colours[drawn], opacity)
        assert contrast(pale, colours["paper"]) >= SEEN, (selector, drawn, opacity)
        looked_at += 1
    assert looked_at > 25


def test_the_dark_colours_are_written_twice_alike():
    (light, _), (dark, one), (again, two) = blocks()
    assert (light, dark, again) == ("light", "dark", "dark")
    assert one.split() == two.split()
    for theme, block in blocks():
        shade = re.search(r"--shade: ([\d, ]+);", block)[1]
        assert "#" + "".join(f"{int(part):02x}" for part in shade.split(",")) == THEMES[theme]["blue"]


def looks(name):
    """{kind: (colour, dash)} of a table in the painter of large drawings."""
    table = re.search(rf"const {name} = \{{\n(.*?)\n\}};", (FILES / FILE).read_text(), flags=re.DOTALL)[1]
    found = re.findall(r'(\w+): \{ colour: "([a-z]+)",.*?dash: ["\[]([\d, ]*)["\]]', table)
    return {kind: (colour, re.findall(r"\d+", dash)) for kind, colour, dash in found}


def test_every_kind_has_a_second_sign_in_both_painters():
    """Dashes, or the width of a line; the same for a drawing of few variables and of many."""
    lines, boxes = looks("LOOKS"), looks("BOXES")
    assert (set(lines), set(boxes)) == (set(KINDS), set(STATES))
    for kind, (colour, dash) in lines.items():
        own = dict(next(found for selector, found in rules() if selector == f"{KINDS[kind]} .line"))
        assert (colour, dash) == (named(own["stroke"]), re.findall(r"\d+", own.get("stroke-dasharray", "")))
    for kind, (colour, dash) in boxes.items():
        own = dict(next(found for selector, found in rules() if selector == f".node.{kind} > rect"))
        assert (colour, dash) == (named(own["stroke"]), re.findall(r"\d+", own.get("stroke-dasharray", "")))
    signs = [dash for _, dash in lines.values() if dash] + [["solid, wide"], ["solid, wider"]]
    assert len({*map(tuple, signs)}) == len(lines)
    for group in (("parent", "child"), ("observed", "done", "ruled")):
        assert len({tuple(boxes[kind][1]) for kind in group}) == len(group)


def test_the_marks_of_the_list_are_dashed_as_the_lines_are():
    """Short and long dashes, in the list of what is known and in the drawing."""
    for kind, mark, words in (("belief", "beliefs", "dotted"), ("forbidden", "forbidden", "dashed")):
        first = int(looks("LOOKS")[kind][1][0])
        assert (first == 1) == (words == "dotted")
        assert words in style(f".mark.{mark}", "border-top")
