import contextlib
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sinew import shaders
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.kernel_text import NOTHING, KernelText
from sinew.sim.gl.kernel_trial import is_tried, try_program
from sinew.sim.gl.program import Program
from sinew.sim.gl.program_build import ProgramSources, Stage
from sinew.sim.gl.shader_lines import compiled_lines
from sinew.sim.gl.shader_source import ShaderSource, reader, resolve
from sinew.sim.gl.task import Task
from sinew.sim.gl.vertex_array import VertexArray

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context
    from sinew.sim.gl.kernel import Kernel


class _Recipe:
    def __init__(self, stages: Mapping[Stage, str], defines: Mapping[str, object], around: KernelText) -> None:
        self.stages, self.defines, self.around = dict(stages), dict(defines), around
        self.files: frozenset[str] = frozenset(stages.values())

    @property
    def key(self) -> tuple[object, ...]:
        defines = tuple(sorted((name, str(value)) for name, value in self.defines.items()))
        return tuple(self.stages.items()), defines, self.around

    @property
    def label(self) -> str:
        flags = ",".join(name if value is True else f"{name}={value}" for name, value in self.defines.items())
        return " + ".join(self.stages.values()) + (f" [{flags}]" if flags else "")

    def resolve(self, read: Callable[[str], str]) -> ProgramSources:
        try:
            stages = {
                stage: resolve(name, read, self.defines, self.around if stage == self.around.stage else NOTHING)
                for stage, name in self.stages.items()
            }
        except ShaderError as error:
            self.files |= set(error.files)
            raise
        sources = ProgramSources(stages, self.around.captures, self.around.separate)
        self.files |= set(sources.files)
        return sources


def _try_quietly(context: "Context", sources: ProgramSources, files: Sequence[str]) -> None:
    with contextlib.suppress(ShaderError):
        try_program(context, sources, files)


