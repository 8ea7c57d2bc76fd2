"""One browser for all tests of the page, and watchers of what it complains of."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.report.browser import Browser


@pytest.fixture(scope="session")
def chromium():
    there = shutil.which("chromium") and shutil.which("chromedriver")
    if not there and not os.environ.get("BAYESCOUT_NEEDS_BROWSER"):
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    with Browser() as started:
        yield started
