"""Pairs sorted out on a device: what remains is the same as on the CPU, whatever the device is."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

import bayescout as bs
from bayescout import wide
from bayescout.errors import BayescoutWarning, MissingExtraError, SettingError
from bayescout.scores import bind, family_prior
from bayescout.scores.pair_gains import CountPairs
from bayescout.statistics import gpu, sieve
from bayescout.statistics.columns import ColumnCovariance
from bayescout.statistics.gpu import DeviceSieve, GpuSieve, NoRoom
from bayescout.statistics.screening import ColumnPairs, screened
from bayescout.statistics.sieve import CpuSieve
from tests.reference.kernels import uncompiled
from tests.scores.drawn_data import continuous_table, table_of


def device(free=1e9):
    """A device whose array module is NumPy."""
    return DeviceSieve(np, lambda: free)


def factors(p, rows, seed=0):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(p // 4 + 1, rows))
    return rng.normal(size=(p, rows)) + rng.uniform(0, 2, (p, 1)) * shared[rng.integers(len(shared), size=p)]


def states(cards, rows, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    hidden = rng.random((len(cards) // 3 + 1, rows))
    own = np.where(
        rng.random((len(cards), rows)) < 0.5, hidden[rng.integers(len(hidden), size=len(cards))], 0
    )
    own = np.where(own == 0, rng.random(own.shape), own)
    return table_of((own * np.array(cards)[:, None]).astype(int), cards, weights)


def same(one, two):
    return (one.starts == two.starts).all() and (one.ends == two.ends).all()


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Blocks of few columns, and kernels as plain Python."""
    monkeypatch.setattr(gpu, "LEAST_SIDE", 8)
    monkeypatch.setattr(gpu, "MOST_SIDE", 32)
    with uncompiled():
        yield


@pytest.mark.parametrize(("rows", "least"), [(60, 4.0), (60, 0.3), (9000, 4.0)])
def test_columns_of_numbers(rows, least):
    statistics = ColumnCovariance(continuous_table(factors(70, rows)))
    expected = screened(ColumnPairs(statistics, least), least, "a test")
    assert 0 < expected.n_pairs < 70 * 69 / 2
    for free in (1e9, 9 * 1e3 * 16):
        made = screened(
            ColumnPairs(statistics, least, device(max(free, rows * 4 * 3 * 8 * 2 + 4e3))), least, "a test"
        )
        assert same(made, expected)


def test_products_in_halves_are_within_their_bound():
    """Each bound is held against products that were not rounded, of columns chosen to be hard."""
    rng = np.random.default_rng(0)
    for rows in (5, 100, 5000):
        columns = np.concatenate([rng.normal(size=(40, rows)), rng.random((20, rows)) ** 8, np.eye(5, rows)])
        columns /= np.sqrt(np.square(columns).sum(axis=1))[:, None]
        exact = columns @ columns.T
        for kind, bound in ((np.float16, gpu._half_slack(rows)), (np.float32, sieve.slack(rows))):
            some = columns.astype(np.float32).astype(kind)
            assert np.abs(sieve.products(some, some) - exact).max() < bound


@pytest.mark.parametrize("cards", [[2] * 40, [2, 3, 2, 1, 4, 3, 2, 2, 5, 20] * 3])
@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_columns_of_states(cards, score):
    table = states(cards, 100)
    scorer = bind(score, table, 1, prior=family_prior("sparse", table.names))
    expected = screened(CountPairs(scorer), None, "a test")
    assert expected.n_pairs > 2
    assert same(screened(CountPairs(scorer, None, device()), None, "a test"), expected)
    assert same(screened(CountPairs(scorer, None, device(3e4)), None, "a test"), expected)


@pytest.mark.parametrize("factor", [1, 100, 1_000_000])
def test_rows_with_weights_and_large_counts(factor, recwarn):
    table = states([2, 3, 2, 4, 2, 2], 60, 1, weights=(np.arange(60) % 3 + 1) * factor)
    scorer = bind("bic", table, 1)
    expected = screened(CountPairs(scorer), None, "a test")
    assert same(screened(CountPairs(scorer, None, GpuSieve(device(), CpuSieve())), None, "a test"), expected)


