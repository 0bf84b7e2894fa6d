"""The colliders of the figure as they were fitted when its projects were first shipped, so that those stay the same."""

import json
from pathlib import Path

import msgspec

from sim.kinds.collider.fit import FittedCollider
from sim.kinds.collider.settings import ColliderSettings
from sim.scene.transform import Transform


def figure_colliders() -> list[FittedCollider]:
    """One for each joint that has one, in the order of the joints."""
    rows = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return [
        FittedCollider(
            row.pop("bone"),
            transform=Transform(position=tuple(row.pop("position")), rotation=tuple(row.pop("rotation"))),
            settings=msgspec.convert(row, ColliderSettings),
        )
        for row in rows
    ]
