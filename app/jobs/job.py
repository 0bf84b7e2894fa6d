"""Jobs: the options of a long command are declared once, as a frozen struct.

The command line with its help, the form of the window, the keywords of Python, the commands of divided work, what their
parts depend on, and the record of a report derive from it.
"""

import argparse
import enum
import functools
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

import msgspec

from sinew.sim.assets.formats import Formats
from sinew.sim.printable import printable
from sinew.sim.scene.params import Declaration, param, params_of, range_text, value_text

J = TypeVar("J", bound="Job")
F = TypeVar("F", bound=Callable[..., Any])


class Place(enum.Flag):
    """Where an option is offered."""

    WORDS = enum.auto()  # The command line
    FORM = enum.auto()  # The window
    PYTHON = enum.auto()  # `Project.export`
    IMAGE = enum.auto()  # `Project.render`


WORDS, FORM, PYTHON, IMAGE = Place
ANYWHERE = WORDS | FORM | PYTHON


@dataclass(frozen=True, slots=True)
class Asked:
    """The part of an option that `Declaration` does not express."""

    metavar: str = ""  # Stands for the value in the help
    at: Place = ANYWHERE
    word: str = ""  # Its name on the command line, if the field has another
    content: bool = True  # False if it does not change the result: parts of divided work do not depend on it
    is_argument: bool = False  # Typed without its name
    suffixes: Callable[[], Sequence[str]] | None = None  # Of its files, for the help
    formats: Formats[Any] | None = None  # The file has a suffix of these
    instead_of: str = ""  # Options with the same text exclude each other
    start: Any = None  # Value that the form starts with, in place of the default
    off: Any = None  # Value of the form that stands for None; the form starts with it


def option(doc: str, metavar: str = "", at: Place = ANYWHERE, **more: Any) -> msgspec.Meta:
    """Returns the annotation of an option; `more` are fields of `Asked` and arguments of `param`.

    A field without default is required; the option of a tuple may be repeated.
    """
    own = {field.name: more.pop(field.name) for field in fields(Asked) if field.name in more}
    made = param(doc, **more)
    extra = {**(made.extra or {}), "asked": Asked(metavar, at, **own)}
    return msgspec.Meta(ge=made.ge, le=made.le, description=doc, extra=extra)


class Composite(msgspec.Struct, frozen=True):
    """A value of several parts, which are rows of the form; its text is its word on the command line."""

    several: ClassVar[bool] = False  # Each part is a word on the command line

    @classmethod
    def of(cls, value: Any) -> Self:
        """Converts a text, or what programs write for it; raises ValueError."""
        raise NotImplementedError  # msgspec structs cannot have abstract methods

    @classmethod
    def of_form(cls, **parts: Any) -> Self:
        return cls(**parts)

    def words(self) -> Sequence[str]:
        return (str(self),)


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    type: Any  # Of the value, or of each of several
    is_many: bool
    is_optional: bool
    default: Any  # NODEFAULT if it is required
    declared: Declaration
    asked: Asked

    @property
    def word(self) -> str:
        return f"--{self.asked.word or self.name.replace('_', '-')}"

    @property
    def is_value(self) -> bool:
        return issubclass(self.type, Composite)

    def read(self, value: Any) -> Any:
        """Converts a word of the command line, or a value of a program.

        Raises:
            ValueError: If it is not allowed.
            LookupError: For an unknown choice.
        """
        lo, hi = self.declared.lo, self.declared.hi
        shown = repr(value) if isinstance(value, str) else f"{self.name} = {value}"
        bounds = f" from {lo:.12g}{f' to {hi:.12g}' if hi is not None else ''}" if lo is not None else ""
        if self.is_value:
            return self.type.of(value)
        if issubclass(self.type, enum.Enum):
            value, choices = getattr(value, "value", value), [member.value for member in self.type]
            if value not in choices:
                raise LookupError(f"there is no {self.name} {value!r}; there are: {', '.join(sorted(choices))}")
        if self.asked.formats is not None:
            self.asked.formats.of(Path(value))
        if self.type is int and not re.fullmatch("-?[0-9]+", str(value)):
            raise ValueError(f"{shown} is not a whole number{bounds}")
        try:
            made = self.type(value)
        except ValueError:
            raise ValueError(f"{shown} is not a number") from None
        if self.type is float and not math.isfinite(made):
            raise ValueError(f"{shown} is not a finite number")
        if self.type in (int, float) and not ((lo is None or made >= lo) and (hi is None or made <= hi)):
            raise ValueError(f"{shown} is not a {'whole ' if self.type is int else ''}number{bounds}")
        return made


