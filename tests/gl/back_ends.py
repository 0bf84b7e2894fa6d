import pytest

ON_BOTH = pytest.mark.parametrize("context", ["tf", "compute"], indirect=True)
"""Mark of a test, or `pytestmark` of a module, that takes the fixture `context`."""
