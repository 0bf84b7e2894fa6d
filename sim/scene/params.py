"""Parameters: settings are declared once; everything else derives from the declaration.

A settings class is a frozen `msgspec.Struct` whose fields are annotated with `param(...)`.  msgspec enforces type
and hard range while decoding; `params_of` gives the inspector, the command line, the guide and the tests one record
per field.
"""

import enum
import functools
import itertools
import re
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import msgspec
import numpy as np

from sinew.sim.printable import shortened
from sinew.sim.refusal import refusal

S = TypeVar("S", bound=msgspec.Struct)
Suffixes = Callable[[], tuple[str, ...]]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a node; their type is the type of the node."""

    kind: ClassVar[str] = ""  # Key of the settings in the project file
    is_character: ClassVar[bool] = False  # Read from model files and posed: others can be attached to bones and skin
    is_group: ClassVar[bool] = False  # Contains other nodes, which are hidden, locked and removed with it

    @property
    def targets(self) -> tuple[str, ...]:
        """Ids of nodes whose world transforms change the pose of the node."""
        return ()

    def part(self, name: str) -> msgspec.Struct | None:
        """Returns a nested value whose parameters have their own addresses; None if there is no such part.

        An entry of a list is addressed by field and index, such as "deformers.2".
        """
        entry = entry_of(name)
        entries = getattr(self, entry[0], ()) if entry is not None else ()
        found: msgspec.Struct | None = entries[entry[1]] if entry is not None and entry[1] < len(entries) else None
        return found

    def with_part(self, name: str, value: msgspec.Struct) -> Self:
        """Returns settings with another part; raises KeyError if it does not exist."""
        entry = entry_of(name)
        if entry is None or self.part(name) is None:
            raise KeyError(f"{self.kind} has no {name}: {value}")
        field, place = entry
        entries = getattr(self, field)
        return msgspec.structs.replace(self, **{field: (*entries[:place], value, *entries[place + 1 :])})


_ENTRY = re.compile(r"(\w+)\.(\d+)")


def entry_of(part: str) -> tuple[str, int] | None:
    """Returns field and index; None if the part is not an entry of a list."""
    match = _ENTRY.fullmatch(part)
    return (match[1], int(match[2])) if match else None


_EXTRA_KEY = "param"


class ParamError(ValueError):
    """Error about a value; the message names it and the allowed range."""


class SettingsError(ValueError):
    """Error in settings that are allowed each on its own, but not together; one line."""


class Effect(enum.Enum):
    VIEW = "redraws"
    POSE = "evaluates the pose again"
    STEP = "taken by the next step"
    RESET = "restarts the simulation"
    REBUILD = "rebuilds GPU buffers"


class Scale(enum.Enum):
    LINEAR = "linear"
    LOG = "log"


class Role(enum.Enum):
    """Meaning of a value that its type does not express."""

    PLAIN = "plain"
    COLOUR = "colour"
    PATH = "path"
    CLIP = "clip"
    CARRIER = "carrier"
    BONE = "bone"
    SECTION = "section"
    GRADIENT = "gradient"
    CURVE = "curve"
    OWN_BONE = "own bone"
    NODE = "node"
    WEIGHTS = "weights"
    LIST = "list"
    TARGET = "target"  # Chooses the nodes that a node acts on; a tuple holds their ids
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """The part of a parameter that its type and default do not express."""

    doc: str
    unit: str = ""
    lo: float | None = None
    hi: float | None = None
    soft: tuple[float, float] | None = None
    step: float | None = None
    scale: Scale = Scale.LINEAR
    effect: Effect = Effect.STEP
    group: str = ""
    label: str = ""
    role: Role = Role.PLAIN
    source: str = ""  # Parameter with the file whose sections can be chosen; or kind of the nodes that can
    suffixes: Suffixes = tuple  # Returns the file extensions that a path may have, such as ".png"
    undone: bool = True  # False for values that only change the view
    midway: bool = False  # Keys are evaluated at the middle of a step, as the step applies the value as a whole
    sparse: bool = False  # Files and keys omit the default, for parameters that older versions did not have
    empty: str = ""  # Text of the window for an empty name


@dataclass(frozen=True, slots=True)
class Param:
    name: str  # Field name; also the key in the project file
    type: type  # `float`, `int`, `bool`, `str`, an `enum.Enum` subclass, or `tuple` for vectors
    size: int  # Number of components of a vector, else 1
    optional: bool  # None is a value
    default: Any
    declared: Declaration

    @property
    def label(self) -> str:
        return self.declared.label or self.name.replace("_", " ").capitalize()

    @property
    def is_length(self) -> bool:
        return self.declared.unit == "m" and self.declared.role is Role.PLAIN and self.type in (float, tuple)

    @property
    def tooltip(self) -> str:
        """Description, unit, hard range and default, one per line."""
        declared = self.declared
        lines = [declared.doc]
        if declared.unit:
            lines.append(f"Unit: {declared.unit}")
        if declared.lo is not None or declared.hi is not None:
            lines.append(f"Range: {range_text(declared)}")
        lines.append(f"Default: {value_text(self.default)}")
        return "\n".join(lines)


def param(
    doc: str,
    unit: str = "",
    lo: float | None = None,
    hi: float | None = None,
    *,
    soft: tuple[float, float] | None = None,
    step: float | None = None,
    scale: Scale = Scale.LINEAR,
    effect: Effect = Effect.STEP,
    group: str = "",
    label: str = "",
    role: Role = Role.PLAIN,
    source: str = "",
    suffixes: Suffixes = tuple,
    bounded: bool = True,
    undone: bool = True,
    midway: bool = False,
    sparse: bool = False,
    empty: str = "",
) -> msgspec.Meta:
    """Returns the annotation of a settings field: `Annotated[float, param("Doc.", "m", 0.0, 10.0)] = 1.0`.

    Args:
        doc: One sentence for tooltip and guide, ending with a full stop.
        unit: SI unit or "" for a pure number.
        lo, hi: Bounds accepted anywhere (hard); None for no bound.
        soft: Range of the slider; defaults to the hard range if that is finite.
        step: Arrow-key and wheel step.
        group: Heading of the inspector section.
        label: Row label, if the field name reads badly.
        source, suffixes, undone, midway, sparse, empty: See `Declaration`.
        bounded: False for vectors, whose components have their own bounds.
    """
    declared = Declaration(
        doc=doc, unit=unit, lo=lo, hi=hi, soft=soft, step=step, scale=scale,
        effect=effect, group=group, label=label, role=role, source=source, suffixes=suffixes, undone=undone,
        midway=midway, sparse=sparse, empty=empty,
    )  # fmt: skip
    return msgspec.Meta(
        ge=lo if bounded else None, le=hi if bounded else None, description=doc, extra={_EXTRA_KEY: declared}
    )


@functools.cache
def params_of(cls: type[msgspec.Struct]) -> tuple[Param, ...]:
    """Returns parameters in declaration order; raises TypeError for a field without default, which is not allowed."""
    hints = _hints(cls)
    records = (_record(cls, field, hints[field.name]) for field in msgspec.structs.fields(cls))
    return tuple(record for record in records if record is not None)


@functools.cache
def param_of(cls: type[msgspec.Struct], name: str) -> Param:
    """Returns a parameter; raises KeyError with the class and the field if it does not exist."""
    for record in params_of(cls):
        if record.name == name:
            return record
    raise KeyError(f"{cls.__name__} has no parameter {name!r}")


def validated(settings: S, **changes: Any) -> S:
    """Returns changed settings; raises ParamError for a wrong type or value, KeyError for an unknown name."""
    checked = {name: check(type(settings), name, value) for name, value in changes.items()}
    return msgspec.structs.replace(settings, **checked)


def check(cls: type[msgspec.Struct], name: str, value: Any) -> Any:
    """Converts `value` to the type of the parameter; raises ParamError with parameter, value and allowed range."""
    record = param_of(cls, name)
    hint = _hints(cls)[name]
    plain = _without_numpy(value.value if isinstance(value, enum.Enum) else value)
    try:
        converted = msgspec.convert(plain, hint)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        allowed = range_text(record.declared)
        suffix = f" (allowed: {allowed})" if allowed else ""
        what = refusal(error)[1] if isinstance(error, msgspec.ValidationError) else str(error)
        raise ParamError(f"{name} = {shortened(value_text(value))}: {what}{suffix}") from None
    if not _is_finite(converted):
        raise ParamError(f"{name} = {shortened(value_text(value))}: not a finite number")
    if record.declared.role in (Role.GRADIENT, Role.CURVE) and not in_order(converted):
        raise ParamError(f"{name} = {shortened(value_text(value))}: the stops are not in order")
    return converted


def _without_numpy(value: Any) -> Any:
    """Converts numbers and arrays of numpy, also in lists and objects, to plain Python values."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_without_numpy(part) for part in value]
    return {key: _without_numpy(part) for key, part in value.items()} if isinstance(value, dict) else value


