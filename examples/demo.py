"""The main job on the alarm network: sample, learn, bound, compare, ask, save, look. Run by `make demo`."""

import sys
import time
from pathlib import Path

import bayescout as bs
from bayescout.cli.render import answer_grid, console, grid
from bayescout.search import HillClimb, Memetic, Tabu

PARENTS = 3
SEARCHES = {
    "hill-climb": HillClimb(),
    "tabu with restarts": Tabu(restarts=20),
    "memetic": Memetic(patience=8),
}


def main(seconds: float = 8.0, folder: Path = Path("demo")) -> None:
    out = console()
    folder.mkdir(exist_ok=True)
    begin = time.perf_counter()

    truth = bs.load_network("alarm")
    data = truth.sample(10_000, seed=1)
    data.save(folder / "alarm.csv")
    out.print(f"sampled {data} from alarm, written to {folder / 'alarm.csv'}", markup=False)
    known = bs.Knowledge(max_parents=PARENTS)
    rows, best = [], None
    for name, search in SEARCHES.items():
        bs.learn(data.take(range(100)), search, max_steps=2)  # compiles what is not yet: the times are fair
        result = bs.learn(data, search, "bic", known, top=10)
        found = bs.compare(result, truth)
        rows.append(
            (
                name,
                f"{result.score:,.1f}",
                result.dag.n_arcs,
                found.shd_cpdag,
                f"{result.seconds * 1000:.0f} ms",
            )
        )
        best = result if best is None or result.score > best.score else best
    generating = bs.score(truth, data, "bic")
    rows.append(("generating network", f"{generating:,.1f}", truth.dag.n_arcs, 0, ""))
    out.print()
    out.print(
        grid("Learned from 10,000 rows", ["search", "BIC", "arcs", "SHD to the true class", "time"], rows, 4)
    )

    certificate = bs.gap(best, max_time=seconds)
    out.print(f"the best of these, among networks of at most {PARENTS} parents: {certificate}", markup=False)

    model = best.fit(prior="bdeu")
    model.save(folder / "alarm-learned.bif")
    out.print(f"it is written to {folder / 'alarm-learned.bif'}; one of its arcs:", markup=False)
    parent, child = next(iter(best.arcs()))
    out.print(f"  {best.explain(parent, child)}\n", markup=False)

    question = "HYPOVOLEMIA | BP=LOW, HR=HIGH"
    out.print(answer_grid(truth.query(question), f"P({question}), generating network"))
    out.print(answer_grid(model.query(question), f"P({question}), learned network"))
    page = folder / "alarm-report.html"
    best.report(page, truth=truth, title="The alarm network, learned from 10,000 rows")
    out.print(f"done in {time.perf_counter() - begin:.1f} s")
    out.print(
        f"open this in a browser to explore the network: {page.resolve()}", markup=False, soft_wrap=True
    )
    out.print("or see a search work, and steer it: bayescout serve --example alarm", markup=False)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))  # the seconds that bounding the gap may take
