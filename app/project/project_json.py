"""JSON of project files: read strictly and with limits, and written with one vector a line."""

import collections
import json
import math
import re
import stat
from pathlib import Path
from typing import Any

from sinew.sim.assets.raw import FileError
from sinew.sim.printable import printable

_WHERE_MAX, _REASON_MAX = 200, 800


class ProjectError(FileError):
    """Error about a project in one line that names file, JSON path and reason."""

    def __init__(self, path: Path | str, where: str, reason: str) -> None:
        place = f"{printable(where, _WHERE_MAX)}: " if where else ""
        super().__init__(f"{printable(str(path))}: {place}{printable(reason, _REASON_MAX)}")
        self.path = Path(path)
        self.where = where
        self.reason = reason


SIZE_MAX = 64 * 1024 * 1024  # [bytes]

DEPTH_MAX = 100  # of objects and lists

VALUES_MAX = 1 << 22
"""Maximum number of values of a project, counted by commas and brackets; each takes up to a hundred bytes."""

DIGITS_MAX = 4000  # longest whole number that is read exactly

_KEY_MAX = 60

_INDENT = "  "
# Halves of surrogate pairs, except those that stand for a byte of an undecodable file name.
_NO_TEXT = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class _DuplicateKey(ValueError):
    pass


def read_json(path: Path) -> Any:
    """Reads JSON; raises ProjectError if the file cannot be read, is too large, not UTF-8 or not JSON, has a key twice,
    nests too deeply, or holds too many values, a number that is not finite, or a malformed text.
    """
    return parse_json(path, read_bytes(path))


def parse_json(path: Path, data: bytes) -> Any:
    """Decodes JSON; `path` is for messages. Raises as `read_json`."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > VALUES_MAX:
        raise ProjectError(path, "", f"holds more than {VALUES_MAX} values")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError(path, f"byte {error.start}", "is not UTF-8 text") from None
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        raise ProjectError(path, f"line {error.lineno}, column {error.colno}", error.msg) from None
    except _DuplicateKey as error:
        raise ProjectError(path, "", str(error)) from None
    except RecursionError:
        raise ProjectError(path, "", f"is nested deeper than {DEPTH_MAX} levels") from None
    if (fault := _fault(content)) is not None:
        raise ProjectError(path, f"${fault[0]}", fault[1])
    return content


def json_text(content: Any, indent: str = "") -> str:
    """Returns content as JSON text with a list of plain values on one line."""
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
    if len(key) > _KEY_MAX:
        key = key[: _KEY_MAX - 1] + "…"
    return f"{where}.{key}" if key.isidentifier() else f"{where}[{json.dumps(key)}]"


def read_bytes(path: Path) -> bytes:
    """Reads a file; raises as `read_json`."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ProjectError(path, "", "is a folder" if path.is_dir() else "is not a regular file")
        if status.st_size > SIZE_MAX:
            raise ProjectError(path, "", f"is larger than {SIZE_MAX // 2**20} MiB")
        with path.open("rb") as file:
            return file.read(status.st_size)
    except OSError as error:
        raise ProjectError(path, "", error.strerror or str(error)) from error
    except ValueError as error:  # a null character in the path
        if isinstance(error, ProjectError):
            raise
        raise ProjectError(path, "", str(error)) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        (twice, _), *_ = collections.Counter(key for key, _ in pairs).most_common(1)
        raise _DuplicateKey(f"key {printable(json.dumps(twice), _KEY_MAX)} is there twice in one object")
    return content


def _whole_number(text: str) -> int | float:
    """Parses a whole number; infinite if it is too long to be read exactly, which is refused later."""
    return int(text) if len(text) <= DIGITS_MAX else math.inf


def _fault(value: Any, depth: int = 0) -> tuple[str, str] | None:
    """Returns JSON path from here and reason of an invalid number or text, or of too deep nesting."""
    if depth > DEPTH_MAX:
        return "", f"is nested deeper than {DEPTH_MAX} levels"
    if isinstance(value, float) and not math.isfinite(value):
        return "", f"{value} is not allowed; allowed: a finite number"
    if isinstance(value, str) and _NO_TEXT.search(value):
        return "", f"{printable(json.dumps(value), _KEY_MAX)} holds half a surrogate pair"
    if isinstance(value, dict):
        for key, inner in value.items():
            if (fault := _fault(key, depth) or _fault(inner, depth + 1)) is not None:
                return key_path("", key) + fault[0], fault[1]
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if (fault := _fault(inner, depth + 1)) is not None:
                return f"[{index}]{fault[0]}", fault[1]
    return None


def _scalar(value: Any) -> str:
    """Returns a plain value as JSON; half of a surrogate pair, as in an undecodable file name, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text
