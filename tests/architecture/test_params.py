"""Every declared parameter is complete, consistent and survives the project file."""

import enum
import importlib
import pkgutil
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
    "",
    "m",
    "s",
    "Hz",
    "°",
    "kg",
    "kg/m",
    "kg/m²",
    "N",
    "N/m",
    "m/N",
    "m/s",
    "m/s²",
    "1/s",
    "1/s²",
    "1/m",
    "N/m²",
    "rad",
    "N·m",
    "N·s/m",
    "×",
    "%",
    "px",
    "frames",
}
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


def test_the_settings_of_the_scene_are_among_them() -> None:
    assert {
        Node,
        Transform,
        PlaybackSettings,
        ViewSettings,
        *[kind.settings for kind in KINDS.values() if params_of(kind.settings)],
    } <= set(CLASSES)


@pytest.mark.parametrize(
    "cls", [Transform, PlaybackSettings, ViewSettings, *[kind.settings for kind in KINDS.values()]]
)
def test_every_field_of_a_settings_class_is_declared(cls: type[msgspec.Struct]) -> None:
    assert [record.name for record in params_of(cls)] == [field.name for field in msgspec.structs.fields(cls)]


@pytest.mark.parametrize("cls", CLASSES)
def test_the_default_is_a_value(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        assert check(cls, record.name, record.default) == record.default


@pytest.mark.parametrize("cls", CLASSES)
def test_unit_is_known(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        assert record.declared.unit in UNITS
        assert not record.declared.unit or record.type in (int, float, tuple)


@pytest.mark.parametrize("cls", CLASSES)
def test_doc_is_one_sentence(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        doc = record.declared.doc
        assert doc.endswith(".")
        assert doc[0].isupper()
        assert doc == doc.strip()
        assert "\n" not in doc


@pytest.mark.parametrize("cls", CLASSES)
def test_ranges_nest(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        declared = record.declared
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


@pytest.mark.parametrize("cls", CLASSES)
def test_every_number_has_a_hard_range_that_each_component_keeps(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        declared, default = record.declared, record.default
        if record.type not in (int, float, tuple) or declared.role in (
            Role.COLOUR,
            Role.GRADIENT,
            Role.HIDDEN,
            Role.LIST,
        ):
            continue  # fractions by their types, or values with declarations of their own
        assert declared.lo is not None, record.name
        assert declared.hi is not None, record.name
        if record.type is not tuple or declared.role is Role.CURVE:
            continue
        for index in range(record.size):
            for outside in (declared.lo - abs(declared.lo) - 1.0, declared.hi + abs(declared.hi) + 1.0):
                with pytest.raises(ParamError, match=record.name):
                    check(cls, record.name, [*default[:index], outside, *default[index + 1 :]])
            for end in (declared.lo, declared.hi):
                value = (*default[:index], end, *default[index + 1 :])
                assert check(cls, record.name, value) == value


@pytest.mark.parametrize("cls", CLASSES)
def test_a_value_outside_the_hard_range_is_refused(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        if record.type not in (int, float):
            continue
        for bound, direction in ((record.declared.lo, -1), (record.declared.hi, 1)):
            if bound is not None:
                outside = record.type(bound + direction * max(1.0, abs(bound)))
                with pytest.raises(ParamError, match=record.name) as caught:
                    check(cls, record.name, outside)
                assert range_text(record.declared) in str(caught.value)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_wrong_type_is_refused(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        with pytest.raises(ParamError, match=record.name):
            check(cls, record.name, {"not": "a value"})


@pytest.mark.parametrize("cls", CLASSES)
def test_values_survive_the_project_file(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        for value in _values_to_store(record):
            checked = check(cls, record.name, value)
            settings = _instance(cls, record.name, checked)
            decoded = msgspec.json.decode(msgspec.json.encode(settings), type=cls)
            assert getattr(decoded, record.name) == checked
            assert type(getattr(decoded, record.name)) is type(checked)


def _instance(cls: type[msgspec.Struct], name: str, value: Any) -> msgspec.Struct:
    required: dict[str, Any] = {"id": "a", "settings": KINDS["light"].settings()} if cls is Node else {}
    return cls(**{**required, name: value})


@pytest.mark.parametrize("cls", CLASSES)
def test_tooltip_tells_everything(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        declared, lines = record.declared, record.tooltip.split("\n")
        assert lines[0] == declared.doc
        assert lines[-1] == f"Default: {value_text(record.default)}"
        assert (f"Unit: {declared.unit}" in lines) == bool(declared.unit)
        assert (f"Range: {range_text(declared)}" in lines) == bool(_finite_bounds(record))


@pytest.mark.parametrize("cls", CLASSES)
def test_label_is_readable(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        assert record.label[0].isupper()
        assert "_" not in record.label
        assert len(record.label) <= 28


@pytest.mark.parametrize("cls", CLASSES)
def test_roles_and_effects_fit_the_type(cls: type[msgspec.Struct]) -> None:
    for record in params_of(cls):
        assert isinstance(record.declared.effect, Effect)
        if record.declared.role is Role.COLOUR:
            assert (record.type, record.size) == (tuple, 3)
        if record.declared.role in (Role.PATH, Role.CLIP):
            assert record.type is str
