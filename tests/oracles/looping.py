"""Where a clip stands when the scene clock runs past its end."""

from sim.scene.playback import LoopMode


def clip_time(time: float, duration: float, loop: LoopMode) -> float:
    """Time within a clip of `duration` [s] for the scene's `time` [s].

    The scene clock follows one clip; another character's clip may be shorter and then repeats, swings
    back and forth, or holds its last pose, as the loop mode says.  Times within the clip are unchanged, its end
    included, so that a clip can be looked at on its last key.
    """
    if duration <= 0.0:
        return 0.0
    if 0.0 <= time <= duration:
        return time
    if loop is LoopMode.ONCE:
        return min(max(time, 0.0), duration)
    if loop is LoopMode.LOOP:
        return min(time % duration, duration)
    swing = time % (2.0 * duration)
    return swing if swing <= duration else 2.0 * duration - swing
