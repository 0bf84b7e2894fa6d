from collections.abc import Sequence
from dataclasses import dataclass


class GLError(RuntimeError):
    """OpenGL reported an error, or no context could be created."""


class GLLimitError(GLError):
    """A request exceeds a limit of the driver or the guaranteed minimum of OpenGL 3.3."""


@dataclass(frozen=True, slots=True)
class ShaderMessage:
    """A message of the compiler, the linker or the include resolver."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class ShaderError(Exception):
    """A shader file is missing, has wrong includes, or does not compile; a change of one of `files` may fix it."""

    def __init__(self, messages: Sequence[ShaderMessage], files: Sequence[str]) -> None:
        super().__init__("\n".join(map(str, messages)))
        self.messages = tuple(messages)
        self.files = tuple(files)