@functools.cache
def options_of(cls: type[msgspec.Struct]) -> tuple[Option, ...]:
    """Returns the options of a class, its own ones first."""
    hints = typing.get_type_hints(cls, include_extras=True)
    names = [name for kind in cls.__mro__ for name in vars(kind).get("__annotations__", ())]
    found = []
    for field in sorted(msgspec.structs.fields(cls), key=lambda field: names.index(field.name)):
        hint, meta = typing.get_args(hints[field.name])
        union = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        plain, is_many = union[0], typing.get_origin(union[0]) is tuple
        kind, is_optional = typing.get_args(plain)[0] if is_many else plain, len(union) > 1
        declared, asked = meta.extra.values()
        found.append(Option(field.name, kind, is_many, is_optional, field.default, declared, asked))
    return tuple(found)


class Plugins(msgspec.Struct, frozen=True, kw_only=True):
    """Options of every command that are read before it."""

    no_plugins: Annotated[bool, option("Load no plug-ins.", at=WORDS)] = False
    require_plugin: Annotated[
        tuple[str, ...],
        option('Fail without the types of a plug-in, such as "acme-rope 1.0"; repeatable.', "PACKAGE", WORDS),
    ] = ()


class Job(Plugins, frozen=True, kw_only=True):
    """Options of every command."""

    command: ClassVar[str] = ""
    formats: ClassVar[Formats[Any] | None] = None  # Whose options the help lists
    verbose: Annotated[bool, option("Print the traceback of errors.", at=WORDS, content=False)] = False

    @classmethod
    def of_form(cls, **values: Any) -> Self:
        return cls(**values)


# --- the command line -----------------------------------------------------------------------------------------------


def add_options(parser: argparse.ArgumentParser, cls: type[Plugins]) -> None:
    if issubclass(cls, Job) and cls.formats is not None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _option_lines(cls.formats)
    groups: dict[str, Any] = {"": parser}
    for one in options_of(cls):
        asked, is_required = one.asked, one.default is msgspec.NODEFAULT
        if WORDS not in asked.at:
            continue
        how: dict[str, Any] = {"help": _help(one)}
        if one.type is bool:
            how["action"] = "store_true"
        else:
            how["type"] = str if one.is_value and one.type.several else _reader(one)
            how["metavar"] = asked.metavar + ("|".join(asked.formats.suffixes()) if asked.formats else "")
            how["default"] = None if is_required else list(one.default) if one.is_many else one.default
        if issubclass(one.type, enum.Enum):
            how |= {"choices": list(one.type), "metavar": f"{{{','.join(member.value for member in one.type)}}}"}
        if asked.is_argument:
            many, single = ("+", None) if is_required else ("*", "?")
            parser.add_argument(one.name, nargs=many if one.is_many else single, **how)
            continue
        how |= {"required": True} if is_required else {}
        how |= {"action": "append"} if one.is_many else {}
        how |= {"nargs": "*", "default": None} if one.is_value and one.type.several else {}
        if asked.instead_of not in groups:
            groups[asked.instead_of] = parser.add_mutually_exclusive_group()
        groups[asked.instead_of].add_argument(one.word, dest=one.name, **how)


def _option_lines(formats: Formats[Any]) -> str:
    lines = []
    for format in formats:
        for record in params_of(format.options) if format.options else ():
            choices = "|".join(member.value for member in record.type) if issubclass(record.type, enum.Enum) else ""
            allowed = f" ({choices or range_text(record.declared)})" if choices or range_text(record.declared) else ""
            default = value_text(record.default)
            lines.append(f"  {format.suffixes[0]} {record.name}{allowed}: {record.declared.doc} Default: {default}.")
    return "\n".join(["options of formats:", *lines]) if lines else ""


