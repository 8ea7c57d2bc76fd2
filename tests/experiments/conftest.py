"""Studies at their smallest size, each run once for all tests."""

from __future__ import annotations

from functools import cache

import pytest

from bayescout.experiments import run_study, study_named


@pytest.fixture(scope="session")
def tiny_studies(tmp_path_factory):
    """A function of a name: (study, what was run, its folder)."""

    @cache
    def run(name):
        folder = tmp_path_factory.mktemp(name)
        study = study_named(name, "tiny")
        return study, run_study(study, folder, workers=1), folder

    return run
