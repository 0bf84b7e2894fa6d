"""Vertex and index buffers of EZMesh text: layout by ctype and semantic, counts checked before use."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.ezm_text import NumberFault, count_tokens, parse_hex, parse_numbers, token_rows, token_values
from sinew.sim.assets.faults import ElementFault, check_magnitude, quoted
from sinew.sim.assets.raw import LoadWatch, RawVertices, UInt32

Float64 = npt.NDArray[np.float64]

OUTSIDE_JOINT = 65535
MAX_TEXCOORD_SETS = 4
MAX_LAYOUT = 2048
MAX_COUNT = 2**32 - 1

_LETTER = re.compile(r"x[124]?|[fdhbcp]")
_ENTRY = re.compile(r"(?:x[124]?|[fdhbcp])+")
_HEX_DIGITS = {"x": 8, "x4": 8, "x2": 4, "x1": 2}
_ALIASES = {
    "blendweighting": "blendweights",
    "boneweighting": "blendweights",
    "boneindices": "blendindices",
    **{f"texel{number}": f"texcoord{number}" for number in range(1, MAX_TEXCOORD_SETS + 1)},
}
SIZES = {
    "position": (3,),
    "normal": (3,),
    "color": (1,),
    **{f"texcoord{number}": (2, 3) for number in range(1, MAX_TEXCOORD_SETS + 1)},
    "tangent": (3, 4),
    "binormal": (3,),
    "blendweights": (1, 2, 3, 4, 8),
    "blendindices": (1, 2, 3, 4, 8),
    "radius": (1,),
    **{f"interp{number}": (3, 4) for number in range(1, 9)},
}
"""Numbers per vertex that each meaning allows, in the order in which they are written; other meanings take any."""


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a vertex layout: meaning, storage letters, first token within the vertex."""

    semantic: str
    letters: tuple[str, ...]
    first: int

    @property
    def columns(self) -> range:
        return range(self.first, self.first + len(self.letters))


def read_vertices(
    element: str, attribute: dict[str, str], text: str, watch: LoadWatch, warnings: list[str]
) -> RawVertices:
    """The vertex buffer with these attributes and payload; `element` names it in messages."""
    fields = parse_layout(element, attribute.get("ctype", ""), attribute.get("semantic", ""))
    count = parse_count(element, "count", attribute)
    columns, fields, count = _vertex_values(element, fields, count, text, watch, warnings)
    stored: dict[str, npt.NDArray[np.generic]] = {}
    for field in fields:
        if field.semantic in stored:
            warnings.append(f"{element}: the second {field.semantic} is ignored.")
        elif "p" not in field.letters and "c" not in field.letters:
            stored[field.semantic] = _stored(field, columns[:, field.first : field.first + len(field.letters)])
    if count:
        if "position" not in stored:
            raise ElementFault(element, "the semantic has no position")
        check_magnitude(element, "position", np.asarray(stored["position"], np.float32))
    return RawVertices(count, stored)


def read_triangles(element: str, attribute: dict[str, str], text: str, watch: LoadWatch, warnings: list[str]) -> UInt32:
    """Vertex indices, shape (T, 3), not yet checked against the vertex buffer."""
    name = "triangle_count" if "triangle_count" in attribute else "count"
    count = parse_count(element, name, attribute)
    values = _numbers(element, text, watch)
    if count is None:
        count = len(values) // 3
    count = checked_count(element, len(values), count, 3, "triangle", warnings)
    values = values[: count * 3]
    wrong = ~((values >= 0) & (values <= MAX_COUNT) & (values == np.floor(values)))
    if wrong.any():
        raise ElementFault(element, f"{values[np.argmax(wrong)]:.9g} is not a vertex index")
    return values.astype(np.uint32).reshape(count, 3)


def parse_layout(element: str, ctype: str, semantic: str) -> list[Field]:
    """Entries of a vertex, in storage order."""
    if max(len(ctype), len(semantic)) > MAX_LAYOUT:
        raise ElementFault(element, f"ctype or semantic has more than {MAX_LAYOUT} characters")
    storage, meanings = ctype.replace(",", " ").split(), semantic.replace(",", " ").lower().split()
    if len(storage) != len(meanings):
        reason = f"ctype has {len(storage)} entries, semantic has {len(meanings)}"
        raise ElementFault(element, reason)
    fields: list[Field] = []
    first = 0
    for entry, meaning in zip(storage, _canonical(meanings), strict=True):
        if not _ENTRY.fullmatch(entry.lower()):
            raise ElementFault(element, f"ctype {quoted(entry)} is unknown")
        letters = tuple(_LETTER.findall(entry.lower()))
        sizes = SIZES.get(meaning)
        if sizes is not None and len(letters) not in sizes:
            raise ElementFault(element, f"{meaning} cannot be stored as {quoted(entry)}")
        fields.append(Field(meaning, letters, first))
        first += len(letters)
    return fields