def _reader(one: Option) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return one.read(text)
        except (ValueError, LookupError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _help(one: Option) -> str:
    doc = one.declared.doc.removesuffix(".")
    doc = doc[0].lower() + doc[1:] if not doc[1].isupper() else doc
    bounds = f" ({text})" if (text := range_text(one.declared)) else ""
    bounds = f" ({'|'.join(one.asked.suffixes())})" if one.asked.suffixes is not None else bounds
    shown = "" if one.default in (None, (), False, msgspec.NODEFAULT) else word_of(one.default)
    return f"{doc}{bounds}{f' (default: {shown})' if shown else ''}".replace("%", "%%")


def job_of(cls: type[J], options: argparse.Namespace) -> J:
    values: dict[str, Any] = {}
    for one in options_of(cls):
        value = getattr(options, one.name, None)
        if value is not None:
            is_read = one.is_value and one.type.several and isinstance(value, list)
            values[one.name] = one.type.of(value) if is_read else tuple(value) if one.is_many else value
    return cls(**values)


def words_of(job: Job, *, only_content: bool = False, path_text: Callable[[Path], str] = str) -> list[str]:
    """Returns the command line of a job; `only_content` leaves out options that do not change the result."""
    words = [job.command]
    for one in sorted(options_of(type(job)), key=lambda one: not one.asked.is_argument):
        value = getattr(job, one.name)
        if WORDS not in one.asked.at or value == one.default or (only_content and not one.asked.content):
            continue
        texts = [path_text(v) if isinstance(v, Path) else word_of(v) for v in (value if one.is_many else [value])]
        if one.asked.is_argument:
            words += texts
        elif one.type is bool:
            words.append(one.word)
        elif one.is_value and one.type.several:
            words += [one.word, *value.words()]
        else:  # a value that begins with a dash would be taken for an option
            words += [word for t in texts for word in ([f"{one.word}={t}"] if t.startswith("-") else [one.word, t])]
    return words


def word_of(value: object) -> str:
    """Returns the text of a value, from which it is read again."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    return repr(value) if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def content_of(job: Job) -> bytes:
    """Returns what the result of a job depends on, besides the contents of files."""
    values = {one.name: getattr(job, one.name) for one in options_of(type(job)) if one.asked.content}
    return msgspec.json.encode([job.command, values], enc_hook=str)


def record_of(job: Job) -> list[tuple[str, str]]:
    """Returns name and value of all options that differ from their defaults; of paths only the name of the file."""
    values = [(one, getattr(job, one.name)) for one in options_of(type(job))]
    return [
        (one.name if one.asked.is_argument else one.word, printable(v.name if isinstance(v, Path) else value_text(v)))
        for one, v in values
        if v != one.default
    ]


# --- the form of the window -----------------------------------------------------------------------------------------


@functools.cache
def form_class(cls: type[Job]) -> type[msgspec.Struct]:
    """Returns a class of settings for `SettingsForm`; where a job runs comes last."""
    rows: list[tuple[str, Any, Any]] = []
    for one in sorted(options_of(cls), key=lambda one: not one.asked.content):
        start = one.default if one.asked.start is None else one.asked.start
        if FORM not in one.asked.at:
            continue
        if one.is_value:
            hints = typing.get_type_hints(one.type, include_extras=True)
            rows += [(name, hints[name], getattr(start, name)) for name in one.type.__struct_fields__]
            continue
        declared = {field.name: getattr(one.declared, field.name) for field in fields(one.declared)}
        if one.asked.off is not None:
            start = one.asked.off
            declared["lo"] = min(declared["lo"], start) if declared["lo"] is not None else None
        rows.append((one.name, Annotated[one.type, param(**declared)], start))
    return msgspec.defstruct(f"{cls.__name__}Form", rows, frozen=True, kw_only=True)


def job_of_form(cls: type[J], form: msgspec.Struct, **others: Any) -> J:
    """Returns a job with the values of a form, and with others that are not asked there."""
    values: dict[str, Any] = {}
    for one in options_of(cls):
        if FORM in one.asked.at and one.is_value:
            values[one.name] = one.type.of_form(**{name: getattr(form, name) for name in one.type.__struct_fields__})
        elif FORM in one.asked.at:
            value = getattr(form, one.name)
            value = value.strip() if isinstance(value, str) else value
            values[one.name] = None if one.asked.off is not None and value == one.asked.off else value
    return cls.of_form(**{**values, **others})


# --- keywords of Python ---------------------------------------------------------------------------------------------


def keywords(place: Place, *classes: type[msgspec.Struct]) -> Callable[[F], F]:
    """Decorates a method whose last parameter takes any keyword: these are the options at a place.

    The method gets checked values, and their signature and documentation.  It raises TypeError for an unknown name,
    and the errors of `Option.read`.
    """
    known = {one.name: one for cls in classes for one in options_of(cls) if place in one.asked.at}

    def decorated(function: F) -> F:
        own = dict(list(inspect.signature(function).parameters.items())[:-1])
        more = [one for one in known.values() if one.name not in own]

        @functools.wraps(function)
        def checked(*arguments: Any, **given: Any) -> Any:
            if unknown := given.keys() - known.keys() - own.keys():
                raise TypeError(
                    f"{function.__name__}() has no argument {min(unknown)!r}; there are: {', '.join(known)}"
                )
            for name, value in given.items():
                if (one := known.get(name)) is not None and not (value is None and one.is_optional):
                    several = [value] if isinstance(value, str) else value
                    given[name] = tuple(map(one.read, several)) if one.is_many else one.read(value)
            return function(*arguments, **given)

        named = [inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default) for one in more]
        typing.cast(Any, checked).__signature__ = inspect.Signature([*own.values(), *named])
        lines = "".join(f"    {one.name}: {one.declared.doc}\n" for one in more)
        checked.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n{lines}"
        return typing.cast(F, checked)

    return decorated
