"""The part of JSON Schema that our schemas use; an unknown keyword is an error, so that nothing is checked in vain."""

from typing import Any

_TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
_PLAIN = {"$schema", "title", "description", "$defs"}


def complaints(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, where: str = "$") -> list[str]:
    root = schema if root is None else root
    found: list[str] = []
    for keyword, wanted in schema.items():
        if keyword in _PLAIN:
            continue
        check = _CHECKS.get(keyword)
        if check is None:
            raise ValueError(f"keyword {keyword!r} is not known")
        found += check(value, wanted, schema, root, where)
    return found


def _ref(value: Any, wanted: str, schema: Any, root: Any, where: str) -> list[str]:
    target = root
    for key in wanted.removeprefix("#/").split("/"):
        target = target[key]
    return complaints(value, target, root, where)


def _type(value: Any, wanted: str, schema: Any, root: Any, where: str) -> list[str]:
    fits = isinstance(value, _TYPES[wanted]) and not isinstance(value, bool)
    return [] if fits else [f"{where}: {value!r} is no {wanted}"]


def _one_of(value: Any, wanted: list[Any], schema: Any, root: Any, where: str) -> list[str]:
    tried = [complaints(value, one, root, where) for one in wanted]
    fitting = sum(not found for found in tried)
    return [] if fitting == 1 else [f"{where}: fits {fitting} of {len(wanted)}", *min(tried, key=len)]


def _properties(value: Any, wanted: dict[str, Any], schema: Any, root: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    return [line for k, one in wanted.items() if k in value for line in complaints(value[k], one, root, f"{where}.{k}")]


def _additional(value: Any, wanted: Any, schema: Any, root: Any, where: str) -> list[str]:
    more = [key for key in value if key not in schema.get("properties", {})] if isinstance(value, dict) else []
    if wanted is False:
        return [f"{where}: {key!r} is not allowed" for key in more]
    return [line for key in more for line in complaints(value[key], wanted, root, f"{where}.{key}")]


def _items(value: Any, wanted: Any, schema: Any, root: Any, where: str) -> list[str]:
    items = value if isinstance(value, list) else []
    return [line for i, item in enumerate(items) for line in complaints(item, wanted, root, f"{where}[{i}]")]


def _required(value: Any, wanted: list[str], schema: Any, root: Any, where: str) -> list[str]:
    return [f"{where}: {key!r} is missing" for key in wanted if not isinstance(value, dict) or key not in value]


def _holds(reported: str, holds: Any) -> Any:
    def check(value: Any, wanted: Any, schema: Any, root: Any, where: str) -> list[str]:
        return [] if holds(value, wanted) else [f"{where}: {value!r} {reported} {wanted!r}"]

    return check


_CHECKS = {
    "$ref": _ref,
    "type": _type,
    "oneOf": _one_of,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "required": _required,
    "enum": _holds("is none of", lambda value, wanted: value in wanted),
    "const": _holds("is not", lambda value, wanted: value == wanted),
    "minimum": _holds("is below", lambda value, wanted: value >= wanted),
    "minLength": _holds("is shorter than", lambda value, wanted: len(value) >= wanted),
    "minItems": _holds("has less than", lambda value, wanted: len(value) >= wanted),
}
