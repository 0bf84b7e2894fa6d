import pytest

from tests.conftest import campaign

ON_BOTH = pytest.mark.parametrize("context", ["tf", "compute"], indirect=True)
"""Mark of a test, or `pytestmark` of a module, that takes the fixture `context`."""

COMPUTE_IN_CAMPAIGN = pytest.mark.parametrize("context", ["tf", campaign("compute")], indirect=True)
"""As `ON_BOTH`, for long runs of kernels that have a shorter test on both, and equal bits."""
