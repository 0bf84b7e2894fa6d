"""The tests for authors of plug-ins, on the rope, and on kinds with a fault each."""

import pytest

from sinew.app import kind_tests
from sinew.app.kind_tests import *  # noqa: F403
from tests.conftest import slow
from tests.plugins.packages import install, installed_examples

BAD = """
import dataclasses
from acme_rope.kind import ROPE
from acme_rope.system import RopeSystem
from acme_rope.view import RopeView

class Settings(ROPE.settings, frozen=True):
    kind = "acme.bad"

class BadSystem(RopeSystem):
    FAULT

class BadView(RopeView):
    VIEW

KIND = dataclasses.replace(
    ROPE, name="acme.bad", settings=Settings, parts=(), system="acme_bad:BadSystem", view="acme_bad:BadView"
)
"""


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return installed_examples(tmp_path_factory.mktemp("examples"), "rope", "ripple")


@pytest.fixture(params=["acme.rope", slow("acme.ripple")])
def kind(request, examples, loaded):
    loaded(examples)
    return kind_tests.installed_kind(request.param)


@pytest.mark.parametrize(
    ("fault", "view", "test", "text"),
    [
        ("def restore(self, state, world): pass", "pass", "test_equal_steps_give_equal_bits",
         r"states:\n  n0, tf after a restored state, step 61: position\[\d+, \d\] is .* instead of .* apart"),
        ("def step(self, inputs): 1 / (1000 - self.settings.knots)", "pass", "test_no_allowed_value_raises",
         "ZeroDivisionError"),
        ("pass", "def parts(self, _): raise ValueError('no parts')", "test_it_is_drawn", "no parts"),
    ],
)  # fmt: skip
def test_a_fault_is_found(site, loaded, tmp_path, survived, fault, view, test, text):
    module = BAD.replace("FAULT", fault).replace("VIEW", view)
    install(tmp_path / "bad", "bad", {"kinds:bad": "acme_bad:KIND"}, {"acme_bad.py": module})
    loaded(site, tmp_path / "bad")
    with pytest.raises(AssertionError, match=text):
        getattr(kind_tests, test)(kind_tests.installed_kind("acme.bad"))
    survived.clear()


def test_a_missing_kind_is_named_with_the_reasons(loaded):
    loaded()
    with pytest.raises(LookupError, match=r"there is no kind acme.rope; no plug-in failed"):
        kind_tests.installed_kind("acme.rope")
