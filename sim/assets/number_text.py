"""Numbers written as text: whitespace or commas between tokens, converted in bulk.

The fast way rewrites the separators so that the text is a JSON list, which msgspec converts about twice
as fast as `numpy.fromstring` and checks strictly.  Everything JSON does not know (`1.`, `$3f9e0652`,
`fltmax`) takes the slow way, token by token.  Long texts are converted in pieces, because each
conversion holds the interpreter lock and a window may be waiting for it.
"""

import re
import struct
from collections.abc import Iterator

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.faults import quoted
from sim.assets.load_watch import LoadWatch

Float64 = npt.NDArray[np.float64]

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
    """Text that is not a list of numbers."""


def parse_numbers(text: str, watch: LoadWatch | None = None) -> Float64:
    """All numbers of `text`, shape (n,).

    Raises:
        NumberFault: For a token that is not a number.
        LoadCancelled: If `watch` says so.
    """
    pieces = [_parse_chunk(chunk) for chunk in _chunks(text, watch)]
    return pieces[0] if len(pieces) == 1 else np.concatenate([*pieces, np.empty(0)])


def split_tokens(text: str) -> list[str]:
    """Tokens of `text`, in order."""
    return text.replace(",", " ").split()


def count_tokens(text: str) -> int:
    """Number of tokens of `text`."""
    return sum(len(split_tokens(chunk)) for chunk in _chunks(text, None))


def token_rows(text: str, stride: int, watch: LoadWatch | None = None) -> Iterator[list[str]]:
    """Tokens of `text` piece by piece, each a multiple of `stride` of them; those of the last row may be fewer.

    Tokens are many times as large as their text, so that those of a large buffer are never all there at once.

    Raises:
        LoadCancelled: If `watch` says so.
    """
    rest: list[str] = []
    for chunk in _chunks(text, watch):
        tokens = rest + split_tokens(chunk)
        whole = len(tokens) - len(tokens) % stride
        rest = tokens[whole:]
        yield tokens[:whole]
    yield rest


def token_values(tokens: list[str]) -> list[float]:
    """Numbers of `tokens`, accepting `$hex` bits and the words of the format.

    Raises:
        NumberFault: Naming the first token that is not a number.
    """
    return [_token_value(token) for token in tokens]


def parse_hex(tokens: list[str], digits: int) -> npt.NDArray[np.uint32]:
    """Integers of `tokens`, each up to `digits` hexadecimal digits without prefix.

    Raises:
        NumberFault: Naming the first token that is something else.
    """
    pattern = re.compile(rf"[0-9a-fA-F]{{1,{digits}}}")
    for token in tokens:
        if not pattern.fullmatch(token):
            raise NumberFault(f"{quoted(token)} is not a hexadecimal number of up to {digits} digits")
    return np.array([int(token, 16) for token in tokens], dtype=np.uint32)


def _chunks(text: str, watch: LoadWatch | None) -> Iterator[str]:
    """Pieces of about `CHUNK_BYTES` that cut no token; each counts as done when the next is asked for."""
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
    # Twice as fast as numpy goes through a list.
    return np.frombuffer(bytearray(struct.pack(f"={len(values)}d", *values)))


def _json_list(chunk: bytes) -> memoryview:
    """`chunk` in brackets, with exactly one comma before each token but the first."""
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
    """Value of `decimal$hex`: the bits of an IEEE 754 float win over the decimal."""
    digits = token.rpartition("$")[2]
    if not re.fullmatch(r"[0-9a-fA-F]{1,8}", digits):
        raise NumberFault(f"{quoted(token)} has no float bits after the dollar sign")
    (value,) = struct.unpack(">f", int(digits, 16).to_bytes(4, "big"))
    return float(value)
