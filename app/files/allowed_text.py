"""What a field of a settings class accepts, in words; from its type and its declaration."""

from typing import Any

from msgspec import inspect

from sim.scene.params import Declaration, Role


def allowed_text(hint: Any, declared: Declaration | None = None) -> str:
    """Text such as "a number from 1e-06 to 1e+06 m", "3 numbers" or "one of: lbs, dqs".

    Args:
        hint: Type annotation of the field, with its metadata.
        declared: Declaration of the parameter, for the unit.
    """
    unit = f" {declared.unit}" if declared is not None and declared.unit else ""
    order = ", in order" if declared is not None and declared.role in (Role.GRADIENT, Role.CURVE) else ""
    return _text(inspect.type_info(hint), unit) + order


def _text(kind: inspect.Type, unit: str) -> str:
    match kind:
        case inspect.Metadata(type=inner):
            return _text(inner, unit)
        case inspect.UnionType(types=types):
            return " or ".join(_text(inner, unit) for inner in types)
        case inspect.TupleType(item_types=items):
            return _text(items[0], unit).replace("a number", f"{len(items)} numbers", 1)
        case inspect.VarTupleType(item_type=item):
            return f"{kind.min_length or 0} to {kind.max_length or 'any number of'} items of {_text(item, unit)}"
        case inspect.FloatType():
            return "a number" + _range(kind.ge, kind.le, unit)
        case inspect.IntType():
            return "a whole number" + _range(kind.ge, kind.le, unit)
        case inspect.EnumType(cls=cls):
            return "one of: " + ", ".join(str(member.value) for member in cls)
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "null"
        case inspect.StrType():
            return "a text"
        case inspect.StructType(fields=fields, tag_field=None):
            return "an object with " + ", ".join(field.encode_name for field in fields)
        case inspect.StructType(tag_field=field, tag=tag):
            return f'an object with "{field}": "{tag}"'
    raise TypeError(f"no words for {kind}")


def _range(lo: float | None, hi: float | None, unit: str) -> str:
    if lo is not None and hi is not None:
        return f" from {lo:g} to {hi:g}{unit}"
    if lo is not None:
        return f", at least {lo:g}{unit}"
    if hi is not None:
        return f", at most {hi:g}{unit}"
    return f" [{unit.strip()}]" if unit else ""
