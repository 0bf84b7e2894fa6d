"""Models whose file is gone, and where the others went once one of them is found."""

import os
from collections.abc import Callable
from pathlib import Path

from sim.scene.scene import NodeId, Scene


def model_paths(scene: Scene) -> dict[NodeId, str]:
    return {node.id: node.settings.path for node in scene.characters if node.settings.path}


def missing_models(scene: Scene, exists: Callable[[str], bool] = os.path.isfile) -> tuple[NodeId, ...]:
    """Models whose file does not exist, in the order of the outliner."""
    return tuple(node_id for node_id, path in model_paths(scene).items() if not exists(path))


def relocated_paths(
    scene: Scene, node_id: NodeId, chosen: Path, exists: Callable[[str], bool] = os.path.isfile
) -> dict[NodeId, str]:
    """New paths after the user found one missing model.

    The other missing models are looked for at the same place relative to it, then by their name in its
    new folder; what is not found there stays missing.

    Args:
        scene: The scene.
        node_id: The model that was found.
        chosen: Its file now.
        exists: Whether there is a file at a path.

    Returns:
        The new absolute path of every model that can be relocated, the found one among them.
    """
    paths = model_paths(scene)
    old_folder = os.path.dirname(paths.get(node_id, ""))
    new_path = os.path.abspath(chosen)
    found = {node_id: new_path}
    for other in missing_models(scene, exists):
        if other == node_id:
            continue
        moved = new_path if paths[other] == paths.get(node_id) else _moved(paths[other], old_folder, new_path, exists)
        if moved is not None:
            found[other] = moved
    return found


def _moved(path: str, old_folder: str, new_path: str, exists: Callable[[str], bool]) -> str | None:
    new_folder = os.path.dirname(new_path)
    candidates = [os.path.join(new_folder, os.path.basename(path))]
    if old_folder and os.path.splitdrive(path)[0] == os.path.splitdrive(old_folder)[0]:
        relative = os.path.relpath(path, old_folder)
        candidates.insert(0, os.path.normpath(os.path.join(new_folder, relative)))
    return next((candidate for candidate in candidates if exists(candidate)), None)
