"""Motions for tests."""

import math
from pathlib import Path

import numpy as np

from sinew.sim.assets.model import CharacterModel


def write_bvh(model: CharacterModel, path: Path, step: float = 1.0 / 30.0, frames: int = 12) -> Path:
    """The skeleton of a model with its rest pose as offsets, and arms that swing."""
    skeleton = model.skeleton
    assert skeleton is not None
    points = skeleton.model_from_bind[:, :3, 3]
    lines, order = ["HIERARCHY"], []

    def joint(number: int, depth: int) -> None:
        parent = int(skeleton.parents[number])
        name = skeleton.names[number]
        offset = points[number] - (points[parent] if parent >= 0 else 0.0)
        order.append(name)
        lines.extend([
            f"{'ROOT' if parent < 0 else 'JOINT'} {name}", "{", "OFFSET " + " ".join(f"{x:.9f}" for x in offset),
            "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation" if parent < 0
            else "CHANNELS 3 Zrotation Xrotation Yrotation",
        ])  # fmt: skip
        children = np.flatnonzero(skeleton.parents == number).tolist()
        for child in children:
            joint(child, depth + 1)
        if not children:
            lines.extend(["End Site", "{", "OFFSET 0 0.01 0", "}"])
        lines.append("}")

    joint(int(np.flatnonzero(skeleton.parents < 0)[0]), 0)
    root = points[int(np.flatnonzero(skeleton.parents < 0)[0])]
    lines += ["MOTION", f"Frames: {frames}", f"Frame Time: {step:.9f}"]
    for frame in range(frames):
        row = [*root.tolist()]
        for name in order:
            row += [30.0 * math.sin(frame / 3.0) if "arm" in name else 0.0, 0.0, 0.0]
        lines.append(" ".join(f"{value:.9f}" for value in row))
    path.write_text("\n".join(lines))
    return path
