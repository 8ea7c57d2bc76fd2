"""A score of your own, without touching the package: learn with it, and ask what an arc is worth."""

from __future__ import annotations

from dataclasses import dataclass

import bayescout as bs
from bayescout.arrays import Floats
from bayescout.scores import Formula
from bayescout.statistics.families import FamilyTables


@dataclass(frozen=True)
class Charged(Formula):
    """Log-likelihood less a fixed charge per parent configuration, in nats; larger is better."""

    charge: float = 6.0

    def evaluate(self, families: FamilyTables) -> Floats:
        return families.log_likelihoods() - self.charge * families.configurations


def main() -> None:
    truth = bs.load_network("asia")
    data = truth.sample(5_000, seed=1)
    for score in (Charged(), Charged(charge=12.0), "bic"):
        result = bs.learn(data, "tabu", score)
        found = bs.compare(result, truth)
        print(f"{result.settings.score:<22} {result.dag.n_arcs} arcs, distance of classes {found.shd_cpdag}")
    result = bs.learn(data, "tabu", Charged())
    print(result.explain("smoke", "lung"))


if __name__ == "__main__":
    main()
