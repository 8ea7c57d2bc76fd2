"""Settings shared by every test."""

import pytest
from hypothesis import HealthCheck, settings

LENIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("fast", max_examples=10, derandomize=True, **LENIENT)
settings.register_profile("thorough", max_examples=100, **LENIENT)


def pytest_configure(config):
    """Property tests try many more examples, drawn anew, where the slow tests are run too.

    Without these they try the same few each time: a change passes or fails by what it does, and not by
    what is drawn.

    Kernels are tested compiled; `uncompiled` of tests/reference/kernels.py is for what they do otherwise.
    """
    from bayescout.kernels.patience import patience

    patience.on = False
    both = "slow" in config.option.markexpr and config.option.markexpr.strip() != "not slow"
    settings.load_profile("thorough" if both else "fast")


@pytest.fixture
def fast_uncompiled(request):
    """Run fast tests with the kernels as plain Python: compiling them takes longer than all of these."""
    from tests.reference.kernels import uncompiled

    if request.node.get_closest_marker("slow"):
        yield
    else:
        with uncompiled():
            yield
