"""How near to the true network does learning come, with nothing chosen, beside the best published figures?

    python benchmarks/quality.py [--only TEXT] [--rows 1000,10000] [--seeds 5] [--setting TEXT ...]

Each case samples a shipped network and learns it from the sample. The distance is the structural Hamming
distance between equivalence classes, the mean over the samples; `published` is the least of 13 methods on
one sample each (so that chance makes it look better than it is). A setting is `search/score/prior`, any of
them empty for the default, such as `ges/bdeu/sparse`; several are printed beside one another. `behind` is
the mean of how far, in nats, each score lies below the best that any of the settings with the same score and
prior found on the same sample.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import bayescout as bs

PUBLISHED = {
    "asia": (1, 0),
    "sachs": (4, 0),
    "child": (5, 0),
    "insurance": (27, 14),
    "water": (47, 34),
    "mildew": (35, 24),
    "alarm": (10, 2),
    "barley": (62, 35),
    "hailfinder": (32, 38),
    "hepar2": (89, 52),
    "win95pts": (57, 18),
}
"""The least distance of 13 methods at 1,000 and at 10,000 rows."""


def options_of(text):
    """The arguments of `learn` that a setting names."""
    values = dict(zip(("search", "score", "prior"), text.split("/"), strict=False))
    return {name: value for name, value in values.items() if value}


def measured(network, rows, seeds, settings):
    """By setting: distances, scores and seconds, one per sample."""
    found = {text: [] for text in settings}
    for seed in range(1, seeds + 1):
        table = network.sample(rows, seed=seed)
        for text in settings:
            begin = time.perf_counter()
            result = bs.learn(table, **options_of(text))
            seconds = time.perf_counter() - begin
            found[text].append((bs.compare(result.dag, network.dag).shd_cpdag, result.score, seconds))
    return {text: np.array(values) for text, values in found.items()}


def behind(found, text):
    """How far the scores of a setting lie below the best under the same score and prior."""
    alike = [other for other in found if other.split("/")[1:] == text.split("/")[1:]]
    return np.max([found[other][:, 1] for other in alike], axis=0) - found[text][:, 1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", default="1000,10000")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--setting", action="append", default=[])
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    settings = wanted.setting or [""]
    for text in settings:  # compiled, and read into caches
        bs.learn(bs.load_network("asia").sample(200, seed=1), **options_of(text))
    reached, cases = dict.fromkeys(settings, 0), 0
    print(
        f"{'case':<20}{'published':>10}  {'setting':<28}{'distance':>9}{'behind':>9}{'seconds':>9}{'most':>8}"
    )
    for name in PUBLISHED:
        network = bs.load_network(name)
        for rows in map(int, wanted.rows.split(",")):
            case = f"{name} {rows}"
            if not all(word in case for word in wanted.only.split()):
                continue
            cases += 1
            best = PUBLISHED[name][0 if rows < 10_000 else 1]
            found = measured(network, rows, wanted.seeds, settings)
            for text, values in found.items():
                distance, _, seconds = values.mean(axis=0)
                reached[text] += distance <= best
                print(
                    f"{case:<20}{best:>10}  {text or 'default':<28}{distance:>9.1f}"
                    f"{behind(found, text).mean():>9.2f}{seconds:>9.2f}{values[:, 2].max():>8.2f}",
                    flush=True,
                )
    for text, count in reached.items():
        print(f"{text or 'default'}: at or below the published distance in {count} of {cases}")


if __name__ == "__main__":
    main()
