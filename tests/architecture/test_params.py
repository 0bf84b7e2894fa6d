"""Every declared parameter is complete, consistent and survives the project file."""

import enum
import importlib
import pkgutil
import re
from typing import Any

import msgspec
import pytest

from sinew import sim
from sinew.sim.kinds import KINDS
from sinew.sim.scene.params import Effect, Param, ParamError, Role, Scale, check, params_of, range_text, value_text
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings

UNITS = {
    "", "m", "mm", "s", "Hz", "°", "kg", "kg/m", "kg/m²", "N", "N/m", "m/N", "m/s", "m/s²", "m²/s", "1/s", "1/s²",
    "1/m", "N/m²", "Pa", "rad", "N·m", "N·s/m", "×", "%", "px", "frames", "EV",
}  # fmt: skip
GPU_SIDE = ("gl", "render", "systems", "engine", "bench")


def settings_classes() -> list[type[msgspec.Struct]]:
    """Every class of the pure part of `sim` with a declared parameter, by name."""
    for module in pkgutil.iter_modules(sim.__path__):
        if module.name not in GPU_SIDE:
            importlib.import_module(f"sinew.sim.{module.name}")
    found: dict[str, type[msgspec.Struct]] = {}
    pending = list(msgspec.Struct.__subclasses__())
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        if cls.__module__.startswith("sinew.sim.") and params_of(cls):
            found[cls.__name__] = cls
    return [found[name] for name in sorted(found)]


CLASSES = settings_classes()
RECORDS = [(cls, record) for cls in CLASSES for record in params_of(cls)]


def _finite_bounds(record: Param) -> list[float]:
    declared = record.declared
    return [bound for bound in (declared.lo, declared.hi) if bound is not None]


def _values_to_store(record: Param) -> list[Any]:
    """Default, bounds and every member of a closed set."""
    values = [record.default]
    if issubclass(record.type, enum.Enum):
        values += list(record.type)
    elif record.type is bool:
        values += [False, True]
    elif record.type in (int, float):
        values += [record.type(bound) for bound in _finite_bounds(record)]
    elif record.type is str:
        values += ["", "a name with blanks, “quotes” and \\slashes"]
    return values


def test_every_field_of_a_settings_class_is_declared() -> None:
    scene = [Transform, PlaybackSettings, ViewSettings, *[kind.settings for kind in KINDS.values()]]
    assert {cls for cls in (Node, *scene) if params_of(cls)} <= set(CLASSES)
    for cls in scene:
        assert [record.name for record in params_of(cls)] == [field.name for field in msgspec.structs.fields(cls)]


def test_texts_are_complete() -> None:
    for _, record in RECORDS:
        declared, lines = record.declared, record.tooltip.split("\n")
        assert re.fullmatch(r"[A-Z\d].*\.", declared.doc), record.name
        assert declared.unit in UNITS
        assert not declared.unit or record.type in (int, float, tuple)
        assert (lines[0], lines[-1]) == (declared.doc, f"Default: {value_text(record.default)}")
        assert (f"Unit: {declared.unit}" in lines) == bool(declared.unit)
        assert (f"Range: {range_text(declared)}" in lines) == bool(_finite_bounds(record))
        assert record.label[0].isupper()
        assert "_" not in record.label
        assert len(record.label) <= 28


def test_ranges_roles_and_effects_are_consistent() -> None:
    for cls, record in RECORDS:
        declared = record.declared
        assert check(cls, record.name, record.default) == record.default
        lo = -float("inf") if declared.lo is None else declared.lo
        hi = float("inf") if declared.hi is None else declared.hi
        assert lo < hi
        if declared.soft is not None:
            soft_lo, soft_hi = declared.soft
            assert lo <= soft_lo < soft_hi <= hi
        if declared.scale is Scale.LOG:
            span = declared.soft or (declared.lo, declared.hi)
            assert span[0] is not None
            assert span[0] > 0.0, "a logarithmic slider cannot reach zero"
        assert declared.step is None or declared.step > 0.0
        assert isinstance(declared.effect, Effect)
        if declared.role is Role.COLOUR:
            assert (record.type, record.size) == (tuple, 3)
        if declared.role in (Role.PATH, Role.CLIP):
            assert record.type is str


def test_every_number_has_a_hard_range_and_no_value_beyond_it() -> None:
    fractions = (Role.COLOUR, Role.GRADIENT, Role.HIDDEN, Role.LIST, Role.WEIGHTS, Role.TARGET, Role.SECTION, Role.BONE)
    for cls, record in RECORDS:
        declared, default = record.declared, record.default
        with pytest.raises(ParamError, match=record.name):
            check(cls, record.name, {"not": "a value"})
        if record.type not in (int, float, tuple) or declared.role in fractions:
            continue
        assert declared.lo is not None, record.name
        assert declared.hi is not None, record.name
        for bound, direction in ((declared.lo, -1), (declared.hi, 1)):
            outside = bound + direction * max(1.0, abs(bound))
            if record.type is not tuple:
                with pytest.raises(ParamError, match=record.name) as caught:
                    check(cls, record.name, record.type(outside))
                assert range_text(declared) in str(caught.value)
            elif declared.role is not Role.CURVE:
                for index in range(record.size):
                    with pytest.raises(ParamError, match=record.name):
                        check(cls, record.name, [*default[:index], outside, *default[index + 1 :]])
                    value = (*default[:index], bound, *default[index + 1 :])
                    assert check(cls, record.name, value) == value


def test_values_survive_the_project_file() -> None:
    for cls, record in RECORDS:
        required: dict[str, Any] = {"id": "a", "settings": KINDS["light"].settings()} if cls is Node else {}
        for value in _values_to_store(record):
            checked = check(cls, record.name, value)
            settings = cls(**{**required, record.name: checked})
            decoded = getattr(msgspec.json.decode(msgspec.json.encode(settings), type=cls), record.name)
            assert decoded == checked
            assert type(decoded) is type(checked)
