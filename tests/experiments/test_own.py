"""Studies of one's own: every mistake is named before anything runs; the summary is that of plain calls."""

from __future__ import annotations

import copy
import json
import tomllib
import warnings
from contextlib import suppress
from datetime import date
from datetime import time as clock
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayescout as bs
from bayescout.errors import BayescoutError, BayescoutWarning
from bayescout.experiments import Record, Records, run_study, tools
from bayescout.experiments.own import Own, declaration, read_study
from bayescout.experiments.own.outcome import outcome
from bayescout.experiments.runner import keyed
from bayescout.experiments.study import canonical
from tests.experiments.outcome_checks import check_outcome, tables_of
from tests.strategies import examples

EXAMPLE = Path(__file__).parents[2] / "examples" / "my-study.toml"
SMALL = """
title = "Small"
seeds = 2
searches = ["hill-climb", {name = "first-ascent"}]
scores = ["bic", {name = "bdeu", ess = 5}]
starts = ["empty", "random"]
[[data]]
network = "asia"
rows = 100
seeds = [3, 4]
[[data]]
file = "own.csv"
truth = "own.json"
[knowledge]
max_parents = 2
[limits]
max_steps = 100
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with data, and with the network they come from."""
    network = bs.random_network(nodes=4, arcs=4, seed=1)
    network.sample(80, seed=1).save(tmp_path / "own.csv")
    network.save(tmp_path / "own.json")
    return tmp_path


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory):
    """The same, made once."""
    path = tmp_path_factory.mktemp("own")
    bs.random_network(nodes=4, arcs=4, seed=1).sample(80, seed=1).save(path / "own.csv")
    return path


def written(folder, text=SMALL):
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_is_a_study():
    study = read_study(EXAMPLE)
    assert len(keyed(study)) == 300
    assert study.seconds_allowed() == 60


def test_runs_are_every_combination(folder):
    runs = list(keyed(read_study(written(folder))).values())
    assert len(runs) == 3 * 2 * 2 * 2 * 2
    assert {run["max_steps"] for run in runs} == {100}
    assert {json.dumps(run["knowledge"]) for run in runs} == {'{"max_parents": 2}'}
    assert {run["data"].get("seed") for run in runs} == {3, 4, None}


def test_a_way_out_is_spelled_as_in_the_file(folder):
    (folder / "gaps.csv").write_text("a,b\n1,x\n,y\n2,x\n2,y\n")
    text = SMALL.replace('file = "own.csv"\ntruth = "own.json"', 'file = "gaps.csv"')
    with pytest.raises(BayescoutError, match='missing = "drop" leaves'):
        read_study(written(folder, text))
    text = text.replace('file = "gaps.csv"', 'file = "gaps.csv"\nmissing = "drop"')
    with pytest.warns(BayescoutWarning, match="1 of 4 rows are left out"):
        assert read_study(written(folder, text))
    assert declaration.in_toml("max_parents", 3) == "[knowledge] max_parents = 3"
    assert declaration.in_toml("kinds", {"a": "continuous"}) == 'kinds = {"a" = "continuous"}'
    assert declaration.in_toml("bins", 3) == "discretise(data, bins=3)"


def test_the_summary_is_that_of_plain_calls(folder):
    study = read_study(written(folder))
    ran = run_study(study, folder / "out", workers=1)
    assert ran.failures == ()
    found = study.outcome(ran.records)
    check_outcome(found)
    assert found.title == "Small"
    tables = tables_of(found)
    assert [table.title for table in tables.values()] == [
        "asia, 100 rows: bic", "asia, 100 rows: bdeu (ess=5)", "own.csv: bic", "own.csv: bdeu (ess=5)",
    ]  # fmt: skip
    row = dict(zip(tables["summary-3"].columns, tables["summary-3"].rows[0], strict=True))
    table = bs.read_table(folder / "own.csv")
    result = bs.learn(table, "hill-climb", "bic", bs.Knowledge(max_parents=2))
    assert row["search"] == "hill-climb"
    assert row["best"] == result.score
    assert row["score"] == f"{result.score:,.2f} ± 0.00"
    against = bs.compare(result, bs.read_network(folder / "own.json"))
    assert row["SHD"].startswith(f"{against.shd:.1f} ±")
    assert row["F of adjacencies"].startswith(f"{against.adjacency_f1:.3f} ±")


