"""The JSON dialect of project files: strict and bounded to read, one vector a line to write."""

import json
import math
import stat
from pathlib import Path
from typing import Any

from app.files.project_error import ProjectError

SIZE_MAX = 64 * 1024 * 1024
"""Largest project file that is read [bytes]."""

DEPTH_MAX = 100
"""Deepest nesting of objects and lists."""

_INDENT = "  "


class _DuplicateKey(ValueError):
    pass


def read_json(path: Path) -> Any:
    """Content of a JSON file.

    Raises:
        ProjectError: If the file cannot be read, is too large, is no UTF-8 or no JSON, names a key twice,
            nests too deeply, or holds a number that is not finite.
    """
    try:
        text = _read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(path, f"byte {error.start}", "is not UTF-8 text") from None
    try:
        content = json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise ProjectError(path, f"line {error.lineno}, column {error.colno}", error.msg) from None
    except _DuplicateKey as error:
        raise ProjectError(path, "", str(error)) from None
    except RecursionError:
        raise ProjectError(path, "", f"is nested deeper than {DEPTH_MAX} levels") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise ProjectError(path, "", str(error)) from None
    _check_values(path, content)
    return content


def json_text(content: Any, indent: str = "") -> str:
    """Pretty-printed JSON; a list of plain values stays on one line."""
    inner = indent + _INDENT
    if isinstance(content, dict) and content:
        rows = [f"{inner}{_scalar(key)}: {json_text(value, inner)}" for key, value in content.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(content, list | tuple):
        if not any(isinstance(value, dict | list | tuple) for value in content):
            return f"[{', '.join(_scalar(value) for value in content)}]"
        return "[\n" + ",\n".join(inner + json_text(value, inner) for value in content) + f"\n{indent}]"
    return _scalar(content)


def key_path(where: str, key: str) -> str:
    """JSON path of a key of the object at `where`."""
    return f"{where}.{key}" if key.isidentifier() else f"{where}[{json.dumps(key)}]"


def _read_bytes(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ProjectError(path, "", "is a folder" if path.is_dir() else "is not a regular file")
        if status.st_size > SIZE_MAX:
            raise ProjectError(path, "", f"is larger than {SIZE_MAX // 2**20} MiB")
        with path.open("rb") as file:
            return file.read(SIZE_MAX)
    except OSError as error:
        raise ProjectError(path, "", error.strerror or str(error)) from error
    except ValueError as error:  # a null character in the path
        if isinstance(error, ProjectError):
            raise
        raise ProjectError(path, "", str(error)) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _DuplicateKey(f"key {json.dumps(twice)} stands twice in one object")
    return content


def _check_values(path: Path, content: Any) -> None:
    """Refuse numbers that are not finite and nesting that could not be written again."""
    pending = [("$", content, 0)]
    while pending:
        where, value, depth = pending.pop()
        if isinstance(value, float) and not math.isfinite(value):
            raise ProjectError(path, where, f"{value} is not allowed; allowed: a finite number")
        if depth > DEPTH_MAX:
            raise ProjectError(path, where[:200], f"is nested deeper than {DEPTH_MAX} levels")
        if isinstance(value, dict):
            pending.extend((key_path(where, key), inner, depth + 1) for key, inner in value.items())
        elif isinstance(value, list):
            pending.extend((f"{where}[{index}]", inner, depth + 1) for index, inner in enumerate(value))


def _scalar(value: Any) -> str:
    """One value; half of a surrogate pair, as in a file name that is no text, is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text