def parse_count(element: str, name: str, attribute: dict[str, str]) -> int | None:
    """The whole number in an attribute, or None if it is missing."""
    text = attribute.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"\s*\+?[0-9]{1,18}\s*", text, re.ASCII) or int(text) > MAX_COUNT:
        raise ElementFault(element, f"{name} {quoted(text)} is not a usable number")
    return int(text)


def checked_count(element: str, available: int, count: int, stride: int, what: str, warnings: list[str]) -> int:
    """`count`, if `available` numbers suffice for as many items of `stride` numbers; a surplus is a warning."""
    if available < count * stride:
        plural = {"vertex": "vertices"}.get(what, what + "s")
        raise ElementFault(
            element,
            f"holds {available} numbers, {count} {what if count == 1 else plural} of {stride} need {count * stride}",
        )
    if available > count * stride:
        warnings.append(f"{element}: {available - count * stride} surplus numbers are ignored.")
    return count


def _canonical(meanings: Sequence[str]) -> list[str]:
    """Meanings under their current names; plain `texcoord` entries take the free sets in order."""
    names = [_ALIASES.get(meaning, meaning) for meaning in meanings]
    numbers = (number for number in range(1, len(names) + 1) if f"texcoord{number}" not in names)
    return [f"texcoord{next(numbers)}" if name == "texcoord" else name for name in names]


def _vertex_values(
    element: str, fields: list[Field], count: int | None, text: str, watch: LoadWatch, warnings: list[str]
) -> tuple[Float64, list[Field], int]:
    """Numbers of the buffer, with the layout and the number of vertices that fit them."""
    stride = sum(len(field.letters) for field in fields)
    if stride == 0:
        if count or text.strip():
            raise ElementFault(element, "ctype and semantic are missing")
        return np.empty((0, 1)), fields, 0
    mixed = any(letter[0] in "xcp" for field in fields for letter in field.letters)
    values = np.empty(0) if mixed else _numbers(element, text, watch)
    available = count_tokens(text) if mixed else len(values)
    if count is None:
        count = available // stride
    if available != count * stride:
        fields, stride = _three_for_interp(fields, stride, available, count)
    count = checked_count(element, available, count, stride, "vertex", warnings)
    if mixed:
        return _mixed_values(element, fields, stride, count, token_rows(text, stride, watch)), fields, count
    return values[: count * stride].reshape(count, stride), fields, count


def _three_for_interp(fields: list[Field], stride: int, available: int, count: int) -> tuple[list[Field], int]:
    """The layout with three numbers per interp if only that fits: some writers declare four and print three."""
    shorter: list[Field] = []
    first = 0
    for field in fields:
        letters = field.letters[:3] if field.semantic.startswith("interp") else field.letters
        shorter.append(Field(field.semantic, letters, first))
        first += len(letters)
    return (shorter, first) if available == count * first else (fields, stride)


def _mixed_values(element: str, fields: list[Field], stride: int, count: int, pieces: Iterable[list[str]]) -> Float64:
    """Numbers of a buffer in which some columns are hexadecimal or text; text columns become 0."""
    values = np.zeros((count, stride))
    columns = [pair for field in fields for pair in zip(field.letters, field.columns, strict=True)]
    row = 0
    for tokens in pieces:
        rows = min(len(tokens) // stride, count - row)
        try:
            for letter, column in columns:
                own = tokens[column : rows * stride : stride]
                if letter[0] == "x":
                    values[row : row + rows, column] = parse_hex(own, _HEX_DIGITS[letter])
                elif letter not in "cp":
                    values[row : row + rows, column] = token_values(own)
        except NumberFault as fault:
            raise ElementFault(element, str(fault)) from None
        row += rows
    return values


def _numbers(element: str, text: str, watch: LoadWatch) -> Float64:
    try:
        return parse_numbers(text, watch)
    except NumberFault as fault:
        raise ElementFault(element, str(fault)) from None


def _stored(field: Field, values: Float64) -> npt.NDArray[np.generic]:
    """One attribute in the type that `RawVertices` promises."""
    if field.semantic == "color":
        return np.where((values >= 0) & (values <= MAX_COUNT), values, 0)[:, 0].astype(np.uint32)
    if field.semantic == "blendindices":
        return _four(np.where((values >= 0) & (values < OUTSIDE_JOINT), values, OUTSIDE_JOINT).astype(np.uint16))
    single = values.astype(np.float32)
    if field.semantic.startswith("texcoord"):
        return np.ascontiguousarray(single[:, :2])
    return _four(single) if field.semantic == "blendweights" else single


def _four(values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    missing = 4 - values.shape[1]
    return np.pad(values, ((0, 0), (0, missing))) if missing > 0 else values
