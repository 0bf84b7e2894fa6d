"""XML of EZMesh files as an element tree: nothing external, no document type, names without case."""

import re
from collections.abc import Iterator

from lxml import etree

from sim.assets.faults import ElementFault

Element = etree._Element

MAX_ATTRIBUTES = 500

_UTF8_MARK = b"\xef\xbb\xbf"
# What may precede the root element or a document type: blanks, processing instructions, comments.
_PROLOG = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING = re.compile(rb"<\?xml[^>]*\bencoding\s*=")
# libxml2 refuses text nodes beyond this size unless told that trees may be huge.
_PLAIN_TREE_BYTES = 9_000_000


def parse_xml(data: bytes) -> tuple[Element, list[str]]:
    """Root element of `data`, and warnings.

    Raises:
        ElementFault: If the text is not well formed, nests too deeply or declares a document type.
    """
    data, warnings = _decodable(data.removeprefix(_UTF8_MARK))
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
    return root, warnings


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
    """Refuse elements with so many attributes that the parser, which lists them one by one, would take minutes."""
    for part in data.split(b"<"):
        if len(part) > MAX_ATTRIBUTES and part.count(b"=") > MAX_ATTRIBUTES and not part.startswith(b"!"):
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


def _decodable(data: bytes) -> tuple[bytes, list[str]]:
    """`data` in an encoding the parser can read; undeclared bytes are taken for Windows Latin text."""
    if data.isascii() or _ENCODING.match(data.lstrip()):
        return data, []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
        return text.encode("utf-8"), ["The text is neither ASCII nor UTF-8; it was read as Windows-1252."]
    return data, []


def _reason(error: etree.XMLSyntaxError, limit: int = 200) -> str:
    """What the parser says, on one line of reasonable length."""
    message = " ".join(str(error.msg).split())
    if "depth" in message:
        return "elements nest too deeply"
    return message if len(message) <= limit else message[: limit - 1] + "…"
