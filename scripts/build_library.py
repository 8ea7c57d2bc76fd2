"""Rewrite benchmark networks as the package ships them.

    python scripts/build_library.py SOURCE

reads every *.bif.gz and *.json.gz of the folder SOURCE, writes them with the package's own
writer into src/bayescout/network/library, and the index of their figures beside them. The
same sources give the same bytes.
"""

from __future__ import annotations

import sys
from dataclasses import astuple, fields
from pathlib import Path

from bayescout.data.files import atomic_write
from bayescout.formats.library import INDEX, NetworkInfo, describe
from bayescout.formats.registry import read_network, write_network
from bayescout.network import Network

LIBRARY = Path(__file__).parent.parent / "src" / "bayescout" / "network" / "library"
SOURCE = "Bayesian Network Repository (bnlearn.com/bnrepository), CC BY-SA 3.0"


def main(folder: Path) -> None:
    found = []
    for path in sorted(folder.glob("*.gz")):
        name = path.name.split(".")[0]
        read = read_network(path)
        network = Network(read.dag, read.distributions, name)
        found.append(describe(network, name, SOURCE))
        write_network(network, LIBRARY / path.name)
    header = "\t".join(field.name for field in fields(NetworkInfo))
    lines = ["\t".join("" if item is None else str(item) for item in astuple(info)) for info in found]
    with atomic_write(LIBRARY / INDEX, text=True) as stream:
        stream.write("\n".join([header, *lines]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
