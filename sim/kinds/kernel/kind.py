from typing import Annotated, ClassVar

import msgspec

from sinew.sim.kinds.contract import Form, Kind, ShaderTexts
from sinew.sim.scene.params import Effect, Role, Settings, param
from sinew.sim.scene.scene import Node

TEXT_MAX = 1 << 18  # [characters]
ShaderText = Annotated[str, msgspec.Meta(max_length=TEXT_MAX)]


class KernelSettings(Settings, frozen=True, kw_only=True):
    """A changed shader file, which replaces the shipped one while the node is not muted."""

    kind: ClassVar[str] = "kernel"

    file: Annotated[str, param("Shader file that is replaced.", role=Role.HIDDEN)] = ""
    base: Annotated[ShaderText, param(
        "Text of the shipped file that was changed; another one disables the kernel.", role=Role.HIDDEN,
    )] = ""  # fmt: skip
    text: Annotated[ShaderText, param("Text of the file.", role=Role.HIDDEN, effect=Effect.STEP)] = ""


def kernel_settings(node: Node) -> KernelSettings:
    assert isinstance(node.settings, KernelSettings)
    return node.settings


def shader_text(settings: Settings) -> tuple[str, str, str]:
    assert isinstance(settings, KernelSettings)
    return settings.file, settings.base, settings.text


KERNEL = Kind(
    name="kernel",
    label="Kernel",
    icon="mdi6.code-braces",
    settings=KernelSettings,
    since=3,
    has_place=False,
    parts=(Form(panel="sinew.app.kinds.kernel.panel:KernelPanel"), ShaderTexts(shader_text)),
)