def test_without_room_the_cpu_does_it_and_a_warning_says_so():
    statistics = ColumnCovariance(continuous_table(factors(30, 50)))
    scorer = bind("bic", states([2] * 20, 50), 1)
    small = GpuSieve(device(9), CpuSieve())
    for on_cpu, on_gpu in (
        (ColumnPairs(statistics, 3.0), ColumnPairs(statistics, 3.0, small)),
        (CountPairs(scorer), CountPairs(scorer, None, small)),
    ):
        with pytest.warns(BayescoutWarning, match="screened on the CPU, for the GPU has too little memory"):
            made = screened(on_gpu, 3.0, "")
        assert same(made, screened(on_cpu, 3.0, ""))


def test_room_that_runs_out_half_way():
    class Failing(DeviceSieve):
        def _block(self, unit, begin, end, kind):
            if begin >= 32:
                raise NoRoom("it is full")
            return super()._block(unit, begin, end, kind)

    statistics = ColumnCovariance(continuous_table(factors(70, 50)))
    pairs = ColumnPairs(statistics, 3.0, GpuSieve(Failing(np, lambda: 1e9), CpuSieve()))
    with pytest.warns(BayescoutWarning, match="it is full"):
        made = screened(pairs, 3.0, "")
    assert same(made, screened(ColumnPairs(statistics, 3.0), 3.0, ""))


# ---- the front door


@pytest.fixture
def _no_gpu(monkeypatch):
    monkeypatch.setattr(gpu, "_gpu", lambda: MissingExtraError("cupy", "gpu"))


@pytest.mark.usefixtures("_no_gpu")
def test_without_a_gpu():
    data = factors(8, 60).T
    with pytest.raises(MissingExtraError, match=r"pip install 'bayescout\[gpu\]'"):
        bs.learn(data, engine="gpu")
    assert wide._sieve(None, 10**6, 1).__class__ is CpuSieve


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"screen": "none"}, "looks at all"),
        ({"score": "bge"}, "engine='gpu' sorts out .* pairs of numbers under bic, .* leave out the engine"),
    ],
)
def test_what_a_gpu_does_not_do_is_said(asked, told):
    with pytest.raises(SettingError, match=told):
        bs.learn(factors(8, 60).T, engine="gpu", **asked)


def test_a_gpu_is_found_with_a_note_and_answers_the_same(monkeypatch, caplog):
    data = factors(12, 80).T
    expected = bs.learn(data, screen="arc")
    monkeypatch.setattr(gpu, "_gpu", lambda: (device(), "a machine of NumPy"))
    caplog.set_level(logging.WARNING, "bayescout")
    for asked in ({"engine": "gpu"}, {"screen": "arc"}):
        monkeypatch.setattr(wide, "GPU_COLUMNS", 10)
        caplog.clear()
        found = bs.learn(data, **asked)
        assert "screened on the GPU (a machine of NumPy)" in caplog.text
        assert (found.dag, found.score, found.screened) == (expected.dag, expected.score, expected.screened)
    caplog.clear()
    bs.learn(data, screen="arc", engine="memory")
    assert "GPU" not in caplog.text


# ---- a real one


def real():
    found = gpu._gpu()
    if isinstance(found, Exception):
        pytest.skip(f"there is no GPU to test: {found}")
    return found[0]


@pytest.mark.parametrize("least", [5.0, 20.0])
def test_on_a_real_gpu_numbers(least):
    on_gpu = real()
    statistics = ColumnCovariance(continuous_table(factors(700, 300)))
    expected = screened(ColumnPairs(statistics, least), least, "a test")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(screened(ColumnPairs(statistics, least, on_gpu), least, "a test"), expected)


@pytest.mark.parametrize("cards", [[2] * 500, [2, 3, 2, 1, 4, 3, 2, 2, 5, 20] * 20])
def test_on_a_real_gpu_states(cards):
    on_gpu = real()
    scorer = bind("bic", states(cards, 300), 1)
    expected = screened(CountPairs(scorer), None, "a test")
    assert same(screened(CountPairs(scorer, None, on_gpu), None, "a test"), expected)
