from collections.abc import Sequence
from dataclasses import dataclass


class GLError(RuntimeError):
    """Error that OpenGL reports, or that no context could be created."""


class GLLimitError(GLError):
    """Error of a request that exceeds a limit of the driver or the guaranteed minimum of OpenGL 3.3."""


@dataclass(frozen=True, slots=True)
class ShaderMessage:
    """A message of the compiler, the linker or the include resolver."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


class ShaderError(Exception):
    """Error in a shader file that is missing, includes wrongly or does not compile; `files` may need changes."""

    def __init__(self, messages: Sequence[ShaderMessage], files: Sequence[str]) -> None:
        super().__init__("\n".join(map(str, messages)))
        self.messages = tuple(messages)
        self.files = tuple(files)