def test_searches_are_held_against_the_best_on_the_same_rows():
    """Two samples whose scores are far apart: what counts is how far each run is below its own best."""
    records = [
        Record(
            f"{search}-{sample}-{seed}",
            "own",
            {
                "data": {"network": "asia", "rows": 9, "seed": sample},
                "search": search,
                "score": "bic",
                "start": "empty",
                "seed": seed,
            },
            {
                "score": -1000.0 * (sample + 1) - below * (seed + 1),
                "iterations": 1,
                "arcs": 1,
                "trace": {"best": [0.0]},
            },
        )
        for search, below in (("hill-climb", 2.0), ("tabu", 0.0), ("ges", 0.0))
        for sample in range(2)
        for seed in range(4)
    ]
    (section,) = outcome("Made up", Records(records)).sections
    (table,) = section.tables
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert rows["hill-climb"]["short of the best known"] == "5.00 ± 2.39†"
    assert rows["tabu"]["short of the best known"] == "0.00 ± 0.00"
    assert rows["ges"]["short of the best known"] == "0.00 ± 0.00"
    assert rows["tabu"]["at the best known"] == "8 of 8 (100%)"
    assert rows["hill-climb"]["at the best known"] == "0 of 8 (0%)"
    assert rows["hill-climb"]["best"] == -1002.0
    assert section.text == "The smallest mean shortfall is that of tabu."


def test_costs_are_told_before_the_start(folder):
    study = read_study(written(folder))
    assert all(0 <= study.cost(run) < 60 for run in keyed(study).values())


def test_data_without_truth_have_nothing_to_compare_with(folder):
    study = read_study(written(folder, SMALL.replace('truth = "own.json"', "")))
    ran = run_study(study, folder / "out", workers=1)
    table = tables_of(study.outcome(ran.records))["summary-3"]
    assert {row[table.columns.index("SHD")] for row in table.rows} == {None}


def results(study, out, **more):
    """What the runs of a study measured, by their data's file or network and their search."""
    ran = run_study(study, out, workers=1, **more)
    assert ran.failures == ()
    return [(record.run["data"], record.measures) for record in ran.records]


@pytest.mark.parametrize("key", ["truth", "network", "file"])
def test_a_file_that_was_changed_makes_other_runs(folder, key):
    """A study that goes on measures against the files as they are, not as they were."""
    text = {
        "truth": SMALL,
        "network": SMALL.replace('network = "asia"', 'network = "own.json"').replace(
            'truth = "own.json"', ""
        ),
        "file": SMALL.replace('truth = "own.json"', ""),
    }[key]
    path = written(folder, text)
    before = results(read_study(path), folder / "out")
    other = bs.random_network(nodes=4, arcs=2, seed=9)
    if key == "file":
        other.sample(80, seed=2).save(folder / "own.csv")
    else:
        other.save(folder / "own.json")
    notes = []
    after = results(read_study(path), folder / "out", resume=True, say=notes.append)
    affected = [i for i, (data, _) in enumerate(before) if key in data and data[key] != "asia"]
    assert affected
    for i, ((data_before, old), (data_after, new)) in enumerate(zip(before, after, strict=True)):
        assert (data_before == data_after) == (i not in affected)
        assert old == new or i in affected
    assert any(before[i][1] != after[i][1] for i in affected)
    assert f"{len(affected)} records are of runs that the study no longer declares" in notes[-1]
    assert after == results(read_study(path), folder / "new")


def test_a_study_can_be_moved_with_its_files(folder):
    text = SMALL.replace('network = "asia"', 'network = "own.json"')
    before = keyed(read_study(written(folder, text)))
    away = folder / "else" / "where"
    away.mkdir(parents=True)
    for name in ("own.csv", "own.json"):
        (away / name).write_bytes((folder / name).read_bytes())
    moved = read_study(written(away, text))
    (folder / "own.csv").unlink()
    (folder / "own.json").unlink()
    assert list(keyed(moved)) == list(before)
    assert len(results(moved, away / "out")) == len(before)


def test_a_file_that_changes_while_the_study_runs_is_a_failed_run(folder):
    study = read_study(written(folder))
    bs.random_network(nodes=4, arcs=2, seed=9).save(folder / "own.json")
    tools._structure_file.cache_clear()  # as in a worker, which has not read it yet
    ran = run_study(study, folder / "out", workers=1)
    assert {failure.run["data"]["file"] for failure in ran.failures} == {"own.csv"}
    assert all("own.json has changed since the study was declared" in f.reason for f in ran.failures)


