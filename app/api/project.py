"""A project for Python programs; a script, a notebook and the console of the editor use the same objects.

The public names are listed in `sinew.__all__`; everything is for the main thread only.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import io
import math
import operator
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec
import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.app.api.nodes import ProjectNode, ProjectNodes, SettingsView, near
from sinew.app.api.notebook import notebook_html
from sinew.app.document.document import Document
from sinew.app.failure.errors import print_notes, print_warnings
from sinew.app.headless.image_sink import is_numbered, is_video, picture_sink
from sinew.app.headless.renderer import Renderer
from sinew.app.headless.run import Baker, SceneRun, headless, known_bake
from sinew.app.headless.scene import OpenedScene, opened, require_inside, with_files
from sinew.app.jobs.avatar import PICTURE
from sinew.app.jobs.export import ExportJob, as_drawn, default_frames, export_scene, save_avatar
from sinew.app.jobs.job import IMAGE, PYTHON, keywords, options_of
from sinew.app.jobs.options import Size, Span, format_options, require_folder
from sinew.app.jobs.render import RenderJob, refused, without_overlays
from sinew.app.jobs.simulate import refuse, simulated_arrays
from sinew.app.plugins import plugin_loading, plugins
from sinew.app.project.model_scene import scene_of_model
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import PROJECT_SUFFIX, is_project, load_project
from sinew.sim.assets.formats import Format
from sinew.sim.characters.foot_slide import FootSlide
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.export.formats import (
    ANIMATION_FORMATS,
    AVATAR_FORMATS,
    IMAGE_WRITERS,
    RENDER_FORMATS,
    PageFormat,
    require_package,
)
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds import KINDS, add_entries
from sinew.sim.kinds.contract import Added, AddEntry, AddPlace, Files, System
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import validated
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, Scene
from sinew.sim.scene.view_state import Selection

CHUNK = 10
"""Steps between two looks at the Stop button while no callback runs."""

THUMBNAIL = (640, 360)  # [px], of a project that a notebook shows


class Project(abc.ABC):
    """An open project: its nodes, its history, and a simulation of its own.

    Use it as a context manager, or call `close`. Edits are checked as in the editor, and can be undone. Where a project
    is open in the editor, edits change what the editor shows; steps and images come from another engine, and the
    playback of the editor is not disturbed.  `document`, `live` and `simulated` are for the editor and may change.

    Attributes:
        nodes: By id or exact name; iteration gives them in the order of the outliner.
        playback, view: Settings of the scene.
    """

    live: ClassVar[Project | None] = None
    """The project of the editor while it runs Python."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._run: SceneRun | None = None
        self._source: Scene | None = None
        self._shown: OpenedScene | None = None
        self._page: tuple[Scene, str] | None = None  # Of a notebook
        self._has_stepped = self._is_closed = False
        self._callbacks: list[Callable[[int], object]] = []
        self.nodes = ProjectNodes(self)
        document.changed.connect(self._note_change)
        self.playback, self.view = SettingsView(self, PLAYBACK, PLAYBACK), SettingsView(self, VIEW, VIEW)

    # --- the scene ------------------------------------------------------------------------------------

    @property
    def document(self) -> Document:
        """Raises RuntimeError outside of the main thread, or after `close`."""
        _require_main_thread()
        if self._is_closed:
            raise RuntimeError("the project was closed")
        self._look_for_stop()
        return self._document

    @property
    def path(self) -> Path | None:
        return self.document.path

    @property
    def selected(self) -> ProjectNode | None:
        node = self.document.selected
        return ProjectNode(self, node.id) if node is not None else None

    def add(self, kind: str, name: str = "", **values: Any) -> ProjectNode:
        """Adds a node as one edit, and selects it.

        Args:
            kind: Such as "cloth" or "emitter"; the node has the settings of a new one in the window.  An entry of the
                Add menu, such as "cape", adds all that the entry adds, to the parent.
            name: Gets a number if it is in use.
            values: Any settings of the node, with `position`, `parent` and so on.
        """
        entries = add_entries()
        if kind not in KINDS and kind in entries:
            return self._add_entry(entries[kind], name, values)
        if kind not in KINDS:
            raise LookupError(f"there is no type {kind!r}{near(kind, [*KINDS, *entries])}")
        made = KINDS[kind].new_node(name=name)
        own = {key: value for key, value in values.items() if key in made.settings.__struct_fields__}
        made = msgspec.structs.replace(made, settings=validated(made.settings, **own))
        with self.document.macro(f"Add {name or KINDS[kind].label}"):
            node = ProjectNode(self, self.document.add_node(made))
            if rest := {key: value for key, value in values.items() if key not in own}:
                node.set(**rest)
        return node

    def _add_entry(self, entry: AddEntry, name: str, values: dict[str, Any]) -> ProjectNode:
        parent, view = values.pop("parent", None), self.document.view_state
        if parent is not None:
            selected = parent if isinstance(parent, ProjectNode) else self.nodes[parent]
            if not self.document.scene.node(selected.id).settings.is_character:
                raise ValueError(f"{selected.name} is no character")
            view = msgspec.structs.replace(view, selection=Selection(node=selected.id))
        with self._current() as run:
            models = {node_id: character.model for node_id, character in run.engine.views.characters.items()}
        made = Added.of(entry.make(AddPlace(self.document.scene, view, models=models)))
        first, *others = made.nodes
        first = msgspec.structs.replace(first, name=name or first.name)
        with self.document.macro(f"Add {first.name}"):
            node = ProjectNode(self, self.document.add_made(dataclasses.replace(made, nodes=(first, *others)))[0])
            if values:
                node.set(**values)
        return node

    def arrange(self, *nodes: ProjectNode | str) -> None:
        """Lists these nodes in this order, before all others."""
        order = [(self.nodes[node] if isinstance(node, str) else node).id for node in nodes]
        scene = self.document.scene
        arranged = [scene.node(node_id) for node_id in dict.fromkeys((*order, *scene.by_id))]
        self.document.set_nodes(tuple(arranged), "Arrange objects")

    def edit(self, text: str) -> AbstractContextManager[None]:
        """Makes all edits of a `with` block one entry of the history; undoes them if the block raises."""
        return self.document.macro(text)

    def undo(self) -> None:
        """Raises RuntimeError if there is nothing to undo, or within an edit that has changed something."""
        if not self.document.undo_stack.can_undo:
            raise RuntimeError("there is nothing to undo")
        self._document.undo_stack.undo()

    def redo(self) -> None:
        """Raises RuntimeError as `undo` does."""
        if not self.document.undo_stack.can_redo:
            raise RuntimeError("there is nothing to redo")
        self._document.undo_stack.redo()

    def save(self, path: Path | str | None = None, *, overwrite: bool = False) -> None:
        """Saves the project, with `path` under another name.

        Args:
            overwrite: Also if another program has changed its file since it was opened or saved.

        Raises:
            ProjectError: If the file cannot be written, or was changed.
        """
        target = Path(path) if path is not None else self.document.path
        if target is None or not is_project(target):
            raise ValueError(f"{target or 'a new project'}: a project is saved as NAME{PROJECT_SUFFIX}")
        for warning in self.document.save(target.absolute(), overwrite=overwrite):
            print_warnings(target, [warning])

    # --- the simulation -------------------------------------------------------------------------------

    @property
    def steps(self) -> int:
        """Number of simulated steps since the start of the scene; a step is 1/60 s."""
        with self._current() as run:
            return run.step_count

    def simulate(self, steps: int) -> None:
        """Simulates from the start of the scene to a step, as `sinew simulate` does.

        Raises:
            CommandError: If a node cannot be simulated.
        """
        _require(0, steps=steps)
        with self._current() as run:
            run.restart()
        self._has_stepped = True
        self._advance(steps)

    def step(self, count: int = 1) -> None:
        """Simulates further steps; settings that were edited since apply from now on."""
        _require(0, count=count)
        self._advance(self.steps + count)
        self._has_stepped = True

    def on_step(self, callback: Callable[[int], object]) -> Callable[[int], object]:
        """Calls a function after every step with the number of the step; can be used as a decorator."""
        self._callbacks.append(callback)
        return callback

    def record(self, steps: int, every: int = 1) -> dict[str, npt.NDArray[Any]]:
        """Simulates from the start, and returns the arrays that `sinew simulate` writes, such as "NODE.positions" of
        shape (F, N, 3) for F steps from 0 on; constant arrays have no F.
        """
        _require(0, steps=steps)
        _require(1, every=every)
        counts = range(0, steps + 1, every)
        frames: dict[str, list[npt.NDArray[Any]]] = {}
        self.simulate(0)
        for count in counts:
            self._advance(count)
            with self._current() as run:
                arrays = simulated_arrays(run, self._scene())
                for name, array in arrays.items():
                    if not (count and array.is_constant):
                        frames.setdefault(name, []).append(array.read())
        recorded = {name: taken[0] if arrays[name].is_constant else np.stack(taken) for name, taken in frames.items()}
        return {**recorded, "step": np.array(counts, np.int64), "dt": np.array(STEP_TIME)}

    @contextlib.contextmanager
    def simulated(self, node: Node) -> Iterator[System]:
        """The system of a node in its current step, with the context current; for `ProjectNode`."""
        with self._current() as run:
            system = run.engine.simulation.systems.get(node.id)
            if system is None or node.id not in self._document.scene.simulated:
                raise ValueError(f"{node.name} is not simulated")
            yield system

    def foot_slides(self, node: Node, first: float, last: float) -> tuple[FootSlide, ...]:
        """See `ProjectNode.foot_slides`."""
        with self._current() as run:
            return run.engine.foot_slides(node.id, first, last)

    def bake(self, steps: int) -> None:
        """Simulates from the start, and caches the steps on disk, as `sinew simulate --cache` does."""
        _require(0, steps=steps)
        path = self.document.path
        if path is None or self.document.modified:
            raise RuntimeError("save the project before it is baked: the bake is stored next to it")
        with (
            self._separate() as run,
            Baker(run, path, run.engine.context.capabilities.renderer) as baker,
        ):
            refuse(self._scene(), run.advance_to(steps, baker))
            baker.finish()
        self._shown = None  # the engine of the next call shows the bake

    # --- output ---------------------------------------------------------------------------------------

    @keywords(IMAGE, RenderJob)
    def render(
        self, size: Size | tuple[int, int] = (1280, 720), *, time: float | None = None, **look: Any
    ) -> npt.NDArray[np.uint8]:
        """Renders an image: shape (height, width, 3), or 4 with `alpha`, row 0 at the top.

        Args:
            size: Width and height [px].
            time: Scene time [s], to which the simulation runs; None for the current step, before any step for the
                playhead.
        """
        job = RenderJob(scene=Path(), output=Path(), size=Size.of(size), **look)
        if time is not None and not math.isfinite(time):
            raise ValueError(f"time = {time} is not finite")
        with self._current() as run:
            is_active, count, start = run.is_active, run.step_count, run.runner.start_time
            shown = run.runner.time_of(run.runner.shown)
        if time is None:
            time = shown if is_active and self._has_stepped else self.document.view_state.time
        if is_active:
            step = max(round((time - start) / STEP_TIME), 0)
            self.simulate(step) if step < count else self._advance(step)
        with self._current() as run, _renderer(run, self._drawn(), job) as renderer:
            return renderer.picture([time], renderer.camera(job.view, [time]))

    @keywords(PYTHON, RenderJob, ExportJob)
    def export(
        self,
        path: Path | str,
        frames: Span | tuple[int, int] | range | str | None = None,
        *,
        options: Mapping[str, object] = {},
        **more: Any,
    ) -> None:
        """Writes the scene over time or a character as VRM, or renders images or a video, as the extension says.

        The simulation starts again for this, and the current step stays.

        Args:
            path: As for `sinew export` and `sinew render`; images have a number such as %04d in their name.  A PNG is
                an image, an EXR file a vertex texture.
            frames: First and last frame, a range, or a text such as "0:30"; frame 0 is the start. None for In to Out,
                else the whole scene.
            options: Of the format, as for `--option`.
        """
        target, scene = Path(path), self._drawn()
        if target.suffix.lower() in AVATAR_FORMATS.suffixes():
            words = tuple(f"{key}={value}" for key, value in options.items())
            require_folder(target)
            avatar = ExportJob(scene=scene.path, output=target, options=words, nodes=more.get("nodes", ()))
            save_avatar(avatar, scene, lambda: Image.fromarray(self.render((PICTURE, PICTURE))))
            return
        is_scene = target.suffix.lower() in {*ANIMATION_FORMATS.suffixes()} - {*IMAGE_WRITERS.suffixes()}
        rate = more.setdefault("rate", None) or 1.0 / STEP_TIME
        more["frames"] = chosen = Span.of(frames) if frames is not None else default_frames(scene, rate)
        own = {one.name for one in options_of(ExportJob if is_scene else RenderJob)}
        job = (ExportJob if is_scene else RenderJob)(
            scene=scene.path, output=target, options=tuple(f"{key}={value}" for key, value in options.items()),
            **{name: value for name, value in more.items() if name in own},
        )  # fmt: skip
        require_folder(target)
        if not (is_scene or len(chosen.numbers) == 1 or is_video(target) or is_numbered(target)):
            raise ValueError(f"{target}: several frames need a number such as %04d in the name")
        format: Format = ANIMATION_FORMATS.of(target) if is_scene else RENDER_FORMATS.of(target)
        require_package(target, format)
        if isinstance(job, RenderJob) and (reason := refused(job)):
            raise ValueError(f"{target}: {reason}")
        settings = format_options(format, job.options, target)
        with self._separate(simulates=job.simulate or isinstance(format, PageFormat)) as run:
            if isinstance(job, ExportJob):
                export_scene(run, as_drawn(scene, None), job, settings, lambda _: self._look_for_stop())
                return
            times = [frame / rate for frame in chosen.numbers]
            with _renderer(run, scene, job) as renderer:
                shown = renderer.camera(job.view, times)
                size = job.size.width, job.size.height
                with picture_sink(target, size, rate, settings, alpha=job.alpha, preview=None) as sink:
                    for frame, time in zip(chosen.numbers, times, strict=True):
                        self._look_for_stop()
                        image = renderer.picture([time], shown)
                        sink.add(frame, image, renderer.layers(image, shown) if sink.has_layers else None)
            print_notes(target, run.notes)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        Image.fromarray(self.render(THUMBNAIL)).save(buffer, "PNG")
        return buffer.getvalue()

    def _repr_html_(self) -> str:
        scene = self._document.scene
        if self._page is None or self._page[0] is not scene:
            self._page = scene, notebook_html(self)
        return self._page[1]

    def close(self) -> None:
        """Releases the simulation; without an editor, unsaved edits are lost and the project cannot be used again."""
        _require_main_thread()
        self._drop_engine()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<project {self._document.title!r}>"

    # --- the engine -----------------------------------------------------------------------------------

    @abc.abstractmethod
    def _gl(self) -> AbstractContextManager[tuple[Context, ShaderLibrary | None]]:
        """Makes a context current within a block, and returns it with its shader programs, if there are some."""

    @abc.abstractmethod
    def _scene(self) -> OpenedScene:
        """Returns the scene of the document with its files."""

    def _look_for_stop(self) -> None:  # noqa: B027  (only the editor can stop a program)
        """Raises KeyboardInterrupt if the user stops the program."""

    def _note_change(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._shown = None

    def _drawn(self) -> OpenedScene:
        """Returns the scene without overlays; its `scene` is the same object until it is edited."""
        scene = self._scene()
        if self._shown is not None and scene.scene is self._source and not _differ(scene, self._shown):
            return dataclasses.replace(self._shown, view_state=scene.view_state)
        self._source = scene.scene
        return without_overlays(scene)

    @contextlib.contextmanager
    def _current(self) -> Iterator[SceneRun]:
        """The engine with the current settings, with the context current."""
        scene, before = self._drawn(), self._shown
        with self._gl() as (context, library):
            run = self._run
            if run is not None and (before is None or run.engine.context is not context or _differ(scene, before)):
                self._drop_engine()
                run = None
            if run is None:
                run = SceneRun(context, scene, known_bake(scene.path), library=library)
                self._has_stepped = False
            elif before is None or scene.scene is not before.scene:
                run.apply(scene)
            self._run, self._shown = run, scene
            yield run

    @contextlib.contextmanager
    def _separate(self, *, simulates: bool = False) -> Iterator[SceneRun]:
        """Another engine at the start of the simulation, with the context current; `simulates` ignores bakes."""
        scene = self._drawn()
        with self._gl() as (context, library):
            run = SceneRun(context, scene, known_bake(scene.path, is_ignored=simulates), library=library)
            try:
                yield run
            finally:
                run.release()

    def _drop_engine(self) -> None:
        if self._run is not None:
            with self._gl() as (context, _):
                if self._run.engine.context is context:
                    self._run.release()
            self._run = None

    def _advance(self, step: int) -> None:
        count = 1 if self._callbacks else CHUNK
        while True:
            with self._current() as run:
                shown = min(run.step_count + count, step)
                if run.step_count >= step:
                    return
                refuse(self._scene(), run.advance_to(shown))
            for callback in self._callbacks:
                callback(shown)


def _require_main_thread() -> None:
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a project can be used in the main thread only")


def _require(least: int, **counts: int) -> None:
    for name, count in counts.items():
        if operator.index(count) < least:
            raise ValueError(f"{name} = {count} is less than {least}")


@contextlib.contextmanager
def _renderer(run: SceneRun, scene: OpenedScene, job: RenderJob) -> Iterator[Renderer]:
    size = job.size.width, job.size.height
    made = Renderer(
        run.engine.context, scene, size, alpha=job.alpha, through=job.camera, samples=job.samples, run=run
    )  # fmt: skip
    try:
        yield made
    finally:
        made.release()


def _differ(one: OpenedScene, other: OpenedScene) -> bool:
    """Returns True if two scenes show other files."""
    mine, others = one.models, other.models
    return (
        mine.keys() != others.keys()
        or any(mine[node] is not others[node] for node in mine)
        or not one.assets.is_same(other.assets)
    )


class ProjectFile(Project):
    """A project without an editor; its OpenGL context needs no window.

    Args:
        path: A project, or a model as a new project; None for an empty one.
    """

    def __init__(self, path: Path | None, backend: BackEndChoice, permitted: Permitted) -> None:
        super().__init__(Document())
        self._backend, self._permitted = backend, permitted
        self._context: Context | None = None
        self._read: OpenedScene | None = None
        self._files: tuple[object, ...] = ()
        self._asked = (Scene(),) * 2
        self._has_camera = path is not None and is_project(path)
        if path is not None and is_project(path):
            project = load_project(path)
            if not permitted.outside:
                require_inside(path, project.scene)
            print_warnings(path, project.warnings)
            self._document.replace_scene(
                project.scene, project.view_state, path=path, digest=project.digest, unknown=project.unknown
            )
        elif path is not None:
            self._read = opened(path, permitted)
            (model,) = self._read.models.values()
            scene = scene_of_model(path, model)
            self._read = dataclasses.replace(self._read, scene=scene, models={scene.nodes[0].id: model})
            self._document.replace_scene(scene)
            self._files = _files_of(scene)

    def close(self) -> None:
        super().close()
        if self._context is not None:
            self._context.make_current()
            self._context.release()
        self._is_closed = True

    @contextlib.contextmanager
    def _gl(self) -> Iterator[tuple[Context, ShaderLibrary | None]]:
        if self._context is None:
            self._context = headless(self._backend)
        self._context.make_current()
        yield self._context, None

    def _scene(self) -> OpenedScene:
        document = self.document
        scene, files = document.scene, _files_of(document.scene)
        view_state = document.view_state if self._has_camera else None
        path = document.path or (self._read.path if self._read is not None else Path(document.title))
        if self._read is None or files != self._files:
            self._read, self._files = with_files(path, scene, view_state, self._permitted), files
        self._read = dataclasses.replace(self._read, path=path, scene=self._trusted(scene), view_state=view_state)
        return self._read

    def _trusted(self, scene: Scene) -> Scene:
        """Returns what is permitted of a scene; the same object for the same scene."""
        if scene is not self._asked[0]:
            self._asked = scene, self._permitted.scene(scene)
        return self._asked[1]


def _files_of(scene: Scene) -> tuple[object, ...]:
    """Returns what the contents of the files of a scene depend on."""
    return tuple(
        (
            node.id, KINDS[node.kind].part(Files).used(node.settings),
            (node.settings.motions, node.settings.humanoid, node.settings.weights)
            if isinstance(node.settings, ModelSettings)
            else (),
        )
        for node in scene.nodes
    )  # fmt: skip


def open_project(path: Path | str | None, backend: str, *, allow_outside: bool, kernels: bool) -> Project:
    """See `sinew.open`."""
    live, wanted = Project.live, Path(path).absolute() if path is not None else None
    if live is not None and wanted in (None, live.path):
        return live
    if not plugins.is_off:
        plugin_loading.load({})
    return ProjectFile(wanted, BackEndChoice(backend), Permitted(outside=allow_outside, kernels=kernels))
