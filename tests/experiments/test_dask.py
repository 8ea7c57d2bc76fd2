"""The example of the documentation: the same study on a Dask cluster gives the same records."""

from __future__ import annotations

import joblib
import pytest

from bayescout.experiments import run_study
from tests.experiments.toy_study import Toy


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_makes_the_same_records(tmp_path):
    import distributed

    here = run_study(Toy(repeats=4), tmp_path / "here", workers=1)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        there = run_study(Toy(repeats=4), tmp_path / "there")
    assert [r.timeless() for r in there.records] == [r.timeless() for r in here.records]
    assert len(there.records) == 8
