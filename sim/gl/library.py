"""ShaderLibrary: programs by file names and definitions, compiled once and reloaded while the program runs."""

import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import shaders
from sim.gl.back_end import BackEndChoice
from sim.gl.kernel_text import NOTHING, KernelText
from sim.gl.program import Program
from sim.gl.program_build import ProgramSources, Stage
from sim.gl.shader_log import ShaderError, ShaderMessage, parse_source_error
from sim.gl.shader_source import ShaderSourceError, reader, resolve
from sim.gl.task import Task

if TYPE_CHECKING:
    from sim.gl.context import Context
    from sim.gl.kernel import Kernel


class _Recipe:
    """How a program is made from files, and which files it depends on."""

    def __init__(self, stages: Mapping[Stage, str], defines: Mapping[str, object], around: KernelText) -> None:
        self.stages, self.defines, self.around = dict(stages), dict(defines), around
        self.files: frozenset[str] = frozenset(stages.values())

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two requests the same program."""
        defines = tuple(sorted((name, str(value)) for name, value in self.defines.items()))
        return tuple(self.stages.items()), defines, self.around

    @property
    def label(self) -> str:
        flags = ",".join(name if value is True else f"{name}={value}" for name, value in self.defines.items())
        return " + ".join(self.stages.values()) + (f" [{flags}]" if flags else "")

    def resolve(self, root: Path) -> ProgramSources:
        """Read and resolve all stages; ShaderError when that fails."""
        try:
            stages = {
                stage: resolve(name, reader(root), self.defines, self.around if stage == self.around.stage else NOTHING)
                for stage, name in self.stages.items()
            }
        except ShaderSourceError as error:
            self.files |= set(error.files)
            raise ShaderError([parse_source_error(str(error))], error.files) from error
        sources = ProgramSources(stages, self.around.captures, self.around.separate)
        self.files |= set(sources.files)
        return sources


class ShaderLibrary:
    """All programs of a context, made from the files below `root`.

    Args:
        context: Where the programs live.
        root: Folder of the shaders; the shipped one by default.

    Attributes:
        kernels: Those made from it that are in use.
    """

    def __init__(self, context: "Context", root: Path = shaders.ROOT) -> None:
        self.context = context
        self.root = root
        self.kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        self._programs: dict[tuple[object, ...], tuple[_Recipe, Program]] = {}
        self._failing: dict[tuple[object, ...], list[ShaderMessage]] = {}

    def program(
        self,
        vertex: str,
        fragment: str | None = None,
        geometry: str | None = None,
        *,
        defines: Mapping[str, object] | None = None,
        around: KernelText = NOTHING,
    ) -> Program:
        """The program made of these files; the same request returns the same object.

        Args:
            vertex, fragment, geometry: File names relative to the root, with forward slashes.
            defines: Macros put after #version; True defines without a value, False leaves it out.
            around: What makes a stage, that of vertices or of compute, of the file of a kernel.

        Raises:
            ShaderError: If it does not compile; the text has `file:line: reason` lines.
        """
        stages: dict[Stage, str] = {around.stage: vertex}
        if geometry is not None:
            stages["geometry"] = geometry
        if fragment is not None:
            stages["fragment"] = fragment
        recipe = _Recipe(stages, defines or {}, around)
        found = self._programs.get(recipe.key)
        if found is None:
            program = Program(self.context, recipe.resolve(self.root), label=recipe.label)
            found = self._programs[recipe.key] = (recipe, program)
        return found[1]

    @property
    def back_ends(self) -> str:
        """What the kernels in use run on: "tf", "compute" or "compute+tf"."""
        return "+".join(sorted({kernel.back_end for kernel in self.kernels}))

    def prepare(self, choice: BackEndChoice) -> Task[None]:
        """Builds the programs that a choice of back end needs, one in a step, so that the switch is no pause.

        Raises:
            ShaderError: From a step, if one does not compile.
        """
        for kernel in list(self.kernels):
            kernel.prepare(kernel.back_end_with(choice))
            yield

    @property
    def files(self) -> frozenset[str]:
        """Every file that any program depends on, relative to the root."""
        return frozenset().union(*(recipe.files for recipe, _ in self._programs.values()))

    @property
    def messages(self) -> list[ShaderMessage]:
        """What is wrong with the files of programs that run an older version of them."""
        return [message for messages in self._failing.values() for message in messages]

    def changed(self, names: Iterable[str]) -> list[ShaderMessage]:
        """Rebuild the programs that depend on the named files, directly or through includes.

        A program whose new text fails keeps running as it was, and is tried again at the next change of any of its
        files.  The context must be current.

        Args:
            names: Paths relative to the root, with forward slashes.

        Returns:
            Messages of the programs that failed now, without repetitions; empty when all succeeded.
        """
        wanted = set(names)
        messages: list[ShaderMessage] = []
        for key, (recipe, program) in self._programs.items():
            if not wanted & recipe.files:
                continue
            try:
                program.swap(recipe.resolve(self.root))
                self._failing.pop(key, None)
            except ShaderError as error:
                self._failing[key] = list(error.messages)
                messages += error.messages
        return list(dict.fromkeys(messages))

    def release(self) -> None:
        for _, program in self._programs.values():
            program.release()
        self._programs.clear()
        self._failing.clear()
