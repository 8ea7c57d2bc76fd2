"""Without scikit-learn the package says what to install; the rest of bayescout does not need it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
sys.modules["sklearn"] = None
import bayescout
try:
    import bayescout.sklearn
except bayescout.BayescoutError as error:
    print(error)
"""


def test_a_missing_scikit_learn_says_the_pip_line():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install 'bayescout[sklearn]'" in done.stdout
