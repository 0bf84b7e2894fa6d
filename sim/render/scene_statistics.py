"""Counts of what a scene shows."""

from dataclasses import dataclass

from sim.render.scene_views import SceneViews


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of what is shown; particles are those that lived at the last count."""

    vertices: int
    triangles: int
    bones: int
    particles: int = 0


def scene_statistics(views: SceneViews) -> Statistics:
    """Counts over all that is visible."""
    models = [view.character.model for view in views.shown_models()]
    cloths = [view.cloth.model.surface for view in views.shown_cloths()]
    return Statistics(
        sum(model.mesh.vertex_count for model in models) + sum(len(cloth.positions) for cloth in cloths),
        sum(model.mesh.triangle_count for model in models) + sum(len(cloth.triangles) for cloth in cloths),
        sum(model.skeleton.joint_count for model in models if model.skeleton),
        sum(view.system.alive for view in views.shown_emitters()),
    )
