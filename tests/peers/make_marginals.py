"""Write marginals.json: exact marginals of alarm by pyAgrum; run by hand in the peers' environment.

.peers/bin/python tests/peers/make_marginals.py alarm.bif
"""

import json
import sys
from pathlib import Path

import pyagrum

EVIDENCE = (
    {},
    {"BP": "LOW", "HR": "HIGH"},
    {"PRESS": "HIGH", "EXPCO2": "LOW", "SAO2": "LOW", "CVP": "NORMAL"},
)


def marginals(network, evidence):
    inference = pyagrum.LazyPropagation(network)
    inference.setEvidence(evidence)
    inference.makeInference()
    found = {}
    for node in network.names():
        states = network.variable(node).labels()
        found[node] = dict(zip(states, inference.posterior(node).tolist(), strict=True))
    return found


def main(path):
    network = pyagrum.loadBN(path)
    answers = [{"evidence": evidence, "marginals": marginals(network, evidence)} for evidence in EVIDENCE]
    document = {"pyagrum": pyagrum.__version__, "network": "alarm", "answers": answers}
    Path(__file__).with_name("marginals.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