def test_a_truth_may_be_a_modelstring_with_dots(folder):
    (folder / "dots.csv").write_text("a.1,b/2\n" + "x,y\nx,z\nw,y\nw,z\n" * 5)
    text = SMALL.replace(
        'file = "own.csv"\ntruth = "own.json"', 'file = "dots.csv"\ntruth = "[a.1][b/2|a.1]"'
    )
    study = read_study(written(folder, text))
    assert {run["data"].get("truth") for run in keyed(study).values()} == {None, "[a.1][b/2|a.1]"}


def test_files_of_one_name_are_told_apart_in_the_summary(folder):
    (folder / "b").mkdir()
    bs.random_network(nodes=4, arcs=4, seed=3).sample(60, seed=1).save(folder / "b" / "own.csv")
    text = SMALL.replace('truth = "own.json"', '[[data]]\nfile = "b/own.csv"')
    study = read_study(written(folder, text))
    found = study.outcome(run_study(study, folder / "out", workers=1).records)
    titles = [table.title for table in tables_of(found).values()]
    assert titles[2:] == [
        "own.csv: bic", "own.csv: bdeu (ess=5)", "own.csv (2): bic", "own.csv (2): bdeu (ess=5)",
    ]  # fmt: skip


WRONG = [
    (
        "title =",
        "tilte =",
        "the study: unknown key 'tilte'; did you mean 'title'\\? known: title, seeds, data",
    ),
    (
        "rows = 100",
        "row = 100",
        "data 1: unknown key 'row'; did you mean 'rows'\\? known: network, rows, seeds",
    ),
    ("rows = 100", "", "data 1: rows is missing"),
    ("rows = 100", "rows = [100, 1]", "data 1: rows must be whole numbers of at least 2, not 1"),
    ('network = "asia"', 'network = "asio"', "unknown shipped network 'asio'"),
    (
        'network = "asia"',
        'network = "asia"\nfile = "own.csv"',
        "data 1: give one of network, random and file",
    ),
    ('network = "asia"', "", "data 1: give one of network, random and file; it has none"),
    (
        'network = "asia"',
        "random = {node = 3}",
        "data 1: random: unknown key 'node'; did you mean 'nodes'\\? known: nodes, arcs",
    ),
    ('network = "asia"', "random = {nodes = -3}", "nodes"),
    ('network = "asia"', "random = 3", "data 1: random must be a table"),
    ('file = "own.csv"', 'file = "none.csv"', "data 2: .*none.csv"),
    ('truth = "own.json"', 'truth = "asia"', "the truth and the data differ in"),
    ('truth = "own.json"', "truth = 3", "data 2: truth must be text"),
    ('"hill-climb"', '"hill-clim"', "searches 1: unknown search 'hill-clim'; did you mean 'hill-climb'"),
    (
        '{name = "first-ascent"}',
        '{name = "tabu", legnth = 3}',
        "searches 2: search 'tabu' has no setting 'legnth'; did you mean 'length'\\? its settings",
    ),
    (
        '{name = "first-ascent"}',
        '{nam = "tabu"}',
        "searches 2: must be a name, or a table with name and settings",
    ),
    ('{name = "first-ascent"}', '"hill-climb"', "searches: .* is there twice"),
    ('"bic", ', '"bik", ', "scores 1: unknown score 'bik'"),
    ('{name = "first-ascent"}', '"k2"', "k2 with bic on asia cannot work.*\\[knowledge\\] order = "),
    ("ess = 5", "ess = -5", "scores 2: "),
    ("ess = 5", 'ess = "five"', "scores 2: "),
    ('"bic", ', '"bge", ', "data asia: "),
    ('starts = ["empty", "random"]', 'starts = ["full"]', "starts must be among empty, random, not 'full'"),
    ('starts = ["empty", "random"]', "starts = []", "starts must be a list with at least one item"),
    (
        "seeds = 2",
        "seeds = 0",
        "seeds must be how many there are, or a list of distinct whole numbers, not 0",
    ),
    ("seeds = 2", "seeds = [1, 1]", "seeds must be how many"),
    ("seeds = [3, 4]", "seeds = true", "data 1: seeds must be how many"),
    (
        "max_parents = 2",
        "max_parent = 2",
        "knowledge: unknown key 'max_parent'; did you mean 'max_parents'\\? known: required, forbidden",
    ),
    ("max_parents = 2", 'forbidden = [["dysp", "dysp"]]', "knowledge: forbidden arc dysp -> dysp is a loop"),
    ("max_parents = 2", 'tiers = ["dysp", "asia"]', "knowledge: tiers are groups of variables"),
    ("max_parents = 2", "max_parents = -2", "knowledge: max_parents must be a whole number"),
    ("max_parents = 2", 'forbidden = [["smoke", "lung"]]', "data .*own.csv: unknown variable 'smoke'"),
    (
        "max_steps = 100",
        "max_step = 100",
        "limits: unknown key 'max_step'; did you mean 'max_steps'\\? known: max_time, max_steps",
    ),
    ("max_steps = 100", "max_steps = 1.5", "limits: max_steps must be a positive whole number, not 1.5"),
    ("max_steps = 100", "max_seconds = 0", "limits: max_seconds must be a positive number, not 0"),
    ("max_steps = 100", "max_time = inf", "limits.max_time is inf; give a finite number, or leave it out"),
    ("max_steps = 100", "max_seconds = nan", "limits.max_seconds is nan; give a finite number"),
    ("max_steps = 100", f"max_steps = 1{'0' * 30}", "limits.max_steps is a whole number larger than 9,223"),
    ("max_steps = 100", f"max_steps = 1{'0' * 5000}", "cannot be read as TOML: Exceeds the limit"),
    (
        'network = "asia"',
        "random = {nodes = 4, arcs = nan}",
        "data 1.random.arcs is nan; give a finite number",
    ),
    (
        'network = "asia"',
        "random = {nodes = 10_001}",
        "data 1: random: nodes must be at most 10,000, not 10,001",
    ),
    ('network = "asia"', 'network = "a\\u0000b.bif"', "data 1: "),
    ('file = "own.csv"', 'file = "a\\u0000b.csv"', "data 2: "),
    ('file = "own.csv"', f'file = "{"x" * 5000}"', "data 2: .* \\.\\.\\. |data 2: File name too long"),
    (
        'file = "own.csv"',
        'file = "/dev/zero"',
        "data 2: /dev/zero is a device or a pipe; give the name of a file",
    ),
    (
        'truth = "own.json"',
        'truth = "/dev/zero"',
        "truth: /dev/zero is a device or a pipe; give the name of a file",
    ),
    ('truth = "own.json"', 'truth = "none.json"', "data 2: truth: .*none.json: no such file"),
    (
        "rows = 100",
        "rows = 100_000_001",
        "data 1: rows must be at most 100,000,000, not 100,000,001; sample them",
    ),
    ("seeds = 2", "seeds = 1_000_001", "seeds must be at most 1,000,000, not 1,000,001"),
    ("seeds = 2", "seeds = 500_000", "the study has 12,000,000 runs, more than 1,000,000; make two of it"),
    ("ess = 5", "ess = inf", "scores 2.ess is inf; give a finite number"),
    (
        'title = "Small"',
        "title = 1979-05-27",
        'title is a date or a time, 1979-05-27; write it as text, "1979-05-27"',
    ),
    ('title = "Small"', f"title = {'[' * 22}{']' * 22}", "title( 1)+ is nested deeper than 20 levels"),
    ('title = "Small"', f"title{'.a' * 30_000} = 1", "as TOML: a key is nested deeper than 20 levels"),
    ('title = "Small"', f"title = {'[' * 100_000}", "cannot be read as TOML: nested deeper than 20 levels"),
    ('title = "Small"', f"title = {'{a=' * 100_000}", "cannot be read as TOML: nested deeper than 20 levels"),
    (
        'title = "Small"',
        "title" + ' . "a"' * 30_000 + " = 1",
        "as TOML: a key is nested deeper than 20 levels",
    ),
    ('title = "Small"', f"title = {{{'.'.join('a' * 30_000)} = 1}}", "as TOML: a key is nested deeper"),
    ('title = "Small"', f"{'a' * 10**6}", "cannot be read as TOML: a study has at most 1,000,000 bytes"),
    ('title = "Small"', f'title = "{"so. " * 40}"  # {"." * 40}', None),
    ('title = "Small"', f"seeds = '{'x' * 5000}'", "cannot be read as TOML: Cannot overwrite a value"),
    ("seeds = 2", f"seeds = '{'x' * 5000}'", "seeds must be how many .* \\.\\.\\. x+'$"),
    ('title = "Small"', "title = 3", "title must be text, not 3"),
    ('title = "Small"', "title = ", "cannot be read as TOML"),
    ('scores = ["bic", {name = "bdeu", ess = 5}]', "", "scores is missing: a study needs data"),
    ("[knowledge]\nmax_parents = 2", "", None),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_every_mistake_is_named(folder, old, new, message):
    assert old in SMALL
    path = written(folder, SMALL.replace(old, new))
    if message is None:
        assert keyed(read_study(path))
        return
    with pytest.raises(BayescoutError, match=message) as caught:
        read_study(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 700


@pytest.mark.parametrize(
    ("search", "score", "message"),
    [
        ("ges", "k2", "ges with k2 on asia cannot work, .* make two files: score K2 differs between graphs"),
        ("imap", "bds", "imap with bds on asia cannot work"),
        ('{name = "pc", test = "fisher-z"}', "aic", "pc .*fisher-z.* with bic on asia .*use g2 or chi2"),
    ],
)
def test_combinations_that_cannot_work_are_named(folder, search, score, message):
    search = search if "{" in search else f'"{search}"'
    text = SMALL.replace('{name = "first-ascent"}', search).replace('{name = "bdeu", ess = 5}', f'"{score}"')
    with pytest.raises(BayescoutError, match=message):
        read_study(written(folder, text))


def test_no_file_and_no_text_are_named(tmp_path):
    with pytest.raises(BayescoutError, match="there is no such file"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\0")
    with pytest.raises(BayescoutError, match="cannot be read as TOML"):
        read_study(tmp_path / "binary.toml")


ODD = st.recursive(
    st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.sampled_from(["bic", "asia", "", "k2", "own.csv", "a\0b", "a\nb", "x" * 300, ".", "*", "[a][b|a]"])
    | st.sampled_from([10**30, -(10**400), 1e308, 5e-324, date(2000, 1, 1), clock(12)]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["name", "network", "rows", "max_parents", "order"]), inner, max_size=2
        )
    ),
    max_leaves=4,
)


PLACES = [
    *(((key,), {}) for key in (*declaration.KEYS, "odd")),
    *(
        ((section, key), {})
        for section in ("knowledge", "limits")
        for key in getattr(declaration, section.upper())
    ),
    *(
        (("data", 0, key), {"data": [{kind: {"network": "asia", "random": {}, "file": "own.csv"}[kind]}]})
        for kind, keys in declaration.SOURCES.items()
        for key in (kind, *keys, "odd")
    ),
    *((("data", 0, "random", key), {"data": [{"random": {}}]}) for key in declaration.RANDOM),
    *((("searches", 0, key), {"searches": [{"name": "tabu"}]}) for key in ("name", "length", "odd")),
    *((("scores", 0, key), {"scores": [{"name": "bdeu"}]}) for key in ("name", "ess", "odd")),
]
"""Every key of a study, as a path to it and what must be there besides."""


@given(st.sampled_from(PLACES), ODD)
@settings(max_examples=examples(250))
def test_whatever_is_declared_is_taken_or_refused(own_folder, place, value):
    """Wrong values anywhere are a mistake of the user's, never an error of ours; what is taken can be run."""
    (*path, key), besides = place
    said = {**tomllib.loads(SMALL), **copy.deepcopy(besides)}
    said["data"] = said["data"][:1]
    if said["data"][0].get("file") is None:
        said["data"][0].setdefault("rows", 20)
    inner = said
    for name in path:
        inner = inner[name]
    inner[key] = value
    with suppress(BayescoutError), warnings.catch_warnings():
        warnings.simplefilter("ignore", BayescoutWarning)  # of a missing value that no cell has
        assert keyed(Own(canonical(declaration.checked(said, own_folder / "study.toml"))))


def test_runs_that_do_not_depend_on_the_seed_count_once_for_each_data_set():
    from bayescout.experiments.own.outcome import _apart
    from bayescout.experiments.records import Record, Records

    def record(key, sample, seed):
        return Record(key, "own", {"data": {"seed": sample}, "seed": seed})

    same = Records(record(f"{d}{s}", d, s) for d in range(2) for s in range(3))
    short = {r.key: float(r.run["data"]["seed"]) for r in same}
    assert _apart(same, short) == [0.0, 1.0]
    varied = {r.key: float(r.run["seed"]) for r in same}
    assert _apart(same, varied) == [0.0, 1.0, 2.0] * 2