class ShaderLibrary:
    """All programs of a context, made from the files below `root`, by default the shipped folder.

    Attributes:
        kernels: All living kernels that use the library.
        no_vertices: A vertex array without streams, for kernels and full-screen passes whose shaders only read
            `gl_VertexID` and textures.
        texts: Texts that replace files.
        takes_texts: Whether texts of the scene replace files, from the next `Engine.apply` on.
    """

    def __init__(self, context: "Context", root: Path = shaders.ROOT) -> None:
        self.context = context
        self.root = root
        self.no_vertices = VertexArray(context, label="no vertices")
        self.kernels: weakref.WeakSet[Kernel] = weakref.WeakSet()
        self.texts: Mapping[str, str] = {}
        self.takes_texts = True
        self._sound: Mapping[str, str] = {}  # The last texts with which all programs compiled
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
        """Returns a program; files are relative to the root, the same request returns the same object.

        Args:
            defines: Macros put after #version; True defines without a value, False skips the macro.
            around: Text that turns a kernel file into a vertex or a compute stage.

        With a replaced file that does not compile, the program has the last texts that did, otherwise the shipped ones.

        Raises:
            ShaderError: If it does not compile.
        """
        stages: dict[Stage, str] = {around.stage: vertex}
        if geometry is not None:
            stages["geometry"] = geometry
        if fragment is not None:
            stages["fragment"] = fragment
        recipe = _Recipe(stages, defines or {}, around)
        if recipe.key not in self._programs:
            try:
                program = Program(self.context, self._tried(recipe, self.texts), label=recipe.label)
            except ShaderError as error:
                if not self.texts:
                    raise
                program = Program(self.context, self._tried(recipe, self._sound), label=recipe.label)
                self._failing[recipe.key] = list(error.messages)
            self._programs[recipe.key] = recipe, program
        return self._programs[recipe.key][1]

    def program_named(self, name: int) -> Program | None:
        """Returns the program with this name of OpenGL; None if the library has no such program."""
        return next((program for _, program in self._programs.values() if program.name == name), None)

    @property
    def back_ends(self) -> str:
        """Back ends of the kernels: "tf", "compute" or "compute+tf"."""
        return "+".join(sorted({kernel.back_end for kernel in self.kernels}))

    def prepare(self, choice: BackEndChoice) -> Task[None]:
        """Builds the programs that another back end needs, one per step; a step may raise ShaderError."""
        for kernel in list(self.kernels):
            kernel.prepare(kernel.back_end_with(choice))
            yield

    def files_below(self, folder: str) -> list[str]:
        """Returns the names of all shader files in a folder, also of those that no program uses."""
        paths = sorted((self.root / folder).glob("*.*"))
        return [f"{folder}/{path.name}" for path in paths if path.suffix in (".glsl", ".vert", ".geom", ".frag")]

    @property
    def files(self) -> frozenset[str]:
        return frozenset().union(*(recipe.files for recipe, _ in self._programs.values()))

    @property
    def program_count(self) -> int:
        return len(self._programs)

    @property
    def messages(self) -> list[ShaderMessage]:
        """Errors in the files of programs that still run an older version of them."""
        return [message for messages in self._failing.values() for message in messages]

    def read(self, name: str) -> str:
        """Returns the text of a file; raises OSError if there is none."""
        return self.texts[name] if name in self.texts else self.shipped(name)

    def _changed_in(self, sources: ProgramSources, texts: Mapping[str, str]) -> list[str]:
        return [file for file in sources.files if file in texts and texts[file] != self.shipped(file)]

    def _resolved(self, recipe: _Recipe, texts: Mapping[str, str]) -> ProgramSources:
        return recipe.resolve(lambda name: texts[name] if name in texts else self.shipped(name))

    def _tried(self, recipe: _Recipe, texts: Mapping[str, str]) -> ProgramSources:
        """Returns the sources of a program, which the driver may get; raises ShaderError if it may not."""
        sources = self._resolved(recipe, texts)
        if files := self._changed_in(sources, texts):
            try_program(self.context, sources, files)
        return sources

    def untried(self, texts: Mapping[str, str]) -> list[Callable[[], None]]:
        """Returns functions for a worker thread: they try the programs that these texts change, and never raise."""
        trials: list[Callable[[], None]] = []
        for recipe, _ in self._programs.values():
            with contextlib.suppress(ShaderError):  # `changed` reports it
                sources = self._resolved(recipe, texts)
                files = self._changed_in(sources, texts)
                if files and not is_tried(self.context, sources):
                    trials.append(functools.partial(_try_quietly, self.context, sources, files))
        return trials

    def shipped(self, name: str) -> str:
        """Returns the text of a file without replacement."""
        return reader(self.root)(name)

    def generated(self, name: str) -> str:
        """Returns the whole texts of the stages that use a file, as the compiler gets them."""
        return "\n".join(f"// {label}\n{source.text}" for label, source in self._stages(name))

    def unused_lines(self, name: str) -> frozenset[int]:
        """Returns the lines of a file, from 1, that no program compiles."""
        every, compiled = set(), set()
        for _, source in self._stages(name):
            every |= {line for file, line in source.origins if file == name}
            compiled |= {line for file, line in compiled_lines(source) if file == name}
        return frozenset(every - compiled)

    def _stages(self, name: str) -> Iterator[tuple[str, ShaderSource]]:
        """Yields the label of the program, and the stage, for all stages that use a file."""
        for recipe, _ in self._programs.values():
            if name in recipe.files:
                with contextlib.suppress(ShaderError):  # reported where it was compiled
                    stages = recipe.resolve(self.read).stages.values()
                    yield from ((recipe.label, source) for source in stages if name in source.files)

    def replace(self, texts: Mapping[str, str]) -> frozenset[str]:
        """Replaces files by texts; returns the names for `changed`."""
        former, self.texts = self.texts, dict(texts)
        return frozenset(name for name in {**former, **texts} if former.get(name) != texts.get(name))

    def changed(self, names: Iterable[str]) -> list[ShaderMessage]:
        """Rebuilds the programs that depend on the named files, and returns the messages of those that failed.

        A program that fails keeps its previous version and is tried again at the next change of one of its files.  The
        context must be current.
        """
        changed = set(names)
        messages: list[ShaderMessage] = []
        for key, (recipe, program) in self._programs.items():
            if not changed & recipe.files:
                continue
            try:
                program.swap(self._tried(recipe, self.texts))
                self._failing.pop(key, None)
            except ShaderError as error:
                self._failing[key] = list(error.messages)
                messages += error.messages
        if not messages:
            self._sound = self.texts
        return list(dict.fromkeys(messages))

    def release(self) -> None:
        self.no_vertices.release()
        for _, program in self._programs.values():
            program.release()
        self._programs.clear()
        self._failing.clear()
