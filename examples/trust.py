"""How far to trust a learned network: unseen rows, resampled rows, and, where it is known, the truth."""

import bayescout as bs
from bayescout.evaluate import bootstrap, cross_validate, divergence, missed_by_graph


def main() -> None:
    truth = bs.load_network("sachs")
    data = truth.sample(1_000, seed=1)

    for score in ("bic", "bdeu", "aic"):
        found = cross_validate(data, score=score, folds=5)
        print(
            f"{score:>5}: {found.mean:.4f} ± {found.standard_error:.4f} nats a row on rows not learned from"
        )

    strengths = bootstrap(data, runs=50)
    print(f"\n{strengths}")
    agreed = strengths.averaged()
    print(f"\nthe arcs most of them agree on: {agreed}")

    print(f"\n{divergence(truth, bs.fit(agreed, data, prior='laplace'))}")
    print(missed_by_graph(truth, agreed))


if __name__ == "__main__":
    main()
