"""A result as a widget of a notebook: the same page as a report's, in a cell."""

from __future__ import annotations

import re
from typing import Any

from bayescout.errors import MissingExtraError, SettingError
from bayescout.evaluate.json_values import json_value
from bayescout.report.modules import joined
from bayescout.report.neighbourhoods import MOST_DRAWN
from bayescout.report.page import page_data, subject_of, tiles
from bayescout.report.parameters import fitted
from bayescout.report.render import resource
from bayescout.report.views import as_reference
from bayescout.result import Result

HEIGHT = 620
"""The height of the widget in pixels, if none is asked for."""

_WITHIN = ".in-notebook { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }"


def result_widget(result: Result, truth: Any = None, height: int = HEIGHT) -> Any:
    """The widget; it takes no part of the notebook's style and gives none to it."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtraError("anywidget", "notebook") from None

    class ResultWidget(anywidget.AnyWidget):
        """A learned network to look at and to ask."""

        _esm = f"{joined('widget.js')}\nexport default {{ render: showWidget }};\n"
        data = traitlets.Dict().tag(sync=True)
        tiles: Any = traitlets.List().tag(sync=True)
        style = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)

    if len(result.dag) > MOST_DRAWN:
        raise SettingError(
            f"a cell of a notebook is no place for {len(result.dag):,} variables: result.report(path) writes "
            f"a page that shows the neighbourhood of one at a time"
        )
    network, _ = fitted(result, None)
    subject = subject_of(result, None if truth is None else as_reference(truth, result.dag))
    return ResultWidget(
        data=json_value(page_data(subject, network)),
        tiles=[list(one) for one in tiles(subject)],
        style=style(),
        height=height,
    )


def style() -> str:
    """The page's style for a tree of its own, whose root is the widget's element."""
    text = str(resource(["style.css", "workbench.css", "report.css"]))
    text = re.sub(r":root((?::not\()?\[data-theme=\"[a-z]+\"\]\)?)", r":host(\1)", text)
    text = text.replace(":root {", ":host {").replace("\nbody {", "\n.host {")
    return text + _WITHIN
