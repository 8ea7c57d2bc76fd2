"""The main job on the alarm network: sample, fit, ask, compare, save. Run by `make demo`."""

import time
from pathlib import Path

import bayescout as bs
from bayescout.cli.render import answer_grid, comparison_grids, console


def main(folder: Path = Path("demo")) -> None:
    out = console()
    folder.mkdir(exist_ok=True)

    truth = bs.load_network("alarm")
    begin = time.perf_counter()
    data = truth.sample(10_000, seed=1)
    data.save(folder / "alarm.csv")
    out.print(f"sampled {data} from alarm and wrote {folder / 'alarm.csv'}", markup=False)

    model = bs.fit(truth.dag, data, prior="bdeu")
    model.save(folder / "alarm-fitted.bif")
    out.print(f"fitted {model.n_parameters} parameters and wrote {folder / 'alarm-fitted.bif'}\n")

    question = "HYPOVOLEMIA | BP=LOW, HR=HIGH"
    out.print(answer_grid(truth.query(question), f"P({question}), generating network"))
    out.print(answer_grid(model.query(question), f"P({question}), fitted network"))

    smaller = truth.dag.remove_arc("HYPOVOLEMIA", "STROKEVOLUME")
    for name, dag in (("the generating structure", truth.dag), ("the same less one arc", smaller)):
        out.print(f"BIC of {name}: {bs.score(dag, data, 'bic'):,.1f} nats")
    for table in comparison_grids(bs.compare(smaller, truth)):
        out.print(table)
    out.print(f"done in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
