"""Damages to files: from single bits to exchanged payloads, all reproducible from a seed."""

import random
import re
from collections.abc import Callable

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
ATTRIBUTE = re.compile(rb'(\w+)="([^"<]*)"')
TAG = re.compile(rb"</?(\w+)")
PAYLOAD = re.compile(rb">([^<>]{8,})<")
COUNT = re.compile(rb'\b((?:triangle_|submesh_|frame|track)?count)="([^"]*)"')

JSON_VALUE = re.compile(rb'"\w+": ?([\w.+-]+|"[^"]{0,200}"|\[[^][{}]{0,400}\]|\{[^{}]{0,400}\})')
STRANGE_JSON = [
    *b'0 1 2 -1 3 255 65536 4294967295 2147483647 1e18 1e-320 1e400 0.5 null true [] {} [0] [0,0] [[]] {} ""'.split(),
    *b'"VEC3" "SCALAR" "MAT4" "STEP" "CUBICSPLINE" "weights" "../x" "data:;base64,AA" [1,0] 5120 5126 5123'.split(),
]

STRANGE_NUMBERS = [
    b"",
    b",",
    b"\xd9\xa3",
    *b"nan inf -inf 1e400 1e-300 3.5e38 1e12 -1 0 -0 4294967295 4294967296 10000000 99999999999999999999".split(),
    *b"1.2346$3f9e0652 1$7f800000 $ 1$zz fltmax fltmin true 0x10 1_0 --1 1.2.3 FFFFFFFF 1e .5 5. +1".split(),
]
STRANGE_TEXT = [
    b"",
    b"\xff\xfe",
    b"a" * 5000,
    b"ffff hhhh",
    *b"null Mesh &lt; &#10; &amp; %20 ..\\..\\x.png &undefined; fff x4 q".split(),
    *b"position texcoord interp1 blendweights -5 1e9 root nan".split(),
]
NAMES = (
    b"Mesh MeshSection vertexbuffer indexbuffer Bone Skeleton AnimTrack Animation Material MeshSystem TetraMesh "
    b"MeshCollisionConvex unknown MESH a:b"
).split()
STRANGE_CHUNKS = [
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"<![CDATA[1 2 3]]>",
    b"<?x y?>",
    b"<a>" * 300,
    b"&b;" * 10,
    b"\xef\xbb\xbf",
    *b"<!-- --> ]]> <a> </Mesh> \0 \r & < > ' \"".split(b" "),
]


def mutated(data: bytes, seed: int, others: list[bytes]) -> bytes:
    """`data` with one to four damages chosen by `seed`; `others` are files to take pieces from."""
    source = random.Random(seed)
    for _ in range(source.choice((1, 1, 1, 2, 3, 4))):
        data = source.choice(DAMAGES)(data, source, others)
    return data


def flip_bits(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(source.choice((1, 2, 8, 64))):
        if changed:
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    return bytes(changed)


def set_bytes(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(source.choice((1, 4, 16))):
        if changed:
            start = source.randrange(len(changed))
            value = source.choice((b"\0", b"\xff", b"\x7f", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
            changed[start : start + len(value)] = value
    return bytes(changed)


def truncate(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return data[: source.randrange(len(data) + 1)]


def delete_chunk(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    start, end = _span(data, source)
    return data[:start] + data[end:]


def repeat_chunk(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    start, end = _span(data, source)
    return data[:end] + data[start:end] * source.choice((1, 1, 2, 20)) + data[end:]


def insert_strange(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice(STRANGE_CHUNKS) + data[at:]


def splice(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    other = source.choice(others)
    start, end = _span(other, source)
    at, until = _span(data, source)
    return data[:at] + other[start:end] + data[until:]


def replace_numbers(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    for _ in range(source.choice((1, 1, 3))):
        data = _replaced(data, NUMBER, 0, source.choice(STRANGE_NUMBERS), source)
    return data


def edit_attribute(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return _replaced(data, ATTRIBUTE, 2, source.choice(STRANGE_TEXT + STRANGE_NUMBERS), source)


def rename_attribute(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return _replaced(
        data, ATTRIBUTE, 1, source.choice((b"name", b"count", b"COUNT", b"zzz", b"parent", b"ctype")), source
    )


def rename_tag(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    names = sorted(set(TAG.findall(data)))
    if not names:
        return data
    old, new = source.choice(names), source.choice(NAMES)
    if source.random() < 0.5:
        return re.sub(rb"(</?)" + old + rb"\b", lambda match: match[1] + new, data)
    return _replaced(data, TAG, 1, new, source)


def edit_count(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return _replaced(data, COUNT, 2, source.choice(STRANGE_NUMBERS), source)


def exchange_payloads(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    found = list(PAYLOAD.finditer(data))
    if len(found) < 2:
        return data
    first, second = sorted(source.sample(found, 2), key=lambda match: match.start())
    return b"".join(
        [data[: first.start(1)], second[1], data[first.end(1) : second.start(1)], first[1], data[second.end(1) :]]
    )


def clear_payload(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return _replaced(data, PAYLOAD, 1, source.choice((b"", b" ", b",,,", b"0 " * 2000)), source)


def edit_json(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    return _replaced(data, JSON_VALUE, 1, source.choice(STRANGE_JSON), source)


def exchange_json(data: bytes, source: random.Random, others: list[bytes]) -> bytes:
    found = list(JSON_VALUE.finditer(data))
    return _replaced(data, JSON_VALUE, 1, source.choice(found)[1], source) if found else data


DAMAGES: tuple[Callable[[bytes, random.Random, list[bytes]], bytes], ...] = (
    flip_bits,
    set_bytes,
    truncate,
    delete_chunk,
    repeat_chunk,
    insert_strange,
    splice,
    replace_numbers,
    replace_numbers,
    edit_attribute,
    edit_attribute,
    rename_attribute,
    rename_tag,
    edit_count,
    edit_count,
    exchange_payloads,
    clear_payload,
    edit_json,
    edit_json,
    exchange_json,
)


def _span(data: bytes, source: random.Random) -> tuple[int, int]:
    start = source.randrange(len(data) + 1)
    return start, min(len(data), start + source.choice((1, 4, 16, 100, 2000)))


def _replaced(data: bytes, pattern: re.Pattern[bytes], group: int, new: bytes, source: random.Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    match = source.choice(found)
    return data[: match.start(group)] + new + data[match.end(group) :]
