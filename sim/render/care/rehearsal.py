"""Draws what is new where nobody sees it, a little at a time, so that its first picture takes no longer than others.

A driver compiles a shader anew for every combination of vertices, textures, targets and samples when that is drawn for
the first time; a software renderer takes up to a tenth of a second for each.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from sim.gl.framebuffer import Framebuffer
from sim.gl.steps import Steps, finish
from sim.render.background_pass import BackgroundPass
from sim.render.care.plan import Plan
from sim.render.frame import Frame
from sim.render.ground_pass import GroundPass
from sim.render.items import Item, Stage, Way
from sim.render.overlay_pass import MARKER, marker_pass
from sim.render.painter import DONE, Painter
from sim.render.picture import DRAFT_SAMPLES, Picture
from sim.render.shadow_pass import ShadowPass
from sim.render.shot import Look, Shot
from sim.render.target import RenderTarget
from sim.render.transparent import Gathering, TransparentPass

SIZE = (16, 16)
INTO_PICTURE: tuple[Stage, ...] = ("opaque", "detail", "glass", "overlay")
Act = Callable[[Framebuffer], object]


class Rehearsal:
    """Knows in which ways crowds were drawn.

    Args:
        picture: Whose passes are rehearsed.
    """

    def __init__(self, picture: Picture) -> None:
        self._picture, self._context = picture, picture.context
        self._met: set[Way] = set()
        self._played: tuple[Way, Item, Steps[None]] | None = None

    def is_needed(self, shot: Shot) -> bool:
        """Whether pictures in full or drafts of a shot draw a crowd in a way that is new."""
        return any(way not in self._met for way, _, _ in self._ways(shot))

    def play(self, shot: Shot) -> bool:
        """Does a step of drawing one element in the first way that is new; returns whether there was one.

        What was begun for something that is no longer shown is given up.
        """
        if self._played is not None and not any(item is self._played[1] for item in shot.items):
            self._played = None
        if self._played is None:
            found = ((way, item, act()) for way, item, act in self._ways(shot) if way not in self._met)
            self._played = next(found, None)
        if self._played is None:
            return False
        way, _, steps = self._played
        self._alone(lambda: self._go_on(way, steps))
        return True

    def _go_on(self, way: Way, steps: Steps[None]) -> None:
        if next(steps, DONE) is DONE:
            self._met.add(way)
            self._played = None

    def play_all(self, shot: Shot) -> Steps[None]:
        """Draws all that a shot shows, once for every number of samples; others may draw between the steps.

        Given up, it leaves nothing that `collect` does not delete.
        """
        frame, output = shot.frame(*SIZE), Framebuffer(self._context, SIZE, depth=None, label="rehearsal")
        if frame.casts_shadow:
            casting = [item for item in shot.items if "shadow" in item.stages]
            self._alone(lambda: finish(self._cast(casting, shot, Plan())))
            yield
        for samples in dict.fromkeys(_samples(shot)):
            target = RenderTarget(self._context)
            for act in self._acts(shot, frame, target, output):
                self._alone(functools.partial(_act_in, act, target, samples))
                yield
            target.release()
        output.release()

    def _alone(self, act: Callable[[], object]) -> None:
        """Nothing of what was set before is left, and what is bound may be deleted afterwards."""
        self._context.invalidate()
        self._picture.block.bind()
        act()
        self._context.bind_default_framebuffer()

    def _acts(self, shot: Shot, frame: Frame, picture: RenderTarget, output: Framebuffer) -> Iterator[Act]:
        get, shadow_map = self._picture.passes.get, self._picture.passes.get(ShadowPass).map
        yield lambda _: get(BackgroundPass).draw()
        for item in shot.items:
            for piece, look in item.pieces(shot.look()):
                for stage in piece.stages:
                    if stage in INTO_PICTURE:
                        yield functools.partial(self._draw_at_once, piece, stage, frame, look)
        # With the grid the ground has two shaders; the first alone, then both.
        bare = replace(frame, view=msgspec.structs.replace(shot.view, grid=False, axes=False))
        yield lambda _: get(GroundPass).draw(bare, shadow_map, None)
        yield lambda _: get(GroundPass).draw(frame, shadow_map, None)
        yield lambda _: get(marker_pass).draw(np.zeros(1, MARKER))
        yield lambda _: picture.finish(output)

    def _ways(self, shot: Shot) -> Iterator[tuple[Way, Item, Callable[[], Steps[None]]]]:
        """All ways in which pictures in full and drafts draw the crowds of a shot, of which item, and how to do it."""
        lamps, together = len(shot.lamps), dict[bool, tuple[Item, Way]]()
        casts_shadow = lamps > 0 and shot.lamps[0].shadow
        for item in shot.items:
            if item.crowd is None:
                continue
            for way in item.ways(lamps):
                plan = Plan(ways={item: way})
                if "shadow" in item.stages and casts_shadow:
                    yield (*way, "shadow"), item, functools.partial(self._cast, (item,), shot, plan)
                for stage in item.stages:
                    for samples in _samples(shot) if stage in INTO_PICTURE else ():
                        yield (
                            (*way, stage, samples),
                            item,
                            functools.partial(self._draw_into, item, stage, shot, plan, samples),
                        )
                if "transparent" in item.stages:
                    yield (*way, "gathered"), item, functools.partial(self._gather, (item,), shot, plan, None)
                    together[item.veil.shines] = item, way
        for samples in _samples(shot) if together else ():
            plan = Plan(ways=dict(together.values()))
            yield (
                ("composed", frozenset(together), samples),
                next(iter(plan.ways)),
                functools.partial(self._gather, tuple(plan.ways), shot, plan, samples),
            )

    def _painter(self, target: Framebuffer, frame: Frame, look: Look) -> Painter:
        passes = self._picture.passes
        return Painter(passes, frame, look, target, frame.clip_from_world, passes.get(ShadowPass).map)

    def _draw_at_once(self, item: Item, stage: Stage, frame: Frame, look: Look, target: Framebuffer) -> None:
        finish(Plan().draw((item,), stage, self._painter(target, frame, look)))

    def _draw_into(self, item: Item, stage: Stage, shot: Shot, plan: Plan, samples: int) -> Steps[None]:
        picture = RenderTarget(self._context)
        painter = self._painter(picture.begin(*SIZE, samples), shot.frame(*SIZE), shot.look())
        yield from plan.draw((item,), stage, painter)
        picture.release()

    def _cast(self, items: Sequence[Item], shot: Shot, plan: Plan) -> Steps[None]:
        target = self._picture.passes.get(ShadowPass).target
        yield from self._picture.cast(items, self._painter(target, shot.frame(*SIZE), shot.look()), plan)

    def _gather(self, items: Sequence[Item], shot: Shot, plan: Plan, samples: int | None) -> Steps[None]:
        """Lets items gather; lays them over a picture with so many samples, or leaves it at that for None."""
        picture, gathering = RenderTarget(self._context), Gathering(self._context)
        painter = self._painter(picture.begin(*SIZE, samples or 0), shot.frame(*SIZE), shot.look())
        transparent = self._picture.passes.get(TransparentPass)
        act = transparent.gather if samples is None else transparent.draw
        yield from act(items, picture, painter, plan, gathering)
        gathering.release()
        picture.release()


def _act_in(act: Act, picture: RenderTarget, samples: int) -> None:
    act(picture.begin(*SIZE, samples))


def _samples(shot: Shot) -> list[int]:
    """Samples of a pixel in drafts and in pictures in full."""
    return sorted({DRAFT_SAMPLES, shot.view.samples})
