"""The text of EZMesh files: XML as an element tree, and lists of numbers, converted in bulk.

The fast way rewrites the separators of numbers so that the text is a JSON list, which msgspec converts about twice
as fast as `numpy.fromstring` and checks strictly.  Everything JSON does not know (`1.`, `$3f9e0652`, `fltmax`) takes
the slow way, token by token.  Long texts are converted in pieces, because each conversion holds the interpreter lock.
"""

import re
import struct
from collections.abc import Iterator

import msgspec
import numpy as np
from lxml import etree

from sinew.sim.assets.faults import MAX_MARKUP, ElementFault, quoted
from sinew.sim.assets.raw import LoadWatch
from sinew.sim.maths.arrays import Float64, UInt32

Element = etree._Element

MAX_ATTRIBUTES = 500

PIECE = 1 << 17
"""Number of bytes that are scanned at a time."""

_UTF8_MARK = b"\xef\xbb\xbf"
# Blanks, processing instructions and comments before the root element or a document type.
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"<\?xml[^>]*\bencoding\s*=\s*[\"']([^\"'>]*)")
_ASCII = bytes(range(0x20, 0x7F))
# libxml2 refuses text nodes beyond this size unless told that trees may be huge.
_PLAIN_TREE_BYTES = 9_000_000


def parse_xml(data: bytes, warnings: list[str]) -> Element:
    data = _decodable(data.removeprefix(_UTF8_MARK), warnings)
    prolog = _PROLOG.match(data)
    start = prolog.end() if prolog else 0
    if data[start : start + 9].upper() == b"<!DOCTYPE":
        raise ElementFault("DOCTYPE", "document type declarations are not accepted")
    _check_tags(data)
    try:
        # Blanks before the XML declaration are common in hand-made files and would be an error.
        root = etree.fromstring(data.lstrip(), _parser(len(data)))
    except etree.XMLSyntaxError as error:
        raise ElementFault("XML", _reason(error)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise ElementFault("DOCTYPE", "document type declarations are not accepted")
    return root


def local_name(element: Element) -> str:
    """Returns the name in lower case, without namespace; "" for comments and processing instructions."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def attributes(element: Element) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in element.attrib.items():
        values.setdefault(str(name).rpartition("}")[2].lower(), str(value))
    return values


def payload(element: Element) -> str:
    """Returns the text of an element, also between and after its children."""
    text = element.text or ""
    if len(element):
        text = " ".join([text, *(child.tail or "" for child in element)])
    return text


def children(element: Element, name: str) -> Iterator[Element]:
    return (child for child in element if local_name(child) == name)


def _check_tags(data: bytes) -> None:
    """Limits elements and attributes: the parser searches the attributes of an element one by one."""
    characters = np.frombuffer(data, np.uint8)
    # "<" and "=" differ in the lowest bit only; piece by piece, within the processor's cache.
    pieces = (characters[start : start + PIECE] for start in range(0, len(data), PIECE))
    marks = [index * PIECE + np.flatnonzero((piece | 1) == ord("=")) for index, piece in enumerate(pieces)]
    places = np.concatenate([np.zeros(0, np.intp), *marks])
    if len(places) > MAX_MARKUP:
        raise ElementFault("XML", f"there are more than {MAX_MARKUP} tags and attributes")
    is_tag = characters[places] == ord("<")
    tags, equals = places[is_tag], places[~is_tag]
    attributes = np.diff(np.searchsorted(equals, tags), append=len(equals))
    for tag in tags[attributes > MAX_ATTRIBUTES]:
        if data[tag + 1 : tag + 2] != b"!":
            raise ElementFault("XML", f"an element has more than {MAX_ATTRIBUTES} attributes")


def _parser(size: int) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        remove_comments=True,
        remove_pis=True,
        huge_tree=size > _PLAIN_TREE_BYTES,
    )


def _decodable(data: bytes, warnings: list[str]) -> bytes:
    """Returns decodable XML: declared encodings stay, other bytes that are not UTF-8 are read as Windows-1252."""
    declared = _ENCODING.match(data.lstrip())
    if declared is not None:
        _check_encoding(declared[1].decode("ascii", "replace"))
    if data.isascii() or declared is not None:
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        warnings.append("The text is neither ASCII nor UTF-8; it was read as Windows-1252.")
        return data.decode("cp1252", "replace").encode("utf-8")
    return data


def _check_encoding(name: str) -> None:
    try:
        usable = _ASCII.decode(name) == _ASCII.decode("ascii")
    except (LookupError, ValueError):
        usable = False
    if not usable:
        raise ElementFault("XML", f"the encoding {quoted(name)} is not accepted")


def _reason(error: etree.XMLSyntaxError, limit: int = 200) -> str:
    message = " ".join(str(error.msg).split())
    if "depth" in message:
        return "elements nest too deeply"
    return message if len(message) <= limit else message[: limit - 1] + "…"


CHUNK_BYTES = 1 << 16
SMALL_BYTES = 256

_COMMA, _SPACE, _OPEN, _CLOSE = (np.uint8(ord(character)) for character in ", []")
_SEPARATOR = re.compile(r"[\s,]")
_DECODE = msgspec.json.Decoder(list[float]).decode
_WORDS = {
    "fltmax": float(np.finfo(np.float32).max),
    "fmax": float(np.finfo(np.float32).max),
    "fltmin": float(np.finfo(np.float32).tiny),
    "fmin": float(np.finfo(np.float32).tiny),
    "true": 1.0,
    "t": 1.0,
}


class NumberFault(ValueError):
    pass


def parse_numbers(text: str, watch: LoadWatch | None = None) -> Float64:
    pieces = [_parse_chunk(chunk) for chunk in _chunks(text, watch)]
    return pieces[0] if len(pieces) == 1 else np.concatenate([*pieces, np.empty(0)])


def split_tokens(text: str) -> list[str]:
    return text.replace(",", " ").split()


def count_tokens(text: str) -> int:
    return sum(len(split_tokens(chunk)) for chunk in _chunks(text, None))


def token_rows(text: str, stride: int, watch: LoadWatch | None = None) -> Iterator[list[str]]:
    """Splits a text into rows of a multiple of `stride` tokens; the last one may be incomplete.

    Tokens take many times the memory of their text, so a large buffer is never split as a whole.
    """
    rest: list[str] = []
    for chunk in _chunks(text, watch):
        tokens = rest + split_tokens(chunk)
        whole = len(tokens) - len(tokens) % stride
        rest = tokens[whole:]
        yield tokens[:whole]
    yield rest


def token_values(tokens: list[str]) -> list[float]:
    """Parses tokens to numbers; accepts `$hex` bits and the words of the format."""
    return [_token_value(token) for token in tokens]


def parse_hex(tokens: list[str], digits: int) -> UInt32:
    """Parses tokens of up to `digits` hexadecimal digits without prefix."""
    pattern = re.compile(rf"[0-9a-fA-F]{{1,{digits}}}")
    for token in tokens:
        if not pattern.fullmatch(token):
            raise NumberFault(f"{quoted(token)} is not a hexadecimal number of up to {digits} digits")
    return np.array([int(token, 16) for token in tokens], dtype=np.uint32)


def _chunks(text: str, watch: LoadWatch | None) -> Iterator[str]:
    """Splits a text into about `CHUNK_BYTES` without cutting tokens; a chunk is done when the next is requested."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > CHUNK_BYTES:
            cut = _SEPARATOR.search(text, start + CHUNK_BYTES)
            end = cut.start() if cut else end
        yield text[start:end]
        if watch is not None:
            watch.advance(end - start)
        start = end


def _parse_chunk(chunk: str) -> Float64:
    # For a few numbers the preparation costs more than it saves.
    if len(chunk) <= SMALL_BYTES or not chunk.isascii():
        values = token_values(split_tokens(chunk))
    else:
        try:
            values = _DECODE(_json_list(chunk.encode("ascii")))
        except msgspec.DecodeError:
            values = token_values(split_tokens(chunk))
    # Twice as fast as numpy converts a list.
    return np.frombuffer(bytearray(struct.pack(f"={len(values)}d", *values)))


def _json_list(chunk: bytes) -> memoryview:
    """Returns `chunk` in brackets, with exactly one comma before each token but the first."""
    text = np.empty(len(chunk) + 2, dtype=np.uint8)
    text[0], text[-1] = _OPEN, _CLOSE
    body = text[1:-1]
    body[:] = np.frombuffer(chunk, dtype=np.uint8)
    separator = body <= _SPACE
    if b"," in chunk:
        commas = body == _COMMA
        body[commas] = _SPACE
        separator |= commas
    # Sums and products of whole bytes are several times as fast as lists of places and masks.
    before_token = (separator[:-1] > separator[1:]).view(np.uint8)
    if separator[0]:
        before_token[before_token.argmax()] = 0
    body[:-1] *= 1 - before_token
    body[:-1] += _COMMA * before_token
    return text.data


def _token_value(token: str) -> float:
    if "$" in token:
        return _bits_value(token)
    try:
        # Python also reads digit groups and digits of other scripts, which the format does not have.
        if token.isascii() and "_" not in token:
            return float(token)
    except ValueError:
        pass
    word = _WORDS.get(token.lower())
    if word is None:
        raise NumberFault(f"{quoted(token)} is not a number")
    return word


def _bits_value(token: str) -> float:
    """Parses `decimal$hex`: the bits of an IEEE 754 float take precedence over the decimal."""
    digits = token.rpartition("$")[2]
    if not re.fullmatch(r"[0-9a-fA-F]{1,8}", digits):
        raise NumberFault(f"{quoted(token)} has no float bits after the dollar sign")
    (value,) = struct.unpack(">f", int(digits, 16).to_bytes(4, "big"))
    return float(value)
