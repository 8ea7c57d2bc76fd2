"""Time pyAgrum at all posteriors; run by inference.py in the peers' environment.

Arguments: a BIF file, evidence as JSON. Prints JSON: CPU seconds without and with evidence, and MiB taken.
"""

import json
import resource
import sys
import time

import pyagrum


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(path, evidence):
    network = pyagrum.loadBN(path)
    before, times = peak(), []
    for given in ({}, json.loads(evidence)):
        begin = time.process_time()
        inference = pyagrum.LazyPropagation(network)
        inference.setEvidence(given)
        inference.makeInference()
        for node in network.nodes():
            inference.posterior(node)
        times.append(time.process_time() - begin)
    print(json.dumps([*times, peak() - before]))


if __name__ == "__main__":
    main(*sys.argv[1:])