def weights_from(text: str) -> list[tuple[str, float | str]]:
    """Parses a value of `Role.WEIGHTS` such as "happy=0.5+blink=1"; `check` refuses what is no number."""
    pairs: list[tuple[str, float | str]] = []
    for part in filter(None, text.split("+")):
        name, _, number = part.rpartition("=")
        try:
            pairs.append((name.strip(), float(number)))
        except ValueError:
            pairs.append((name.strip(), number))
    return pairs


def bounded(settings: S) -> S:
    """Clamps numbers of computed settings to their hard ranges."""
    return msgspec.structs.replace(
        settings,
        **{
            record.name: _clamped(record.declared, getattr(settings, record.name))
            for record in params_of(type(settings))
            if record.type in (int, float, tuple)
        },
    )


def changed_values(settings: msgspec.Struct | None) -> dict[str, Any]:
    """Returns values that differ from their defaults, by name."""
    records = params_of(type(settings)) if settings is not None else ()
    return {r.name: value for r in records if (value := getattr(settings, r.name)) != r.default}


def with_paths(settings: S, change: Callable[[str], str], role: Role = Role.PATH) -> S:
    """Replaces every file path, or name of another role, by `change(path)`, also in lists; empty ones stay."""
    changed: dict[str, Any] = {}
    for record in params_of(type(settings)):
        value = getattr(settings, record.name)
        if record.declared.role is role and value and isinstance(value, str | tuple):
            changed[record.name] = change(value) if isinstance(value, str) else tuple(map(change, value))
        elif isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
            changed[record.name] = tuple(with_paths(entry, change, role) for entry in value)
    return msgspec.structs.replace(settings, **changed) if changed else settings


