import hashlib
import os
import stat
from pathlib import Path


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def file_digest(path: Path) -> str:
    """Returns the digest of a file; "" if it cannot be read or is not a regular file."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=20)).hexdigest()
    except (OSError, ValueError):  # a null character in the path
        return ""
