"""Learn from an experiment: rows as they came, and rows in which a protein was held at a level.

The network is that of Sachs et al. (2005), who learned it from cells in which single proteins were inhibited
or activated; here the rows are drawn from it, with the same five proteins set.
"""

import polars as pl

import bayescout as bs

SET = ("Akt", "Mek", "PIP2", "PKA", "PKC")


def rows_of(truth: bs.Network) -> pl.DataFrame:
    """1,800 rows in which nobody acted, and 720 for each protein that was set, told in the column `set`."""
    parts = [truth.sample(1_800, seed=1).to_polars().with_columns(set=pl.lit(""))]
    for protein in SET:
        for level in ("LOW", "AVG", "HIGH"):
            acted = truth.do({protein: level}).sample(240, seed=len(parts))
            parts.append(acted.to_polars().with_columns(set=pl.lit(protein)))
    return pl.concat(parts)


def main() -> None:
    truth = bs.load_network("sachs")
    rows = rows_of(truth)

    observed = bs.learn(rows.filter(pl.col("set") == "").drop("set"))
    acted = bs.learn(rows, interventions="set")
    print(acted.table.reading)
    for told, result in (("nobody acted", observed), ("with interventions", acted)):
        found = bs.compare(result.dag, truth.dag)
        print(
            f"{told:>18}: {len(result.cpdag.directed)} arcs directed by the data, "
            f"{len(result.cpdag.undirected)} left open, {found.shd} wrong"
        )

    model = acted.fit(prior="laplace")
    print(f"\n{model.query('Erk | do(PKA=LOW)')}")
    print(f"\n{bs.effect(acted, acted.table, 'PKA', 'Erk')}")


if __name__ == "__main__":
    main()