def paths_of(settings: msgspec.Struct, role: Role = Role.PATH) -> list[str]:
    found: list[str] = []

    def note(path: str) -> str:
        found.append(path)
        return path

    with_paths(settings, note, role)
    return found


def in_order(stops: Sequence[Sequence[float]]) -> bool:
    """Returns True if the first numbers of stops, their positions, ascend."""
    return all(earlier[0] <= later[0] for earlier, later in itertools.pairwise(stops))


def scaled_length(record: Param, value: Any, factor: float) -> Any:
    scaled = tuple(factor * part for part in value) if record.type is tuple else factor * value
    return _clamped(record.declared, scaled)


def with_lengths(settings: S, factor: float) -> S:
    lengths = [record for record in params_of(type(settings)) if record.is_length]
    values = {record.name: scaled_length(record, getattr(settings, record.name), factor) for record in lengths}
    return msgspec.structs.replace(settings, **values)


def _clamped(declared: Declaration, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_clamped(declared, part) for part in value)
    if value is None:
        return None
    value = value if declared.lo is None else max(value, declared.lo)
    return value if declared.hi is None else min(value, declared.hi)


def changed_effects(before: msgspec.Struct, after: msgspec.Struct) -> set[Effect]:
    return {
        record.declared.effect
        for record in params_of(type(after))
        if getattr(after, record.name) != getattr(before, record.name)
    }


def range_text(declared: Declaration) -> str:
    """Returns a text such as "0 to 64 m" or "at least 0"; "" without bounds."""
    lo, hi, unit = declared.lo, declared.hi, f" {declared.unit}" if declared.unit else ""
    if lo is not None and hi is not None:
        return f"{lo:g} to {hi:g}{unit}"
    if lo is not None:
        return f"at least {lo:g}{unit}"
    return f"at most {hi:g}{unit}" if hi is not None else ""


def switch_of(text: str) -> bool | str:
    """Parses on and off, or true and false; returns other text, which the declaration rejects."""
    known: dict[str, bool] = {"on": True, "true": True, "off": False, "false": False}
    return known.get(text.casefold(), text)


def value_text(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, msgspec.Struct) and type(value).__str__ is not object.__str__:
        return str(value)
    if isinstance(value, msgspec.Struct):
        return " ".join(value_text(part) for part in msgspec.structs.astuple(value) if part is not None)
    if isinstance(value, tuple) and value and isinstance(value[0], (tuple, msgspec.Struct)):
        return ", ".join(value_text(part) for part in value)
    if isinstance(value, tuple):
        return " ".join(value_text(part) for part in value)
    return "none" if value is None else str(value)


@functools.cache
def entry_types(cls: type[msgspec.Struct], name: str) -> tuple[type[msgspec.Struct], ...]:
    """Returns the classes of the entries that the list `cls.name` can hold."""
    return tuple(_structs(_hints(cls)[name]))


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for arg in typing.get_args(hint):
        yield from _structs(arg)


@functools.cache
def _hints(cls: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns annotations, cached, because evaluating them costs more than checking a value."""
    return typing.get_type_hints(cls, include_extras=True)


def _is_finite(value: Any) -> bool:
    if isinstance(value, msgspec.Struct):
        return _is_finite(msgspec.structs.astuple(value))
    if isinstance(value, tuple):
        return all(_is_finite(part) for part in value)
    return not isinstance(value, float) or value - value == 0.0


def _record(cls: type[msgspec.Struct], field: msgspec.structs.FieldInfo, hint: Any) -> Param | None:
    declared = _declaration(hint)
    if declared is None:
        return None
    default = field.default_factory() if callable(field.default_factory) else field.default
    if default is msgspec.NODEFAULT:
        raise TypeError(f"{cls.__name__}.{field.name} needs a default; write `{field.name}: Annotated[...] = VALUE`")
    kind, size, optional = _shape(hint)
    return Param(field.name, kind, size, optional, default, declared)


def _declaration(hint: Any) -> Declaration | None:
    for meta in getattr(hint, "__metadata__", ()):
        if isinstance(meta, msgspec.Meta) and meta.extra and _EXTRA_KEY in meta.extra:
            declared = meta.extra[_EXTRA_KEY]
            assert isinstance(declared, Declaration)
            return declared
    return next((found for arg in typing.get_args(hint) if (found := _declaration(arg))), None)


def _shape(hint: Any) -> tuple[type, int, bool]:
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _shape(typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        inner = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        kind, size, _ = _shape(inner[0])
        return kind, size, True
    if origin is tuple:
        return tuple, len(typing.get_args(hint)), False
    return hint, 1, False
