"""XML of EZMesh files as an element tree: nothing external, no document type, names without case."""

import re
from collections.abc import Iterator

import numpy as np
from lxml import etree

from sim.assets.faults import MAX_MARKUP, ElementFault, quoted

Element = etree._Element

MAX_ATTRIBUTES = 500

PIECE = 1 << 17
"""Bytes that are looked through at a time."""

_UTF8_MARK = b"\xef\xbb\xbf"
# What may precede the root element or a document type: blanks, processing instructions, comments.
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"<\?xml[^>]*\bencoding\s*=\s*[\"']([^\"'>]*)")
_ASCII = bytes(range(0x20, 0x7F))
# libxml2 refuses text nodes beyond this size unless told that trees may be huge.
_PLAIN_TREE_BYTES = 9_000_000


def parse_xml(data: bytes, warnings: list[str]) -> Element:
    """Root element of `data`.

    Raises:
        ElementFault: If the text is not well formed, nests too deeply, has too many elements or declares a document
            type or an encoding that could hide one.
    """
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
    """Name of `element` in lower case, without a namespace; "" for what is not an element."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def attributes(element: Element) -> dict[str, str]:
    """Attributes of `element` by lower-case name without namespace; the first of equal names wins."""
    found: dict[str, str] = {}
    for name, value in element.attrib.items():
        found.setdefault(str(name).rpartition("}")[2].lower(), str(value))
    return found


def payload(element: Element) -> str:
    """Text of `element` itself, with what stands between and after skipped children."""
    text = element.text or ""
    if len(element):
        text = " ".join([text, *(child.tail or "" for child in element)])
    return text


def children(element: Element, name: str) -> Iterator[Element]:
    """Children of `element` called `name` (lower case), in order."""
    return (child for child in element if local_name(child) == name)


def _check_tags(data: bytes) -> None:
    """Refuse more elements and attributes than a tree can hold; the parser lists those of one element one by one."""
    characters = np.frombuffer(data, np.uint8)
    # Both differ in the lowest bit alone; piece by piece, in memory that is at hand.
    pieces = (characters[start : start + PIECE] for start in range(0, len(data), PIECE))
    found = [index * PIECE + np.flatnonzero((piece | 1) == ord("=")) for index, piece in enumerate(pieces)]
    places = np.concatenate([np.zeros(0, np.intp), *found])
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
    """`data` in an encoding the parser can read; undeclared bytes are taken for Windows Latin text.

    Raises:
        ElementFault: For an encoding in which ASCII means something else, so that tags could not be counted.
    """
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
    """What the parser says, on one line of reasonable length."""
    message = " ".join(str(error.msg).split())
    if "depth" in message:
        return "elements nest too deeply"
    return message if len(message) <= limit else message[: limit - 1] + "…"
