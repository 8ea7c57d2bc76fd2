"""Draw docs/images/terminal.svg: what the README shows of the terminal."""

import io
from pathlib import Path

from rich.console import Console

import bayescout as bs
from bayescout.cli.render import answer_grid, cpt_grids

COMMANDS = (
    ("bayescout show asia dysp", lambda network: cpt_grids(network, "dysp", 64)[0]),
    (
        'bayescout query asia "lung, tub | xray=yes, dysp=yes"',
        lambda network: answer_grid(
            network.query("lung, tub | xray=yes, dysp=yes"), "P(lung, tub | xray=yes, dysp=yes)"
        ),
    ),
)


def main() -> None:
    console = Console(record=True, width=64, file=io.StringIO(), highlight=False)
    network = bs.load_network("asia")
    for command, draw in COMMANDS:
        console.print(f"[green]$[/green] [bold]{command}[/bold]\n")
        console.print(draw(network))
    svg = console.export_svg(title="bayescout")
    # No fonts from elsewhere: the picture stands alone.
    start, end = (
        svg.index("@font-face"),
        svg.rindex("}", 0, svg.index(".terminal")) if ".terminal" in svg else 0,
    )
    Path("docs/images/terminal.svg").write_text(
        svg[:start] + svg[end + 1 :] if end > start else svg, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
