"""Write posteriors.json: posteriors in shipped networks by pyAgrum; run by hand in the peers' environment.

.peers/bin/python tests/peers/make_posteriors.py FOLDER-OF-BIF-FILES

For each network, without evidence and with five observations of one drawn row: posteriors of a dozen nodes.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pyagrum

OBSERVED = 5
SHOWN = 12


def drawn(network, rng):
    """A row of codes, each node drawn given its parents."""
    row = {}
    for node in network.topologicalOrder():
        table = network.cpt(node)
        given = {network.variable(p).name(): row[network.variable(p).name()] for p in network.parents(node)}
        shares = np.asarray(table[given] if given else table.toarray(), dtype=float).ravel()
        row[network.variable(node).name()] = int(rng.choice(len(shares), p=shares / shares.sum()))
    return row


def posteriors(network, evidence, shown):
    inference = pyagrum.LazyPropagation(network)
    inference.setEvidence(evidence)
    inference.makeInference()
    return {node: [round(p, 12) for p in inference.posterior(node).tolist()] for node in shown}


def answers(network):
    rng = np.random.default_rng(0)
    names = sorted(network.names())
    row = drawn(network, rng)
    chosen = sorted(rng.permutation(len(names))[:OBSERVED].tolist())
    evidence = {names[i]: network.variable(names[i]).label(row[names[i]]) for i in chosen}
    others = [name for name in names if name not in evidence]
    shown = others[:: max(1, len(others) // SHOWN)][:SHOWN]
    return [{"evidence": e, "posteriors": posteriors(network, e, shown)} for e in ({}, evidence)]


def main(folder):
    target = Path(__file__).with_name("posteriors.json")
    found = (
        json.loads(target.read_text())
        if target.exists()
        else {"pyagrum": pyagrum.__version__, "networks": {}}
    )
    for path in sorted(Path(folder).glob("*.bif"), key=lambda path: path.stat().st_size):
        if path.stem not in found["networks"]:
            try:
                network = pyagrum.loadBN(str(path))
            except pyagrum.FatalError:  # a file that pyAgrum cannot read
                continue
            found["networks"][path.stem] = answers(network)
            lines = [
                f" {json.dumps(name)}: {json.dumps(own)}" for name, own in sorted(found["networks"].items())
            ]
            text = (
                f'{{"pyagrum": {json.dumps(found["pyagrum"])}, "networks": {{\n'
                + ",\n".join(lines)
                + "\n}}\n"
            )
            target.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
