"""Another name of `app.scene_files`."""

from app.scene_files import SceneFiles as ClothFiles

__all__ = ["ClothFiles"]
