"""The scenes that measured frames were drawn from; scenes are immutable, so remembering one costs a reference."""

from bisect import bisect_right
from collections import deque
from typing import Any

from sim.profile.history import FRAMES_MAX
from sim.scene.params import param_of, params_of, value_text
from sim.scene.scene import PLAYBACK, VIEW, ParamRef, Scene, part_of, value_at


class SceneHistory:
    """Which scene each frame showed.

    Args:
        scenes_max: Scenes that are kept; the oldest leave.
    """

    def __init__(self, scenes_max: int = FRAMES_MAX) -> None:
        self._begins: deque[tuple[int, Scene]] = deque(maxlen=scenes_max)

    def __len__(self) -> int:
        return len(self._begins)

    def note(self, number: int, scene: Scene) -> None:
        """A frame, later than all before, is drawn from a scene."""
        if not self._begins or self._begins[-1][1] is not scene:
            self._begins.append((number, scene))

    def at(self, number: int) -> Scene | None:
        """The scene of a frame; None where it is not known any more."""
        place = bisect_right(self._begins, number, key=lambda begin: begin[0])
        return self._begins[place - 1][1] if place else None

    def forget_before(self, number: int) -> None:
        while len(self._begins) > 1 and self._begins[1][0] <= number:
            self._begins.popleft()

    def clear(self) -> None:
        self._begins.clear()


def values_that_differ(now: Scene, then: Scene) -> dict[ParamRef, Any]:
    """Values of an earlier scene that are others now; of nodes that are in both scenes, and of view and playback."""
    refs = [ParamRef(owner, owner, record.name) for owner in (PLAYBACK, VIEW) for record in _records(now, owner, owner)]
    for node in now.nodes:
        if then.has(node.id) and then.node(node.id) is not node and then.node(node.id).kind == node.kind:
            for part in ("node", "transform", "attachment", node.kind):
                refs += [ParamRef(node.id, part, record.name) for record in _records(now, node.id, part)]
    return {ref: value_at(then, ref) for ref in refs if value_at(then, ref) != value_at(now, ref)}


def difference_text(now: Scene, ref: ParamRef, value: Any) -> str:
    """What a value was, such as "Humanoid skinning lbs"."""
    owner = ref.owner.capitalize() if ref.owner in (PLAYBACK, VIEW) else now.node(ref.owner).name
    label = param_of(type(part_of(now, ref.owner, ref.part)), ref.name).label
    return f"{owner} {label.lower()} {value_text(value)}"


def _records(scene: Scene, owner: str, part: str) -> tuple[Any, ...]:
    return tuple(params_of(type(part_of(scene, owner, part))))
